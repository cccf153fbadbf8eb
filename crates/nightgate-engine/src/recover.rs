//! Picks up what a dead process left: captures, writes down what happened, removes folders. Called before each write.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nightgate_core::JobId;
use nightgate_core::event::{EventBody, JobKind};
use nightgate_core::evidence::Capture;
use nightgate_core::execution::Execution;
use nightgate_core::job::{JobState, Phase};
use nightgate_host::lock::FileLock;
use nightgate_store::StoreError;

use crate::Engine;
use crate::error::EngineError;
use crate::home::JobFolder;
use crate::journal::Journal;
use crate::room::remove;
use crate::run::LEFT;
use crate::step::{Observer, Step};

/// How long a dead job's processes may take to end, before the job is left for later.
const KEEPER_LIMIT: Duration = Duration::from_secs(30);

impl Engine {
    /// Brings every job whose process died to a state that is true: its processes are gone, its work is captured and kept
    /// at a ref, its folders are removed. An agent that was running is never continued. A job that can't be brought there
    /// now stays as it is, for the next command, and stops no other job; the observer is told why.
    pub fn recover(&self, observer: &mut dyn Observer) -> Result<(), EngineError> {
        self.recover_all(observer).map(drop)
    }

    /// As [`Engine::recover`]; returns the jobs that were left as they are, each with the reason.
    pub(crate) fn recover_all(
        &self,
        observer: &mut dyn Observer,
    ) -> Result<Vec<(JobId, EngineError)>, EngineError> {
        let mut left = Vec::new();
        for state in self.store.jobs()?.into_iter().flatten() {
            if state.phase.is_ended() || matches!(state.phase, Phase::Waiting { .. }) {
                continue;
            }
            match self.recover_job(&state, observer) {
                Ok(()) => {}
                Err(fault @ EngineError::Interrupted { .. }) => return Err(fault),
                Err(fault) => {
                    observer.step(&Step::LeftForLater { job: state.id.clone(), why: fault.to_string() });
                    left.push((state.id, fault));
                }
            }
        }
        self.remove_strays(observer)?;
        Ok(left)
    }

    pub(crate) fn recover_job(
        &self,
        seen: &JobState,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        let job = &seen.id;
        let Some(mut journal) = Journal::take_over(self, job)? else { return Ok(()) };
        if journal.state().phase.is_ended() {
            return journal.end().map(drop);
        }
        self.await_keeper(job)?;
        self.remove_rooms(job)?;
        let kind = journal.state().kind;
        match journal.state().phase {
            Phase::Queued => {
                let why = "nightgate was ended before an agent started; nothing was changed: run it again";
                journal.write(EventBody::Stopped { why: why.to_owned() })?;
            }
            Phase::Running if journal.state().attempts == 0 => {
                let why =
                    "nightgate was ended while it laid out the workspace; no agent had started: run it again";
                journal.write(EventBody::Stopped { why: why.to_owned() })?;
            }
            Phase::Running => {
                observer.step(&Step::Recovering(job.clone()));
                self.end_attempt(&mut journal)?;
                self.capture_left(&mut journal, observer)?;
            }
            Phase::Capturing => {
                observer.step(&Step::Recovering(job.clone()));
                self.capture_left(&mut journal, observer)?;
            }
            Phase::Verifying if kind == JobKind::Verify => {
                let why = "nightgate was ended while it verified: verify again".to_owned();
                journal.write(EventBody::Stopped { why })?;
            }
            // The candidate is captured and kept; only its verdict is missing, and `resume` asks for that.
            Phase::Verifying
            | Phase::Waiting { .. }
            | Phase::Done
            | Phase::Blocked { .. }
            | Phase::Cancelled => {}
        }
        self.remove_job_folder(journal.state())?;
        journal.end().map(drop)
    }

