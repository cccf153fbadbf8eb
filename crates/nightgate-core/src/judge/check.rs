//! One declared check: it said yes, it said no, or it can't be told.

use super::{Findings, finding};
use crate::declaration::Check;
use crate::evidence::{CheckRun, Evidence, Exit};
use crate::gate::{Gate, GateOutcome, GateResult, Reason, Role};
use crate::plan::Plan;

pub(super) fn ask(plan: &Plan, evidence: &Evidence, check: &Check, vetoed: bool) -> GateResult {
    let gate = Gate::Check(check.name.clone());
    let role = if check.is_binding() { Role::Required } else { Role::Advisory };
    let mut runs = evidence.checks.iter().filter(|run| run.name == check.name);
    let (run, second) = (runs.next(), runs.next());
    let Some(run) = run else {
        if vetoed {
            return GateResult { gate, role, outcome: GateOutcome::Skipped, findings: Vec::new() };
        }
        let mut findings = Findings::default();
        findings.unsure(Reason::EvidenceIncomplete, None, "it was not run");
        return findings.answer(gate, role);
    };
    let mut findings = Findings::default();
    if second.is_some() {
        findings.unsure(Reason::StaleEvidence, None, "it has more than one result");
    }
    exit(plan, evidence, check, run, &mut findings);
    if check.must_fail_on_base && plan.at_base(&check.name).is_none_or(|at_base| at_base.passed) {
        let text = "it must fail at base, and the plan doesn't show that it does";
        findings.unsure(Reason::NotDiscriminating, None, text);
    }
    // It was asked about other files than a commit of this working tree would hold; `integrity` says which.
    if !evidence.capture.doubtful().is_empty() {
        let said = std::mem::take(&mut findings.fails);
        findings.unsures.extend(said);
    }
    for finding in findings.fails.iter_mut().chain(&mut findings.unsures) {
        finding.evidence = run.stderr.log.or(run.stdout.log);
    }
    findings.answer(gate, role)
}

fn exit(plan: &Plan, evidence: &Evidence, check: &Check, run: &CheckRun, findings: &mut Findings) {
    let said_no = |findings: &mut Findings, text: String| {
        findings.fail(Reason::CheckFailed, None, with_base(plan, check, text));
        if !evidence.capture.ignored.is_empty() {
            let first = evidence.capture.ignored.sample.first();
            let text = format!(
                "{} new files are ignored by .gitignore and so not part of the candidate, {} among them: the check may \
                 need one",
                evidence.capture.ignored.count,
                first.map_or_else(|| "one".to_owned(), ToString::to_string),
            );
            findings.fails.push(finding(Reason::NotSelfContained, first, text, None));
        }
    };
    match &run.exit {
        Exit::Exited { code } if *code == i32::from(check.expect_exit) => {
            if check.expect_empty_output && run.stdout.bytes > 0 {
                said_no(findings, format!("it printed {} bytes, and must print none", run.stdout.bytes));
            }
        }
        // What a shell says where a program isn't there or can't be run (POSIX, 2.8.2): no answer to the question.
        Exit::Exited { code: code @ (126 | 127) } => {
            let text =
                format!("exit {code}: by convention a program that it needs is missing or can't be run");
            findings.unsure(Reason::CheckNotStarted, None, text);
        }
        Exit::Exited { code } => said_no(findings, format!("exit {code}")),
        Exit::Signalled { .. } => {
            findings.fail(Reason::CheckSignal, None, with_base(plan, check, run.exit.describe()));
        }
        Exit::NotStarted { .. } if run.program_removed => {
            said_no(findings, "its program is a file of the repository that the candidate lacks".to_owned());
        }
        Exit::NotStarted { .. } => findings.unsure(Reason::CheckNotStarted, None, run.exit.describe()),
        Exit::TimedOut { .. } => findings.unsure(Reason::CheckTimeout, None, run.exit.describe()),
        Exit::Killed { .. } => findings.unsure(Reason::CheckKilled, None, run.exit.describe()),
        Exit::Cancelled => findings.unsure(Reason::CheckCancelled, None, run.exit.describe()),
        Exit::Lost { .. } => findings.unsure(Reason::VerifierError, None, run.exit.describe()),
        Exit::NotRun { text } => {
            let failed =
                evidence.room.iter().flat_map(|room| &room.setup).find(|step| !step.exit.is_success());
            match failed {
                Some(step) => {
                    let text = format!("setup step `{}`: {}", step.name, step.exit.describe());
                    findings.unsure(Reason::SetupFailed, None, text);
                }
                None if evidence.room.iter().any(|room| !room.stand_ins.is_empty()) => {
                    let text = "not run: products of setup can stand in for files that the candidate changed";
                    findings.unsure(Reason::SetupStale, None, text);
                }
                None => findings.unsure(Reason::EvidenceIncomplete, None, format!("not run: {text}")),
            }
        }
    }
}

/// What the same check did at base is told beside its failure, and excuses nothing.
fn with_base(plan: &Plan, check: &Check, text: String) -> String {
    match plan.at_base(&check.name) {
        Some(at_base) if !at_base.passed => {
            format!("{text} (preExisting: at base too: {})", at_base.exit.describe())
        }
        Some(_) => format!("{text} (at base it passed)"),
        None => text,
    }
}
