//! Workspaces that lie about themselves (gate-cases.md, groups C, E and F), each beside its honest twin: what the capture
//! finds is what lies there.

use std::fs;

use nightgate_core::evidence::CriteriaKind;
use nightgate_host::room::{materialise, observe};

use crate::fixture::*;

const TEST: &str = "tests/t.py";

/// A job whose base has one test and one source, with the test as criteria.
fn job(fixture: &Fixture) -> Job {
    let user = fixture.user();
    user.write(TEST, b"assert add(2, 3) == 5\n");
    user.write("src/calc.py", b"def add(a, b): return 0\n");
    user.commit();
    fixture.job(&user, &["tests"])
}

fn tamper(job: &Job) {
    job.write(TEST, b"assert True\n");
}

/// The tampered test is in the observation, in the changes and in the candidate; the workspace's own git sees nothing.
fn assert_seen(job: &Job) {
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_ne!(capture.criteria, job.baseline());
    assert!(changed(&capture).contains(&format!("M {TEST}")), "{:?}", changed(&capture));
    assert_eq!(job.content(&capture, TEST).unwrap(), fs::read(job.root.join(TEST)).unwrap());
}

/// Honest work is found whole and the criteria are as they were.
fn assert_honest(job: &Job) {
    job.write("src/calc.py", b"def add(a, b): return a + b\n");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(capture.criteria, job.baseline());
    assert!(changed(&capture).contains(&"M src/calc.py".to_owned()), "{:?}", changed(&capture));
}

#[test]
fn g01_assume_unchanged_and_skip_worktree_hide_nothing() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    job.agent_git(&["update-index", "--assume-unchanged", TEST]);
    assert_honest(&job);
    tamper(&job);
    assert_eq!(job.agent_git(&["diff", "--name-only", "--", TEST]), "");
    assert_seen(&job);
    job.agent_git(&["update-index", "--no-assume-unchanged", TEST]);
    job.agent_git(&["update-index", "--skip-worktree", TEST]);
    assert_seen(&job);
}

#[test]
fn g03_same_size_and_same_time_hide_nothing() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    job.agent_git(&["config", "core.trustctime", "false"]);
    job.agent_git(&["config", "core.checkStat", "minimal"]);
    let time = fs::metadata(job.root.join(TEST)).unwrap().modified().unwrap();
    job.write(TEST, b"assert add(2, 3) == 0\n");
    let file = fs::File::options().write(true).open(job.root.join(TEST)).unwrap();
    file.set_modified(time).unwrap();
    assert_seen(&job);
}

#[test]
fn g04_a_clean_filter_that_returns_the_old_blob_hides_nothing_and_is_not_run() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    let trace = fixture.path("trace");
    job.agent_git(&[
        "config",
        "filter.x.clean",
        &format!("touch {}; git cat-file blob HEAD:%f", trace.display()),
    ]);
    job.write(".git/info/attributes", b"* filter=x\n");
    assert_honest(&job);
    tamper(&job);
    job.agent_git(&["add", "-A"]);
    assert_eq!(job.agent_git(&["diff", "HEAD", "--name-only", "--", TEST]), "");
    let _ = fs::remove_file(&trace);
    assert_seen(&job);
    assert!(!trace.exists());
}

#[test]
fn g06_another_work_tree_in_the_configuration_redirects_nothing() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    let pristine = fixture.path("pristine");
    fs::create_dir(&pristine).unwrap();
    job.agent_git(&["--work-tree", pristine.to_str().unwrap(), "checkout", "-q", "-f", "HEAD"]);
    job.agent_git(&["config", "core.worktree", pristine.to_str().unwrap()]);
    assert_honest(&job);
    tamper(&job);
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    assert_seen(&job);
}

#[test]
fn g08_private_excludes_and_hidden_untracked_files_hide_nothing() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    job.write(".git/info/exclude", b"*\n");
    fs::write(job.home.join("excludes"), "*\n").unwrap();
    job.agent_git(&["config", "core.excludesFile", job.home.join("excludes").to_str().unwrap()]);
    job.agent_git(&["config", "status.showUntrackedFiles", "no"]);
    job.write("tests/conftest.py", b"planted\n");
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    let capture = job.capture();
    assert_eq!(changed(&capture), ["A tests/conftest.py"]);
    assert_eq!(kind_at(&capture, "tests/conftest.py"), Some(CriteriaKind::File));
    assert!(capture.ignored.is_empty());
}

#[test]
fn g11_moved_refs_and_g12_rewritten_history_change_nothing() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    tamper(&job);
    job.agent_git(&["commit", "-q", "-a", "--amend", "-m", "base, they say"]);
    job.agent_git(&["branch", "-f", "main", "HEAD"]);
    assert_seen(&job);
    job.agent_git(&["checkout", "-q", "--orphan", "fresh"]);
    job.agent_git(&["commit", "-q", "-m", "root"]);
    assert_seen(&job);
    job.write(TEST, b"assert add(2, 3) == 5\n");
    assert_honest(&job);
}

