//! A store in memory: the model that the others are compared with, and a store for tests. Nothing survives here.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nightgate_core::approval::Approval;
use nightgate_core::event::Event;
use nightgate_core::job::JobState;
use nightgate_core::{Digest, JobId};

use crate::admit::{self, Tenure};
use crate::error::{Damaged, StoreError};
use crate::lease::{FIRST_FENCE, Holder, Lease};
use crate::store::{Found, Store};

/// A store that lives as long as the value.
#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    jobs: BTreeMap<JobId, Job>,
    /// In the order in which they were created.
    created: Vec<JobId>,
    approvals: HashMap<Digest, Approval>,
    freezes: HashMap<Digest, Digest>,
}

#[derive(Debug)]
struct Job {
    events: Vec<Event>,
    state: JobState,
    tenure: Tenure,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn job(&self, job: &JobId) -> Result<&Job, StoreError> {
        self.jobs.get(job).ok_or_else(|| StoreError::NoSuchJob(job.clone()))
    }

    fn job_mut(&mut self, job: &JobId) -> Result<&mut Job, StoreError> {
        self.jobs.get_mut(job).ok_or_else(|| StoreError::NoSuchJob(job.clone()))
    }
}

impl Store for MemoryStore {
    fn create(&self, event: &Event, owner: &str) -> Result<Lease, StoreError> {
        let (state, _) = admit::creation(event)?;
        let mut kept = self.kept();
        if kept.jobs.contains_key(&event.job) {
            return Err(StoreError::JobExists(event.job.clone()));
        }
        let tenure = Tenure { fence: FIRST_FENCE, owner: Some(owner.to_owned()) };
        kept.jobs.insert(event.job.clone(), Job { events: vec![event.clone()], state, tenure });
        kept.created.push(event.job.clone());
        Ok(Lease::granted(event.job.clone(), owner.to_owned(), FIRST_FENCE))
    }

    fn append(&self, lease: &Lease, event: &Event) -> Result<JobState, StoreError> {
        let mut kept = self.kept();
        let job = kept.job_mut(lease.job())?;
        job.tenure.admit(lease)?;
        admit::address(lease, event)?;
        let (state, _) = admit::succession(job.state.clone(), event)?;
        job.events.push(event.clone());
        job.state = state.clone();
        Ok(state)
    }

    fn events(&self, job: &JobId) -> Result<Vec<Event>, StoreError> {
        Ok(self.kept().job(job)?.events.clone())
    }

    fn state(&self, job: &JobId) -> Result<JobState, StoreError> {
        Ok(self.kept().job(job)?.state.clone())
    }

    fn jobs(&self) -> Result<Vec<Result<JobState, Damaged>>, StoreError> {
        let kept = self.kept();
        kept.created.iter().rev().map(|job| Ok(Ok(kept.job(job)?.state.clone()))).collect()
    }

    fn find(&self, prefix: &str) -> Result<Found, StoreError> {
        Ok(Found::among(prefix, self.kept().jobs.keys().cloned()))
    }

    fn take_lease(&self, job: &JobId, owner: &str, expect: Option<u64>) -> Result<Lease, StoreError> {
        let mut kept = self.kept();
        let entry = kept.job_mut(job)?;
        entry.tenure = entry.tenure.pass(job, owner, expect)?;
        Ok(Lease::granted(job.clone(), owner.to_owned(), entry.tenure.fence))
    }

    fn lease_of(&self, job: &JobId) -> Result<Option<Holder>, StoreError> {
        Ok(self.kept().job(job)?.tenure.holder())
    }

    fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let job = kept.job_mut(lease.job())?;
        job.tenure.admit(&lease)?;
        job.tenure.owner = None;
        Ok(())
    }

    fn approve(&self, approval: &Approval) -> Result<Approval, StoreError> {
        admit::approval_bytes(approval)?;
        Ok(self.kept().approvals.entry(approval.digest).or_insert_with(|| approval.clone()).clone())
    }

    fn approval(&self, digest: &Digest) -> Result<Option<Approval>, StoreError> {
        Ok(self.kept().approvals.get(digest).cloned())
    }

    fn keep_freeze(&self, plan: &Digest, record: &Digest) -> Result<(), StoreError> {
        self.kept().freezes.insert(*plan, *record);
        Ok(())
    }

    fn freeze_of(&self, plan: &Digest) -> Result<Option<Digest>, StoreError> {
        Ok(self.kept().freezes.get(plan).copied())
    }
}
