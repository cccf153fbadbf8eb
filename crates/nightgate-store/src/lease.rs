//! Leases: the right to write to one job, as a value. Who is alive, and who may take over from whom, is the engine's.

use nightgate_core::JobId;

/// The fence of the lease that comes with a new job, and so of its first event.
pub const FIRST_FENCE: u64 = 1;

/// The right to write to one job, given by a store and required by each method that writes to it.
///
/// It can't be copied, so that one owner has it once. It stays in force until it is released or until somebody takes the
/// job over, which raises the fence: from then on the store refuses this one. Dropping it releases nothing; the job then
/// looks held by an owner that is gone, as after a crash.
#[derive(Debug)]
#[must_use = "the job stays held until its lease is released"]
pub struct Lease {
    job: JobId,
    owner: String,
    fence: u64,
}

impl Lease {
    /// Only a store makes leases, after it wrote them down.
    pub(crate) fn granted(job: JobId, owner: String, fence: u64) -> Self {
        Self { job, owner, fence }
    }

    /// The job.
    pub fn job(&self) -> &JobId {
        &self.job
    }

    /// Who holds it, as given when it was taken.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Its fence: each event written under it carries this number.
    pub fn fence(&self) -> u64 {
        self.fence
    }
}

/// Who holds a job's lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// As given when the lease was taken.
    pub owner: String,
    /// The lease's fence.
    pub fence: u64,
}
