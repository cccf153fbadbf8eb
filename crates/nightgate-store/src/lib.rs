//! Remembers: the event log of each job, approvals, freeze records, and blobs by digest.
//!
//! What an event means and whether it may follow is `nightgate-core`'s; whether the holder of a lease is dead is the
//! engine's. No process is started here and no policy decided.
//!
//! The log is the truth. Everything else about a job is derived from it by [`nightgate_core::job::JobState::apply`],
//! before an append and again at each reading, so that nothing is ever answered from a log that doesn't hold together.

mod admit;
pub mod blob;
mod chain;
mod error;
mod folder;
mod lease;
mod memory;
mod sqlite;
mod store;

pub use blob::{BlobError, Blobs};
pub use error::{Damaged, Head, StoreError};
pub use lease::{FIRST_FENCE, Holder, Lease};
pub use memory::MemoryStore;
pub use sqlite::SqliteStore;
pub use store::{Found, Store};
