//! Verifies a job's log as it was found on a medium. Reading it from there is the store's, what events add up to core's.

use nightgate_core::event::Event;
use nightgate_core::job::JobState;
use nightgate_core::{Digest, JobId};

use crate::error::{Damaged, Head};

/// One event as it lies on the medium.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// Its place.
    pub(crate) sequence: u64,
    /// Exactly what was hashed.
    pub(crate) bytes: Vec<u8>,
    /// The digest that was written beside it.
    pub(crate) digest: String,
}

/// The events of `rows` and the state after them, if the log is whole: it begins with event 1, has no gap, ends at
/// `head`, and each event is undamaged, carries the digest of the one before it and is allowed by the state before it.
pub(crate) fn verify(job: &JobId, rows: &[Stored], head: Head) -> Result<(Vec<Event>, JobState), Damaged> {
    let mut events = Vec::with_capacity(rows.len());
    let mut state = None;
    for (row, sequence) in rows.iter().zip(1..) {
        let damaged = |why: String| damaged(job, sequence, why);
        let (event, next) = follow(job, state, row, sequence).map_err(damaged)?;
        events.push(event);
        state = Some(next);
    }
    let after = rows.len() as u64 + 1;
    let Some(state) = state else { return Err(damaged(job, 1, "it is missing".to_owned())) };
    if state.sequence < head.sequence {
        return Err(damaged(job, after, format!("it is missing; the log ended at {head}")));
    }
    if (Head { sequence: state.sequence, digest: Some(state.head) }) != head {
        let why = format!("it says that the log ends at {head}, which it doesn't");
        return Err(Damaged { job: job.to_string(), sequence: None, why });
    }
    Ok((events, state))
}

fn follow(
    job: &JobId,
    state: Option<JobState>,
    row: &Stored,
    sequence: u64,
) -> Result<(Event, JobState), String> {
    if row.sequence != sequence {
        return Err("it is missing".to_owned());
    }
    let found = Digest::of(&row.bytes);
    if row.digest != found.to_string() {
        return Err(format!("its bytes have the digest {found}, not {}", row.digest));
    }
    let event = Event::from_bytes(&row.bytes).map_err(|fault| fault.to_string())?;
    if event.job != *job {
        return Err(format!("it belongs to job {}", event.job));
    }
    let next = JobState::apply(state, &event).map_err(|fault| fault.to_string())?;
    // The chain runs over what this program would write for the event; it must be what was written.
    if next.head != found {
        return Err("it isn't written as nightgate writes events".to_owned());
    }
    Ok((event, next))
}

fn damaged(job: &JobId, sequence: u64, why: String) -> Damaged {
    Damaged { job: job.to_string(), sequence: Some(sequence), why }
}
