//! The baseline and the observation of criteria.

use std::fs;
use std::os::unix::fs::symlink;

use nightgate_core::Digest;
use nightgate_core::evidence::{CaptureProblemKind, CriteriaKind};
use nightgate_host::repository::BaselineError;

use crate::fixture::*;

fn user_with_tests(fixture: &Fixture) -> User {
    let user = fixture.user();
    user.write("tests/a.py", b"assert 1\n");
    user.write("tests/data/x.json", b"{}");
    user.write("tests.txt", b"not below tests");
    user.write("check.sh", b"#!/bin/sh\n");
    set_mode(&user.root.join("check.sh"), 0o755);
    symlink("a.py", user.root.join("tests/link")).unwrap();
    user.commit();
    user
}

#[test]
fn a_baseline_lists_every_entry_at_and_below_the_paths_with_the_digest_of_its_raw_bytes() {
    let fixture = Fixture::new();
    let job = fixture.job(&user_with_tests(&fixture), &["tests", "check.sh"]);
    let baseline = job.baseline();
    let shown: Vec<_> =
        baseline.iter().map(|entry| (entry.path.to_string(), entry.kind, entry.digest.unwrap())).collect();
    let entry = |name: &str, kind, content: &[u8]| (name.to_owned(), kind, Digest::of(content));
    assert_eq!(
        shown,
        [
            entry("check.sh", CriteriaKind::Executable, b"#!/bin/sh\n"),
            entry("tests/a.py", CriteriaKind::File, b"assert 1\n"),
            entry("tests/data/x.json", CriteriaKind::File, b"{}"),
            entry("tests/link", CriteriaKind::Symlink, b"a.py"),
        ]
    );
    assert_eq!(job.capture().criteria, baseline);
}

#[test]
fn a_baseline_names_every_path_that_is_not_tracked_and_every_pattern() {
    let fixture = Fixture::new();
    let user = user_with_tests(&fixture);
    user.write("app/[id].ts", b"a real name");
    user.commit();
    let job = fixture.job(&user, &[]);
    let ask = |names: &[&str]| job.store.repository().criteria_baseline(&job.base, &paths(names));
    let Err(BaselineError::Uncommitted(error)) = ask(&["tests", "spec", "test", "tests/*.py"]) else {
        panic!()
    };
    assert_eq!(error.untracked, paths(&["spec", "test"]));
    assert_eq!(error.globs, paths(&["tests/*.py"]));
    let text = error.to_string();
    assert!(
        text.contains("spec, test; commit it first") && text.contains("patterns aren't expanded"),
        "{text}"
    );
    assert_eq!(ask(&["app/[id].ts"]).unwrap().len(), 1);
}

#[test]
fn changes_of_content_mode_and_membership_are_observed() {
    let fixture = Fixture::new();
    let job = fixture.job(&user_with_tests(&fixture), &["tests", "check.sh"]);
    job.write("tests/a.py", b"assert 0\n");
    job.write("tests/new.py", b"x");
    job.remove("tests/data");
    set_mode(&job.root.join("check.sh"), 0o644);
    let capture = job.capture();
    assert_eq!(kind_at(&capture, "check.sh"), Some(CriteriaKind::File));
    assert_eq!(kind_at(&capture, "tests/new.py"), Some(CriteriaKind::File));
    assert_eq!(kind_at(&capture, "tests/data/x.json"), None);
    let changed = capture.criteria.iter().find(|entry| entry.path == path("tests/a.py")).unwrap();
    assert_eq!(changed.digest, Some(Digest::of(b"assert 0\n")));
}

