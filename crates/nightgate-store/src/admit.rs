//! What may be written, as pure decisions that every store shares. Which events a state allows is core's.

use nightgate_core::JobId;
use nightgate_core::approval::Approval;
use nightgate_core::event::Event;
use nightgate_core::job::JobState;
use nightgate_core::strict_json;

use crate::error::{Head, StoreError};
use crate::lease::{FIRST_FENCE, Holder, Lease};

/// A job's lease as a store keeps it. The fence never goes down and outlives its holders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenure {
    /// The highest fence given out.
    pub(crate) fence: u64,
    /// Who holds the lease under it.
    pub(crate) owner: Option<String>,
}

impl Tenure {
    /// Who holds the lease.
    pub(crate) fn holder(&self) -> Option<Holder> {
        self.owner.as_ref().map(|owner| Holder { owner: owner.clone(), fence: self.fence })
    }

    /// Says whether `lease` is the one in force.
    pub(crate) fn admit(&self, lease: &Lease) -> Result<(), StoreError> {
        if self.fence == lease.fence() && self.owner.as_deref() == Some(lease.owner()) {
            return Ok(());
        }
        Err(StoreError::Fenced { job: lease.job().clone(), held: lease.fence(), current: self.fence })
    }

    /// The tenure of the next owner, if the lease is held as it saw it.
    pub(crate) fn pass(&self, job: &JobId, owner: &str, expect: Option<u64>) -> Result<Self, StoreError> {
        let found = self.holder();
        if found.as_ref().map(|holder| holder.fence) != expect {
            return Err(StoreError::LeaseMoved { job: job.clone(), expected: expect, found });
        }
        Ok(Self { fence: self.fence + 1, owner: Some(owner.to_owned()) })
    }
}

/// Decides about a job's first event: the state after it, and the bytes to store.
pub(crate) fn creation(event: &Event) -> Result<(JobState, Vec<u8>), StoreError> {
    let state = JobState::apply(None, event)?;
    if event.fence != FIRST_FENCE {
        return Err(misaddressed(event));
    }
    Ok((state, event_bytes(event)?))
}

/// Says whether an event was written under the lease that it is handed in with.
pub(crate) fn address(lease: &Lease, event: &Event) -> Result<(), StoreError> {
    if event.job == *lease.job() && event.fence == lease.fence() { Ok(()) } else { Err(misaddressed(event)) }
}

/// Decides about the next event of a job in `state`: the state after it, and the bytes to store.
pub(crate) fn succession(state: JobState, event: &Event) -> Result<(JobState, Vec<u8>), StoreError> {
    let expected = Head { sequence: event.sequence.saturating_sub(1), digest: event.previous };
    let found = Head { sequence: state.sequence, digest: Some(state.head) };
    if expected != found {
        return Err(StoreError::Conflict { job: event.job.clone(), expected, found });
    }
    let next = JobState::apply(Some(state), event)?;
    Ok((next, event_bytes(event)?))
}

/// The bytes of an approval.
pub(crate) fn approval_bytes(approval: &Approval) -> Result<Vec<u8>, StoreError> {
    let unreadable = |why: String| StoreError::Unreadable { what: approval_name(approval), why };
    let bytes = serde_json::to_vec(approval).map_err(|fault| unreadable(fault.to_string()))?;
    match strict_json::read::<Approval>(&bytes) {
        Ok(again) if again == *approval => Ok(bytes),
        Ok(_) => Err(unreadable("it reads as another approval".to_owned())),
        Err(fault) => Err(unreadable(fault.to_string())),
    }
}

fn approval_name(approval: &Approval) -> String {
    format!("the approval of {}", approval.digest)
}

/// The bytes of an event, which must read as the same event: an unreadable one would end its job for good.
fn event_bytes(event: &Event) -> Result<Vec<u8>, StoreError> {
    let unreadable = |why: String| StoreError::Unreadable {
        what: format!("event {} of job {}", event.sequence, event.job),
        why,
    };
    let bytes = event.to_bytes();
    match Event::from_bytes(&bytes) {
        Ok(again) if again == *event => Ok(bytes),
        Ok(_) => Err(unreadable("it reads as another event".to_owned())),
        Err(fault) => Err(unreadable(fault.to_string())),
    }
}

fn misaddressed(event: &Event) -> StoreError {
    StoreError::Misaddressed { job: event.job.clone(), sequence: event.sequence }
}
