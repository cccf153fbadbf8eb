//! Picks up what a dead process left: captures, writes down what happened, removes folders. Called before each write.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nightgate_core::JobId;
use nightgate_core::event::{EventBody, JobKind};
use nightgate_core::execution::Execution;
use nightgate_core::job::{JobState, Phase};
use nightgate_host::lock::FileLock;
use nightgate_store::StoreError;

use crate::Engine;
use crate::error::EngineError;
use crate::home::{AWAY, JobFolder};
use crate::journal::Journal;
use crate::room::remove;
use crate::step::{Observer, Step};

/// How long a dead job's processes may take to end, before the job is left for later.
const KEEPER_LIMIT: Duration = Duration::from_secs(30);

impl Engine {
    /// Brings every job whose process died to a state that is true: its processes are gone, its work is captured and kept
    /// at a ref, its folders are removed. An agent that was running is never continued. A job that can't be brought there
    /// now stays as it is, for the next command, and stops no other job.
    pub fn recover(&self, observer: &mut dyn Observer) -> Result<(), EngineError> {
        for state in self.store.jobs()?.into_iter().flatten() {
            if state.phase.is_ended() || matches!(state.phase, Phase::Waiting { .. }) {
                continue;
            }
            // What went wrong stays visible: the job is still shown as interrupted.
            let _left_for_later = self.recover_job(&state, observer);
        }
        self.remove_strays()
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
        self.remove_job_folder(job)?;
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

    /// Removes folders that belong to no job: of a freeze, or of a process that died before its job's first event.
    fn remove_strays(&self) -> Result<(), EngineError> {
        let (jobs, rooms) = (self.home.jobs(), self.home.rooms());
        for above in [&jobs, &rooms] {
            let entries = fs::read_dir(above).map_err(|source| EngineError::file("read", above, source))?;
            for entry in entries {
                let entry = entry.map_err(|source| EngineError::file("read", above, source))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                // A room is named for its job and a suffix, what was moved away for its job and a prefix.
                let named = name.strip_prefix(AWAY).unwrap_or(&name);
                let Some(job) = named.get(..10).and_then(|name| name.parse::<JobId>().ok()) else { continue };
                let Some(_lock) = self.try_lock(&job)? else { continue };
                let ended = match self.store.state(&job) {
                    Ok(state) => {
                        state.phase.is_ended()
                            || matches!(state.phase, Phase::Waiting { .. } | Phase::Verifying)
                    }
                    Err(StoreError::NoSuchJob(_)) => true,
                    Err(_) => false,
                };
                if ended && FileLock::try_take(&self.home.keeper_lock(&job)).is_ok_and(|lock| lock.is_some())
                {
                    // One that resists stops no other job.
                    let _left_for_later = match entry.path() == self.home.job(&job) {
                        true => self.remove_job_folder(&job),
                        false => remove(&entry.path(), above),
                    };
                }
            }
        }
        Ok(())
    }

    pub(crate) fn try_lock(&self, job: &JobId) -> Result<Option<FileLock>, EngineError> {
        let path = self.home.lock(job);
        FileLock::try_take(&path).map_err(|source| EngineError::file("lock", &path, source))
    }

    pub(crate) fn remove_job_folder(&self, job: &JobId) -> Result<(), EngineError> {
        let folder = self.home.job(job);
        if fs::symlink_metadata(&folder).is_err() {
            return Ok(());
        }
        match self.store.state(job) {
            // The only copy of what could not be captured: where it can't be kept elsewhere, it stays.
            Ok(state) => {
                if let Some(capture) = self.capture_of(&state)? {
                    self.keep_workspace(job, &capture)?;
                }
            }
            Err(StoreError::NoSuchJob(_)) => {}
            Err(fault) => return Err(fault.into()),
        }
        remove(&folder, &self.home.jobs())
    }
}
