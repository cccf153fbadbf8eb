//! Gathers the evidence on a candidate, judges it and keeps the record; with or without a job that made it.

use std::os::unix::ffi::OsStrExt as _;

use nightgate_core::declaration::Terms;
use nightgate_core::event::{EventBody, JobKind};
use nightgate_core::evidence::{Capture, Evidence, Isolation};
use nightgate_core::isolation::Enforcement;
use nightgate_core::job::JobState;
use nightgate_core::judge::is_vetoed;
use nightgate_core::plan::{Plan, PlanError};
use nightgate_core::record::{FrozenAt, Record};
use nightgate_core::tree::Listing;
use nightgate_core::{CommitId, Digest, JobId};
use nightgate_host::repository::{BaselineError, Repository, UserRepository};
use serde::Serialize;

use crate::error::EngineError;
use crate::freeze::{Base, BaseChecks};
use crate::home::{JobFolder, make_folder};
use crate::journal::Journal;
use crate::program::Programs;
use crate::project::{settle, short};
use crate::request::{PlanText, StoredRequest, Subject, VerifyRequest};
use crate::room::{RoomFacts, RoomRequest, Side};
use crate::step::{Observer, Step};
use crate::{Engine, Report};

/// A capture together with where its objects are.
pub(crate) struct Captured {
    pub(crate) facts: Capture,
    /// The candidate's whole listing; `None` where no candidate could be made.
    pub(crate) listing: Option<Listing>,
    /// Holds base and candidate.
    pub(crate) repository: Repository,
    /// What was enforced while the attempt ran.
    pub(crate) enforcements: Vec<Enforcement>,
}

impl Engine {
    /// Judges a commit or a working tree by a plan, without running an agent.
    pub fn verify(
        &self,
        request: &VerifyRequest,
        observer: &mut dyn Observer,
    ) -> Result<Report, EngineError> {
        self.recover(observer)?;
        let user = self.discover(&request.repository)?;
        let (given, base) = self.plan_given(&user, request)?;
        let subject = match &request.subject {
            Subject::Commit(revision) => Some(self.resolve(&user, revision)?),
            Subject::Worktree => None,
        };
        let title = match &subject {
            Some(commit) => format!("verify {}", short(commit)),
            None => "verify the working tree".to_owned(),
        };
        let stored = StoredRequest {
            schema_version: 1,
            repository: request.repository.as_os_str().as_bytes().to_vec(),
            base_time: self.commit_time(&user, &base)?,
            base,
            task: None,
            task_source: None,
            agent: None,
            declaration: match &request.plan {
                PlanText::Declared { text, .. } => Some(text.clone()),
                PlanText::Frozen { .. } => None,
            },
        };
        let mut journal = self.begin(JobKind::Verify, &user, title, &stored)?;
        observer.step(&Step::Started(journal.job().clone()));
        let base_checks = if request.base_checks { BaseChecks::All } else { BaseChecks::MustFail };
        let worked =
            self.verify_job(&mut journal, &user, given, &stored, subject.as_ref(), base_checks, observer);
        self.conclude(journal, worked)
    }

