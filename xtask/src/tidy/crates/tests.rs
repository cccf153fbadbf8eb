use super::check;

fn faults(text: &str) -> Vec<String> {
    check("crates/x/Cargo.toml", text).iter().map(ToString::to_string).collect()
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\n{rest}")
}

#[test]
fn an_allowed_edge_is_no_fault() {
    let rest = "[dependencies]\nnightgate-core.workspace = true\nserde = \"1\"\n[dev-dependencies]\ntestkit.workspace = true\n";
    assert_eq!(faults(&manifest("nightgate-host", rest)), Vec::<String>::new());
}

#[test]
fn host_and_store_may_not_see_each_other() {
    for (name, other) in [("nightgate-host", "nightgate-store"), ("nightgate-store", "nightgate-host")] {
        let because = if name == "nightgate-host" {
            "host touches, and neither remembers nor serves"
        } else {
            "store remembers and starts nothing"
        };
        let shown = faults(&manifest(name, &format!("[dependencies]\n{other}.workspace = true\n")));
        assert_eq!(
            shown,
            [format!(
                "crates/x/Cargo.toml:4: {name} depends on {other}: {because}; it may use nightgate-core"
            )]
        );
    }
}

#[test]
fn an_edge_for_tests_a_target_or_a_build_script_is_an_edge() {
    for table in ["dev-dependencies", "build-dependencies", "target.'cfg(unix)'.dependencies"] {
        let rest = format!("[{table}]\nnightgate-engine = {{ path = \"../e\" }}\n");
        assert_eq!(faults(&manifest("nightgate-core", &rest)).len(), 1, "{table}");
    }
}

#[test]
fn a_renamed_dependency_is_seen_through() {
    let rest = "[dependencies]\nharmless = { package = \"nightgate-store\", path = \"../s\" }\n";
    let shown = faults(&manifest("nightgate", rest));
    assert!(shown[0].starts_with("crates/x/Cargo.toml:4: nightgate depends on nightgate-store"), "{shown:?}");
}

#[test]
fn a_library_that_brings_in_the_forbidden_is_a_fault() {
    for (name, library) in [
        ("nightgate-core", "rand"),
        ("nightgate-core", "tokio"),
        ("nightgate-host", "rusqlite"),
        ("nightgate-engine", "clap"),
    ] {
        let shown = faults(&manifest(name, &format!("[dependencies]\n{library} = \"1\"\n")));
        assert_eq!(shown.len(), 1, "{name} {library}");
    }
    let for_tests = manifest("nightgate-core", "[dev-dependencies]\ntempfile = \"3\"\n");
    assert_eq!(faults(&for_tests), Vec::<String>::new());
}

#[test]
fn the_test_kit_is_for_tests_only() {
    let shown = faults(&manifest("nightgate", "[dependencies]\ntestkit.workspace = true\n"));
    assert_eq!(shown.len(), 1);
}

#[test]
fn an_unknown_crate_is_a_fault() {
    let shown = faults(&manifest("nightgate-extra", ""));
    assert!(shown[0].contains("the crate `nightgate-extra` is unknown here"), "{shown:?}");
}
