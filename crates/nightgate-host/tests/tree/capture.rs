//! What a capture finds in honest workspaces.

use std::fs;
use std::os::unix::fs::symlink;

use nightgate_core::evidence::CaptureProblemKind;
use nightgate_core::tree::EntryMode;
use nightgate_host::capture::capture_commit;

use crate::fixture::*;

#[test]
fn committed_uncommitted_and_untracked_work_count_alike() {
    let fixture = Fixture::new();
    let user = fixture.user();
    for name in ["committed", "staged", "changed", "removed"] {
        user.write(name, b"old");
    }
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("committed", b"new");
    job.agent_git(&["commit", "-q", "-a", "-m", "one"]);
    job.write("staged", b"new");
    job.agent_git(&["add", "staged"]);
    job.write("changed", b"new");
    job.write("deep/er/untracked", b"new");
    job.remove("removed");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(
        changed(&capture),
        ["M changed", "M committed", "A deep/er/untracked", "D removed", "M staged"]
    );
    assert_eq!(job.content(&capture, "deep/er/untracked").unwrap(), b"new");
    let candidate = capture.candidate.as_ref().unwrap();
    assert_eq!(job.job.repository().parents(candidate).unwrap(), std::slice::from_ref(&job.base));
    assert_eq!(job.job.repository().commit_time(candidate).unwrap(), 1_700_000_000);
    run_git(job.job.repository().git_dir(), &job.home, &["fsck", "--full", "--strict"]);
}

#[test]
fn capturing_again_gives_the_same_candidate() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    let job = fixture.job(&user, &["file"]);
    job.write("new", b"new");
    let first = job.capture();
    assert_eq!(first, job.capture());
    assert_eq!(
        run_git(job.job.repository().git_dir(), &job.home, &["for-each-ref", "--format=%(refname)"]),
        format!("refs/captures/{}", first.candidate.unwrap())
    );
}

#[test]
fn only_changed_contents_are_written_to_the_jobs_repository() {
    let fixture = Fixture::new();
    let user = fixture.user();
    for number in 0..20 {
        user.write(&format!("file{number}"), format!("{number}").as_bytes());
    }
    user.commit();
    let job = fixture.job(&user, &[]);
    fs::rename(job.root.join("file0"), job.root.join("renamed")).unwrap();
    job.write("file1", b"new");
    job.capture();
    let listed = run_git(job.job.repository().git_dir(), &job.home, &["count-objects", "-v"]);
    // One blob, one tree, one commit.
    assert!(listed.contains("in-pack: 3"), "{listed}");
}

#[test]
fn modes_links_empty_files_and_binaries_are_kept_as_they_are() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("script", b"#!/bin/sh\n");
    user.write("plain", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    set_mode(&job.root.join("script"), 0o700);
    set_mode(&job.root.join("plain"), 0o611);
    job.write("empty", b"");
    job.write("binary", &(0..=255).collect::<Vec<u8>>());
    symlink("plain", job.root.join("inside")).unwrap();
    symlink("/etc/passwd", job.root.join("outside")).unwrap();
    symlink("nowhere/at/all", job.root.join("dangling")).unwrap();
    symlink(".", job.root.join("loop")).unwrap();
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    let tree = job.candidate(&capture);
    let mode = |name: &str| tree.get(&path(name)).unwrap().mode;
    assert_eq!(mode("script"), EntryMode::Executable);
    assert_eq!(mode("plain"), EntryMode::File);
    for name in ["inside", "outside", "dangling", "loop"] {
        assert_eq!(mode(name), EntryMode::Symlink, "{name}");
    }
    assert_eq!(job.content(&capture, "binary").unwrap().len(), 256);
    assert_eq!(job.content(&capture, "empty").unwrap(), b"");
    assert!(!changed(&capture).contains(&"M plain".to_owned()));
}

#[test]
fn a_restrictive_umask_and_new_times_change_nothing() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    user.write("script", b"x");
    set_mode(&user.root.join("script"), 0o755);
    user.commit();
    let job = fixture.job(&user, &["file", "script"]);
    let baseline = job.baseline();
    job.write("file", b"x");
    set_mode(&job.root.join("file"), 0o600);
    set_mode(&job.root.join("script"), 0o700);
    let capture = job.capture();
    assert!(capture.changes.is_empty());
    assert_eq!(capture.criteria, baseline);
}

#[test]
fn a_file_may_become_a_folder_and_a_folder_a_file() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    user.write("folder/a", b"x");
    user.write("folder/b/c", b"x");
    user.write("link-to-be/a", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    for name in ["file", "folder", "link-to-be"] {
        job.remove(name);
    }
    job.write("file/inner", b"x");
    job.write("folder", b"x");
    symlink("folder", job.root.join("link-to-be")).unwrap();
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(
        changed(&capture),
        [
            "D file",
            "A file/inner",
            "A folder",
            "D folder/a",
            "D folder/b/c",
            "A link-to-be",
            "D link-to-be/a"
        ]
    );
}

#[test]
fn deleting_everything_is_a_candidate_with_the_empty_tree() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("a/file", b"x");
    user.write("file", b"x");
    user.commit();
    let job = fixture.job(&user, &["file"]);
    job.remove("a");
    job.remove("file");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), ["D a/file", "D file"]);
    assert_eq!(capture.tree.unwrap().as_str(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    assert_eq!(capture.criteria, []);
}

#[test]
fn a_capture_needs_no_git_in_the_workspace() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("file", b"new");
    job.remove(".git");
    assert_eq!(changed(&job.capture()), ["M file"]);
    fs::write(job.root.join(".git"), "gitdir: /nowhere\n").unwrap();
    assert_eq!(changed(&job.capture()), ["M file"]);
    job.remove(".git");
    symlink(&user.root, job.root.join(".git")).unwrap();
    assert_eq!(changed(&job.capture()), ["M file"]);
}

