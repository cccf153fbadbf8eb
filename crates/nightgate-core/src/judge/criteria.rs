//! What defines success is as it was at base: in the candidate, and again after the checks.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use crate::RepoPath;
use crate::evidence::{CaptureProblem, CaptureProblemKind, CriteriaEntry, CriteriaKind, Evidence};
use crate::gate::{Gate, GateResult, Reason, Role};
use crate::plan::Plan;

/// The project's own file: what it says decides what is checked, so a change of it is always a person's.
const PROJECT_FILE: &[u8] = b"nightgate.toml";

pub(super) fn ask(plan: &Plan, evidence: &Evidence) -> GateResult {
    let mut findings = Findings::default();
    let criteria_paths = &plan.content().terms.criteria_paths;
    if evidence.capture.candidate.is_none() {
        findings.unsure(Reason::EvidenceIncomplete, None, "there is no candidate to compare");
        return findings.answer(Gate::Criteria, Role::Veto);
    }
    // What of the criteria was not reached, or doesn't show what a commit would hold, can't be held against them;
    // `integrity` says that it wasn't.
    let unreached = Unreached::of(evidence, &plan.content().criteria);
    let doubtful = evidence.capture.doubtful();
    let known = |entry: &&CriteriaEntry| !doubtful.concern(&entry.path);
    let reached =
        |entry: &&CriteriaEntry| entry.kind != CriteriaKind::Unreadable || !unreached.holds(&entry.path);
    let observed: Vec<_> = evidence.capture.criteria.iter().filter(known).filter(reached).cloned().collect();
    let found: BTreeSet<_> = observed.iter().map(|entry| &entry.path).collect();
    let seen = |entry: &&CriteriaEntry| found.contains(&entry.path) || !unreached.holds(&entry.path);
    let baseline: Vec<_> = plan.content().criteria.iter().filter(known).filter(seen).cloned().collect();
    compare(&baseline, &observed, criteria_paths, &mut findings);
    let below = |path: &RepoPath| criteria_paths.iter().any(|folder| path.is_at_or_below(folder));
    for path in
        evidence.capture.changes.iter().map(|change| &change.path).filter(|path| !doubtful.concern(path))
    {
        // The change list and the observation are read apart; where they disagree, the one that saw a change counts.
        if below(path) && findings.fails.is_empty() {
            findings.fail(Reason::CriteriaModified, Some(path), format!("{path} differs from base"));
        }
        if path.as_bytes() == PROJECT_FILE {
            findings.fail(
                Reason::InfluenceChanged,
                Some(path),
                format!(
                    "{path} decides what is checked, and was changed: a person changes it, outside a job"
                ),
            );
        }
    }
    for run in &evidence.checks {
        for path in run.drift.iter().filter(|path| below(path)) {
            let text = format!("{path} was changed while check `{}` ran", run.name);
            findings.unsure(Reason::CriteriaUnstable, Some(path), text);
        }
        for path in run.touched.iter().filter(|path| below(path)) {
            let text = format!(
                "{path} was written, or its name or rights were changed, while check `{}` ran; it holds the same as \
                 before, and what the check read of it isn't known",
                run.name
            );
            findings.unsure(Reason::CriteriaUnstable, Some(path), text);
        }
    }
    findings.answer(Gate::Criteria, Role::Veto)
}

/// What the capture did not look at because it ran out of its budget: of that, not seen is not known.
struct Unreached<'a> {
    /// The capture as a whole was cut.
    all: bool,
    /// Folders that held too much, or on whose way to the criteria it was too much.
    folders: Vec<&'a RepoPath>,
}

impl<'a> Unreached<'a> {
    fn of(evidence: &'a Evidence, baseline: &[CriteriaEntry]) -> Self {
        let over = |problem: &&CaptureProblem| problem.kind == CaptureProblemKind::OverBudget;
        let over: Vec<_> = evidence.capture.problems.iter().filter(over).collect();
        // A single file that became too large was reached, and is not what it was.
        let is_folder = |path: &&RepoPath| {
            baseline.iter().any(|entry| entry.path != **path && entry.path.is_at_or_below(path))
        };
        Self {
            all: over.iter().any(|problem| problem.path.is_none()),
            folders: over.iter().filter_map(|problem| problem.path.as_ref()).filter(is_folder).collect(),
        }
    }

    fn holds(&self, path: &RepoPath) -> bool {
        self.all || self.folders.iter().any(|folder| path.is_at_or_below(folder))
    }
}

