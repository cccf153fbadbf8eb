//! Only what may differ differs: allowed, protected and dependency paths.

use super::Findings;
use crate::RepoPath;
use crate::declaration::OutcomeRequirement;
use crate::evidence::Evidence;
use crate::gate::{Gate, GateResult, Reason, Role};
use crate::plan::Plan;

pub(super) fn ask(plan: &Plan, evidence: &Evidence) -> GateResult {
    let terms = &plan.content().terms;
    let mut findings = Findings::default();
    let below =
        |path: &RepoPath, folders: &[RepoPath]| folders.iter().any(|folder| path.is_at_or_below(folder));
    let doubtful = evidence.capture.doubtful();
    let known = |path: &&RepoPath| !doubtful.concern(path);
    for path in evidence.capture.changes.iter().map(|change| &change.path).filter(known) {
        if below(path, &terms.protected_paths_unchanged) {
            findings.fail(
                Reason::ProtectedChanged,
                Some(path),
                format!("{path} is protected and was changed"),
            );
        }
        if below(path, &terms.dependency_files_unchanged) {
            findings.fail(
                Reason::DependencyChanged,
                Some(path),
                format!("{path} is a dependency file that must stay, and was changed"),
            );
        }
        if terms.allowed_paths.as_ref().is_some_and(|allowed| !below(path, allowed)) {
            findings.fail(Reason::ScopeViolation, Some(path), format!("{path} is outside the allowed paths"));
        }
        if terms.outcome_requirement == OutcomeRequirement::RepositoryChangeForbidden {
            findings.fail(
                Reason::ScopeViolation,
                Some(path),
                format!("{path} was changed, and nothing may be"),
            );
        }
    }
    findings.answer(Gate::Scope, Role::Veto)
}
