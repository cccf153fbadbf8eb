//! Decides: what a plan means, what evidence shows, what a job's events add up to.
//!
//! Pure: no input or output, no clock, no randomness, no async. Everything here is a function of its arguments, so
//! that a stranger can recompute a verdict from a record and a second engine can drive the same jobs.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod approval;
pub mod declaration;
pub mod digest;
pub mod event;
pub mod evidence;
pub mod execution;
pub mod gate;
pub mod id;
pub mod isolation;
pub mod job;
pub mod judge;
pub mod link;
pub mod path;
pub mod plan;
pub mod record;
#[cfg(test)]
mod sample;
pub mod stand_in;
pub mod strict_json;
pub mod tree;
pub mod verdict;

pub use digest::Digest;
pub use id::{CommitId, JobId, ObjectId, ProjectId, TreeId};
pub use path::RepoPath;
