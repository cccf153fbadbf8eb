//! The workspace that an agent is given.

use std::fs;

use crate::fixture::*;

#[test]
fn a_workspace_has_one_branch_at_base_no_remote_no_tag_and_a_clean_status() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    user.write("script", b"#!/bin/sh\n");
    set_mode(&user.root.join("script"), 0o755);
    std::os::unix::fs::symlink("file", user.root.join("link")).unwrap();
    let base = user.commit();
    user.run(&["tag", "v1"]);
    user.run(&["remote", "add", "origin", "https://example.invalid/"]);
    user.run(&["branch", "side"]);
    let job = fixture.job(&user, &[]);
    assert_eq!(job.agent_git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/work");
    assert_eq!(job.agent_git(&["symbolic-ref", "HEAD"]), "refs/heads/work");
    assert_eq!(job.agent_git(&["rev-parse", "HEAD"]), base.as_str());
    assert_eq!(job.agent_git(&["remote"]), "");
    assert_eq!(job.agent_git(&["reflog", "show", "--all"]), "");
    assert_eq!(job.agent_git(&["status", "--porcelain", "--ignored"]), "");
    assert!(!job.root.join(".git/hooks").exists());
    assert!(job.capture().changes.is_empty());
}

#[test]
fn files_are_raw_blobs_whatever_the_attributes_say() {
    let fixture = Fixture::new();
    let user = fixture.user();
    let attributes =
        "*.txt text eol=crlf\n*.id ident\n*.bin filter=lfs\n*.u16 working-tree-encoding=UTF-16\n";
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    user.write(".gitattributes", attributes.as_bytes());
    user.write("lf.txt", b"a\nb\n");
    user.write("some.id", b"$Id$\n");
    user.run(&["add", "."]);
    // Committed without the filters, as another machine would have done.
    for (name, content) in [("big.bin", &pointer[..]), ("mixed.txt", b"a\r\nb\n"), ("text.u16", b"plain\n")] {
        let file = fixture.path("raw");
        fs::write(&file, content).unwrap();
        let id = user.run(&["hash-object", "-w", "--no-filters", file.to_str().unwrap()]);
        user.run(&["update-index", "--add", "--cacheinfo", &format!("100644,{id},{name}")]);
    }
    user.run(&["commit", "-q", "-m", "raw"]);
    fs::write(user.home.join(".gitconfig"), "[core]\n\tautocrlf = true\n").unwrap();

    let job = fixture.job(&user, &[]);
    for (name, content) in [
        ("lf.txt", &b"a\nb\n"[..]),
        ("mixed.txt", b"a\r\nb\n"),
        ("some.id", b"$Id$\n"),
        ("big.bin", pointer),
        ("text.u16", b"plain\n"),
    ] {
        assert_eq!(fs::read(job.root.join(name)).unwrap(), content, "{name}");
    }
    // Also for the agent's own git, with the user's configuration.
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    assert!(job.capture().changes.is_empty());
}

#[test]
fn a_submodule_is_an_empty_folder_and_stays_what_base_names() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    let other = user.commit();
    user.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{other},lib/sub")]);
    user.run(&["commit", "-q", "-m", "a submodule"]);
    let job = fixture.job(&user, &[]);
    assert_eq!(fs::read_dir(job.root.join("lib/sub")).unwrap().count(), 0);
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    assert!(job.capture().changes.is_empty());

    // With a repository in it: the same.
    job.write("lib/sub/.git/HEAD", b"ref: refs/heads/main\n");
    job.write("lib/sub/code", b"x");
    let capture = job.capture();
    assert_eq!(changed(&capture), [""; 0]);
    assert_eq!(notes(&capture), [("nested_git", "lib/sub".to_owned())]);

    // With ordinary files they count, and the submodule is gone.
    job.remove("lib/sub/.git");
    assert_eq!(changed(&job.capture()), ["D lib/sub", "A lib/sub/code"]);
    job.remove("lib/sub");
    assert_eq!(changed(&job.capture()), ["D lib/sub"]);
}

#[test]
fn what_the_agents_git_packs_and_prunes_leaves_the_store_as_it_was() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    let before = snapshot(job.store.repository().git_dir(), &[]);
    job.write("file", b"y");
    job.agent_git(&["commit", "-q", "-a", "-m", "work"]);
    job.agent_git(&["gc", "-q", "--prune=now"]);
    job.agent_git(&["repack", "-a", "-d", "-q"]);
    job.agent_git(&["reflog", "expire", "--expire=now", "--all"]);
    assert_eq!(before, snapshot(job.store.repository().git_dir(), &[]));
    assert_eq!(changed(&job.capture()), ["M file"]);
}

#[test]
fn an_empty_tree_makes_an_empty_workspace() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    assert_eq!(fs::read_dir(&job.root).unwrap().count(), 1);
    job.write("first", b"x");
    assert_eq!(changed(&job.capture()), ["A first"]);
}
