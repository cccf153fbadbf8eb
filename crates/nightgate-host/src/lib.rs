//! Touches: processes, environments, git, trees, capture, clean rooms. The only crate that acts on the machine.
//!
//! No database, no HTTP server, no policy: what a fact means is decided in `nightgate-core`.

pub mod above;
pub mod base_store;
pub mod candidate;
pub mod capture;
pub mod document;
pub mod env;
pub mod example;
pub mod git;
pub mod hash;
pub mod ignored;
pub mod lock;
pub mod log;
pub mod memory;
pub mod process;
pub mod repository;
pub mod room;
pub mod sandbox;
pub mod tool;
pub mod walk;
pub mod workspace;
