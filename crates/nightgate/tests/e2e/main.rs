//! The `nightgate` program from outside: the real binary on real repositories, read again from disk by a
//! second process.
//!
//! Gate cases are `cases`; what one crate alone can show is tested there.

mod approval;
mod bench;
mod boxes;
mod document;
mod environment;
mod home;
mod kill;
mod reader;
mod room;
mod status;
mod toolchain;
mod untouched;
mod verify;
mod workspace;
mod worktree;
