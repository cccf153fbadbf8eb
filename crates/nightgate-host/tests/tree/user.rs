//! The user's repository: found from anywhere, read, and given nothing but objects and refs of ours.

use std::fs;

use nightgate_host::git::{Git, GitError, OLDEST, TRUSTS_BY_OPTION, UserSettings};
use nightgate_host::repository::{RepositoryError, UserRepository};

use crate::fixture::*;

/// A program that is git, except for what `lines` do first.
fn git_behind(fixture: &Fixture, lines: &str) -> Git {
    let script = fixture.path("git-script");
    fs::write(&script, format!("#!/bin/sh\n{lines}\nexec {} \"$@\"\n", git_program().display())).unwrap();
    set_mode(&script, 0o755);
    Git::new(script, Default::default())
}

#[test]
fn the_installed_git_is_new_enough() {
    assert!(Fixture::new().git.version().unwrap() >= OLDEST);
}

#[test]
fn an_old_git_is_refused_by_its_version() {
    let fixture = Fixture::new();
    let git = git_behind(&fixture, "echo git version 2.30.9; exit 0");
    let error = git.version().unwrap_err();
    assert_eq!(error.to_string(), "git 2.30 is too old: install git 2.31 or newer");
}

#[test]
fn a_git_that_hangs_is_a_time_out_and_its_children_are_killed() {
    let fixture = Fixture::new();
    let git = git_behind(&fixture, "sleep 1000 & sleep 1000; exit 0");
    let error = git.with_time_limit(std::time::Duration::from_millis(50)).version().unwrap_err();
    assert!(matches!(error, GitError::TimedOut { .. }), "{error}");
}

#[test]
fn a_git_that_is_not_there_is_told_with_its_path() {
    let error = Git::new("/nowhere/git".into(), Default::default()).version().unwrap_err();
    assert!(error.to_string().contains("/nowhere/git"), "{error}");
}

#[test]
fn a_repository_is_found_from_a_subfolder_a_linked_worktree_and_a_bare_clone() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("a/b/file", b"x");
    let base = user.commit();
    user.run(&["worktree", "add", "-q", "-b", "side", "../linked"]);
    user.run(&["clone", "-q", "--bare", ".", "../bare.git"]);

    let main = user.open(&fixture.git);
    let inside = UserRepository::discover(&fixture.git, &user.root.join("a/b")).unwrap();
    let linked = UserRepository::discover(&fixture.git, &fixture.path("linked")).unwrap();
    let bare = UserRepository::discover(&fixture.git, &fixture.path("bare.git")).unwrap();

    let root = fs::canonicalize(&user.root).unwrap();
    assert_eq!(inside.top(), Some(root.as_path()));
    assert_eq!(linked.top(), Some(fs::canonicalize(fixture.path("linked")).unwrap().as_path()));
    assert_eq!(bare.top(), None);
    assert_eq!(linked.common_dir(), main.common_dir());
    assert_ne!(linked.git_dir(), main.git_dir());
    assert_eq!(linked.project_id().unwrap(), inside.project_id().unwrap());
    assert_ne!(bare.project_id().unwrap(), main.project_id().unwrap());
    for repository in [main, inside, linked, bare] {
        assert_eq!(repository.resolve("HEAD").unwrap(), base);
    }
}

#[test]
fn a_folder_without_a_repository_is_told_apart_from_one_of_another_owner() {
    let fixture = Fixture::new();
    let user = fixture.user();
    let nowhere = UserRepository::discover(&fixture.git, fixture.temp.path()).unwrap_err();
    assert!(matches!(nowhere, RepositoryError::NotARepository { .. }), "{nowhere}");

    let strange = git_behind(&fixture, "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1");
    let dubious = UserRepository::discover(&strange, &user.root).unwrap_err();
    assert!(matches!(dubious, RepositoryError::DubiousOwnership { .. }), "{dubious}");
    assert!(dubious.to_string().contains("safe.directory"));
}

