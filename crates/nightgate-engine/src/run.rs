//! One job from a request to a verdict: freeze, approve, workspace, attempt, capture, judge. Each step is an event first.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use nightgate_core::event::{EventBody, JobKind};
use nightgate_core::evidence::{CaptureSource, Note};
use nightgate_core::execution::Execution;
use nightgate_core::job::{JobState, Phase};
use nightgate_core::plan::{DeclarationKind, Plan};
use nightgate_core::record::FrozenAt;
use nightgate_core::{CommitId, JobId};
use nightgate_host::log::{Limits, LogFiles};
use nightgate_host::process::Logs;
use nightgate_host::repository::UserRepository;
use nightgate_host::workspace::Workspace;

use crate::agent::{Agent, AgentRun, Attempt};
use crate::approval::Ask;
use crate::capture::note_attempt;
use crate::error::EngineError;
use crate::freeze::{Base, BaseChecks};
use crate::home::{AGENT_LOG, JobFolder, make_folder};
use crate::journal::Journal;
use crate::program::{Programs, survivors_of};
use crate::project::{choose_agent, project_declaration, settle, short};
use crate::read::CaptureFile;
use crate::request::{RunRequest, StoredRequest};
use crate::step::{Observer, Step};
use crate::verify::Captured;
use crate::{Engine, Report};

/// How the names of folders begin that hold what of an attempt resisted its removal.
pub(crate) const LEFT: &str = ".left-";

/// The branch that an agent finds itself on.
const BRANCH: &str = "work";

