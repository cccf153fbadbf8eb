//! What Nightgate said of one side of a case, against what it should have said: a function of the expectation, the
//! exit status and the report. Getting the report is `run`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::{Attack, Honest, Rejection};

#[cfg(test)]
mod tests;

/// What is expected of one side.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'c> {
    /// The attack's rejection.
    Attack(&'c Attack),
    /// VERIFIED, with these notes.
    Honest(&'c Honest),
}

/// The part of a report (`run --json`, `verify --json`) that is judged here.
#[derive(Debug, Deserialize)]
struct Report {
    execution: Execution,
    verdict: Option<String>,
    #[serde(default)]
    reasons: Vec<Finding>,
    #[serde(default)]
    notes: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct Execution {
    outcome: String,
}

#[derive(Debug, Deserialize)]
struct Finding {
    code: String,
    path: Option<String>,
}

impl Expected<'_> {
    fn verdict(self) -> &'static str {
        match self {
            Self::Attack(attack) => match attack.verdict {
                Rejection::Failed => "FAILED",
                Rejection::Uncertain => "UNCERTAIN",
            },
            Self::Honest(_) => "VERIFIED",
        }
    }

    fn notes(&self) -> &BTreeSet<String> {
        match self {
            Self::Attack(attack) => &attack.notes,
            Self::Honest(honest) => &honest.notes,
        }
    }
}

/// The faults of what was said, one clause each; empty where all is right.
pub fn compare(expected: Expected<'_>, code: Option<i32>, report: &Value) -> Vec<String> {
    let report: Report = match Report::deserialize(report) {
        Ok(report) => report,
        Err(error) => return vec![format!("the report can't be read: {error}")],
    };
    let mut faults = Vec::new();
    let verdict = report.verdict.as_deref().unwrap_or("absent");
    let codes = |findings: &[Finding]| -> BTreeSet<String> {
        findings.iter().map(|finding| finding.code.clone()).collect()
    };
    let (reasons, notes) = (codes(&report.reasons), codes(&report.notes));
    if report.execution.outcome != "executed" {
        faults.push(format!("execution is `{}`, not `executed`", report.execution.outcome));
    }
    if verdict != expected.verdict() {
        let said = if reasons.is_empty() { String::new() } else { format!(" ({})", list(&reasons)) };
        let kind = match verdict {
            "VERIFIED" => "FALSE VERIFIED: ",
            "FAILED" => "false FAILED: ",
            _ => "",
        };
        faults.push(format!("{kind}verdict is {verdict}{said}, not {}", expected.verdict()));
    }
    let usual = match verdict {
        "VERIFIED" => Some(0),
        "FAILED" => Some(1),
        "UNCERTAIN" => Some(2),
        _ => None,
    };
    if usual.is_some() && code != usual {
        faults.push(format!("exit status is {code:?}, which isn't that of {verdict}"));
    }
    for note in expected.notes().iter().filter(|note| !notes.contains(*note)) {
        faults.push(format!("the note `{note}` is missing (notes: {})", list(&notes)));
    }
    match expected {
        Expected::Attack(attack) => faults.extend(reason_faults(attack, &report, &reasons, &notes)),
        Expected::Honest(_) if !reasons.is_empty() && verdict == "VERIFIED" => {
            faults.push(format!("VERIFIED has reasons: {}", list(&reasons)));
        }
        Expected::Honest(_) => {}
    }
    faults
}

fn reason_faults(
    attack: &Attack,
    report: &Report,
    reasons: &BTreeSet<String>,
    notes: &BTreeSet<String>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let given: Vec<&Finding> =
        report.reasons.iter().filter(|finding| finding.code == attack.reason).collect();
    if given.is_empty() {
        faults.push(format!("the reason `{}` is missing (reasons: {})", attack.reason, list(reasons)));
    } else if let Some(path) = &attack.path
        && !given.iter().any(|finding| finding.path.as_ref() == Some(path))
    {
        let named: BTreeSet<String> = given.iter().filter_map(|finding| finding.path.clone()).collect();
        faults.push(format!("`{}` doesn't name {path} (paths: {})", attack.reason, list(&named)));
    }
    for code in attack.also.iter().filter(|code| !reasons.contains(*code) && !notes.contains(*code)) {
        faults.push(format!("`{code}` is neither a reason nor a note"));
    }
    let right =
        |code: &&String| **code == attack.reason || attack.may.contains(*code) || attack.also.contains(*code);
    for code in reasons.iter().filter(|code| !right(code)) {
        faults.push(format!("the reason `{code}` is wrong here"));
    }
    faults
}

fn list(codes: &BTreeSet<String>) -> String {
    if codes.is_empty() {
        return "none".to_owned();
    }
    codes.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
