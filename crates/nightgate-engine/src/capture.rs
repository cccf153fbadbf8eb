//! Turns what lies in a folder or a commit into a candidate of the job. Reading the files is the host's.

use nightgate_core::evidence::{Capture, Note};
use nightgate_core::isolation::Enforcement;
use nightgate_core::job::JobState;
use nightgate_core::plan::Plan;
use nightgate_core::{CommitId, JobId};
use nightgate_host::candidate::{JobRepository, Signature};
use nightgate_host::capture::{CaptureError, CaptureRequest, FileSource, capture, capture_commit};
use nightgate_host::git::UserSettings;
use nightgate_host::process::Cancel;
use nightgate_host::repository::UserRepository;
use nightgate_host::walk::Limits;

use crate::Engine;
use crate::agent::Attempt;
use crate::error::EngineError;
use crate::freeze::Base;
use crate::home::{JobFolder, make_folder};
use crate::program::stop_enforcement;
use crate::room::note_once;
use crate::verify::Captured;

impl Engine {
    /// Captures the job's workspace. The attempt's last process must be gone. `cancel` ends the capture, which is then an
    /// interruption.
    pub(crate) fn capture_workspace(
        &self,
        state: &JobState,
        plan: &Plan,
        base: &Base,
        cancel: Option<&Cancel>,
    ) -> Result<Captured, EngineError> {
        let folder = JobFolder::new(self.home.job(&state.id));
        let author = state.agent.clone().unwrap_or_else(|| "agent".to_owned());
        self.capture_files(state, plan, base, &folder.workspace(), FileSource::Workspace, author, cancel)
    }

    /// Captures the user's own working tree.
    pub(crate) fn capture_worktree(
        &self,
        state: &JobState,
        plan: &Plan,
        user: &UserRepository,
        base: &Base,
    ) -> Result<Captured, EngineError> {
        let Some(top) = user.top() else {
            return Err(EngineError::environment(
                "capture the working tree",
                "the repository has none: name a commit with --commit",
            ));
        };
        let settings = self.user_settings()?;
        let source = FileSource::Worktree { user, settings: &settings };
        let cancel = Some(&self.around.cancel);
        self.capture_files(state, plan, base, top, source, "worktree".to_owned(), cancel)
    }

    #[expect(clippy::too_many_arguments, reason = "the one place where files are captured")]
    fn capture_files(
        &self,
        state: &JobState,
        plan: &Plan,
        base: &Base,
        root: &std::path::Path,
        source: FileSource<'_>,
        author: String,
        cancel: Option<&Cancel>,
    ) -> Result<Captured, EngineError> {
        let job = self.job_repository(&state.id, base)?;
        // Of the log and not of the clock: capturing again after a crash gives the same commit.
        let time = i64::try_from(state.changed_ms / 1000).unwrap_or(i64::MAX);
        let author = Signature { email: "agent@nightgate.invalid".to_owned(), name: author, time };
        let request = CaptureRequest {
            root,
            source,
            base: &base.commit,
            base_listing: &base.listing,
            criteria: &plan.content().terms.criteria_paths,
            limits: Limits::default(),
            cancel,
            job: &job,
            author: &author,
            message: &format!("nightgate candidate of job {}\n", state.id),
        };
        let facts = capture(&request).map_err(failed)?;
        self.captured(facts, job)
    }

    /// Takes a commit of the user's repository as the candidate, as it is.
    pub(crate) fn capture_commit(
        &self,
        job: &JobId,
        plan: &Plan,
        user: &UserRepository,
        base: &Base,
        commit: &CommitId,
    ) -> Result<Captured, EngineError> {
        let repository = self.job_repository(job, base)?;
        repository
            .adopt(user, commit, &base.commit)
            .map_err(|fault| EngineError::environment("bring the commit in", fault))?;
        let criteria = &plan.content().terms.criteria_paths;
        let facts =
            capture_commit(&repository, &base.commit, &base.listing, commit, criteria).map_err(failed)?;
        self.captured(facts, repository)
    }

    /// The capture of a job whose verification was interrupted, from what was kept of it.
    pub(crate) fn recaptured(
        &self,
        state: &JobState,
        user: &UserRepository,
        base: &Base,
    ) -> Result<Captured, EngineError> {
        let doing = || format!("go on with job {}", state.id);
        let Some(facts) = self.capture_of(state)? else {
            return Err(EngineError::environment(doing(), "nothing was captured"));
        };
        let repository = self.job_repository(&state.id, base)?;
        if let Some(candidate) = &facts.candidate {
            repository
                .adopt(user, candidate, &base.commit)
                .map_err(|fault| EngineError::environment(doing(), fault))?;
        }
        let mut captured = self.captured(facts, repository)?;
        captured.enforcements = self.enforcements_of(state)?;
        Ok(captured)
    }

    fn captured(&self, facts: Capture, job: JobRepository) -> Result<Captured, EngineError> {
        let repository = job.repository().clone();
        let listing = match &facts.tree {
            Some(tree) => Some(
                repository
                    .listing(tree)
                    .map_err(|fault| EngineError::environment("read the candidate", fault))?,
            ),
            None => None,
        };
        Ok(Captured { facts, listing, repository, enforcements: Vec::new() })
    }

    /// A fresh repository of the job's own, at a name that nobody could know before: what an agent laid into the job's
    /// folder is never taken for it. It goes with the folder.
    fn job_repository(&self, job: &JobId, base: &Base) -> Result<JobRepository, EngineError> {
        let folder = JobFolder::new(self.home.job(job));
        make_folder(folder.root())?;
        let place = tempfile::Builder::new()
            .prefix("candidate-")
            .tempdir_in(folder.root())
            .map_err(|source| EngineError::file("make a folder in", folder.root(), source))?
            .keep();
        JobRepository::create(&base.store, &place.join("candidate.git"))
            .map_err(|fault| EngineError::environment("make the job's repository", fault))
    }

    fn user_settings(&self) -> Result<UserSettings, EngineError> {
        crate::read_user_settings(self.git()?, &self.around.inherited)
            .map_err(|fault| EngineError::environment("read your git configuration", fault))
    }
}

/// Adds what is known of the attempt's process to its capture.
pub(crate) fn note_attempt(captured: &mut Captured, attempt: &Attempt) {
    let stop = &attempt.ended.stop;
    note_once(&mut captured.enforcements, &stop_enforcement("stop.agent", stop));
    captured.enforcements.extend(attempt.enforcements.iter().cloned());
    let withheld = match attempt.withheld.len() {
        0 => "built from an allow-list".to_owned(),
        _ => format!("built from an allow-list; withheld: {}", attempt.withheld.join(", ")),
    };
    captured.enforcements.push(Enforcement {
        capability: "environment.agent".to_owned(),
        wanted: "built from an allow-list".to_owned(),
        got: withheld,
        enforced: true,
        error: None,
    });
    if stop.survivors > 0 {
        let names = stop.survivor_names.join(", ");
        captured.facts.notes.push(Note {
            code: "survivors".to_owned(),
            path: None,
            text: format!("{} processes outlived the agent and were ended: {names}", stop.survivors),
        });
    }
}

fn failed(fault: CaptureError) -> EngineError {
    match fault {
        CaptureError::Cancelled => EngineError::Interrupted { next: String::new() },
        fault @ (CaptureError::Root { .. } | CaptureError::Repository(_)) => {
            EngineError::environment("capture what was left", fault)
        }
    }
}
