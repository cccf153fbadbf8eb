//! A job's verdict as a person reads it: the word, a line for each gate, what was not enforced, where things lie.

use std::fmt::Write as _;

use nightgate_core::evidence::{Capture, Evidence};
use nightgate_core::execution::Execution;
use nightgate_core::gate::{Gate, GateOutcome, GateResult, MOST_OF_A_CODE, Role};
use nightgate_core::job::Phase;
use nightgate_core::plan::{DeclarationKind, Plan};
use nightgate_core::record::FrozenAt;
use nightgate_core::verdict::{Verdict, VerdictWord};
use nightgate_engine::Report;

use crate::output::harmless;

/// Width of the first column.
const LABEL: usize = 16;

/// Width of a gate's name, which a longer one passes.
const GATE: usize = LABEL - 1;

/// Whether words may be coloured.
#[derive(Clone, Copy, Debug)]
pub struct Colour(pub bool);

impl Colour {
    /// The verdict's word; colour only repeats what the word says.
    pub fn verdict(self, word: VerdictWord) -> String {
        let code = match word {
            VerdictWord::Verified => "32",
            VerdictWord::Failed => "31",
            VerdictWord::Uncertain => "33",
        };
        if self.0 { format!("\x1b[1;{code}m{word}\x1b[0m") } else { word.to_string() }
    }
}

/// The whole text on one job.
pub fn job(report: &Report, capture: Option<&Capture>, interrupted: bool, colour: Colour) -> String {
    let state = &report.state;
    let mut text = String::new();
    let verdict = report.record.as_ref().map(nightgate_core::record::Record::verdict);
    let head = match verdict {
        Some(verdict) => colour.verdict(verdict.word()),
        None if interrupted => format!("{} (interrupted)", state.phase.word()),
        None => match &state.execution {
            Some(execution) => format!("no verdict: {}", execution_words(execution)),
            None => state.phase.word().to_owned(),
        },
    };
    let _ = writeln!(text, "{head}  {}  {}", state.id, harmless(&state.title));
    if let Some(verdict) = verdict {
        for result in verdict.gates() {
            gate(&mut text, result, report);
        }
    }
    if let Some(record) = &report.record {
        evidence(&mut text, record.evidence(), report.plan.as_ref());
    } else if let Some(capture) = capture {
        notes(&mut text, capture);
    }
    if let Some(plan) = &report.plan {
        plan_lines(&mut text, plan, report);
    }
    if let Phase::Blocked { why } = &state.phase
        && verdict.is_none()
    {
        line(&mut text, "blocked", why);
    }
    if let Some(candidate) = &state.candidate {
        let capture = report.record.as_ref().map(|record| &record.evidence().capture).or(capture);
        let changed = capture.map_or(0, |capture| capture.changes.len());
        let place = state.reference.as_deref().unwrap_or("a commit of your repository");
        let changed = counted(changed, "changed path");
        line(&mut text, "candidate", &format!("{place}  {}  ({changed})", &candidate.as_str()[..12]));
    }
    if let Some(record) = &state.record {
        line(&mut text, "record", &record.to_string());
    }
    for next in next_steps(report, interrupted) {
        line(&mut text, "next", &next);
    }
    text
}

/// What a person can do now.
fn next_steps(report: &Report, interrupted: bool) -> Vec<String> {
    let state = &report.state;
    let id = &state.id;
    let mut next = Vec::new();
    match &state.phase {
        Phase::Waiting { digest, of } => {
            let base = &report.requested_base.as_str()[..12];
            next.push(format!("read {} ({digest})", harmless(of)));
            next.push(format!("nightgate plan approve --base {base} && nightgate run --resume {id}"));
        }
        Phase::Verifying if interrupted => {
            next.push(format!("the work is kept; go on with: nightgate run --resume {id}"));
        }
        Phase::Capturing if interrupted && state.execution.as_ref().is_some_and(Execution::is_executed) => {
            next.push(format!("the work is kept; go on with: nightgate run --resume {id}"));
        }
        _ if interrupted => next.push("the next command that writes captures what it left".to_owned()),
        _ => {}
    }
    if let Some(Execution::Crashed { .. }) = &state.execution {
        next.push(format!("nightgate logs {id} shows what the agent wrote"));
        next.push(
            "an agent has a HOME of its own: what it needs of your environment goes into its passEnv"
                .to_owned(),
        );
    }
    if let (Some(VerdictWord::Verified), Some(reference)) = (state.verdict, &state.reference) {
        let base = &report.requested_base.as_str()[..12];
        next.push(format!("git diff {base} {reference}, then: git merge {reference}"));
    }
    next
}

