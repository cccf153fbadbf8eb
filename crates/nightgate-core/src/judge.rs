//! Judges: what a plan and the evidence for it amount to. Total and deterministic; gathering evidence is not here.

mod check;
mod criteria;
mod integrity;
mod outcome;
mod scope;

use std::collections::BTreeMap;

use crate::evidence::Evidence;
use crate::gate::{Finding, Gate, GateOutcome, GateResult, MOST_OF_A_CODE, Reason, Role};
use crate::plan::Plan;
use crate::verdict::Verdict;
use crate::{Digest, RepoPath};

/// The verdict on `evidence` by the terms of `plan`. Whoever holds a record can compute it again.
///
/// The cheap vetoes are all asked, so that every reason is named at once; checks that were not run because one of them
/// failed are `skipped`.
pub fn judge(plan: &Plan, evidence: &Evidence) -> Verdict {
    let mut gates = vec![integrity::ask(plan, evidence)];
    gates.extend(cheap_vetoes(plan, evidence));
    let vetoed = gates.iter().any(|result| result.outcome == GateOutcome::Fail);
    gates.extend(plan.content().terms.commands.iter().map(|check| check::ask(plan, evidence, check, vetoed)));
    Verdict::compose(gates)
}

/// True where running the checks can't change the verdict any more: what was captured already contradicts the plan.
pub fn is_vetoed(plan: &Plan, evidence: &Evidence) -> bool {
    cheap_vetoes(plan, evidence).iter().any(|result| result.outcome == GateOutcome::Fail)
}

fn cheap_vetoes(plan: &Plan, evidence: &Evidence) -> [GateResult; 3] {
    [scope::ask(plan, evidence), criteria::ask(plan, evidence), outcome::ask(plan, evidence)]
}

/// A gate's findings while they are gathered.
#[derive(Default)]
struct Findings {
    fails: Vec<Finding>,
    unsures: Vec<Finding>,
}

impl Findings {
    fn fail(&mut self, code: Reason, path: Option<&RepoPath>, text: impl Into<String>) {
        self.fails.push(finding(code, path, text, None));
    }

    fn unsure(&mut self, code: Reason, path: Option<&RepoPath>, text: impl Into<String>) {
        self.unsures.push(finding(code, path, text, None));
    }

    /// The gate's answer: a fail outweighs, an unsure withholds, nothing found is a pass. How many findings are listed
    /// changes nothing of it.
    fn answer(self, gate: Gate, role: Role) -> GateResult {
        let outcome = if !self.fails.is_empty() {
            GateOutcome::Fail
        } else if !self.unsures.is_empty() {
            GateOutcome::Unsure
        } else {
            GateOutcome::Pass
        };
        GateResult { gate, role, outcome, findings: [listed(self.fails), listed(self.unsures)].concat() }
    }
}

/// The first [`MOST_OF_A_CODE`] findings of each code, and for each code that has more one that says how many: a verdict on
/// any number of files can be read and kept.
fn listed(findings: Vec<Finding>) -> Vec<Finding> {
    let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for finding in findings {
        let count = counts.entry(finding.code).or_default();
        *count += 1;
        if *count <= MOST_OF_A_CODE {
            kept.push(finding);
        }
    }
    let more = counts.into_iter().filter(|(_, count)| *count > MOST_OF_A_CODE);
    kept.extend(more.map(|(code, count)| {
        let text = format!("and {} more, which are not listed", count - MOST_OF_A_CODE);
        finding(code, None, text, None)
    }));
    kept
}

fn finding(
    code: Reason,
    path: Option<&RepoPath>,
    text: impl Into<String>,
    evidence: Option<Digest>,
) -> Finding {
    Finding { code, path: path.cloned(), text: text.into(), evidence }
}

#[cfg(test)]
mod tests;