#[test]
fn a_git_that_cannot_be_told_whom_its_user_trusts_is_named_as_the_reason() {
    let fixture = Fixture::new();
    let user = fixture.user();
    // As git was before 2.38: `-c safe.directory` counts for nothing.
    let old = "[ \"$*\" = \"${*%version}\" ] || { echo git version 2.34.1; exit 0; }\n\
               export GIT_TEST_ASSUME_DIFFERENT_OWNER=1\n\
               for word; do shift; case $word in safe.directory=*) word=a.b=c;; esac; set -- \"$@\" \"$word\"; done";
    let git = git_behind(&fixture, old).with_safe_directories(vec![user.root.clone().into()]);
    fs::create_dir(user.root.join("below")).unwrap();
    for folder in [user.root.clone(), user.root.join("below"), user.root.join(".git")] {
        let untrusted = UserRepository::discover(&git, &folder).unwrap_err();
        assert!(matches!(untrusted, RepositoryError::UntrustedByOldGit { .. }), "{untrusted}");
        let told = untrusted.to_string();
        assert!(told.contains("git 2.34") && told.contains("git 2.38 or newer"), "{told}");
    }
    let nowhere = UserRepository::discover(&git, fixture.temp.path()).unwrap_err();
    assert!(matches!(nowhere, RepositoryError::NotARepository { .. }), "{nowhere}");
}

#[test]
fn the_readme_names_the_versions_of_git_that_are_needed() {
    let readme = include_str!("../../../../README.md");
    for version in [OLDEST, TRUSTS_BY_OPTION] {
        assert!(readme.contains(&format!("git {version}")), "{version}");
    }
}

#[test]
fn a_repository_that_the_user_calls_safe_is_used_whoever_owns_it() {
    let fixture = Fixture::new();
    let user = fixture.user();
    fs::write(
        fixture.path("home/.gitconfig"),
        "[safe]\n\tdirectory = ~/../user\n[core]\n\tautocrlf = input\n",
    )
    .unwrap();
    let settings = UserSettings::read(&fixture.git, &fixture.path("home"), None).unwrap();
    assert_eq!(settings.autocrlf.as_deref(), Some("input".as_ref()));

    fs::write(fixture.path("home/.gitconfig"), format!("[safe]\n\tdirectory = {}\n", user.root.display()))
        .unwrap();
    let settings = UserSettings::read(&fixture.git, &fixture.path("home"), None).unwrap();
    let strange = git_behind(&fixture, "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1");
    let trusting = strange.with_safe_directories(settings.safe_directories);
    assert!(UserRepository::discover(&trusting, &user.root).is_ok());
}

#[test]
fn a_revision_is_peeled_to_its_commit_and_anything_else_is_refused() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    let base = user.commit();
    user.run(&["tag", "-a", "-m", "a tag", "v1"]);
    let repository = user.open(&fixture.git);
    for revision in ["main", "HEAD", "@", "v1", "refs/heads/main", base.as_str(), &base.as_str()[..10]] {
        assert_eq!(repository.resolve(revision).unwrap(), base, "{revision}");
    }
    let blob = user.run(&["rev-parse", "HEAD:file"]);
    for revision in ["nothing", "", "--all", "-h", "HEAD~1", "a b", blob.as_str()] {
        let error = repository.resolve(revision).unwrap_err();
        assert!(matches!(error, RepositoryError::NoSuchRevision { .. }), "{revision}: {error}");
    }
}

#[test]
fn a_branch_without_a_commit_has_its_own_error() {
    let fixture = Fixture::new();
    let repository = fixture.user().open(&fixture.git);
    for revision in ["HEAD", "main", "refs/heads/main"] {
        let error = repository.resolve(revision).unwrap_err();
        assert_eq!(error.to_string(), "branch main has no commit yet: commit something first");
    }
}

#[test]
fn a_replacement_of_the_base_is_not_seen() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("tests/t", b"honest");
    let honest = user.commit();
    user.write("tests/t", b"forged");
    let forged = user.commit();
    user.run(&["reset", "-q", "--hard", honest.as_str()]);
    user.run(&["replace", honest.as_str(), forged.as_str()]);
    let repository = user.open(&fixture.git);
    let base = repository.resolve("HEAD").unwrap();
    assert_eq!(repository.repository().read_file(&base, &path("tests/t"), 100).unwrap().unwrap(), b"honest");
    let job = fixture.job(&user, &[]);
    assert_eq!(fs::read(job.root.join("tests/t")).unwrap(), b"honest");
}

#[test]
fn a_graft_of_the_history_is_not_seen() {
    let fixture = Fixture::new();
    let user = fixture.user();
    for content in ["one", "two", "three"] {
        user.write("file", content.as_bytes());
        user.commit();
    }
    let head = user.run(&["rev-parse", "HEAD"]);
    user.write(".git/info/grafts", format!("{head}\n").as_bytes());
    let job = fixture.job(&user, &[]);
    assert_eq!(job.agent_git(&["rev-list", "--count", "HEAD"]), "3");
}

