use super::{Declaration, DeclarationError, OutcomeRequirement, Terms};

fn settle(text: &str) -> Result<Terms, DeclarationError> {
    Declaration::from_json(text.as_bytes())?.settle()
}

fn refusal(text: &str) -> String {
    settle(text).expect_err("it was accepted").to_string()
}

const LEAST: &str = r#"{"outcomeRequirement": "repository_change_required", "changedPaths": ["src/a.rs"],
    "protectedPathsUnchanged": ["src/b.rs"], "dependencyFilesUnchanged": ["Cargo.toml"], "criteriaPaths": ["tests"],
    "commands": [{"name": "tests", "executable": "cargo", "args": ["test"]}]}"#;

#[test]
fn the_least_declaration_is_accepted_as_it_stands() {
    let terms = settle(LEAST).unwrap();
    assert_eq!(terms.outcome_requirement, OutcomeRequirement::RepositoryChangeRequired);
    assert!(terms.commands[0].is_binding());
    assert_eq!((terms.budget.wall_seconds, terms.budget.silence_seconds), (7200, 900));
}

#[test]
fn what_must_be_said_is_asked_for() {
    assert!(
        refusal(r#"{"commands": [{"name": "t", "executable": "make"}]}"#)
            .contains("criteriaPaths: is missing")
    );
    assert!(refusal(r#"{"criteriaPaths": []}"#).contains("nothing could affirm success"));
    let advisory =
        r#"{"criteriaPaths": [], "commands": [{"name": "t", "executable": "make", "required": false}]}"#;
    assert!(refusal(advisory).contains("nothing could affirm success"));
    let known =
        r#"{"criteriaPaths": [], "commands": [{"name": "t", "executable": "make", "preExisting": true}]}"#;
    assert!(refusal(known).contains("nothing could affirm success"));
}

#[test]
fn unknown_and_duplicate_keys_are_refused_with_their_line() {
    let unknown = refusal("{\n\"criteriaPath\": []}");
    assert!(unknown.contains("criteriaPath") && unknown.contains("line 2"), "{unknown}");
    assert!(refusal(r#"{"criteriaPaths": [], "criteriaPaths": []}"#).contains("criteriaPaths"));
}

#[test]
fn each_later_key_is_refused_by_name_and_accepted_at_its_default() {
    let with = |key: &str, value: &str| LEAST.replacen('{', &format!("{{\"{key}\": {value},"), 1);
    for (key, default, other) in [
        ("stages", "[]", r#"[{"id": "S1"}]"#),
        ("criteriaMayGrow", "[]", r#"["tests"]"#),
        ("influence", r#"{"allowed": []}"#, r#"{"allowed": ["setup.cfg"]}"#),
        ("heldOut", "[]", r#"[{"name": "h"}]"#),
        ("reviewers", "[]", r#"[{"agent": "claude"}]"#),
        ("verifiers", "[]", r#"[{"name": "policy"}]"#),
        ("byReviewOnly", "false", "true"),
        ("recovery", r#"{"limit": 0}"#, r#"{"limit": 1}"#),
        ("ladder", "[]", r#"["opus"]"#),
        (
            "isolation",
            r#"{"network": {"agent": "open", "setup": "open", "checks": "none", "reviewers": "open"}}"#,
            r#"{"network": {"checks": "open"}}"#,
        ),
        ("budget", r#"{"wallSeconds": 5}"#, r#"{"usd": 5.0}"#),
        ("strength", "null", r#""files""#),
    ] {
        assert!(settle(&with(key, default)).is_ok(), "{key} at its default was refused");
        let text = refusal(&with(key, other));
        assert!(text.contains("not yet") && text.contains(key), "{text}");
    }
    for (key, default, other) in [
        ("repeat", "1", "3"),
        ("report", "null", r#"{"format": "junit", "path": "r.xml"}"#),
        ("requiredTests", "[]", r#"["a::b"]"#),
        ("canary", "null", r#""off""#),
    ] {
        let with = |value: &str| {
            LEAST.replace(r#""name": "tests""#, &format!(r#""name": "tests", "{key}": {value}"#))
        };
        assert!(settle(&with(default)).is_ok(), "{key} at its default was refused");
        let text = refusal(&with(other));
        assert!(text.contains("not yet") && text.contains(key), "{text}");
    }
}

#[test]
fn every_fault_is_named_at_once() {
    let text = refusal(
        r#"{"criteriaPaths": [], "commands": [{"name": "a", "executable": "make test"}, {"name": "a",
        "executable": "../x", "timeoutSeconds": 0}, {"name": "c", "executable": "true"}]}"#,
    );
    for part in ["holds spaces", "climbs", "no usable limit", "stands twice", "can't fail"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_requirement_quotes_the_ticket_literally() {
    let with = |quote: &str| {
        LEAST.replacen(
            '{',
            &format!(
                "{{\"ticket\": {{\"text\": \"Add a flag.\\n  Keep the old one.\", \"requirements\": [{{\"id\": \"R1\", \
                 \"quote\": \"{quote}\"}}]}},"
            ),
            1,
        )
    };
    assert!(settle(&with("flag. Keep the old")).is_ok());
    assert!(refusal(&with("Remove the old one")).contains("not a literal clause"));
}

#[test]
fn toml_is_the_same_declaration_without_ticket_and_base() {
    let toml = br#"
        criteriaPaths = ["tests"]
        [[commands]]
        name = "tests"
        executable = "make"
        args = ["test"]
        [agents.mine]
        executable = "my-agent"
        args = ["{promptFile}"]
        prompt = "file"
    "#;
    let declaration = Declaration::from_toml(toml).unwrap();
    assert!(declaration.agents.as_ref().is_some_and(|agents| agents.contains_key("mine")));
    assert!(declaration.settle().is_ok());
    let fault = Declaration::from_toml(b"criteriaPaths = []\nbase = \"main\"").unwrap_err().to_string();
    assert!(fault.contains("belongs to a job"), "{fault}");
    let fault = Declaration::from_toml(b"criteriaPaths = []\ncomands = []").unwrap_err().to_string();
    assert!(fault.contains("line 2") && fault.contains('^'), "{fault}");
}
