//! The facts about ourselves: can pass or be unsure, and never fails a candidate.

use super::Findings;
use crate::RepoPath;
use crate::evidence::{CaptureProblemKind, CheckRun, Evidence, OutsideLink, Remaining, Survivors, WayOut};
use crate::gate::{Gate, GateResult, Reason, Role};
use crate::plan::Plan;

pub(super) fn ask(plan: &Plan, evidence: &Evidence) -> GateResult {
    let mut findings = Findings::default();
    binding(plan, evidence, &mut findings);
    capture(evidence, &mut findings);
    links(plan, evidence, &mut findings);
    isolation(plan, evidence, &mut findings);
    room(evidence, &mut findings);
    for run in &evidence.checks {
        check(plan, run, &mut findings);
    }
    if plan.content().terms.tools_pinned {
        for tool in &evidence.changed_tools {
            let text =
                format!("`{tool}` is not the program of the plan any more, and tools.pinned asks for that");
            findings.unsure(Reason::ToolChanged, None, text);
        }
    }
    for fault in &evidence.faults {
        findings.unsure(Reason::EvidenceIncomplete, None, fault.clone());
    }
    findings.answer(Gate::Integrity, Role::Veto)
}

/// The evidence belongs to this plan, this base, this candidate.
fn binding(plan: &Plan, evidence: &Evidence, findings: &mut Findings) {
    if evidence.schema_version != 1 {
        let text = format!(
            "the evidence is of version {}, which this nightgate can't judge",
            evidence.schema_version
        );
        findings.unsure(Reason::StaleEvidence, None, text);
    }
    if evidence.plan != plan.digest() {
        let text = format!(
            "the plan's bytes were {} when evidence was gathered and are {}",
            evidence.plan,
            plan.digest()
        );
        findings.unsure(Reason::PlanChanged, None, text);
    }
    if evidence.capture.base != plan.content().base {
        let text = format!(
            "the candidate was captured against {}, the plan's base is {}",
            evidence.capture.base,
            plan.content().base
        );
        findings.unsure(Reason::StaleEvidence, None, text);
    }
}

fn capture(evidence: &Evidence, findings: &mut Findings) {
    let capture = &evidence.capture;
    if capture.candidate.is_none() || capture.tree.is_none() {
        findings.unsure(Reason::EvidenceIncomplete, None, "no candidate commit could be made");
    }
    for problem in &capture.problems {
        let code = match problem.kind {
            CaptureProblemKind::Unrepresentable => Reason::UnrepresentablePath,
            CaptureProblemKind::OverBudget => Reason::BudgetExhausted,
            CaptureProblemKind::Unstable => Reason::TreeUnstable,
            CaptureProblemKind::Unreadable
            | CaptureProblemKind::OtherDevice
            | CaptureProblemKind::NotReadBack
            | CaptureProblemKind::Converted
            | CaptureProblemKind::IgnoredElsewhere
            | CaptureProblemKind::Submodule
            | CaptureProblemKind::MissingObject => Reason::EvidenceIncomplete,
        };
        findings.unsure(code, problem.path.as_ref(), problem.text.clone());
    }
    if let Some(survivors) = &capture.survivors {
        quiesced(survivors, "the agent", findings);
    }
}

/// What the work rests on is in the candidate. A link that was changed at, below or above criteria is the criteria's own
/// finding.
fn links(plan: &Plan, evidence: &Evidence, findings: &mut Findings) {
    let capture = &evidence.capture;
    let criteria = &plan.content().terms.criteria_paths;
    let leads_to_criteria = |path: &RepoPath| {
        criteria.iter().any(|criteria| path.is_at_or_below(criteria) || criteria.is_at_or_below(path))
    };
    let is_changed = |path: &RepoPath| capture.changes.iter().any(|change| change.path == *path);
    for OutsideLink { path, target, leads } in &capture.outside_links {
        if leads_to_criteria(path) && is_changed(path) {
            continue;
        }
        let how = match leads {
            WayOut::Absolute => "leads to an absolute path, out of the repository",
            WayOut::Above => "leads above the root of the repository",
            WayOut::Unknown => "can't be followed to its end among so many links",
        };
        let text =
            format!("{path} is a link to {target} and {how}: what it needs may be on this machine only");
        findings.unsure(Reason::LinkOutside, Some(path), text);
    }
}

