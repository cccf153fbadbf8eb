//! A job's verdict as a person reads it: the word, a line for each gate, what was not enforced, where things lie.

use std::fmt::Write as _;

use nightgate_core::evidence::{Capture, Evidence};
use nightgate_core::execution::Execution;
use nightgate_core::gate::{Gate, GateOutcome, GateResult, Role};
use nightgate_core::job::Phase;
use nightgate_core::plan::{DeclarationKind, Plan};
use nightgate_core::record::FrozenAt;
use nightgate_core::verdict::{Verdict, VerdictWord};
use nightgate_engine::Report;

use crate::output::harmless;
use crate::report::role_word;

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
        gates(&mut text, verdict, report.plan.as_ref());
    }
    if let Some(record) = &report.record {
        evidence(&mut text, record.evidence(), report.plan.as_ref());
        if record.frozen_at() == FrozenAt::Verify {
            let _ = writeln!(
                text,
                "  {:<LABEL$}the declaration was frozen only now, not before the work began",
                "plan"
            );
        }
    }
    if let Some(plan) = &report.plan {
        plan_lines(&mut text, plan, report);
    }
    match &state.phase {
        Phase::Waiting { digest, of } => {
            let _ =
                writeln!(text, "  {:<LABEL$}for a person to approve {} ({digest})", "waiting", harmless(of));
            let _ = writeln!(
                text,
                "  {:<LABEL$}nightgate plan approve, then: nightgate run --resume {}",
                "next", state.id
            );
        }
        Phase::Blocked { why } if verdict.is_none() => {
            let _ = writeln!(text, "  {:<LABEL$}{}", "blocked", harmless(why));
        }
        _ => {}
    }
    if interrupted {
        let next = match state.phase {
            Phase::Verifying => format!("the work is kept; go on with: nightgate run --resume {}", state.id),
            _ => "the next command that writes captures what it left".to_owned(),
        };
        let _ = writeln!(text, "  {:<LABEL$}{next}", "next");
    }
    if let Some(candidate) = &state.candidate {
        let capture = report.record.as_ref().map(|record| &record.evidence().capture).or(capture);
        let changed = capture.map_or(0, |capture| capture.changes.len());
        let place = state.reference.as_deref().unwrap_or("a commit of your repository");
        let _ = writeln!(
            text,
            "  {:<LABEL$}{place}  {}  ({changed} changed paths)",
            "candidate",
            &candidate.as_str()[..12]
        );
    }
    if let Some(record) = &state.record {
        let _ = writeln!(text, "  {:<LABEL$}{record}", "record");
    }
    text
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

fn gates(text: &mut String, verdict: &Verdict, plan: Option<&Plan>) {
    for result in verdict.gates() {
        gate(text, result, plan);
    }
}

fn gate(text: &mut String, result: &GateResult, plan: Option<&Plan>) {
    const SHOWN: usize = 5;
    let name = harmless(&result.gate.to_string());
    let role =
        if result.role == Role::Advisory { format!(" ({})", role_word(result.role)) } else { String::new() };
    let _ = write!(text, "  {name:<GATE$} {}{role}", result.outcome.as_str());
    if result.outcome == GateOutcome::Pass
        && let (Gate::Check(check), Some(plan)) = (&result.gate, plan)
    {
        let at_base = plan.at_base(check).map(|at_base| format!("; at base: {}", at_base.exit.describe()));
        let _ = write!(text, "  exit status only{}", at_base.unwrap_or_default());
    }
    text.push('\n');
    for finding in result.findings.iter().take(SHOWN) {
        let _ = writeln!(
            text,
            "  {:<LABEL$}  {}: {}",
            "",
            finding.code,
            harmless(&finding.text).replace('\n', " ")
        );
    }
    if result.findings.len() > SHOWN {
        let _ =
            writeln!(text, "  {:<LABEL$}  and {} more: --json shows all", "", result.findings.len() - SHOWN);
    }
}

fn evidence(text: &mut String, evidence: &Evidence, plan: Option<&Plan>) {
    let level = evidence.isolation.level.as_str();
    let stops: Vec<&str> = evidence
        .isolation
        .capabilities
        .iter()
        .filter(|capability| capability.capability.starts_with("stop."))
        .map(|capability| capability.got.as_str())
        .collect();
    let stops = stops.first().map(|stop| format!(", processes held by {stop}")).unwrap_or_default();
    let _ = writeln!(text, "  {:<LABEL$}{level}{stops}", "isolation");
    for capability in evidence.isolation.capabilities.iter().filter(|capability| !capability.enforced) {
        let _ = writeln!(
            text,
            "  {:<LABEL$}{}: wanted {}, got {}",
            "not enforced", capability.capability, capability.wanted, capability.got
        );
    }
    let capture = &evidence.capture;
    for (left_out, what) in [(&capture.ignored, "ignored new files"), (&capture.caches, "caches")] {
        if !left_out.is_empty() {
            let _ = writeln!(
                text,
                "  {:<LABEL$}{} {what}, {} the first",
                "left out", left_out.count, left_out.sample[0]
            );
        }
    }
    for note in &capture.notes {
        let _ = writeln!(text, "  {:<LABEL$}{}: {}", "note", note.code, harmless(&note.text));
    }
    let pinned = plan.is_some_and(|plan| plan.content().terms.tools_pinned);
    for tool in evidence.changed_tools.iter().filter(|_| !pinned) {
        let _ = writeln!(
            text,
            "  {:<LABEL$}tool_changed: `{}` is another program than when the plan was frozen",
            "note",
            harmless(tool)
        );
    }
}

fn plan_lines(text: &mut String, plan: &Plan, report: &Report) {
    let content = plan.content();
    let _ = writeln!(text, "  {:<LABEL$}{}", "plan", plan.digest());
    let age = age_words(report.state.created_ms / 1000, report.base_time);
    let _ = writeln!(
        text,
        "  {:<LABEL$}{}, committed {age} before the job",
        "base",
        &content.base.as_str()[..12]
    );
    if content.declaration.kind == DeclarationKind::Uncommitted {
        let _ = writeln!(text, "  {:<LABEL$}made from a nightgate.toml that is not committed", "");
    }
}

/// How long before `now` (seconds since 1970) a commit was made, roughly.
fn age_words(now: u64, committed: i64) -> String {
    let seconds = i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(committed).max(0);
    let (count, unit) = match seconds {
        0..120 => (seconds, "seconds"),
        120..7200 => (seconds / 60, "minutes"),
        7200..172_800 => (seconds / 3600, "hours"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{count} {unit}")
}
