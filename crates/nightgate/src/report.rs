//! The JSON that `run`, `verify`, `show`, `list`, `logs` and `doctor` print. Its schema is described in `docs/json.md`.

use nightgate_core::event::JobKind;
use nightgate_core::evidence::{CheckRun, Exit, LeftOut, Note, Stream};
use nightgate_core::execution::Execution;
use nightgate_core::gate::{FailureClass, Finding, GateResult, Reason};
use nightgate_core::isolation::{Enforcement, IsolationLevel};
use nightgate_core::job::Phase;
use nightgate_core::record::FrozenAt;
use nightgate_core::verdict::{Verdict, VerdictWord};
use nightgate_core::{CommitId, Digest, JobId, RepoPath};
use nightgate_engine::{Ability, JobView, Report};
use serde::Serialize;

/// Version of the printed formats.
const VERSION: u64 = 1;

/// One job, as far as it has come. Absent facts are null, never left out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobDocument {
    schema_version: u64,
    job: Option<JobId>,
    kind: Option<JobKind>,
    state: Option<&'static str>,
    interrupted: bool,
    title: Option<String>,
    repository: Option<String>,
    created_ms: Option<u64>,
    changed_ms: Option<u64>,
    base: Option<CommitId>,
    base_time_ms: Option<i64>,
    plan: Option<Digest>,
    frozen_at: Option<FrozenAt>,
    agent: Option<String>,
    attempts: u32,
    execution: Option<Execution>,
    verdict: Option<VerdictWord>,
    class: Option<FailureClass>,
    reasons: Vec<ReasonDocument>,
    gates: Vec<GateResult>,
    checks: Vec<CheckDocument>,
    changes: Vec<ChangeDocument>,
    ignored: LeftOut,
    caches: LeftOut,
    notes: Vec<Note>,
    isolation: Option<IsolationDocument>,
    candidate: Option<CandidateDocument>,
    record: Option<Digest>,
    waiting_for: Option<WaitingDocument>,
    blocked: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReasonDocument {
    code: Reason,
    gate: String,
    path: Option<RepoPath>,
    text: String,
    evidence: Option<Digest>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckDocument {
    name: String,
    required: bool,
    passed: bool,
    exit: Exit,
    at_base: Option<Exit>,
    duration_ms: u64,
    stdout: Stream,
    stderr: Stream,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeDocument {
    path: RepoPath,
    change: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CandidateDocument {
    commit: CommitId,
    #[serde(rename = "ref")]
    reference: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct WaitingDocument {
    digest: Digest,
    of: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct IsolationDocument {
    level: IsolationLevel,
    capabilities: Vec<Enforcement>,
}

impl JobDocument {
    /// A job with its plan and record.
    pub fn of(
        report: &Report,
        interrupted: bool,
        capture: Option<&nightgate_core::evidence::Capture>,
    ) -> Self {
        let state = &report.state;
        let verdict = report.record.as_ref().map(nightgate_core::record::Record::verdict);
        let evidence = report.record.as_ref().map(nightgate_core::record::Record::evidence);
        let capture = evidence.map(|evidence| &evidence.capture).or(capture);
        let (waiting_for, blocked) = match &state.phase {
            Phase::Waiting { digest, of } => {
                (Some(WaitingDocument { digest: *digest, of: of.clone() }), None)
            }
            Phase::Blocked { why } => (None, Some(why.clone())),
            _ => (None, None),
        };
        Self {
            schema_version: VERSION,
            job: Some(state.id.clone()),
            kind: Some(state.kind),
            state: Some(state.phase.word()),
            interrupted,
            title: Some(state.title.clone()),
            repository: Some(state.repository.clone()),
            created_ms: Some(state.created_ms),
            changed_ms: Some(state.changed_ms),
            base: state.base.clone(),
            base_time_ms: Some(report.base_time.saturating_mul(1000)),
            plan: state.plan,
            frozen_at: report.record.as_ref().map(nightgate_core::record::Record::frozen_at),
            agent: state.agent.clone(),
            attempts: state.attempts,
            execution: state.execution.clone(),
            verdict: state.verdict,
            class: verdict.and_then(Verdict::class),
            reasons: verdict.map(reasons_of).unwrap_or_default(),
            gates: verdict.map(|verdict| verdict.gates().to_vec()).unwrap_or_default(),
            checks: evidence.map(|evidence| checks_of(report, &evidence.checks)).unwrap_or_default(),
            changes: capture.map(changes_of).unwrap_or_default(),
            ignored: capture.map(|capture| capture.ignored.clone()).unwrap_or_default(),
            caches: capture.map(|capture| capture.caches.clone()).unwrap_or_default(),
            notes: capture.map(|capture| capture.notes.clone()).unwrap_or_default(),
            isolation: evidence.map(|evidence| IsolationDocument {
                level: evidence.isolation.level,
                capabilities: evidence.isolation.capabilities.clone(),
            }),
            candidate: state
                .candidate
                .clone()
                .map(|commit| CandidateDocument { commit, reference: state.reference.clone() }),
            record: state.record,
            waiting_for,
            blocked,
        }
    }

    /// A verdict that was reached without a job.
    pub fn without_job(verdict: &Verdict) -> Self {
        Self {
            verdict: Some(verdict.word()),
            class: verdict.class(),
            reasons: reasons_of(verdict),
            gates: verdict.gates().to_vec(),
            ..Self::empty()
        }
    }

    /// An agent that could not be started, so that there was no job.
    pub fn without_agent(text: String) -> Self {
        Self { execution: Some(Execution::NotStarted { text }), ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            schema_version: VERSION,
            job: None,
            kind: None,
            state: None,
            interrupted: false,
            title: None,
            repository: None,
            created_ms: None,
            changed_ms: None,
            base: None,
            base_time_ms: None,
            plan: None,
            frozen_at: None,
            agent: None,
            attempts: 0,
            execution: None,
            verdict: None,
            class: None,
            reasons: Vec::new(),
            gates: Vec::new(),
            checks: Vec::new(),
            changes: Vec::new(),
            ignored: LeftOut::default(),
            caches: LeftOut::default(),
            notes: Vec::new(),
            isolation: None,
            candidate: None,
            record: None,
            waiting_for: None,
            blocked: None,
        }
    }
}

fn reasons_of(verdict: &Verdict) -> Vec<ReasonDocument> {
    let document = |(gate, finding): (&nightgate_core::gate::Gate, &Finding)| ReasonDocument {
        code: finding.code,
        gate: gate.to_string(),
        path: finding.path.clone(),
        text: finding.text.clone(),
        evidence: finding.evidence,
    };
    let mut reasons: Vec<_> = verdict.findings().into_iter().map(document).collect();
    if reasons.is_empty() {
        let nothing = |code: Reason| ReasonDocument {
            code,
            gate: "integrity".to_owned(),
            path: None,
            text: "no required gate affirmed success".to_owned(),
            evidence: None,
        };
        reasons.extend(verdict.reasons().into_iter().map(nothing));
    }
    reasons
}

fn checks_of(report: &Report, runs: &[CheckRun]) -> Vec<CheckDocument> {
    let Some(plan) = &report.plan else { return Vec::new() };
    let document = |run: &CheckRun| {
        let check = plan.content().terms.commands.iter().find(|check| check.name == run.name);
        CheckDocument {
            name: run.name.clone(),
            required: check.is_some_and(nightgate_core::declaration::Check::is_binding),
            passed: check.is_some_and(|check| check.passes(run)),
            exit: run.exit.clone(),
            at_base: plan.at_base(&run.name).map(|at_base| at_base.exit.clone()),
            duration_ms: run.duration_ms,
            stdout: run.stdout.clone(),
            stderr: run.stderr.clone(),
        }
    };
    runs.iter().map(document).collect()
}

fn changes_of(capture: &nightgate_core::evidence::Capture) -> Vec<ChangeDocument> {
    let document = |change: &nightgate_core::tree::Change| ChangeDocument {
        path: change.path.clone(),
        change: match (&change.before, &change.after) {
            (None, _) => "added",
            (Some(_), None) => "deleted",
            (Some(_), Some(_)) => "modified",
        },
    };
    capture.changes.iter().map(document).collect()
}

/// One line of the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobLine {
    job: JobId,
    kind: JobKind,
    state: &'static str,
    interrupted: bool,
    title: String,
    repository: String,
    created_ms: u64,
    changed_ms: u64,
    agent: Option<String>,
    execution: Option<Execution>,
    verdict: Option<VerdictWord>,
    reasons: Vec<Reason>,
    candidate: Option<CandidateDocument>,
}

impl JobLine {
    /// One job.
    pub fn of(view: &JobView) -> Self {
        let state = &view.state;
        Self {
            job: state.id.clone(),
            kind: state.kind,
            state: state.phase.word(),
            interrupted: view.is_interrupted(),
            title: state.title.clone(),
            repository: state.repository.clone(),
            created_ms: state.created_ms,
            changed_ms: state.changed_ms,
            agent: state.agent.clone(),
            execution: state.execution.clone(),
            verdict: state.verdict,
            reasons: state.reasons.clone(),
            candidate: state
                .candidate
                .clone()
                .map(|commit| CandidateDocument { commit, reference: state.reference.clone() }),
        }
    }
}

/// A job whose events can't be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DamagedLine {
    /// Its id, as far as it can be read.
    pub job: String,
    /// What is wrong.
    pub why: String,
}

/// All jobs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListDocument {
    schema_version: u64,
    /// The newest first.
    pub jobs: Vec<JobLine>,
    /// Those that can't be read.
    pub damaged: Vec<DamagedLine>,
}

impl ListDocument {
    /// A list of these.
    pub fn new(jobs: Vec<JobLine>, damaged: Vec<DamagedLine>) -> Self {
        Self { schema_version: VERSION, jobs, damaged }
    }
}

/// What this machine can do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorDocument {
    schema_version: u64,
    strongest: IsolationLevel,
    levels: Vec<LevelDocument>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LevelDocument {
    level: IsolationLevel,
    reached: bool,
    summary: &'static str,
    why_not: Option<String>,
    hint: Option<&'static str>,
    attempts: Vec<AttemptDocument>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttemptDocument {
    name: String,
    refused: Option<String>,
}

impl DoctorDocument {
    /// Of these levels, where the user allows `strongest` at most.
    pub fn new(abilities: &[Ability], strongest: IsolationLevel) -> Self {
        let level = |ability: &Ability| LevelDocument {
            level: ability.level,
            reached: ability.why_not.is_none(),
            summary: ability.level.summary(),
            why_not: ability.why_not.clone(),
            hint: ability.hint,
            attempts: ability
                .attempts
                .iter()
                .map(|attempt| AttemptDocument {
                    name: attempt.name.clone(),
                    refused: attempt.refused.clone(),
                })
                .collect(),
        };
        Self { schema_version: VERSION, strongest, levels: abilities.iter().map(level).collect() }
    }
}

/// Logs of one job.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogsDocument {
    schema_version: u64,
    job: JobId,
    /// Each stream of each program.
    pub logs: Vec<LogDocument>,
}

/// One stream of one program.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogDocument {
    /// `agent`, `setup NAME` or `check NAME`.
    pub of: String,
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    /// All bytes that were written; null where that isn't known.
    pub bytes: Option<u64>,
    /// True where only head and tail are kept; null where that isn't known.
    pub truncated: Option<bool>,
    /// The kept bytes as a blob.
    pub log: Option<Digest>,
    /// The kept bytes as text; what isn't UTF-8 is replaced.
    pub text: String,
}

impl LogsDocument {
    /// The logs of one job.
    pub fn new(job: JobId, logs: Vec<LogDocument>) -> Self {
        Self { schema_version: VERSION, job, logs }
    }
}
