//! The user's own working tree, captured as it lies there.

use std::ffi::OsString;
use std::fs;

use nightgate_core::evidence::{CaptureProblemKind, CaptureSource};
use nightgate_host::git::UserSettings;

use crate::fixture::*;

fn converted(name: &str) -> (CaptureProblemKind, String) {
    (CaptureProblemKind::Converted, name.to_owned())
}

#[test]
fn a_working_tree_is_captured_and_not_even_its_index_is_touched() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write(".gitattributes", b"* text=auto\n");
    user.write("file", b"old\n");
    user.write("removed", b"old\n");
    user.commit();
    let job = fixture.job(&user, &["file"]);
    user.write("file", b"new\n");
    user.write("untracked", b"new\n");
    user.write("staged", b"new\n");
    user.run(&["add", "staged"]);
    fs::remove_file(user.root.join("removed")).unwrap();
    // The index's times no longer fit: a refresh would rewrite it.
    user.write(".gitattributes", b"* text=auto\n");
    let before = snapshot(&user.root, &[]);
    let capture = job.capture_worktree(&UserSettings::default());
    assert_eq!(before, snapshot(&user.root, &[]));
    assert_eq!(capture.source, CaptureSource::Worktree);
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), ["M file", "D removed", "A staged", "A untracked"]);
}

#[test]
fn a_file_whose_bytes_a_commit_would_change_is_converted() {
    let fixture = Fixture::new();
    let user = fixture.user();
    let attributes =
        "*.crlf text eol=crlf\n*.big filter=lfs -text\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n";
    user.write(".gitattributes", attributes.as_bytes());
    user.write("same.crlf", b"a\r\n");
    user.write("unix.crlf", b"a\n");
    user.write("plain", b"a\n");
    user.commit();
    let job = fixture.job(&user, &[]);
    // The user's git holds LF and shows CRLF: it shows something else than base.
    user.write("unix.crlf", b"b\n");
    user.write("new.big", b"large content");
    user.write("some.id", b"$Id$\n");
    user.write("text.u16", b"\xff\xfea\0");
    user.write("plain", b"b\r\n");
    user.write("new\nname.big", b"x");
    let capture = job.capture_worktree(&UserSettings::default());
    assert_eq!(
        problems(&capture),
        [
            converted("\"new\\nname.big\""),
            converted("new.big"),
            converted("same.crlf"),
            converted("some.id"),
            converted("text.u16"),
        ]
    );
    assert!(capture.problems[0].text.contains("--commit"), "{}", capture.problems[0].text);
}

#[test]
fn the_users_own_settings_and_the_repositorys_decide_about_line_ends() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old\n");
    user.commit();
    let job = fixture.job(&user, &[]);
    user.write("file", b"new\r\n");
    user.write("binary", b"\r\n\0");
    let with = |autocrlf: Option<&str>| {
        let settings = UserSettings { autocrlf: autocrlf.map(OsString::from), ..UserSettings::default() };
        problems(&job.capture_worktree(&settings))
    };
    assert_eq!(with(None), []);
    assert_eq!(with(Some("false")), []);
    assert_eq!(with(Some("input")), [converted("file")]);
    assert_eq!(with(Some("true")), [converted("file")]);
    user.run(&["config", "core.autocrlf", "false"]);
    assert_eq!(with(Some("true")), []);
    user.run(&["config", "core.autocrlf", "input"]);
    assert_eq!(with(None), [converted("file")]);
    let attributes = fixture.path("attributes");
    fs::write(&attributes, "* -text\n").unwrap();
    let settings =
        UserSettings { attributes_file: Some(attributes.into_os_string()), ..UserSettings::default() };
    assert_eq!(problems(&job.capture_worktree(&settings)), []);
}

#[test]
fn what_a_sparse_checkout_leaves_away_is_not_taken_for_deleted_without_a_word() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("kept/file", b"x");
    user.write("away/file", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    user.run(&["sparse-checkout", "set", "kept"]);
    assert!(!user.root.join("away").exists());
    assert_eq!(problems(&job.capture_worktree(&UserSettings::default())), [converted("away/file")]);
}

#[test]
fn a_linked_working_tree_is_captured_like_a_main_one() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    user.run(&["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = User { root: fixture.path("linked"), home: user.home };
    let job = fixture.job(&linked, &[]);
    linked.write("file", b"new");
    let capture = job.capture_worktree(&UserSettings::default());
    assert_eq!(changed(&capture), ["M file"]);
}
