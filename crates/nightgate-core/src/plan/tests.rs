use serde_json::{Value, json};

use super::{Plan, PlanError};
use crate::sample::plan_with;

/// What reading says of the sample plan after this edit of its bytes.
fn edited(edit: impl FnOnce(&mut Value)) -> Result<Plan, PlanError> {
    let mut content: Value = serde_json::from_slice(plan_with("").bytes()).unwrap();
    edit(&mut content);
    Plan::from_bytes(content.to_string().into_bytes())
}

#[test]
fn a_frozen_plan_is_read_as_it_was_written() {
    let plan = plan_with(r#", "changedPaths": ["src"]"#);
    assert_eq!(Plan::from_bytes(plan.bytes().to_vec()).unwrap(), plan);
    assert!(edited(|_| ()).is_ok());
}

#[test]
fn a_plan_that_freezing_would_not_have_made_is_refused() {
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 22] = [
        ("nothing affirms", |p| p["terms"]["commands"][0]["required"] = json!(false)),
        ("only a pre-existing failure", |p| p["terms"]["commands"][0]["preExisting"] = json!(true)),
        ("126 passes", |p| p["terms"]["commands"][0]["expectExit"] = json!(126)),
        ("it can't fail", |p| p["terms"]["commands"][0]["executable"] = json!("true")),
        ("no program", |p| p["terms"]["commands"][0]["executable"] = json!("")),
        ("a program outside", |p| p["terms"]["commands"][0]["executable"] = json!("./../check")),
        ("no time", |p| p["terms"]["commands"][0]["timeoutSeconds"] = json!(0)),
        ("a name twice", |p| p["terms"]["commands"][1]["name"] = json!("tests")),
        ("no time for the agent", |p| p["terms"]["budget"]["wallSeconds"] = json!(0)),
        ("a variable that is none", |p| p["terms"]["passEnv"] = json!(["A=b"])),
        ("an empty ticket", |p| p["terms"]["ticket"] = json!({"text": " "})),
        ("criteria paths gone", |p| p["terms"]["criteriaPaths"] = json!([])),
        ("a criteria path without baseline", |p| p["terms"]["criteriaPaths"] = json!(["tests", "more"])),
        ("a baseline outside", |p| p["criteria"][0]["path"] = json!("src/a.sh")),
        ("a baseline twice", |p| p["criteria"][1] = p["criteria"][0].clone()),
        ("a baseline without content", |p| p["criteria"][0]["digest"] = Value::Null),
        ("a baseline of nothing tracked", |p| p["criteria"][0]["kind"] = json!("special")),
        ("passed at base and must fail", |p| {
            p["terms"]["commands"][0]["mustFailOnBase"] = json!(true);
            p["atBase"][0] = json!({"check": "tests", "exit": {"exited": {"code": 0}}, "passed": true});
        }),
        ("not run at base and must fail", |p| {
            p["terms"]["commands"][0]["mustFailOnBase"] = json!(true);
            p["atBase"] = json!([]);
        }),
        ("passed with another status", |p| p["atBase"][0]["passed"] = json!(true)),
        ("an outcome of no check", |p| p["atBase"][0]["check"] = json!("others")),
        ("two outcomes", |p| p["atBase"] = json!([p["atBase"][0], p["atBase"][0]])),
    ];
    for (what, edit) in edits {
        let read = edited(edit).map(|plan| plan.digest());
        assert!(matches!(read, Err(PlanError::Inconsistent(_))), "{what}: {read:?}");
    }
}

#[test]
fn a_check_whose_output_counts_may_have_failed_with_the_status_that_passes() {
    let read = edited(|plan| {
        plan["terms"]["commands"][0]["expectEmptyOutput"] = json!(true);
        plan["atBase"][0] = json!({"check": "tests", "exit": {"exited": {"code": 0}}, "passed": false});
    });
    assert!(read.is_ok(), "{read:?}");
}
