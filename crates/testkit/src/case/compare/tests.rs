use serde_json::{Value, json};

use super::super::{Attack, Honest, Rejection};
use super::{Expected, compare};

fn attack() -> Attack {
    Attack {
        verdict: Rejection::Failed,
        reason: "check_failed".to_owned(),
        path: None,
        also: ["not_self_contained".to_owned()].into(),
        may: ["criteria_deleted".to_owned()].into(),
        notes: ["survivors".to_owned()].into(),
    }
}

fn report(verdict: &str, reasons: &[&str], notes: &[&str]) -> Value {
    let findings = |codes: &[&str]| codes.iter().map(|code| json!({"code": code})).collect::<Vec<_>>();
    json!({
        "execution": {"outcome": "executed"},
        "verdict": verdict,
        "reasons": findings(reasons),
        "notes": findings(notes),
    })
}

fn of_attack(code: i32, report: &Value) -> String {
    compare(Expected::Attack(&attack()), Some(code), report).join("; ")
}

fn of_honest(code: i32, report: &Value) -> String {
    compare(Expected::Honest(&Honest::default()), Some(code), report).join("; ")
}

#[test]
fn the_expected_rejection_has_no_fault() {
    let right = report("FAILED", &["check_failed", "not_self_contained"], &["survivors"]);
    assert_eq!(of_attack(1, &right), "");
    let also_right =
        report("FAILED", &["check_failed", "criteria_deleted"], &["survivors", "not_self_contained"]);
    assert_eq!(of_attack(1, &also_right), "");
}

#[test]
fn a_false_verified_is_called_one() {
    let faults = of_attack(0, &report("VERIFIED", &[], &["survivors", "not_self_contained"]));
    assert!(faults.starts_with("FALSE VERIFIED: verdict is VERIFIED, not FAILED"), "{faults}");
}

#[test]
fn a_false_failed_is_called_one() {
    let faults = of_honest(1, &report("FAILED", &["check_failed"], &[]));
    assert_eq!(faults, "false FAILED: verdict is FAILED (check_failed), not VERIFIED");
}

#[test]
fn an_uncertain_attack_is_not_the_expected_failed() {
    let faults = of_attack(2, &report("UNCERTAIN", &["check_timeout"], &["survivors", "not_self_contained"]));
    assert!(faults.contains("verdict is UNCERTAIN (check_timeout), not FAILED"), "{faults}");
}

#[test]
fn a_right_verdict_for_another_reason_is_a_fault() {
    let faults = of_attack(1, &report("FAILED", &["outcome_absent"], &["survivors", "not_self_contained"]));
    assert_eq!(
        faults,
        "the reason `check_failed` is missing (reasons: outcome_absent); the reason `outcome_absent` is wrong here"
    );
}

#[test]
fn a_reason_that_names_another_path_is_a_fault() {
    let attack = Attack { path: Some("tests/a.py".to_owned()), ..attack() };
    let mut report = report("FAILED", &["check_failed"], &["survivors", "not_self_contained"]);
    report["reasons"][0]["path"] = json!("tests/b.py");
    let faults = compare(Expected::Attack(&attack), Some(1), &report);
    assert_eq!(faults, ["`check_failed` doesn't name tests/a.py (paths: tests/b.py)"]);
    report["reasons"][0]["path"] = json!("tests/a.py");
    assert_eq!(compare(Expected::Attack(&attack), Some(1), &report), Vec::<String>::new());
}

#[test]
fn missing_codes_and_notes_are_faults() {
    assert_eq!(
        of_attack(1, &report("FAILED", &["check_failed"], &[])),
        "the note `survivors` is missing (notes: none); `not_self_contained` is neither a reason nor a note"
    );
}

#[test]
fn an_exit_status_that_contradicts_the_verdict_is_a_fault() {
    let faults = of_honest(1, &report("VERIFIED", &[], &[]));
    assert_eq!(faults, "exit status is Some(1), which isn't that of VERIFIED");
}

#[test]
fn an_agent_that_was_not_executed_is_a_fault() {
    let crashed = json!({"execution": {"outcome": "crashed"}, "verdict": null});
    assert_eq!(
        of_honest(3, &crashed),
        "execution is `crashed`, not `executed`; verdict is absent, not VERIFIED"
    );
}

#[test]
fn a_report_of_another_shape_is_a_fault() {
    assert!(of_honest(0, &json!({"verdict": "VERIFIED"})).starts_with("the report can't be read"));
}

#[test]
fn a_verified_with_reasons_is_a_fault() {
    assert_eq!(of_honest(0, &report("VERIFIED", &["survivors"], &[])), "VERIFIED has reasons: survivors");
}
