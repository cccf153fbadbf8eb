//! The verdict: what the evidence shows. Only `judge` makes one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::gate::{FailureClass, Finding, Gate, GateOutcome, GateResult, Reason, Role};

/// The three answers. Whoever needs "yes" must see [`VerdictWord::Verified`]; the other two are not the same "no".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerdictWord {
    /// Every needed fact is positive.
    #[serde(rename = "VERIFIED")]
    Verified,
    /// A fact contradicts the plan.
    #[serde(rename = "FAILED")]
    Failed,
    /// It can't be told.
    #[serde(rename = "UNCERTAIN")]
    Uncertain,
}

impl VerdictWord {
    /// The word as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::Failed => "FAILED",
            Self::Uncertain => "UNCERTAIN",
        }
    }
}

impl fmt::Display for VerdictWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A verdict with the answer of every gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Verdict {
    word: VerdictWord,
    gates: Vec<GateResult>,
}

impl Verdict {
    /// Composes the answers of all gates; the order of the gates never matters.
    ///
    /// Any fail of a veto or required gate: FAILED. Else any unsure or unexplained skip of those, or no required pass:
    /// UNCERTAIN. Else VERIFIED. Advisory answers change nothing.
    pub fn compose(gates: Vec<GateResult>) -> Self {
        let counts = |result: &&GateResult| matches!(result.role, Role::Veto | Role::Required);
        let any = |outcome| gates.iter().filter(counts).any(|result| result.outcome == outcome);
        let affirmed =
            gates.iter().any(|result| result.role == Role::Required && result.outcome == GateOutcome::Pass);
        let word = if any(GateOutcome::Fail) {
            VerdictWord::Failed
        } else if any(GateOutcome::Unsure)
            || any(GateOutcome::Skipped)
            || gates.iter().any(|result| result.role == Role::Required && result.outcome != GateOutcome::Pass)
            || !affirmed
        {
            VerdictWord::Uncertain
        } else {
            VerdictWord::Verified
        };
        Self { word, gates }
    }

    /// An UNCERTAIN that was reached before any gate could be asked: the plan can't be used, the environment failed.
    pub fn unasked(code: Reason, text: String) -> Self {
        let finding = Finding { code, path: None, text, evidence: None };
        Self::compose(vec![GateResult {
            gate: Gate::Integrity,
            role: Role::Veto,
            outcome: GateOutcome::Unsure,
            findings: vec![finding],
        }])
    }

    /// The answer.
    pub fn word(&self) -> VerdictWord {
        self.word
    }

    /// Each gate's answer, in the order of asking.
    pub fn gates(&self) -> &[GateResult] {
        &self.gates
    }

    /// The findings that the verdict rests on, with their gates: those of the gates that decided it, then the other
    /// refusals. `nothing_affirmed` where no gate refused and none affirmed.
    pub fn findings(&self) -> Vec<(&Gate, &Finding)> {
        let of = |outcome: GateOutcome| {
            self.gates
                .iter()
                .filter(move |result| result.role != Role::Advisory && result.outcome == outcome)
                .flat_map(|result| result.findings.iter().map(move |finding| (&result.gate, finding)))
        };
        of(GateOutcome::Fail).chain(of(GateOutcome::Unsure)).collect()
    }

    /// The reason codes, deciding ones first, without repetition; empty only for VERIFIED.
    pub fn reasons(&self) -> Vec<Reason> {
        let mut codes = Vec::new();
        for (_, finding) in self.findings() {
            if !codes.contains(&finding.code) {
                codes.push(finding.code);
            }
        }
        if codes.is_empty() && self.word != VerdictWord::Verified {
            codes.push(Reason::NothingAffirmed);
        }
        codes
    }

    /// What kind of failure it is; `None` for VERIFIED. Tampering outweighs everything, then scope.
    pub fn class(&self) -> Option<FailureClass> {
        match self.word {
            VerdictWord::Verified => None,
            VerdictWord::Uncertain => Some(FailureClass::Uncertain),
            VerdictWord::Failed => self
                .gates
                .iter()
                .filter(|result| result.role != Role::Advisory && result.outcome == GateOutcome::Fail)
                .flat_map(|result| result.findings.iter().map(|finding| finding.code.class()))
                .min()
                .or(Some(FailureClass::Implementation)),
        }
    }
}