fn line(text: &mut String, label: &str, words: &str) {
    let _ = writeln!(text, "  {label:<LABEL$}{}", harmless(words));
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A verdict that was reached without a job.
pub fn verdict_alone(verdict: &Verdict, colour: Colour) -> String {
    let mut text = format!("{}\n", colour.verdict(verdict.word()));
    for (_, finding) in verdict.findings() {
        let said = harmless(&finding.text).replace('\n', "\n  ");
        let _ = writeln!(text, "  {}: {said}", finding.code);
    }
    text
}

fn execution_words(execution: &Execution) -> String {
    let detail = execution.detail();
    if detail.is_empty() { execution.word().to_owned() } else { format!("{} ({detail})", execution.word()) }
}

fn gate(text: &mut String, result: &GateResult, report: &Report) {
    const SHOWN: usize = 5;
    let name = harmless(&result.gate.to_string());
    let role = if result.role == Role::Advisory { " (advisory)" } else { "" };
    let _ = write!(text, "  {name:<GATE$} {}{role}", result.outcome.as_str());
    let check = match &result.gate {
        Gate::Check(check) => Some(check),
        Gate::Integrity | Gate::Scope | Gate::Criteria | Gate::Outcome => None,
    };
    if let (GateOutcome::Pass, Some(check), Some(plan)) = (result.outcome, check, &report.plan) {
        let at_base = plan.at_base(check).map(|at_base| format!("; at base: {}", at_base.exit.describe()));
        let _ = write!(text, "  exit status only{}", at_base.unwrap_or_default());
    }
    text.push('\n');
    let mut below = |words: &str| line(text, "", &format!("  {words}"));
    for finding in result.findings.iter().take(SHOWN) {
        below(&format!("{}: {}", finding.code, finding.text.replace('\n', " ")));
    }
    if result.findings.len() > SHOWN {
        let more = result.findings.len() - SHOWN;
        // Not all are listed: no number that is printed here would be true.
        let is_whole = result.findings.len() <= MOST_OF_A_CODE;
        below(&match is_whole {
            true => format!("and {more} more: --json shows all"),
            false => format!("and more: --json shows {MOST_OF_A_CODE} of each code, and how many there are"),
        });
    }
    if let (Some(check), GateOutcome::Fail | GateOutcome::Unsure) = (check, result.outcome)
        && let Some(tail) = report.tails.get(check).filter(|tail| !tail.is_empty())
    {
        for said in tail {
            below(&format!("| {said}"));
        }
        below(&format!("all of it: nightgate logs {} --check {check}", report.state.id));
    }
}

fn evidence(text: &mut String, evidence: &Evidence, plan: Option<&Plan>) {
    let level = evidence.isolation.level.as_str();
    let capabilities = &evidence.isolation.capabilities;
    let stop = capabilities.iter().find(|capability| capability.capability.starts_with("stop."));
    let stop = stop.map(|stop| format!(", processes held by {}", stop.got)).unwrap_or_default();
    line(text, "isolation", &format!("{level}{stop}"));
    for capability in capabilities.iter().filter(|capability| !capability.enforced) {
        let (what, wanted, got) = (&capability.capability, &capability.wanted, &capability.got);
        line(text, "not enforced", &format!("{what}: wanted {wanted}, got {got}"));
    }
    let capture = &evidence.capture;
    for (left_out, what) in [(&capture.ignored, "ignored new file"), (&capture.caches, "cache")] {
        if let Some(first) = left_out.sample.first() {
            let count = usize::try_from(left_out.count).unwrap_or(usize::MAX);
            line(text, "left out", &format!("{}, {first} the first", counted(count, what)));
        }
    }
    notes(text, capture);
    let pinned = plan.is_some_and(|plan| plan.content().terms.tools_pinned);
    for tool in evidence.changed_tools.iter().filter(|_| !pinned) {
        let what = format!("tool_changed: `{tool}` is another program than when the plan was frozen");
        line(text, "note", &what);
    }
}

fn notes(text: &mut String, capture: &Capture) {
    for note in &capture.notes {
        let place = note.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        line(text, "note", &format!("{}: {place}{}", note.code, note.text));
    }
}

fn plan_lines(text: &mut String, plan: &Plan, report: &Report) {
    let content = plan.content();
    line(text, "plan", &plan.digest().to_string());
    if report.record.as_ref().is_some_and(|record| record.frozen_at() == FrozenAt::Verify) {
        line(text, "", "frozen only for this verification, not before the work began");
    }
    if content.declaration.kind == DeclarationKind::Uncommitted {
        line(text, "", "made from a nightgate.toml that is not committed");
    }
    let age = age_words(report.state.created_ms / 1000, report.base_time);
    line(text, "base", &format!("{}, committed {age} before the job", &content.base.as_str()[..12]));
}

/// How long before `now` (seconds since 1970) a commit was made, roughly.
fn age_words(now: u64, committed: i64) -> String {
    let seconds = i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(committed).max(0);
    let (count, unit) = match seconds {
        0..120 => (seconds, "second"),
        120..7200 => (seconds / 60, "minute"),
        7200..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    counted(usize::try_from(count).unwrap_or(usize::MAX), unit)
}
