//! The contract of a store. How one keeps its promises is `memory`'s and `sqlite`'s.

use nightgate_core::approval::Approval;
use nightgate_core::event::Event;
use nightgate_core::job::JobState;
use nightgate_core::{Digest, JobId};

use crate::error::{Damaged, StoreError};
use crate::lease::{Holder, Lease};

/// What a part of a job's name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Exactly one job.
    One(JobId),
    /// No job.
    None,
    /// These jobs, in alphabetical order.
    Several(Vec<JobId>),
}

/// The memory of Nightgate: an append-only log of events for each job, approvals, and freeze records.
///
/// Several processes may have the same store open; each call is one transaction, and what it wrote survives the death of
/// the process, and of the machine where the medium keeps its word, once the call returns `Ok`. A call that returns an
/// error wrote nothing, but for [`StoreError::Unavailable`], after which the state must be read again.
///
/// All methods can return [`StoreError::Unavailable`], and where the store was opened for reading, those that write
/// return [`StoreError::ReadOnly`].
pub trait Store: Send + Sync {
    /// Writes the first event of a new job and gives its lease, with fence [`FIRST_FENCE`](crate::FIRST_FENCE).
    ///
    /// Errors: [`Illegal`](StoreError::Illegal) where `event` isn't a first event,
    /// [`Misaddressed`](StoreError::Misaddressed) where it has another fence, [`JobExists`](StoreError::JobExists),
    /// [`Unreadable`](StoreError::Unreadable).
    fn create(&self, event: &Event, owner: &str) -> Result<Lease, StoreError>;

    /// Appends the next event to a job's log and returns the state after it.
    ///
    /// In one transaction: the lease is in force, the event was written under it, it follows the log's last event by
    /// sequence number and digest, and the state replayed from the log allows it.
    ///
    /// Errors, in this order: [`NoSuchJob`](StoreError::NoSuchJob), [`Fenced`](StoreError::Fenced),
    /// [`Misaddressed`](StoreError::Misaddressed), [`Damaged`](StoreError::Damaged),
    /// [`Conflict`](StoreError::Conflict), [`Illegal`](StoreError::Illegal), [`Unreadable`](StoreError::Unreadable).
    fn append(&self, lease: &Lease, event: &Event) -> Result<JobState, StoreError>;

    /// A job's events, first to last, verified: no gap, each with the digest of the one before it, each allowed by the
    /// state before it, and none missing at the end.
    ///
    /// Errors: [`NoSuchJob`](StoreError::NoSuchJob), [`Damaged`](StoreError::Damaged).
    fn events(&self, job: &JobId) -> Result<Vec<Event>, StoreError>;

    /// A job's state, from its verified events. Errors as [`events`](Self::events).
    fn state(&self, job: &JobId) -> Result<JobState, StoreError>;

    /// The states of all jobs at one moment, the job created last first. A damaged job is an entry like the others and
    /// hides none of them.
    fn jobs(&self) -> Result<Vec<Result<JobState, Damaged>>, StoreError>;

    /// The job whose name begins so; the `j-` may be left out. Without a character of its own, a prefix names no job.
    fn find(&self, prefix: &str) -> Result<Found, StoreError>;

    /// Takes a job's lease, if it is held as the taker saw it: by nobody (`None`) or under this fence. The new lease's
    /// fence is higher than all before it; one held until now is fenced off.
    ///
    /// Whether a holder is dead and may be taken over from is the caller's decision.
    ///
    /// Errors: [`NoSuchJob`](StoreError::NoSuchJob), [`LeaseMoved`](StoreError::LeaseMoved).
    fn take_lease(&self, job: &JobId, owner: &str, expect: Option<u64>) -> Result<Lease, StoreError>;

    /// Who holds a job's lease; `None` where nobody does. Errors: [`NoSuchJob`](StoreError::NoSuchJob).
    fn lease_of(&self, job: &JobId) -> Result<Option<Holder>, StoreError>;

    /// Gives a job's lease back. The job's fence stays.
    ///
    /// Errors: [`NoSuchJob`](StoreError::NoSuchJob), [`Fenced`](StoreError::Fenced).
    fn release(&self, lease: Lease) -> Result<(), StoreError>;

    /// Keeps an approval, and returns the one that stands: the first one of a digest stays.
    ///
    /// Errors: [`Unreadable`](StoreError::Unreadable), [`DamagedEntry`](StoreError::DamagedEntry).
    fn approve(&self, approval: &Approval) -> Result<Approval, StoreError>;

    /// The approval of exactly the bytes with this digest. Errors: [`DamagedEntry`](StoreError::DamagedEntry).
    fn approval(&self, digest: &Digest) -> Result<Option<Approval>, StoreError>;

    /// Keeps which blob says how a plan was frozen here. Freezing the same plan again adds to what is known.
    fn keep_freeze(&self, plan: &Digest, record: &Digest) -> Result<(), StoreError>;

    /// The blob that says how a plan was frozen last. Errors: [`DamagedEntry`](StoreError::DamagedEntry).
    fn freeze_of(&self, plan: &Digest) -> Result<Option<Digest>, StoreError>;
}

impl Found {
    /// What `prefix` stands for among `jobs`, which come in alphabetical order.
    pub(crate) fn among(prefix: &str, jobs: impl IntoIterator<Item = JobId>) -> Self {
        let own = prefix.strip_prefix("j-").unwrap_or(prefix);
        if own.is_empty() {
            return Self::None;
        }
        let whole = format!("j-{own}");
        let mut found: Vec<JobId> = jobs.into_iter().filter(|job| job.as_str().starts_with(&whole)).collect();
        match found.len() {
            0 => Self::None,
            1 => Self::One(found.remove(0)),
            _ => Self::Several(found),
        }
    }
}
