//! Writes a job's events under its lease, and keeps the state that they add up to.

use nightgate_core::event::{Actor, Event, EventBody};
use nightgate_core::job::JobState;
use nightgate_core::{Digest, JobId};
use nightgate_host::lock::FileLock;
use nightgate_store::{FIRST_FENCE, Lease};

use crate::Engine;
use crate::error::EngineError;

/// The right to drive one job, and its state. Each event is durable before [`Journal::write`] returns, so the engine
/// persists before it acts.
pub(crate) struct Journal<'e> {
    engine: &'e Engine,
    lease: Lease,
    state: JobState,
    _lock: FileLock,
}

impl<'e> Journal<'e> {
    /// Begins a new job.
    pub(crate) fn begin(engine: &'e Engine, job: &JobId, created: EventBody) -> Result<Self, EngineError> {
        let lock = lock(engine, job)?.ok_or_else(|| {
            EngineError::environment(format!("lock job {job}"), "another process holds its lock: try again")
        })?;
        let event = engine.event(job, 1, None, FIRST_FENCE, created);
        let lease = engine.store.create(&event, &engine.around.identity)?;
        let state = JobState::apply(None, &event).map_err(nightgate_store::StoreError::from)?;
        Ok(Self { engine, lease, state, _lock: lock })
    }

    /// Takes over a job whose owner is dead; `None` where its owner lives.
    pub(crate) fn take_over(engine: &'e Engine, job: &JobId) -> Result<Option<Self>, EngineError> {
        let Some(lock) = lock(engine, job)? else { return Ok(None) };
        let seen = engine.store.lease_of(job)?.map(|holder| holder.fence);
        let lease = engine.store.take_lease(job, &engine.around.identity, seen)?;
        let state = engine.store.state(job)?;
        Ok(Some(Self { engine, lease, state, _lock: lock }))
    }

    /// Appends one event.
    pub(crate) fn write(&mut self, body: EventBody) -> Result<&JobState, EngineError> {
        let state = &self.state;
        let event =
            self.engine.event(&state.id, state.sequence + 1, Some(state.head), self.lease.fence(), body);
        self.state = self.engine.store.append(&self.lease, &event)?;
        Ok(&self.state)
    }

    pub(crate) fn state(&self) -> &JobState {
        &self.state
    }

    pub(crate) fn job(&self) -> &JobId {
        &self.state.id
    }

    /// Gives the job back and returns how it stands.
    pub(crate) fn end(self) -> Result<JobState, EngineError> {
        self.engine.store.release(self.lease)?;
        if self.state.phase.is_ended() {
            // Nobody writes to an ended job, so nobody asks for its locks again.
            for lock in [self.engine.home.lock(&self.state.id), self.engine.home.keeper_lock(&self.state.id)]
            {
                let _an_empty_file_may_stay = std::fs::remove_file(lock);
            }
        }
        Ok(self.state)
    }
}

fn lock(engine: &Engine, job: &JobId) -> Result<Option<FileLock>, EngineError> {
    let path = engine.home.lock(job);
    FileLock::try_take(&path).map_err(|source| EngineError::file("lock", &path, source))
}

impl Engine {
    fn event(
        &self,
        job: &JobId,
        sequence: u64,
        previous: Option<Digest>,
        fence: u64,
        body: EventBody,
    ) -> Event {
        let actor = Actor { identity: self.around.identity.clone(), scope: body.scope() };
        Event { job: job.clone(), sequence, previous, at_ms: self.now(), fence, actor, body }
    }
}
