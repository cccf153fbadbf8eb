use super::{check, check_marks};

const HEADER: &str = "//! Decides. Touching is not here.\n";

fn faults(path: &str, text: &str) -> Vec<String> {
    check(path, text)
        .iter()
        .filter(|finding| finding.is_fault())
        .map(|finding| finding.to_string().strip_prefix(path).unwrap_or_default().to_owned())
        .collect()
}

fn faults_in_core(code: &str) -> Vec<String> {
    faults("crates/nightgate-core/src/plan.rs", &format!("{HEADER}{code}"))
}

#[test]
fn a_module_without_a_header_is_a_fault_and_a_test_module_is_not() {
    for text in ["", "use std::fmt;\n", "// plain\n//! late\n", "//!\n"] {
        assert_eq!(faults("crates/nightgate-host/src/box.rs", text).len(), 1, "{text:?}");
    }
    assert_eq!(faults("crates/nightgate-host/src/box/tests.rs", "use super::*;\n").len(), 0);
    assert_eq!(faults("xtask/src/main.rs", HEADER).len(), 0);
}

#[test]
fn core_may_not_touch_files_processes_the_environment_or_the_network() {
    for code in [
        "use std::fs;",
        "use std::process::Command;",
        "let home = std::env::var(\"HOME\");",
        "use std::net::TcpStream;",
        "use std::{fmt, fs};",
        "use std::{\n    collections::{BTreeMap, btree_map},\n    fs::{self, File},\n};",
        "let file = ::std::fs::read(path);",
        "use std :: fs;",
    ] {
        let shown = faults_in_core(code);
        assert_eq!(shown.len(), 1, "{code}: {shown:?}");
        assert!(shown[0].contains("core decides from its arguments"), "{shown:?}");
    }
}

#[test]
fn the_line_of_a_grouped_use_is_named() {
    let shown = faults_in_core("use std::{\n    fmt,\n    fs,\n};");
    assert!(shown[0].starts_with(":4: std::fs is used"), "{shown:?}");
}

#[test]
fn core_may_have_no_clock_no_randomness_and_no_async() {
    for code in [
        "let now = SystemTime::now();",
        "use std::time::Instant;",
        "let bits = rand::random();",
        "async fn ask() {}",
        "ask().await",
    ] {
        assert_eq!(faults_in_core(code).len(), 1, "{code}");
    }
}

#[test]
fn pure_code_and_words_in_comments_and_strings_are_no_fault() {
    let code = "use std::{collections::BTreeMap, fmt};\n// std::fs is for others\nlet text = \"std::fs async rand\";\n\
                let fs = strand; operand(std::time::Duration::ZERO, my::fs::x);";
    assert_eq!(faults_in_core(code), Vec::<String>::new());
}

#[test]
fn others_may_touch_the_world_and_tests_of_core_may_read_files() {
    let code = format!("{HEADER}use std::fs;\nuse std::time::Instant;\n");
    assert_eq!(faults("crates/nightgate-host/src/walk.rs", &code), Vec::<String>::new());
    assert_eq!(faults("crates/nightgate-core/src/plan/tests.rs", &code), Vec::<String>::new());
}

#[test]
fn the_store_starts_nothing() {
    let shown = faults("crates/nightgate-store/src/log.rs", &format!("{HEADER}use std::process::Command;\n"));
    assert!(shown[0].starts_with(":2: std::process is used: store remembers"), "{shown:?}");
}

#[test]
fn an_allowed_lint_is_a_fault_everywhere() {
    let text = format!("{HEADER}#[allow(dead_code)]\nfn f() {{}}\n");
    assert!(faults("crates/nightgate-host/src/walk.rs", &text)[0].starts_with(":2: a lint is allowed"));
    assert_eq!(faults("crates/nightgate-host/src/walk.rs", &text.replace("#[", "#![")).len(), 1);
    assert_eq!(check_marks("crates/nightgate/tests/run.rs", &text).len(), 1);
    let harmless = format!(
        "{HEADER}// never #[allow(..)]\nlet text = \"#[allow(\";\n#[expect(dead_code, reason = \"r\")]\n"
    );
    assert_eq!(faults("crates/nightgate-host/src/walk.rs", &harmless), Vec::<String>::new());
}

#[test]
fn a_postponed_task_in_a_comment_is_a_fault() {
    for mark in [concat!("TO", "DO"), concat!("FIX", "ME")] {
        let text = format!("{HEADER}// {mark}: later\n/* {mark} */\nlet text = \"{mark}\";\n");
        assert_eq!(faults("crates/nightgate-host/src/walk.rs", &text).len(), 2);
    }
}

#[test]
fn a_long_file_is_a_notice_and_its_tests_do_not_count() {
    let long = format!("{HEADER}{}", "fn f() {}\n".repeat(600));
    let findings = check("crates/nightgate-host/src/walk.rs", &long);
    assert_eq!(findings.len(), 1);
    assert!(!findings[0].is_fault() && findings[0].to_string().contains("601 lines without tests"));
    let tested = format!("{HEADER}fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{}}}\n", "    // a\n".repeat(600));
    assert_eq!(check("crates/nightgate-host/src/walk.rs", &tested), Vec::new());
}