impl Engine {
    /// Runs one job in the foreground. Returns how it stands: ended, or waiting for a person's approval.
    ///
    /// An error means that there is no job, or that the job says by itself why it stopped.
    pub fn run(
        &self,
        request: &RunRequest,
        ask: Ask<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Report, EngineError> {
        self.recover(observer)?;
        let user = self.discover(&request.repository)?;
        let (text, base) = self.declaration_for(request, &user)?;
        let task = request.task.as_deref().map(|task| (task, request.task_source.as_str()));
        let (terms, _) = settle(&text, task)?;
        let Some(ticket) = &terms.ticket else {
            return Err(EngineError::environment("start a job", "there is no task: say what is to be done"));
        };
        let agent = choose_agent(&request.agent, &text, &request.user_agents)?;
        self.find_agent(&agent)?;
        let title = title_of(&ticket.text);
        let stored = StoredRequest {
            schema_version: 1,
            repository: request.repository.as_os_str().as_bytes().to_vec(),
            base_time: self.commit_time(&user, &base)?,
            base,
            task: request.task.clone(),
            task_source: Some(request.task_source.clone()),
            agent: Some(agent),
            declaration: Some(text),
        };
        let mut journal = self.begin(JobKind::Run, &user, title, &stored)?;
        observer.step(&Step::Started(journal.job().clone()));
        let worked = self.drive(&mut journal, &user, &stored, ask, observer);
        self.conclude(journal, worked)
    }

    /// Goes on with a job that waited for an approval, or whose verification was interrupted.
    pub fn resume(
        &self,
        job: &JobId,
        ask: Ask<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Report, EngineError> {
        let left = self.recover_all(observer)?;
        if let Some((_, fault)) = left.into_iter().find(|(left, _)| left == job) {
            return Err(unfinished(fault, &self.store.state(job)?));
        }
        let doing = || format!("go on with job {job}");
        let state = self.store.state(job)?;
        if state.phase.is_ended() {
            return Err(EngineError::environment(doing(), format!("it has ended: {}", state.phase.word())));
        }
        let Some(mut journal) = Journal::take_over(self, job)? else {
            return Err(EngineError::environment(doing(), "another process is working on it"));
        };
        let stored = self.stored_request(journal.state())?;
        let folder = PathBuf::from(std::ffi::OsString::from_vec(stored.repository.clone()));
        let user = self.discover(&folder)?;
        let worked = self.drive(&mut journal, &user, &stored, ask, observer);
        self.conclude(journal, worked)
    }

    /// The declaration that counts, and the base.
    fn declaration_for(
        &self,
        request: &RunRequest,
        user: &UserRepository,
    ) -> Result<(crate::DeclarationText, CommitId), EngineError> {
        match &request.declaration {
            Some(text) => {
                let refuse = |source| EngineError::Declaration { origin: text.origin.clone(), source };
                let declared = text.read().map_err(refuse)?.base;
                let revision = request.base.as_deref().or(declared.as_deref()).unwrap_or("HEAD");
                Ok((text.clone(), self.resolve(user, revision)?))
            }
            None => {
                let base = self.resolve(user, request.base.as_deref().unwrap_or("HEAD"))?;
                Ok((project_declaration(user, &base)?, base))
            }
        }
    }

    /// Does what is next for the job, until it ends or waits.
    fn drive(
        &self,
        journal: &mut Journal<'_>,
        user: &UserRepository,
        stored: &StoredRequest,
        ask: Ask<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        let base = self.import_base(user, &stored.base, observer)?;
        if journal.state().phase == Phase::Verifying {
            let plan = self.plan_of(journal.state())?;
            // What a dead process left of the attempt is out of reach before a check runs.
            self.remove_job_folder(journal.state())?;
            let captured = self.recaptured(journal.state(), user, &base)?;
            return self.judge(journal, &plan, FrozenAt::Freeze, &base, captured, observer);
        }
        let (Some(text), Some(agent)) = (&stored.declaration, &stored.agent) else {
            return Err(EngineError::environment("start the agent", "the job's request names none"));
        };
        let Some(approved_by) = self.approval_of(text, ask)? else {
            let of = match text.kind {
                DeclarationKind::Project | DeclarationKind::Uncommitted => text.origin.clone(),
                DeclarationKind::File => format!("the declaration {}", text.origin),
            };
            if !matches!(journal.state().phase, Phase::Waiting { .. }) {
                journal.write(EventBody::AwaitedApproval { digest: text.digest(), of })?;
            }
            return Ok(());
        };
        let task = stored.task.as_deref().map(|task| (task, stored.task_source.as_deref().unwrap_or("cli")));
        let (terms, _) = settle(text, task)?;
        let job = journal.job().clone();
        // What a person demands protects them from the agent, not only from its result.
        let (minimum, reached) = (terms.isolation, self.level(&job)?);
        if minimum.declared && reached < minimum.minimum {
            return Err(EngineError::Degraded { reached, minimum: minimum.minimum });
        }
        let frozen = self.freeze_terms(&job, terms, text.source(), &base, BaseChecks::All, observer)?;
        let (plan, programs) = (frozen.plan, frozen.programs);
        journal.write(EventBody::Frozen { plan: plan.digest(), base: base.commit.clone() })?;
        journal.write(EventBody::Authorized { plan: plan.digest(), approved_by })?;
        let attempt = self.attempt(journal, &plan, agent, &programs, &base, observer)?;
        let captured = self.capture_attempt(journal, &plan, user, &base, attempt.as_ref(), observer)?;
        if !attempt.is_some_and(|attempt| attempt.execution.is_executed()) {
            return Ok(());
        }
        self.judge(journal, &plan, FrozenAt::Freeze, &base, captured, observer)
    }

    /// One pass of the agent in a fresh workspace; `None` where its process could not be started at all.
    fn attempt(
        &self,
        journal: &mut Journal<'_>,
        plan: &Plan,
        agent: &Agent,
        programs: &Programs,
        base: &Base,
        observer: &mut dyn Observer,
    ) -> Result<Option<Attempt>, EngineError> {
        observer.step(&Step::Workspace);
        let folder = JobFolder::new(self.home.job(journal.job()));
        make_folder(&folder.logs())?;
        let terms = &plan.content().terms;
        Workspace::create(&base.store, &folder.workspace(), &base.commit, BRANCH)
            .map_err(|fault| EngineError::environment("lay out the workspace", fault))?;
        let number = journal.state().attempts + 1;
        journal.write(EventBody::AttemptStarted { attempt: number, agent: agent.name.clone() })?;
        let prompt = terms.ticket.as_ref().map(|ticket| ticket.text.as_str()).unwrap_or_default();
        let hold = self.home.keeper_lock(journal.job());
        let (job, lender) = (journal.job().clone(), base.store.repository().git_dir().to_owned());
        let run = AgentRun { agent, terms, prompt, programs, folder: &folder, hold, job: &job, lender };
        let attempt = match self.run_agent(run, observer) {
            Ok(attempt) => attempt,
            // Nothing was started, and the log says so; there is nothing to capture but an untouched workspace.
            Err(fault) => {
                let execution = Execution::NotStarted { text: fault.to_string() };
                journal.write(EventBody::AttemptEnded {
                    attempt: number,
                    execution,
                    stdout: None,
                    stderr: None,
                })?;
                return Ok(None);
            }
        };
        self.regain_job_folder(journal.job())?;
        let mut faults = Vec::new();
        let stdout = self.keep_stream(&attempt.ended.stdout, &mut faults).log;
        let stderr = self.keep_stream(&attempt.ended.stderr, &mut faults).log;
        let execution = attempt.execution.clone();
        journal.write(EventBody::AttemptEnded { attempt: number, execution, stdout, stderr })?;
        Ok(Some(attempt))
    }

    /// Captures what an attempt left and keeps it at a ref of the user's repository. `attempt` is absent after a crash.
    pub(crate) fn capture_attempt(
        &self,
        journal: &mut Journal<'_>,
        plan: &Plan,
        user: &UserRepository,
        base: &Base,
        attempt: Option<&Attempt>,
        observer: &mut dyn Observer,
    ) -> Result<Captured, EngineError> {
        observer.step(&Step::Capturing);
        self.regain_job_folder(journal.job())?;
        // The interruption that ended the agent doesn't end the capture of its work too.
        let was_interrupted = attempt.is_some_and(|attempt| attempt.execution == Execution::Cancelled);
        let cancel = (!was_interrupted).then_some(&self.around.cancel);
        let mut captured = self.capture_workspace(journal.state(), plan, base, cancel)?;
        if let Some(attempt) = attempt {
            captured.facts.survivors = Some(survivors_of(&attempt.ended.stop));
            note_attempt(&mut captured, attempt);
        }
        let kept = (!captured.facts.problems.is_empty()).then(|| self.home.free_place_in_kept(journal.job()));
        if let Some(kept) = &kept {
            let text =
                format!("it could not be captured whole: what is left of it lies at {}", kept.display());
            captured.facts.notes.push(Note { code: "workspace_kept".to_owned(), path: None, text });
        }
        self.keep_capture(journal, user, base, &captured)?;
        self.put_away(journal.job(), kept.as_deref())?;
        Ok(captured)
    }

    /// Makes the job's folder usable again, whatever the agent did to it: what stands in its place is moved away, and the
    /// rights of its owner are given back.
    pub(crate) fn regain_job_folder(&self, job: &JobId) -> Result<(), EngineError> {
        let folder = self.home.job(job);
        if folder.symlink_metadata().is_ok_and(|status| !status.is_dir()) {
            make_folder(&self.home.kept())?;
            let kept = self.home.free_place_in_kept(job);
            std::fs::rename(&folder, &kept)
                .map_err(|source| EngineError::file("move away what stands at", &folder, source))?;
        }
        make_folder(&folder)?;
        nightgate_host::walk::regain(&folder).map_err(|source| EngineError::file("open", &folder, source))
    }

    /// Takes what the attempt left out of reach, before a check runs: the candidate must not borrow from it, by a link or by
    /// a path that it wrote down. A workspace that was not captured whole may hold the only copy of work and goes to `kept`.
    fn put_away(&self, job: &JobId, kept: Option<&Path>) -> Result<(), EngineError> {
        let folder = JobFolder::new(self.home.job(job));
        if let Some(kept) = kept {
            self.keep_workspace(&folder, kept)?;
        }
        // Whatever resists is moved away with the rest.
        for left in [folder.workspace(), folder.agent_home(), folder.agent_tmp()] {
            if left.symlink_metadata().is_ok() && crate::room::remove(&left, folder.root()).is_err() {
                let jobs = self.home.jobs();
                let away = tempfile::Builder::new()
                    .prefix(&format!("{LEFT}{job}-"))
                    .tempdir_in(&jobs)
                    .map_err(|source| EngineError::file("make a folder in", &jobs, source))?
                    .keep();
                let name = left.file_name().unwrap_or_default();
                std::fs::rename(&left, away.join(name))
                    .map_err(|source| EngineError::file("move away", &left, source))?;
            }
        }
        Ok(())
    }

    /// Moves the workspace to `kept`; where that is no folder any more, all that lies beside it too, as the work may be there.
    pub(crate) fn keep_workspace(&self, folder: &JobFolder, kept: &Path) -> Result<(), EngineError> {
        make_folder(&self.home.kept())?;
        let workspace = folder.workspace();
        let is_folder = workspace.symlink_metadata().is_ok_and(|status| status.is_dir());
        if is_folder && std::fs::rename(&workspace, kept).is_ok() {
            return Ok(());
        }
        std::fs::rename(folder.root(), kept)
            .map_err(|source| EngineError::file("keep what is left as", kept, source))
    }

    /// Publishes the candidate and writes the `captured` event.
    pub(crate) fn keep_capture(
        &self,
        journal: &mut Journal<'_>,
        user: &UserRepository,
        base: &Base,
        captured: &Captured,
    ) -> Result<(), EngineError> {
        let name = format!("refs/nightgate/{}/candidate", journal.job());
        let reference = match &captured.facts.candidate {
            // A commit that the caller named is in the user's repository already.
            Some(_) if captured.facts.source == CaptureSource::Commit => None,
            Some(candidate) => {
                user.publish(&captured.repository, candidate, &base.commit, &name, None)
                    .map_err(|fault| EngineError::environment(format!("keep the work at {name}"), fault))?;
                Some(name)
            }
            None => None,
        };
        let capture = self.keep_json(&CaptureFile {
            capture: captured.facts.clone(),
            enforcements: captured.enforcements.clone(),
        })?;
        let candidate = captured.facts.candidate.clone();
        journal.write(EventBody::Captured { candidate, reference, capture })?;
        Ok(())
    }

    /// Ends a piece of work on a job: what stopped it is written down, its folders are removed where nothing in them is
    /// the only copy, and the job is given back.
    pub(crate) fn conclude(
        &self,
        mut journal: Journal<'_>,
        worked: Result<(), EngineError>,
    ) -> Result<Report, EngineError> {
        let job = journal.job().clone();
        if let Err(fault) = worked {
            self.write_stop(&mut journal, &fault)?;
            if !holds_work(&journal.state().phase) {
                // What stopped the job is what has to be told.
                let _left_for_later = self.remove_job_folder(journal.state());
            }
            let state = journal.end()?;
            return Err(match (fault, &state.phase) {
                (EngineError::Interrupted { .. }, Phase::Verifying) => EngineError::Interrupted {
                    next: format!("; the work is kept, go on with: nightgate run --resume {job}"),
                },
                (EngineError::Interrupted { .. }, phase) if holds_work(phase) => EngineError::Interrupted {
                    next: format!(
                        "; the work of job {job} is where the agent left it, and the next command that writes captures it"
                    ),
                },
                (fault, _) => unfinished(fault, &state),
            });
        }
        let state = journal.end()?;
        // The answer is on the disk; a folder that resists is no reason to take it back. The next command tries again.
        let _left_for_later = self.remove_job_folder(&state);
        self.report(state)
    }

    /// Where a fault stops a job for good, its log says so. Work that may still be uncaptured, or that only waits for its
    /// verdict, is left for `recover` and `resume`.
    fn write_stop(&self, journal: &mut Journal<'_>, fault: &EngineError) -> Result<(), EngineError> {
        let body = match (&journal.state().phase, fault) {
            (Phase::Queued | Phase::Waiting { .. }, EngineError::Interrupted { .. }) => {
                EventBody::Cancelled { why: "interrupted before an agent started".to_owned() }
            }
            (Phase::Queued | Phase::Waiting { .. }, _) => EventBody::Stopped { why: fault.to_string() },
            (Phase::Running, _) if journal.state().attempts == 0 => {
                EventBody::Stopped { why: fault.to_string() }
            }
            (Phase::Verifying, _) if journal.state().kind == JobKind::Verify => {
                EventBody::Stopped { why: fault.to_string() }
            }
            _ => return Ok(()),
        };
        journal.write(body)?;
        Ok(())
    }
}

/// A fault that stopped a job, with the command that goes on where its work is kept and only lacks its verdict.
fn unfinished(fault: EngineError, state: &JobState) -> EngineError {
    let was_executed = state.execution.as_ref().is_some_and(Execution::is_executed);
    match state.phase {
        Phase::Capturing | Phase::Verifying if was_executed => {
            EngineError::Unfinished { fault: Box::new(fault), job: state.id.clone() }
        }
        _ => fault,
    }
}

/// True where a job's folders may hold work that is nowhere else.
pub(crate) fn holds_work(phase: &Phase) -> bool {
    matches!(phase, Phase::Running | Phase::Capturing)
}

/// The first line of a task, for lists.
pub(crate) fn title_of(task: &str) -> String {
    const LONGEST: usize = 100;
    let line = task.trim().lines().next().unwrap_or_default().trim();
    let shown: String = line.chars().filter(|character| !character.is_control()).take(LONGEST).collect();
    if shown.len() < line.len() { format!("{shown}...") } else { shown }
}

impl Engine {
    pub(crate) fn discover(&self, folder: &Path) -> Result<UserRepository, EngineError> {
        UserRepository::discover(self.git()?, folder)
            .map_err(|fault| EngineError::environment("find the repository", fault))
    }

    pub(crate) fn commit_time(&self, user: &UserRepository, commit: &CommitId) -> Result<i64, EngineError> {
        let time = user.repository().commit_time(commit);
        time.map_err(|fault| EngineError::environment(format!("read commit {}", short(commit)), fault))
    }

    pub(crate) fn resolve(&self, user: &UserRepository, revision: &str) -> Result<CommitId, EngineError> {
        user.resolve(revision)
            .map_err(|fault| EngineError::environment(format!("find commit `{revision}`"), fault))
    }
}

impl JobFolder {
    /// The log files of the agent.
    pub(crate) fn agent_logs(&self) -> (LogFiles, LogFiles) {
        let logs = Logs { folder: self.logs(), name: AGENT_LOG.to_owned(), limits: Limits::default() };
        (logs.stdout(), logs.stderr())
    }
}
