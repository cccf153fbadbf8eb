use super::super::lexer;
use super::{check_designs, check_source};

fn faults(path: &str, text: &str) -> Vec<String> {
    check_source(path, &lexer::split(text)).iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_folder_or_module_whose_name_says_nothing_is_a_fault() {
    for path in [
        "crates/nightgate-host/src/util.rs",
        "crates/nightgate-host/src/utils/path.rs",
        "crates/nightgate-host/src/git_helpers.rs",
        "crates/nightgate-core/src/types.rs",
        "crates/nightgate-core/src/utilities.rs",
        "crates/nightgate-engine/src/job_manager/queue.rs",
    ] {
        assert_eq!(faults(path, "").len(), 1, "{path}");
    }
    let shown = faults("xtask/src/main.rs", "fn f() {}\npub(crate) mod common {\n}\n");
    assert_eq!(
        shown,
        ["xtask/src/main.rs:2: the name `common` says nothing: name it after what it does or holds"]
    );
}

#[test]
fn a_name_that_says_something_is_no_fault() {
    for path in [
        "crates/nightgate-host/src/process.rs",
        "crates/nightgate-core/src/baseline.rs",
        "crates/nightgate-host/src/base_store.rs",
        "xtask/src/tidy/name.rs",
    ] {
        assert_eq!(faults(path, "mod tests {\n}\nlet data = info;\n"), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn design_notes_have_a_number_of_their_own() {
    let check = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        check_designs("docs/design", &names).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(check(&["0001-capture.md", "0002-event-log.md"]), Vec::<String>::new());
    let twice = check(&["0001-capture.md", "0001-event-log.md"]);
    assert_eq!(
        twice,
        [
            "docs/design/0001-event-log.md:1: the number 0001 is taken by 0001-capture.md: take the next free number"
        ]
    );
    for name in ["1-capture.md", "capture.md", "0001.md", "0001-.md", "0001-Capture.md", "0001-capture.txt"] {
        assert_eq!(check(&[name]).len(), 1, "{name}");
    }
}