    /// The keeper of the dead job's processes ends them when its supervisor dies, and holds a lock until the last is gone.
    fn await_keeper(&self, job: &JobId) -> Result<(), EngineError> {
        let path = self.home.keeper_lock(job);
        let began = Instant::now();
        loop {
            match FileLock::try_take(&path).map_err(|source| EngineError::file("lock", &path, source))? {
                Some(_free) => return Ok(()),
                None if began.elapsed() > KEEPER_LIMIT => {
                    return Err(EngineError::environment(
                        format!("capture what job {job} left"),
                        "its processes are still being ended",
                    ));
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn end_attempt(&self, journal: &mut Journal<'_>) -> Result<(), EngineError> {
        self.regain_job_folder(journal.job())?;
        let folder = JobFolder::new(self.home.job(journal.job()));
        let (stdout, stderr) = folder.agent_logs();
        // A log that was never begun, or can't be read any more, is absent; that the attempt crashed is what counts.
        let keep = |files| self.keep_log(files).ok();
        let execution = Execution::Crashed { text: "nightgate was ended while the agent ran".to_owned() };
        let attempt = journal.state().attempts;
        let (stdout, stderr) = (keep(&stdout), keep(&stderr));
        journal.write(EventBody::AttemptEnded { attempt, execution, stdout, stderr })?;
        Ok(())
    }

    fn capture_left(
        &self,
        journal: &mut Journal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        let stored = self.stored_request(journal.state())?;
        let user = self.discover(&PathBuf::from(OsString::from_vec(stored.repository)))?;
        let plan = self.plan_of(journal.state())?;
        let base = self.import_base(&user, &plan.content().base, observer)?;
        self.capture_attempt(journal, &plan, &user, &base, None, observer)?;
        Ok(())
    }

    /// Removes folders that belong to no job: of a freeze, or of a process that died before its job's first event; and
    /// once more what resisted its removal.
    fn remove_strays(&self, observer: &mut dyn Observer) -> Result<(), EngineError> {
        let (jobs, rooms) = (self.home.jobs(), self.home.rooms());
        for above in [&jobs, &rooms] {
            let entries = fs::read_dir(above).map_err(|source| EngineError::file("read", above, source))?;
            for entry in entries {
                let entry = entry.map_err(|source| EngineError::file("read", above, source))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let name = name.strip_prefix(LEFT).unwrap_or(&name);
                // A room, and what was left, are named for their job and a suffix.
                let Some(job) = name.get(..10).and_then(|name| name.parse::<JobId>().ok()) else { continue };
                let Some(_lock) = self.try_lock(&job)? else { continue };
                let state = match self.store.state(&job) {
                    Ok(state)
                        if state.phase.is_ended()
                            || matches!(state.phase, Phase::Waiting { .. } | Phase::Verifying) =>
                    {
                        Some(state)
                    }
                    Err(StoreError::NoSuchJob(_)) => None,
                    Ok(_) | Err(_) => continue,
                };
                let is_free =
                    || FileLock::try_take(&self.home.keeper_lock(&job)).is_ok_and(|lock| lock.is_some());
                if !is_free() {
                    continue;
                }
                let removed = match &state {
                    Some(state) if entry.path() == self.home.job(&job) => self.remove_job_folder(state),
                    Some(_) | None => remove(&entry.path(), above),
                };
                // One that resists stops no other job.
                if let Err(fault) = removed {
                    observer.step(&Step::LeftForLater { job, why: fault.to_string() });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn try_lock(&self, job: &JobId) -> Result<Option<FileLock>, EngineError> {
        let path = self.home.lock(job);
        FileLock::try_take(&path).map_err(|source| EngineError::file("lock", &path, source))
    }

    /// Removes a job's folder, of which nothing is needed any more. Where its process died, or failed, between the capture
    /// and the keeping of a workspace that was not captured whole, that is done first.
    pub(crate) fn remove_job_folder(&self, state: &JobState) -> Result<(), EngineError> {
        let folder = JobFolder::new(self.home.job(&state.id));
        if fs::symlink_metadata(folder.root()).is_err() {
            return Ok(());
        }
        let is_whole = |capture: &Capture| capture.problems.is_empty();
        let is_kept = || {
            let is_there = |path: PathBuf| path.symlink_metadata().is_ok();
            is_there(self.home.kept().join(state.id.as_str())) && !is_there(folder.workspace())
        };
        if state.kind == JobKind::Run
            && self.capture_of(state)?.is_some_and(|seen| !is_whole(&seen))
            && !is_kept()
        {
            self.keep_workspace(&folder, &self.home.free_place_in_kept(&state.id))?;
        }
        self.remove_folder_of(&state.id)
    }

    /// Removes the folder of a job that no agent worked in, or of which all is kept.
    pub(crate) fn remove_folder_of(&self, job: &JobId) -> Result<(), EngineError> {
        let folder = self.home.job(job);
        if fs::symlink_metadata(&folder).is_err() {
            return Ok(());
        }
        remove(&folder, &self.home.jobs())
    }
}