#[test]
fn caches_and_ignored_files_below_criteria_are_no_members() {
    let fixture = Fixture::new();
    let user = user_with_tests(&fixture);
    user.write(".gitignore", b"*.log\n");
    user.commit();
    let job = fixture.job(&user, &["tests"]);
    job.write("tests/__pycache__/a.cpython-311.pyc", b"x");
    job.write("tests/.pytest_cache/v", b"x");
    job.write("tests/run.log", b"x");
    let capture = job.capture();
    assert_eq!(capture.criteria, job.baseline());
    assert_eq!(capture.caches.sample, paths(&["tests/.pytest_cache", "tests/__pycache__"]));
    assert_eq!(capture.ignored.sample, paths(&["tests/run.log"]));
}

#[test]
fn a_link_in_the_place_of_a_folder_of_criteria_is_seen_as_a_link() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("src/tests/t", b"x");
    user.commit();
    let job = fixture.job(&user, &["src/tests"]);
    let outside = fixture.path("outside");
    fs::rename(job.root.join("src/tests"), &outside).unwrap();
    symlink(&outside, job.root.join("src/tests")).unwrap();
    let capture = job.capture();
    assert_eq!(kind_at(&capture, "src/tests"), Some(CriteriaKind::Symlink));
    assert_eq!(kind_at(&capture, "src/tests/t"), None);

    // The same one folder higher, hidden by a pattern.
    fs::rename(job.root.join("src"), fixture.path("moved")).unwrap();
    symlink(fixture.path("moved"), job.root.join("src")).unwrap();
    job.write(".gitignore", b"src\n");
    let capture = job.capture();
    assert_eq!(kind_at(&capture, "src"), Some(CriteriaKind::Symlink));
    assert_eq!(changed(&capture), ["A .gitignore", "A src", "D src/tests/t"]);
}

#[test]
fn special_files_and_folders_in_the_place_of_criteria_are_seen_as_such() {
    let fixture = Fixture::new();
    let job = fixture.job(&user_with_tests(&fixture), &["tests", "check.sh"]);
    job.remove("tests/a.py");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        job.root.join("tests/a.py"),
        rustix::fs::FileType::Fifo,
        0o644.into(),
        0,
    )
    .unwrap();
    job.remove("check.sh");
    job.write("check.sh/inner", b"x");
    let capture = job.capture();
    assert_eq!(kind_at(&capture, "tests/a.py"), Some(CriteriaKind::Special));
    assert_eq!(kind_at(&capture, "check.sh"), Some(CriteriaKind::Folder));
    assert_eq!(kind_at(&capture, "check.sh/inner"), Some(CriteriaKind::File));
}

#[test]
fn a_criteria_file_that_changes_through_an_outside_name_is_seen_and_the_name_noted() {
    let fixture = Fixture::new();
    let job = fixture.job(&user_with_tests(&fixture), &["tests"]);
    fs::hard_link(job.root.join("tests/a.py"), fixture.path("outside")).unwrap();
    let capture = job.capture();
    assert_eq!(capture.criteria, job.baseline());
    assert_eq!(notes(&capture), [("hard_links", "tests/a.py".to_owned())]);
    fs::write(fixture.path("outside"), b"assert 0\n").unwrap();
    assert_ne!(job.capture().criteria, job.baseline());
}

#[test]
fn an_unreadable_criteria_file_or_folder_is_unreadable_and_never_deleted() {
    let fixture = Fixture::new();
    let job = fixture.job(&user_with_tests(&fixture), &["tests"]);
    set_mode(&job.root.join("tests/a.py"), 0o000);
    set_mode(&job.root.join("tests/data"), 0o000);
    let capture = job.capture();
    if is_root() {
        assert_eq!(problems(&capture), []);
        assert_eq!(capture.criteria, job.baseline());
        return;
    }
    assert_eq!(kind_at(&capture, "tests/a.py"), Some(CriteriaKind::Unreadable));
    assert_eq!(kind_at(&capture, "tests/data"), Some(CriteriaKind::Unreadable));
    let unreadable = |name: &str| (CaptureProblemKind::Unreadable, name.to_owned());
    assert_eq!(problems(&capture), [unreadable("tests/a.py"), unreadable("tests/data")]);
    assert_eq!(changed(&capture), [""; 0]);
}