#[test]
fn g14_the_files_count_where_head_and_files_differ() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    // HEAD has the tampered test, the file is good.
    tamper(&job);
    job.agent_git(&["commit", "-q", "-a", "-m", "tampered"]);
    job.write(TEST, b"assert add(2, 3) == 5\n");
    job.agent_git(&["update-index", "--assume-unchanged", TEST]);
    assert_honest(&job);
    // And the reverse.
    job.agent_git(&["update-index", "--no-assume-unchanged", TEST]);
    job.agent_git(&["commit", "-q", "-a", "-m", "good"]);
    tamper(&job);
    assert_seen(&job);
}

#[test]
fn g15_an_index_that_is_neither_head_nor_the_files_counts_for_nothing() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    job.write("src/calc.py", b"staged\n");
    job.agent_git(&["add", "src/calc.py"]);
    assert_honest(&job);
    assert_eq!(job.content(&job.capture(), "src/calc.py").unwrap(), b"def add(a, b): return a + b\n");
    fs::write(job.root.join(".git/index"), b"garbage").unwrap();
    fs::write(job.root.join(".git/index.lock"), b"").unwrap();
    assert_honest(&job);
}

#[test]
fn g16_a_needed_file_that_is_ignored_is_not_in_the_candidate_and_is_reported() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write(".gitignore", b"local.py\n");
    user.write("src/calc.py", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("src/calc.py", b"from local import add\n");
    job.write("src/local.py", b"def add(): pass\n");
    let capture = job.capture();
    assert_eq!(changed(&capture), ["M src/calc.py"]);
    assert_eq!(capture.ignored.sample, paths(&["src/local.py"]));
    let room = fixture.path("rooms/room");
    materialise(job.job.repository(), &capture.tree.unwrap(), &room).unwrap();
    assert!(!room.join("src/local.py").exists());
}

#[test]
fn g18_a_hidden_mode_change_is_seen() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    job.agent_git(&["config", "core.fileMode", "false"]);
    set_mode(&job.root.join(TEST), 0o755);
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    let capture = job.capture();
    assert_eq!(kind_at(&capture, TEST), Some(CriteriaKind::Executable));
    assert_eq!(changed(&capture), [format!("M {TEST}")]);
}

#[test]
fn g20_nothing_that_the_agent_configured_is_run() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    let trace = fixture.path("trace");
    let planted = fixture.path("planted");
    fs::write(&planted, format!("#!/bin/sh\ntouch {}\ncat\n", trace.display())).unwrap();
    set_mode(&planted, 0o755);
    let planted = planted.to_str().unwrap();
    for key in
        ["core.fsmonitor", "core.hooksPath", "diff.external", "core.sshCommand", "core.pager", "core.editor"]
    {
        let value = if key == "core.hooksPath" { fixture.temp.path().to_str().unwrap() } else { planted };
        job.agent_git(&["config", key, value]);
    }
    for hook in ["post-index-change", "reference-transaction", "post-commit", "pre-commit"] {
        job.write(
            &format!(".git/hooks/{hook}"),
            format!("#!/bin/sh\ntouch {}\n", trace.display()).as_bytes(),
        );
        set_mode(&job.root.join(".git/hooks").join(hook), 0o755);
    }
    let _ = fs::remove_file(&trace);
    assert_honest(&job);
    let candidate = job.capture().candidate.unwrap();
    job.user.publish(job.job.repository(), &candidate, &job.base, "refs/nightgate/c", None).unwrap();
    assert!(!trace.exists());
}

#[test]
fn g27_an_alternate_of_the_workspace_lends_nothing_to_the_candidate() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    let elsewhere = fixture.path("elsewhere.git");
    run_git(fixture.temp.path(), &job.home, &["init", "-q", "--bare", elsewhere.to_str().unwrap()]);
    job.write(".git/objects/info/alternates", format!("{}/objects\n", elsewhere.display()).as_bytes());
    assert_honest(&job);
    fs::remove_dir_all(&elsewhere).unwrap();
    let capture = job.capture();
    assert_eq!(job.content(&capture, "src/calc.py").unwrap(), b"def add(a, b): return a + b\n");
}

#[test]
fn c01_a_poisoned_bytecode_cache_is_not_in_the_candidate_nor_in_the_room() {
    let fixture = Fixture::new();
    let job = job(&fixture);
    job.write("tests/__pycache__/t.cpython-311.pyc", b"poison");
    job.write("src/calc.pyc", b"poison");
    assert_honest(&job);
    let capture = job.capture();
    assert_eq!(capture.caches.count, 2);
    let room = fixture.path("rooms/room");
    let listing = materialise(job.job.repository(), capture.tree.as_ref().unwrap(), &room).unwrap();
    assert_eq!(observe(&room, &listing, job.job.repository().object_format()).untracked, 0);
}

#[test]
fn c06_a_patched_dependency_folder_is_left_out_and_a_tracked_one_is_not() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("node_modules/assert/index.js", b"honest");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("node_modules/assert/index.js", b"patched");
    job.write("node_modules/assert/new.js", b"x");
    job.write("node_modules/other/index.js", b"x");
    job.write("web/node_modules/x/index.js", b"x");
    job.write(".venv/bin/python", b"x");
    let capture = job.capture();
    assert_eq!(changed(&capture), ["M node_modules/assert/index.js"]);
    assert_eq!(
        capture.caches.sample,
        paths(&[".venv", "node_modules/assert/new.js", "node_modules/other", "web/node_modules"])
    );
}
