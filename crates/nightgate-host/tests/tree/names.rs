//! Names that parsers trip over, from the user's repository to the candidate and the clean room.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use nightgate_core::RepoPath;
use nightgate_core::evidence::CaptureProblemKind;
use nightgate_host::room::{materialise, observe};

use crate::fixture::*;

const HOSTILE: &[&[u8]] = &[
    b"new\nline",
    b"quote\"d",
    b"\"both\"",
    b"tab\there",
    b"back\\slash",
    b"trailing\\",
    "\u{e9}".as_bytes(),
    "e\u{301}".as_bytes(),
    b" b/",
    b"invalid\xff\xfe",
    b"invalid\xff\xfd",
    b"-rf",
    b"--help",
    b" leading and trailing ",
    b":(glob)*",
    b"*",
    b"[a]",
    b"escape\x1b[31m",
    "right\u{202e}to left".as_bytes(),
    "emoji \u{1f600}".as_bytes(),
    b"git~1",
    b"CON",
    b"dot.",
    b"#comment",
    b"!negated",
];

fn hostile_paths() -> Vec<Vec<u8>> {
    HOSTILE
        .iter()
        .map(|name| match name.strip_suffix(b"/") {
            Some(folder) => [folder, b"/inner"].concat(),
            None => name.to_vec(),
        })
        .collect()
}

#[test]
fn hostile_names_survive_from_base_to_workspace_to_candidate_to_room() {
    let fixture = Fixture::new();
    let user = fixture.user();
    for name in hostile_paths() {
        write(&user.root, &name, b"old");
    }
    user.commit();
    let criteria: Vec<_> = hostile_paths().iter().map(|name| RepoPath::from_bytes(name).unwrap()).collect();
    let mut job = fixture.job(&user, &[]);
    job.criteria = criteria.clone();
    assert_eq!(job.baseline().len(), criteria.len());
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    assert!(job.capture().changes.is_empty());
    assert_eq!(job.capture().criteria, job.baseline());

    for name in hostile_paths() {
        write(&job.root, &name, b"new");
        write(&job.root, &[b"deep/", &name[..]].concat(), b"fresh");
    }
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(capture.changes.len(), 2 * criteria.len());
    let candidate = capture.candidate.clone().unwrap();
    job.user.publish(job.job.repository(), &candidate, &job.base, "refs/nightgate/c", None).unwrap();

    let room = fixture.path("rooms/room");
    let tree = capture.tree.clone().unwrap();
    let listing = materialise(job.job.repository(), &tree, &room).unwrap();
    assert_eq!(observe(&room, &listing, job.job.repository().object_format()).tree, Some(tree));
    for name in hostile_paths() {
        assert_eq!(fs::read(room.join(OsStr::from_bytes(&name))).unwrap(), b"new");
    }
}

#[test]
fn two_names_that_differ_only_in_invalid_bytes_or_in_normal_form_are_two_files() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    for name in
        [&b"x\xff"[..], b"x\xfe", "x\u{e9}".as_bytes(), "xe\u{301}".as_bytes(), "x\u{fffd}".as_bytes()]
    {
        write(&job.root, name, name);
    }
    assert_eq!(job.capture().changes.len(), 5);
}

#[test]
fn git_in_other_letters_is_unrepresentable_and_costs_nothing_else() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("file", b"new");
    job.write("sub/.GIT/config", b"x");
    job.write("sub/.Git", b"x");
    job.write("sub/.gitx", b"x");
    let capture = job.capture();
    let not = |name: &str| (CaptureProblemKind::Unrepresentable, name.to_owned());
    assert_eq!(problems(&capture), [not("sub/.GIT"), not("sub/.Git")]);
    assert_eq!(changed(&capture), ["M file", "A sub/.gitx"]);
}

#[test]
fn folders_three_hundred_deep_are_captured() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    let deep = "d/".repeat(300) + "file";
    job.write(&deep, b"x");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), [format!("A {deep}")]);
    let room = fixture.path("rooms/room");
    materialise(job.job.repository(), &capture.tree.unwrap(), &room).unwrap();
    assert_eq!(fs::read(room.join(&deep)).unwrap(), b"x");
}

#[test]
fn deep_folders_are_captured_and_deleted_also_where_few_files_may_be_open() {
    // In a process of its own: the limit is the process's.
    if std::env::var_os("NIGHTGATE_TEST_FEW_FILES").is_none() {
        let claim = "names::deep_folders_are_captured_and_deleted_also_where_few_files_may_be_open";
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -S -n 64 && exec \"$@\"", "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", claim, "--test-threads=1"])
            .env("NIGHTGATE_TEST_FEW_FILES", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    let deep = "d/".repeat(200) + "file";
    job.write(&deep, b"x");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), [format!("A {deep}")]);
}
