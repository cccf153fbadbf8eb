use std::path::Path;

use super::{Finding, check};

#[test]
fn the_house_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let findings = check(&root).unwrap();
    let faults: Vec<String> =
        findings.iter().filter(|finding| finding.is_fault()).map(ToString::to_string).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_finding_reads_as_place_fault_and_advice() {
    let fault = Finding::fault("a/b.rs", 3, "this is wrong", "do that");
    assert_eq!(fault.to_string(), "a/b.rs:3: this is wrong: do that");
    let notice = Finding::notice("a/b.rs", 3, "this is long", "look");
    assert_eq!(notice.to_string(), "a/b.rs:3: note: this is long: look");
    assert!(fault.is_fault() && !notice.is_fault());
}