#[test]
fn a_nested_repository_is_noted_and_the_files_around_it_are_ordinary() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("vendor/lib/tracked", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    for folder in ["vendor/lib", "fresh"] {
        fs::create_dir_all(job.root.join(folder)).unwrap();
        run_git(&job.root.join(folder), &job.home, &["init", "-q"]);
        job.write(&format!("{folder}/code"), b"x");
    }
    job.write("file-like/.git", b"gitdir: elsewhere\n");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), ["A fresh/code", "A vendor/lib/code"]);
    let nested = |name: &str| ("nested_git", name.to_owned());
    assert_eq!(notes(&capture), [nested("file-like/.git"), nested("fresh/.git"), nested("vendor/lib/.git")]);
}

#[test]
fn commits_that_the_files_do_not_show_are_noted_and_are_no_work() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    let job = fixture.job(&user, &[]);
    assert_eq!(notes(&job.capture()), []);
    job.agent_git(&["checkout", "-q", "-b", "topic/deep"]);
    job.write("file", b"new");
    job.agent_git(&["commit", "-q", "-a", "-m", "work"]);
    job.agent_git(&["checkout", "-q", "work"]);
    let capture = job.capture();
    assert!(capture.changes.is_empty());
    assert_eq!(notes(&capture), [("unreached_commits", String::new())]);
    assert!(capture.notes[0].text.contains("topic/deep"), "{}", capture.notes[0].text);
    // Where the files show them, there is nothing to note.
    job.agent_git(&["checkout", "-q", "--detach", "topic/deep"]);
    assert_eq!(notes(&job.capture()), []);
}

#[test]
fn special_files_are_noted_and_never_opened() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("was-a-file", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    let fifo = rustix::fs::FileType::Fifo;
    for name in ["pipe", "was-a-file"] {
        let _ = fs::remove_file(job.root.join(name));
        rustix::fs::mknodat(rustix::fs::CWD, job.root.join(name), fifo, 0o644.into(), 0).unwrap();
    }
    let _socket = std::os::unix::net::UnixListener::bind(job.root.join("socket")).unwrap();
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), ["D was-a-file"]);
    let special = |name: &str| ("special_file", name.to_owned());
    assert_eq!(notes(&capture), [special("pipe"), special("socket"), special("was-a-file")]);
}

#[test]
fn a_setuid_file_is_captured_without_the_bit_and_noted() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("tool", b"x");
    set_mode(&job.root.join("tool"), 0o4755);
    let capture = job.capture();
    assert_eq!(notes(&capture), [("special_mode", "tool".to_owned())]);
    assert_eq!(job.candidate(&capture)[&path("tool")].mode, EntryMode::Executable);
}

#[test]
fn a_commit_that_the_caller_names_is_its_own_candidate() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("tests/t", b"old");
    user.write("src/a", b"old");
    user.commit();
    let job = fixture.job(&user, &["tests"]);
    user.write("src/a", b"new");
    user.write("node_modules/kept", b"committed on purpose");
    let named = user.commit();
    user.write("src/a", b"later");
    user.commit();
    job.job.adopt(&job.user, &named, &job.base).unwrap();
    let capture = capture_commit(&job.job, &job.base, &job.listing, &named, &job.criteria).unwrap();
    assert_eq!(problems(&capture), []);
    assert_eq!(capture.candidate.as_ref(), Some(&named));
    assert_eq!(changed(&capture), ["A node_modules/kept", "M src/a"]);
    assert_eq!(capture.criteria, job.baseline());
    assert_eq!(job.content(&capture, "src/a").unwrap(), b"new");
}

#[test]
fn a_commit_that_was_never_brought_in_is_missing_not_empty() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    let job = fixture.job(&user, &[]);
    user.write("file", b"new");
    let named = user.commit();
    let capture = capture_commit(&job.job, &job.base, &job.listing, &named, &[]).unwrap();
    assert_eq!(capture.candidate, None);
    assert_eq!(problems(&capture), [(CaptureProblemKind::MissingObject, String::new())]);
}

#[test]
fn a_commit_whose_tree_no_checkout_could_give_is_unrepresentable() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    let job = fixture.job(&user, &[]);
    let blob = user.run(&["rev-parse", "HEAD:file"]);
    let base_tree = user.run(&["rev-parse", "HEAD^{tree}"]);
    for entries in [
        format!("100644 blob {blob}\t.GIT\n"),
        format!("100644 blob {blob}\ta\n040000 tree {base_tree}\ta\n"),
        format!("100644 blob {blob}\t..\n"),
    ] {
        fs::write(user.root.join("entries"), entries).unwrap();
        let made = std::process::Command::new(git_program())
            .args(["mktree"])
            .current_dir(&user.root)
            .stdin(fs::File::open(user.root.join("entries")).unwrap())
            .output()
            .unwrap();
        let tree = String::from_utf8(made.stdout).unwrap();
        let named = user.run(&["commit-tree", "-m", "x", "-p", "HEAD", tree.trim()]).parse().unwrap();
        job.job.adopt(&job.user, &named, &job.base).unwrap();
        let capture = capture_commit(&job.job, &job.base, &job.listing, &named, &[]).unwrap();
        assert_eq!(problems(&capture), [(CaptureProblemKind::Unrepresentable, String::new())]);
        assert_eq!(capture.candidate, None);
    }
}