#[test]
fn a_file_of_a_commit_is_read_raw_within_its_limit() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("nightgate.toml", b"a\r\n\xff");
    user.write("folder/file", b"");
    std::os::unix::fs::symlink("nightgate.toml", user.root.join("link")).unwrap();
    let base = user.commit();
    let repository = user.open(&fixture.git);
    let read = |name: &str, most| repository.repository().read_file(&base, &path(name), most);
    assert_eq!(read("nightgate.toml", 4).unwrap().unwrap(), b"a\r\n\xff");
    assert_eq!(read("absent", 4).unwrap(), None);
    assert_eq!(read("*", 4).unwrap(), None);
    assert!(matches!(read("nightgate.toml", 3), Err(RepositoryError::TooLarge { .. })));
    assert!(matches!(read("link", 4), Err(RepositoryError::NotAFile { .. })));
    assert!(matches!(read("folder", 4), Err(RepositoryError::NotAFile { .. })));
}

#[test]
fn after_a_job_and_its_publication_the_users_repository_is_byte_identical_but_for_objects_and_our_ref() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("src/main", b"old");
    user.commit();
    user.write("src/other", b"staged");
    user.run(&["add", "src/other"]);
    user.write("untracked", b"x");
    user.run(&["branch", "other"]);
    user.run(&["pack-refs", "--all"]);
    // Each of these would leave a trace if it ran.
    let trace = fixture.path("trace");
    let hook = format!("#!/bin/sh\ntouch {}\n", trace.display());
    fs::create_dir_all(user.root.join(".git/hooks")).unwrap();
    for name in ["reference-transaction", "post-checkout", "pre-auto-gc", "post-index-change"] {
        fs::write(user.root.join(".git/hooks").join(name), &hook).unwrap();
        set_mode(&user.root.join(".git/hooks").join(name), 0o755);
    }
    let program = user.root.join(".git/hooks/post-checkout");
    for key in
        ["core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook", "diff.external", "core.pager"]
    {
        user.run(&["config", key, program.to_str().unwrap()]);
    }
    let _ = fs::remove_file(&trace);
    let before = snapshot(&user.root, &[".git/objects"]);

    let job = fixture.job(&user, &[]);
    job.write("src/main", b"new");
    let capture = job.capture();
    let candidate = capture.candidate.clone().unwrap();
    let name = "refs/nightgate/j-0123abcd/candidate";
    job.user.publish(job.job.repository(), &candidate, &job.base, name, None).unwrap();
    // Again, and from a repository that was found anew.
    job.user.publish(job.job.repository(), &candidate, &job.base, name, None).unwrap();

    let mut after = snapshot(&user.root, &[".git/objects"]);
    after.retain(|file, _| !file.starts_with(".git/refs/nightgate"));
    assert_eq!(before, after);
    assert!(!trace.exists());
    assert_eq!(user.run(&["rev-parse", name]), candidate.as_str());
    assert_eq!(user.run(&["show", &format!("{name}:src/main")]), "new");
    user.run(&["fsck", "--full", "--strict", "--no-dangling"]);
}

#[test]
fn a_ref_is_published_by_compare_and_set_and_only_below_ours() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("file", b"one");
    let one = job.capture().candidate.unwrap();
    job.write("file", b"two");
    let two = job.capture().candidate.unwrap();
    let publish =
        |commit, name, expected| job.user.publish(job.job.repository(), commit, &job.base, name, expected);

    publish(&one, "refs/nightgate/a", None).unwrap();
    let moved = publish(&two, "refs/nightgate/a", None).unwrap_err();
    assert!(matches!(moved, RepositoryError::RefMoved { .. }), "{moved}");
    let moved = publish(&two, "refs/nightgate/a", Some(&two)).unwrap_err();
    assert!(matches!(moved, RepositoryError::RefMoved { .. }), "{moved}");
    publish(&two, "refs/nightgate/a", Some(&one)).unwrap();
    for name in ["refs/heads/main", "HEAD", "refs/nightgate/../heads/main"] {
        assert!(matches!(publish(&two, name, None), Err(RepositoryError::RefName { .. })));
    }
}
