//! What readers see: jobs, records, plans and logs, as they are. Nothing here changes anything.

use nightgate_core::approval::Approval;
use nightgate_core::event::Event;
use nightgate_core::evidence::{Capture, Stream};
use nightgate_core::isolation::Enforcement;
use nightgate_core::job::{JobState, Phase};
use nightgate_core::plan::Plan;
use nightgate_core::record::Record;
use nightgate_core::{Digest, JobId};
use nightgate_host::lock::FileLock;
use nightgate_store::{Damaged, Found};
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::freeze::FreezeRecord;
use crate::request::StoredRequest;
use crate::{Engine, Report};

/// A job as readers see it.
#[derive(Debug)]
pub struct JobView {
    /// Its state, from its events.
    pub state: JobState,
    /// True where it hasn't ended and nobody works on it: its process died, or waits for a person.
    pub is_abandoned: bool,
}

/// What a `captured` event points to.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CaptureFile {
    pub(crate) capture: Capture,
    pub(crate) enforcements: Vec<Enforcement>,
}

impl JobView {
    /// True where the process that worked on it is gone and a next step is due.
    pub fn is_interrupted(&self) -> bool {
        self.is_abandoned && !matches!(self.state.phase, Phase::Waiting { .. })
    }
}

impl Engine {
    /// All jobs, the newest first. A damaged one is told as such and hides none of the others.
    pub fn jobs(&self) -> Result<Vec<Result<JobView, Damaged>>, EngineError> {
        let jobs = self.store.jobs()?;
        jobs.into_iter()
            .map(|job| match job {
                Ok(state) => Ok(Ok(self.view(state)?)),
                Err(damaged) => Ok(Err(damaged)),
            })
            .collect()
    }

    fn view(&self, state: JobState) -> Result<JobView, EngineError> {
        let path = self.home.lock(&state.id);
        let held = || {
            FileLock::is_held(&path).map_err(|source| EngineError::file("look at the lock", &path, source))
        };
        let is_abandoned = !state.phase.is_ended() && !held()?;
        Ok(JobView { state, is_abandoned })
    }

    /// The job whose id begins with `prefix`.
    pub fn find_job(&self, prefix: &str) -> Result<JobId, EngineError> {
        let doing = || format!("find job `{prefix}`");
        match self.store.find(prefix)? {
            Found::One(job) => Ok(job),
            Found::None => {
                Err(EngineError::environment(doing(), "there is none: `nightgate list` shows all"))
            }
            Found::Several(jobs) => {
                let names: Vec<&str> = jobs.iter().map(JobId::as_str).collect();
                Err(EngineError::environment(doing(), format!("several begin so: {}", names.join(", "))))
            }
        }
    }

    /// One job with its plan and record.
    pub fn show(&self, job: &JobId) -> Result<(JobView, Report), EngineError> {
        let state = self.store.state(job)?;
        let report = self.report(state.clone())?;
        Ok((self.view(state)?, report))
    }

    /// One job's events, first to last.
    pub fn events(&self, job: &JobId) -> Result<Vec<Event>, EngineError> {
        Ok(self.store.events(job)?)
    }

    /// The facts of a job's capture, also where it was never judged.
    pub fn capture_of(&self, state: &JobState) -> Result<Option<Capture>, EngineError> {
        Ok(self.capture_file(state)?.map(|file| file.capture))
    }

    /// What was enforced while a job's attempt ran.
    pub(crate) fn enforcements_of(&self, state: &JobState) -> Result<Vec<Enforcement>, EngineError> {
        Ok(self.capture_file(state)?.map(|file| file.enforcements).unwrap_or_default())
    }

    fn capture_file(&self, state: &JobState) -> Result<Option<CaptureFile>, EngineError> {
        let Some(digest) = state.capture else { return Ok(None) };
        serde_json::from_slice(&self.blob(&digest)?)
            .map(Some)
            .map_err(|fault| EngineError::environment(format!("read the capture of job {}", state.id), fault))
    }

    /// The bytes of a kept log; empty where nothing was written.
    pub fn log(&self, stream: &Stream) -> Result<Vec<u8>, EngineError> {
        match &stream.log {
            Some(digest) => self.blob(digest),
            None => Ok(Vec::new()),
        }
    }

    /// A blob by its digest.
    pub fn blob(&self, digest: &Digest) -> Result<Vec<u8>, EngineError> {
        self.blobs.get(digest).map_err(|fault| EngineError::environment(format!("read {digest}"), fault))
    }

    /// A kept plan by its digest.
    pub fn plan(&self, digest: &Digest) -> Result<Plan, EngineError> {
        Ok(Plan::kept(self.blob(digest)?)?)
    }

    /// How a plan was frozen here last; `None` where it wasn't frozen here.
    pub fn freeze_record(&self, plan: &Digest) -> Result<Option<FreezeRecord>, EngineError> {
        let Some(digest) = self.store.freeze_of(plan)? else { return Ok(None) };
        let bytes = self.blob(&digest)?;
        let record = serde_json::from_slice(&bytes)
            .map_err(|fault| EngineError::environment("read how the plan was frozen", fault))?;
        Ok(Some(record))
    }

    /// The approval of exactly these bytes.
    pub fn approval(&self, digest: &Digest) -> Result<Option<Approval>, EngineError> {
        Ok(self.store.approval(digest)?)
    }

    pub(crate) fn plan_of(&self, state: &JobState) -> Result<Plan, EngineError> {
        let Some(digest) = &state.plan else {
            return Err(EngineError::environment(
                format!("read the plan of job {}", state.id),
                "it has none yet",
            ));
        };
        self.plan(digest)
    }

    pub(crate) fn record_of(&self, state: &JobState) -> Result<Option<Record>, EngineError> {
        let Some(digest) = &state.record else { return Ok(None) };
        let bytes = self.blob(digest)?;
        Record::from_bytes(&bytes)
            .map(Some)
            .map_err(|source| EngineError::Record { job: state.id.clone(), source })
    }

    pub(crate) fn stored_request(&self, state: &JobState) -> Result<StoredRequest, EngineError> {
        serde_json::from_slice(&self.blob(&state.request)?)
            .map_err(|fault| EngineError::environment(format!("read the request of job {}", state.id), fault))
    }
}
