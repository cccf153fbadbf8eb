//! Git, trees, capture and clean rooms against the real git in temporary folders.

#![expect(clippy::unwrap_used, reason = "a test that can't go on panics, also in what tests share")]

mod capture;
mod criteria;
mod fixture;
mod hash;
mod ignored;
mod limits;
mod links;
mod names;
mod room;
mod store;
mod tamper;
mod user;
mod walk;
mod workspace;
mod worktree;
