//! What had to change did.

use super::Findings;
use crate::declaration::OutcomeRequirement;
use crate::evidence::Evidence;
use crate::gate::{Gate, GateOutcome, GateResult, Reason, Role};
use crate::plan::Plan;

pub(super) fn ask(plan: &Plan, evidence: &Evidence) -> GateResult {
    let terms = &plan.content().terms;
    let changes = &evidence.capture.changes;
    let mut findings = Findings::default();
    let required = terms.outcome_requirement == OutcomeRequirement::RepositoryChangeRequired;
    // Where something of the files isn't known, that nothing changed isn't either.
    let is_whole = evidence.capture.problems.is_empty() && evidence.capture.candidate.is_some();
    let mut absent = |path: Option<&_>, text: String| match is_whole {
        true => findings.fail(Reason::OutcomeAbsent, path, text),
        false => findings.unsure(Reason::OutcomeAbsent, path, text),
    };
    if required && changes.is_empty() {
        absent(None, "a change of the repository is required, and nothing differs from base".to_owned());
    }
    for path in &terms.changed_paths {
        if !changes.iter().any(|change| change.path.is_at_or_below(path)) {
            absent(Some(path), format!("{path} had to change, and is as it was at base"));
        }
    }
    let mut result = findings.answer(Gate::Outcome, Role::Veto);
    if result.outcome == GateOutcome::Pass && !required && terms.changed_paths.is_empty() {
        result.outcome = GateOutcome::NotAsked;
    }
    result
}
