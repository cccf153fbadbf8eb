//! Tests Nightgate from outside: a hermetic environment for the real binary, a repository to run it on, a scripted
//! agent, and the runner of the gate cases.
//!
//! A black box on purpose: no crate of Nightgate is used here, so that a test reads what a user would read. Being a
//! test library, it panics with a sentence where the surroundings of a test (not its subject) are broken.

pub mod account;
pub mod case;
pub mod fifo;
pub mod hermetic;
pub mod outcome;
pub mod repository;
pub mod script;
pub mod snapshot;
mod tree;

pub use account::Account;
pub use fifo::Fifo;
pub use hermetic::{Hermetic, Running};
pub use outcome::Outcome;
pub use repository::Repository;
pub use snapshot::Snapshot;