    /// The plan, or the terms to freeze one from, and the base.
    fn plan_given(
        &self,
        user: &UserRepository,
        request: &VerifyRequest,
    ) -> Result<(Given, CommitId), EngineError> {
        match &request.plan {
            PlanText::Frozen { bytes, digest } => {
                let found = Digest::of(bytes);
                if let Some(wanted) = digest.filter(|wanted| *wanted != found) {
                    return Err(EngineError::PlanChanged { found, wanted });
                }
                let plan = Plan::from_bytes(bytes.clone())?;
                if digest.is_none() && self.approval_of_plan(&plan)?.is_none() {
                    return Err(EngineError::NotApproved {
                        what: "the plan".to_owned(),
                        digest: plan.digest(),
                        how: "FILE` or give `--digest".to_owned(),
                    });
                }
                let base = plan.content().base.clone();
                compare_with_base(&plan, user.repository())?;
                Ok((Given::Plan(Box::new(plan)), base))
            }
            PlanText::Declared { text, base } => {
                let (terms, declared) = settle(text, None)?;
                let Some(revision) = base.as_deref().or(declared.as_deref()) else {
                    return Err(EngineError::environment(
                        format!("verify by {}", text.origin),
                        "it names no base: give --base, the commit that the work started from",
                    ));
                };
                Ok((Given::Terms(Box::new(terms)), self.resolve(user, revision)?))
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is another part of the request, resolved")]
    fn verify_job(
        &self,
        journal: &mut Journal<'_>,
        user: &UserRepository,
        given: Given,
        stored: &StoredRequest,
        subject: Option<&CommitId>,
        base_checks: BaseChecks,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        let base = self.import_base(user, &stored.base, observer)?;
        let job = journal.job().clone();
        let (plan, frozen_at) = match (given, &stored.declaration) {
            (Given::Terms(terms), Some(text)) => {
                let frozen = self.freeze_terms(&job, *terms, text.source(), &base, base_checks, observer)?;
                (frozen.plan, FrozenAt::Verify)
            }
            (Given::Plan(plan), _) => {
                self.blobs
                    .put(plan.bytes())
                    .map_err(|fault| EngineError::environment("keep the plan", fault))?;
                (*plan, FrozenAt::Freeze)
            }
            (Given::Terms(_), None) => {
                return Err(EngineError::environment("freeze the plan", "the request holds no declaration"));
            }
        };
        journal.write(EventBody::Frozen { plan: plan.digest(), base: base.commit.clone() })?;
        observer.step(&Step::Capturing);
        let captured = match subject {
            Some(commit) => self.capture_commit(&job, &plan, user, &base, commit)?,
            None => self.capture_worktree(journal.state(), &plan, user, &base)?,
        };
        self.keep_capture(journal, user, &base, &captured)?;
        self.judge(journal, &plan, frozen_at, &base, captured, observer)
    }

    /// Runs the checks, judges, keeps the record and writes the `judged` event. The verdict leaves this function only
    /// with its record on the disk.
    pub(crate) fn judge(
        &self,
        journal: &mut Journal<'_>,
        plan: &Plan,
        frozen_at: FrozenAt,
        base: &Base,
        captured: Captured,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        let evidence = self.gather(journal.job(), plan, base, captured, observer)?;
        observer.step(&Step::Judging);
        let state = journal.state();
        let record =
            Record::judge(state.id.clone(), state.kind, frozen_at, plan, state.execution.clone(), evidence);
        let bytes = record.to_bytes();
        let digest =
            self.blobs.put(&bytes).map_err(|fault| EngineError::environment("keep the record", fault))?;
        let verdict = record.verdict();
        journal.write(EventBody::Judged {
            record: digest,
            verdict: verdict.word(),
            reasons: verdict.reasons(),
        })?;
        Ok(())
    }

    fn gather(
        &self,
        job: &JobId,
        plan: &Plan,
        base: &Base,
        captured: Captured,
        observer: &mut dyn Observer,
    ) -> Result<Evidence, EngineError> {
        let folder = JobFolder::new(self.home.job(job));
        make_folder(&folder.logs())?;
        let versions = self.version_files(base, &folder)?;
        let programs = Programs::find(self, &plan.content().terms, &versions);
        let mut evidence = Evidence {
            schema_version: 1,
            plan: plan.digest(),
            capture: captured.facts,
            isolation: Isolation { level: self.level(job)?, capabilities: captured.enforcements },
            checks: Vec::new(),
            room: None,
            changed_tools: programs.changed_since(&plan.content().tools),
            faults: Vec::new(),
        };
        if let (Some(tree), Some(listing)) = (evidence.capture.tree.clone(), &captured.listing)
            && !is_vetoed(plan, &evidence)
        {
            let request = RoomRequest {
                job,
                repository: &captured.repository,
                terms: &plan.content().terms,
                programs: &programs,
                checks: plan.content().terms.commands.iter().collect(),
                base: Side { tree: &base.tree, listing: &base.listing },
                candidate: Side { tree: &tree, listing },
                logs: folder.logs(),
                log_prefix: "candidate",
            };
            let facts = self.run_in_rooms(&request, observer)?;
            add_room(&mut evidence, facts);
        }
        self.check_stored_plan(plan, &mut evidence);
        Ok(evidence)
    }

    /// The plan is asked for again at the end: its stored bytes must still be those that were judged by.
    fn check_stored_plan(&self, plan: &Plan, evidence: &mut Evidence) {
        match self.blobs.get(&plan.digest()) {
            Ok(bytes) => evidence.plan = Digest::of(&bytes),
            Err(fault) => evidence.faults.push(format!("the stored plan can't be read: {fault}")),
        }
    }

    /// Keeps a value as JSON, by digest.
    pub(crate) fn keep_json(&self, value: &impl Serialize) -> Result<Digest, EngineError> {
        let doing = || "keep what was found".to_owned();
        let bytes = serde_json::to_vec(value).map_err(|fault| EngineError::environment(doing(), fault))?;
        self.blobs.put(&bytes).map_err(|fault| EngineError::environment(doing(), fault))
    }

    /// A new job with its first event.
    pub(crate) fn begin(
        &self,
        kind: JobKind,
        user: &UserRepository,
        title: String,
        stored: &StoredRequest,
    ) -> Result<Journal<'_>, EngineError> {
        let project = user
            .project_id()
            .map_err(|fault| EngineError::environment("name the project of this repository", fault))?;
        let repository = user.top().unwrap_or_else(|| user.git_dir()).display().to_string();
        let request = self.keep_json(stored)?;
        let job = self.new_job_id()?;
        let created = EventBody::Created { kind, project, repository, title, request };
        Journal::begin(self, &job, created)
    }

    pub(crate) fn report(&self, state: JobState) -> Result<Report, EngineError> {
        let plan = if state.plan.is_some() { Some(self.plan_of(&state)?) } else { None };
        let record = self.record_of(&state)?;
        let StoredRequest { base, base_time, .. } = self.stored_request(&state)?;
        let runs = record.as_ref().map_or(&[][..], |record| &record.evidence().checks);
        let tails =
            runs.iter().map(|run| (run.name.clone(), self.last_lines(&run.stdout, &run.stderr))).collect();
        Ok(Report { state, plan, record, requested_base: base, base_time, tails })
    }
}

/// A plan's word about its base is only as good as whoever wrote it; the base itself is asked.
fn compare_with_base(plan: &Plan, repository: &Repository) -> Result<(), EngineError> {
    let content = plan.content();
    let doing = || "compare the plan with its base".to_owned();
    let not_of_base = |what: String| Err(EngineError::Plan(PlanError::NotOfBase(what)));
    let tree = repository.tree(&content.base).map_err(|fault| EngineError::environment(doing(), fault))?;
    if tree != content.base_tree {
        return not_of_base(format!("that has the tree {tree}, and `baseTree` is {}", content.base_tree));
    }
    match repository.criteria_baseline(&content.base, &content.terms.criteria_paths) {
        Ok(criteria) if criteria == content.criteria => Ok(()),
        Ok(criteria) => {
            let differs = content.criteria.iter().find(|entry| !criteria.contains(entry));
            let differs = differs.or_else(|| criteria.iter().find(|entry| !content.criteria.contains(entry)));
            let path = differs.map_or_else(String::new, |entry| format!(", {} the first", entry.path));
            not_of_base(format!("its criteria are not as `criteria` says{path}"))
        }
        Err(BaselineError::Uncommitted(uncommitted)) => not_of_base(uncommitted.to_string()),
        Err(BaselineError::Repository(fault)) => Err(EngineError::environment(doing(), fault)),
    }
}

enum Given {
    Plan(Box<Plan>),
    Terms(Box<Terms>),
}

fn add_room(evidence: &mut Evidence, facts: RoomFacts) {
    evidence.checks = facts.checks;
    evidence.room = Some(facts.room);
    evidence.faults.extend(facts.faults);
    evidence.isolation.capabilities.extend(facts.enforcements);
    let got = match facts.withheld.len() {
        0 => "built from an allow-list".to_owned(),
        _ => format!("built from an allow-list; withheld: {}", facts.withheld.join(", ")),
    };
    evidence.isolation.capabilities.push(Enforcement {
        capability: "environment.checks".to_owned(),
        wanted: "built from an allow-list".to_owned(),
        got,
        enforced: true,
        error: None,
    });
}
