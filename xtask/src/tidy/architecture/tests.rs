use super::{check, definitions};

const SOURCE: &str = "pub struct JobState;\nimpl JobState {\n    pub fn apply(&mut self) {}\n}\n\
                      pub fn judge() {}\nenum Gate {\n    Scope,\n}\n// struct Gone\n";

fn faults(text: &str) -> Vec<String> {
    let exists = |path: &str| {
        ["crates/nightgate-core", "crates/nightgate-core/src/plan.rs", "deny.toml"].contains(&path)
    };
    let found = check("ARCHITECTURE.md", text, &definitions([SOURCE]), exists);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn what_exists_may_be_named() {
    let text = "`crates/nightgate-core/` holds `JobState`, `JobState::apply(&Event)`, `judge(&Plan)`, `Gate::Scope`;\n\
                see `crates/nightgate-core/src/plan.rs` and `deny.toml`.\n";
    assert_eq!(faults(text), Vec::<String>::new());
}

#[test]
fn what_is_neither_path_nor_name_is_left_alone() {
    let text = "`VERIFIED`, `refs/nightgate/`, `/proc/self/exe`, `crates/*/src`, `git fsck`, `unwrap_used`, `--json`\n\
                ```text\n`Missing` `no/such`\n```\n";
    assert_eq!(faults(text), Vec::<String>::new());
}

#[test]
fn a_path_that_does_not_exist_is_a_fault() {
    assert_eq!(
        faults("fine\n`crates/nightgate-moon/`\n`plan.toml`\n"),
        [
            "ARCHITECTURE.md:2: `crates/nightgate-moon/` doesn't exist: name the file or folder that is meant now",
            "ARCHITECTURE.md:3: `plan.toml` doesn't exist: name the file or folder that is meant now",
        ]
    );
}

#[test]
fn a_type_member_or_function_that_does_not_exist_is_a_fault() {
    for (mention, missing) in [
        ("Gone", "Gone"),
        ("JobState::advance", "advance"),
        ("core::JobStatus", "JobStatus"),
        ("decide(&Plan)", "decide"),
        ("Gate::Outcome", "Outcome"),
    ] {
        let shown = faults(&format!("`{mention}`\n"));
        assert_eq!(shown.len(), 1, "{mention}");
        assert!(shown[0].contains(&format!("nothing is called {missing}:")), "{shown:?}");
    }
}

#[test]
fn a_text_of_more_than_250_lines_is_a_fault() {
    assert_eq!(faults(&"a\n".repeat(250)), Vec::<String>::new());
    assert!(faults(&"a\n".repeat(251))[0].starts_with("ARCHITECTURE.md:251: 251 lines, more than 250"));
}