fn quiesced(survivors: &Survivors, of: &str, findings: &mut Findings) {
    match &survivors.remaining {
        Remaining::None => {}
        Remaining::Some(count) => {
            let text =
                format!("{count} processes of {of} could not be ended: {}", survivors.names.join(", "));
            findings.unsure(Reason::SurvivorsLeft, None, text);
        }
        Remaining::Unknown(why) => {
            let text = format!("whether processes of {of} are left can't be known: {why}");
            findings.unsure(Reason::SurvivorsLeft, None, text);
        }
    }
}

fn isolation(plan: &Plan, evidence: &Evidence, findings: &mut Findings) {
    let minimum = plan.content().terms.isolation.minimum;
    let level = evidence.isolation.level;
    if level < minimum {
        let text = format!("isolation {} was reached, the plan demands {}", level.as_str(), minimum.as_str());
        findings.unsure(Reason::SandboxDegraded, None, text);
    }
}

/// The checks ran on the tree that was captured.
fn room(evidence: &Evidence, findings: &mut Findings) {
    let Some(room) = &evidence.room else { return };
    if let Some(fault) = &room.fault {
        findings.unsure(
            Reason::EvidenceIncomplete,
            None,
            format!("the clean room could not be made: {fault}"),
        );
    }
    for above in &room.above {
        let text = format!(
            "{} lies above the clean room, where {} looks for it: set NIGHTGATE_HOME to a folder with nothing of the kind \
             above it, or remove it",
            above.path, above.tool
        );
        findings.unsure(Reason::InfluenceAbove, None, text);
    }
    for stand_in in &room.stand_ins {
        let (product, source) = (&stand_in.product, &stand_in.source);
        let what = match evidence
            .capture
            .changes
            .iter()
            .any(|change| change.path == *source && change.after.is_none())
        {
            true => "deleted",
            false => "changed",
        };
        let text = format!(
            "setup made {product} from the files of base, and a check could take it for {source}, which the candidate \
             {what}: let setup only fetch dependencies and build inside the check, or list {source} in the step's `inputs`"
        );
        findings.unsure(Reason::SetupStale, Some(source), text);
    }
    let checked = evidence.checks.iter().any(|run| run.exit.was_started());
    if checked && (room.tree.is_none() || room.tree != evidence.capture.tree) {
        findings.unsure(Reason::StaleEvidence, None, "the checks ran on another tree than the captured one");
    }
}

fn check(plan: &Plan, run: &CheckRun, findings: &mut Findings) {
    let content = plan.content();
    let Some(check) = content.terms.commands.iter().find(|check| check.name == run.name) else {
        findings.unsure(Reason::StaleEvidence, None, format!("check `{}` is none of the plan's", run.name));
        return;
    };
    let criteria =
        |path: &RepoPath| content.terms.criteria_paths.iter().any(|folder| path.is_at_or_below(folder));
    let output = |path: &RepoPath| check.outputs.iter().any(|folder| path.is_at_or_below(folder));
    for path in run.drift.iter().filter(|path| !criteria(path) && !output(path)) {
        let text = format!("{path} was changed while check `{}` ran, and is none of its outputs", run.name);
        findings.unsure(Reason::TreeUnstable, Some(path), text);
    }
    for text in &run.unread {
        let text = format!("after check `{}` the room could not be read whole: {text}", run.name);
        findings.unsure(Reason::EvidenceIncomplete, None, text);
    }
    for (stream, name) in [(&run.stdout, "standard output"), (&run.stderr, "standard error")] {
        if stream.bytes > 0 && stream.log.is_none() {
            let text = format!("the {name} of check `{}` could not be kept", run.name);
            findings.unsure(Reason::EvidenceIncomplete, None, text);
        }
    }
    quiesced(&run.survivors, &format!("check `{}`", run.name), findings);
}