fn compare(
    baseline: &[CriteriaEntry],
    observed: &[CriteriaEntry],
    criteria_paths: &[RepoPath],
    findings: &mut Findings,
) {
    let seen: BTreeMap<&RepoPath, &CriteriaEntry> =
        observed.iter().map(|entry| (&entry.path, entry)).collect();
    let mut obstacles = BTreeSet::new();
    for expected in baseline {
        match seen.get(&expected.path) {
            Some(found) => compare_entry(expected, found, findings),
            None => match expected.path.ancestors().find_map(|folder| seen.get(&folder)) {
                Some(obstacle) if !obstacles.insert(&obstacle.path) => {}
                Some(obstacle) => obstructed(obstacle, findings),
                None if observed.iter().any(|entry| entry.path.is_at_or_below(&expected.path)) => {
                    let path = &expected.path;
                    obstacles.insert(path);
                    let text = format!("{path} was {} and is a folder", name_of(expected.kind));
                    findings.fail(Reason::CriteriaTypeChanged, Some(path), text);
                }
                None => {
                    let path = &expected.path;
                    findings.fail(Reason::CriteriaDeleted, Some(path), format!("{path} was deleted"));
                }
            },
        }
    }
    let known: BTreeSet<&RepoPath> = baseline.iter().map(|entry| &entry.path).collect();
    for entry in observed {
        let path = &entry.path;
        let member = match entry.kind {
            CriteriaKind::File | CriteriaKind::Executable | CriteriaKind::Symlink | CriteriaKind::Gitlink => {
                true
            }
            // No git tree holds these: they are no members, and the clean room doesn't have them.
            CriteriaKind::Folder | CriteriaKind::Special => false,
            // What it is can't be known, so it may be a member.
            CriteriaKind::Unreadable => true,
        };
        let inside = criteria_paths.iter().any(|folder| path.is_at_or_below(folder));
        let told = || obstacles.iter().any(|obstacle| path.is_at_or_below(obstacle));
        if member && inside && !known.contains(path) && !told() {
            findings.fail(Reason::CriteriaModified, Some(path), format!("{path} was added to the criteria"));
        }
    }
}

/// Something stands where a folder led to criteria.
fn obstructed(obstacle: &CriteriaEntry, findings: &mut Findings) {
    let path = &obstacle.path;
    match obstacle.kind {
        CriteriaKind::Symlink => {
            let text = format!("{path} was a folder with criteria and is a symbolic link");
            findings.fail(Reason::CriteriaRedirected, Some(path), text);
        }
        CriteriaKind::Unreadable => {
            findings.fail(
                Reason::CriteriaModified,
                Some(path),
                format!("{path} holds criteria and can't be read"),
            );
        }
        CriteriaKind::File
        | CriteriaKind::Executable
        | CriteriaKind::Gitlink
        | CriteriaKind::Folder
        | CriteriaKind::Special => {
            let text = format!("{path} was a folder with criteria and is {}", name_of(obstacle.kind));
            findings.fail(Reason::CriteriaTypeChanged, Some(path), text);
        }
    }
}

fn compare_entry(expected: &CriteriaEntry, found: &CriteriaEntry, findings: &mut Findings) {
    let path = &expected.path;
    if expected.kind == found.kind {
        // Only equal digests are equal content: two unknown ones are not.
        if expected.digest.is_none() || expected.digest != found.digest {
            findings.fail(Reason::CriteriaModified, Some(path), format!("{path} was modified"));
        }
        return;
    }
    match (expected.kind, found.kind) {
        (CriteriaKind::File, CriteriaKind::Executable) | (CriteriaKind::Executable, CriteriaKind::File) => {
            let text = format!("{path} was {} and is {}", name_of(expected.kind), name_of(found.kind));
            findings.fail(Reason::CriteriaModified, Some(path), text);
        }
        (_, CriteriaKind::Unreadable) => {
            findings.fail(Reason::CriteriaModified, Some(path), format!("{path} can't be read any more"));
        }
        (_, CriteriaKind::Symlink) => {
            let text = format!("{path} was {} and is a symbolic link", name_of(expected.kind));
            findings.fail(Reason::CriteriaRedirected, Some(path), text.clone());
            findings.fail(Reason::CriteriaTypeChanged, Some(path), text);
        }
        (
            _,
            CriteriaKind::File
            | CriteriaKind::Executable
            | CriteriaKind::Gitlink
            | CriteriaKind::Folder
            | CriteriaKind::Special,
        ) => {
            let text = format!("{path} was {} and is {}", name_of(expected.kind), name_of(found.kind));
            findings.fail(Reason::CriteriaTypeChanged, Some(path), text);
        }
    }
}

fn name_of(kind: CriteriaKind) -> &'static str {
    match kind {
        CriteriaKind::File => "a file that is not executable",
        CriteriaKind::Executable => "an executable file",
        CriteriaKind::Symlink => "a symbolic link",
        CriteriaKind::Gitlink => "a submodule",
        CriteriaKind::Folder => "a folder",
        CriteriaKind::Special => "a special file",
        CriteriaKind::Unreadable => "unreadable",
    }
}
