//! Why the store says no. Faults of blobs are `blob`'s.

use std::fmt;
use std::path::PathBuf;

use nightgate_core::job::TransitionError;
use nightgate_core::{Digest, JobId};

use crate::lease::Holder;

/// Where a job's log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Events in the log.
    pub sequence: u64,
    /// The digest of the last one's bytes; absent where there is none.
    pub digest: Option<Digest>,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.digest {
            Some(digest) => write!(f, "event {} ({digest})", self.sequence),
            None => write!(f, "event {}", self.sequence),
        }
    }
}

/// A job whose log isn't what was written. Other jobs are not affected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read {} of job `{job}`: {why}: restore the store from a copy, or keep it for an inquiry", of(*.sequence))]
pub struct Damaged {
    /// The job, as text: its name itself may be damaged.
    pub job: String,
    /// The first event that is damaged or missing; `None` where the job's entry is.
    pub sequence: Option<u64>,
    /// What is wrong with it.
    pub why: String,
}

fn of(sequence: Option<u64>) -> String {
    sequence.map_or_else(|| "the entry".to_owned(), |sequence| format!("event {sequence}"))
}

/// Why the store did nothing. Each text reads after "failed to".
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The event doesn't follow the log's last one: somebody appended in between, or the writer remembers wrongly.
    #[error("append to job {job} after {expected}: its log ends at {found}: read its state again")]
    Conflict {
        /// The job.
        job: JobId,
        /// Where the event's writer saw the log end.
        expected: Head,
        /// Where it ends.
        found: Head,
    },
    /// The lease isn't in force any more: another owner took the job.
    #[error(
        "write to job {job} under fence {held}: fence {current} is in force: leave the job to its new owner"
    )]
    Fenced {
        /// The job.
        job: JobId,
        /// The fence of the lease that was shown.
        held: u64,
        /// The job's fence.
        current: u64,
    },
    /// The lease of a job isn't as its taker saw it.
    #[error(
        "take the lease of job {job}: it is {}, not {}: look again who holds it",
        holding(.found.as_ref().map(|holder| holder.fence)),
        holding(*.expected)
    )]
    LeaseMoved {
        /// The job.
        job: JobId,
        /// The fence of the holder that the taker saw; `None` where it saw nobody.
        expected: Option<u64>,
        /// Who holds it.
        found: Option<Holder>,
    },
    /// The event was handed in under the lease of another job, or names another fence than its lease.
    #[error(
        "write event {sequence} of job {job}: it names another job or fence than the lease it was written under"
    )]
    Misaddressed {
        /// The job that the event names.
        job: JobId,
        /// The event's place.
        sequence: u64,
    },
    /// The event can't follow the job's state.
    #[error("append: {0}")]
    Illegal(#[from] TransitionError),
    /// What was to be written couldn't be read back.
    #[error("write {what}: it couldn't be read back: {why}")]
    Unreadable {
        /// What.
        what: String,
        /// Why.
        why: String,
    },
    /// A job of that name exists.
    #[error("create job {0}: it exists: choose another id")]
    JobExists(JobId),
    /// There is no such job.
    #[error("find job {0}: there is none: `nightgate list` shows all")]
    NoSuchJob(JobId),
    /// The job's log isn't what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// An approval or a freeze record isn't what was written.
    #[error("read {what}: {why}: restore the store from a copy")]
    DamagedEntry {
        /// What.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The store was opened for reading.
    #[error("{doing}: the store was opened for reading only")]
    ReadOnly {
        /// What was being done.
        doing: &'static str,
    },
    /// A later Nightgate wrote this store.
    #[error(
        "open the store {path:?}: it has version {found}, this program knows {known}: use a newer nightgate"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The store's version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// An earlier Nightgate wrote this store, and a reader changes nothing.
    #[error(
        "read the store {path:?}: it has version {found}, this program reads {known}: any command that writes brings \
         it up to date"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The store's version.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// The file isn't a store of Nightgate's.
    #[error("open the store {path:?}: it isn't one of nightgate's: move it away, or choose another place")]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// The store couldn't be asked. A write may or may not have happened: read the state before trying again.
    #[error("{doing}: {why}")]
    Unavailable {
        /// What was being done.
        doing: &'static str,
        /// Why it couldn't be, and what to do.
        why: String,
    },
}

fn holding(fence: Option<u64>) -> String {
    fence.map_or_else(|| "held by nobody".to_owned(), |fence| format!("held under fence {fence}"))
}
