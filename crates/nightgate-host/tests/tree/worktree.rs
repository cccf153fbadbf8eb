//! The user's own working tree, captured as it lies there.

use std::ffi::OsString;
use std::fs;

use nightgate_core::evidence::{CaptureProblemKind, CaptureSource};
use nightgate_host::git::UserSettings;

use crate::fixture::*;

fn converted(name: &str) -> (CaptureProblemKind, String) {
    (CaptureProblemKind::Converted, name.to_owned())
}

/// Panics unless each path of which the user's own `git add --all` would commit something else than was captured is
/// among the doubtful ones.
#[track_caller]
fn assert_each_difference_is_doubted(fixture: &Fixture, user: &User, job: &Job) {
    let settings = UserSettings::read(&fixture.git, &user.home, None).unwrap();
    let capture = job.capture_worktree(&settings);
    let captured = job.candidate(&capture);
    user.run(&["-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", "add", "--all"]);
    let tree = user.run(&["write-tree"]).parse().unwrap();
    let held = user.open(&fixture.git).repository().listing(&tree).unwrap();
    let doubtful = capture.doubtful();
    let differs = captured.keys().chain(held.keys()).filter(|path| captured.get(*path) != held.get(*path));
    let differs: Vec<_> = differs.collect();
    assert!(!differs.is_empty(), "nothing differs: this shows nothing");
    let silent: Vec<_> = differs.into_iter().filter(|path| !doubtful.concern(path)).collect();
    assert!(silent.is_empty(), "{silent:?} would be committed otherwise, without a word");
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
    user.run(&["config", "filter.lfs.clean", "tr a b"]);
    assert_each_difference_is_doubted(&fixture, &user, &job);
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
    user.run(&["config", "core.autocrlf", "true"]);
    assert_each_difference_is_doubted(&fixture, &user, &job);
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
fn what_the_branch_added_outside_a_sparse_checkout_is_not_there_without_a_word() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("kept/file", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    user.write("away/file", b"x");
    user.write("kept/other", b"x");
    user.commit();
    user.run(&["sparse-checkout", "set", "kept"]);
    fs::remove_file(user.root.join("kept/other")).unwrap();
    assert_eq!(problems(&job.capture_worktree(&UserSettings::default())), [converted("away/file")]);
    assert_each_difference_is_doubted(&fixture, &user, &job);
}

#[test]
fn files_that_git_is_told_not_to_look_at_are_doubted_where_they_differ() {
    let fixture = Fixture::new();
    let user = fixture.user();
    let names = ["skipped", "assumed", "gone-skipped", "gone-assumed", "same"];
    for name in names {
        user.write(name, b"old");
    }
    user.commit();
    let job = fixture.job(&user, &[]);
    user.run(&["update-index", "--skip-worktree", "skipped", "gone-skipped", "same"]);
    user.run(&["update-index", "--assume-unchanged", "assumed", "gone-assumed"]);
    for name in ["skipped", "assumed"] {
        user.write(name, b"new");
    }
    for name in ["gone-skipped", "gone-assumed"] {
        fs::remove_file(user.root.join(name)).unwrap();
    }
    let mut found = problems(&job.capture_worktree(&UserSettings::default()));
    found.sort_by(|one, other| one.1.cmp(&other.1));
    assert_eq!(found, ["assumed", "gone-assumed", "gone-skipped", "skipped"].map(converted));
    assert_each_difference_is_doubted(&fixture, &user, &job);
}

#[test]
fn modes_and_links_that_the_working_tree_cannot_show_are_those_of_the_index() {
    let fixture = Fixture::new();
    let user = fixture.user();
    for name in ["same", "made-executable", "run", "committed-executable"] {
        user.write(name, b"x");
    }
    set_mode(&user.root.join("run"), 0o755);
    std::os::unix::fs::symlink("same", user.root.join("link")).unwrap();
    user.commit();
    let job = fixture.job(&user, &[]);
    set_mode(&user.root.join("committed-executable"), 0o755);
    std::os::unix::fs::symlink("same", user.root.join("new-link")).unwrap();
    user.commit();
    user.run(&["config", "core.fileMode", "false"]);
    user.run(&["config", "core.symlinks", "false"]);
    // From here on a commit would change none of these modes and types.
    set_mode(&user.root.join("made-executable"), 0o755);
    set_mode(&user.root.join("committed-executable"), 0o644);
    user.write("run", b"y");
    set_mode(&user.root.join("run"), 0o644);
    user.write("new", b"x");
    user.write("new-executable", b"x");
    set_mode(&user.root.join("new-executable"), 0o755);
    for link in ["link", "new-link"] {
        fs::remove_file(user.root.join(link)).unwrap();
        user.write(link, b"same");
    }
    let mut found = problems(&job.capture_worktree(&UserSettings::default()));
    found.sort_by(|one, other| one.1.cmp(&other.1));
    let names = ["committed-executable", "link", "made-executable", "new-executable", "new-link", "run"];
    assert_eq!(found, names.map(converted));
    user.run(&["config", "core.fileMode", "true"]);
    user.run(&["config", "core.symlinks", "true"]);
    assert_eq!(problems(&job.capture_worktree(&UserSettings::default())), []);
    user.run(&["config", "core.fileMode", "false"]);
    user.run(&["config", "core.symlinks", "false"]);
    assert_each_difference_is_doubted(&fixture, &user, &job);
}

#[test]
fn new_files_that_rules_outside_the_tree_ignore_are_captured_and_doubted() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file.out", b"tracked at base");
    user.write(".gitignore", b"*.log\n!kept.log\n");
    user.commit();
    let job = fixture.job(&user, &[]);
    user.write(".git/info/exclude", b"*.out\nnotes/\n");
    fs::create_dir_all(user.home.join(".config/git")).unwrap();
    fs::write(user.home.join(".config/git/ignore"), "*.swp\n*.log\n").unwrap();
    for name in
        ["new", "file.out", "new.out", ":colon.out", "notes/a", "x.swp", "y.log", "kept.log", "z.mine"]
    {
        user.write(name, b"changed");
    }
    user.write("added.out", b"x");
    user.run(&["add", "-f", "added.out"]);
    let doubted = |settings: &UserSettings| {
        let before = snapshot(&user.root, &[]);
        let capture = job.capture_worktree(settings);
        assert_eq!(before, snapshot(&user.root, &[]));
        assert!(changed(&capture).contains(&"A new.out".to_owned()), "{:?}", changed(&capture));
        let ours = |(kind, path): (CaptureProblemKind, String)| {
            assert_eq!(kind, CaptureProblemKind::IgnoredElsewhere, "{path}");
            path
        };
        problems(&capture).into_iter().map(ours).collect::<Vec<_>>()
    };
    let read = || UserSettings::read(&fixture.git, &user.home, None).unwrap();
    assert_eq!(doubted(&UserSettings::default()), [":colon.out", "new.out", "notes/a"]);
    assert_eq!(doubted(&read()), [":colon.out", "new.out", "notes/a", "x.swp"]);
    // The repository's own file takes the place of the user's, and `~` is the user's home.
    fs::write(user.home.join("mine"), "*.mine\n").unwrap();
    user.run(&["config", "core.excludesFile", "~/mine"]);
    assert_eq!(doubted(&read()), [":colon.out", "new.out", "notes/a", "z.mine"]);
    assert_each_difference_is_doubted(&fixture, &user, &job);
}

fn submodule(name: &str) -> (CaptureProblemKind, String) {
    (CaptureProblemKind::Submodule, name.to_owned())
}

/// A repository with two commits beside the user's, and its first commit as submodule `sub` of the user's.
fn with_submodule(fixture: &Fixture) -> (User, String, String) {
    let user = fixture.user();
    let other = User { root: fixture.path("other"), home: user.home.clone() };
    fs::create_dir(&other.root).unwrap();
    other.run(&["init", "-q", "-b", "main"]);
    for (key, value) in [("user.name", "User"), ("user.email", "user@localhost")] {
        other.run(&["config", key, value]);
    }
    other.write("inner", b"one");
    let one = other.commit().to_string();
    other.write("inner", b"two");
    let two = other.commit().to_string();
    user.run(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../other", "sub"]);
    let sub = user.root.join("sub");
    run_git(&sub, &user.home, &["checkout", "-q", "--detach", &one]);
    user.commit();
    (user, one, two)
}

#[test]
fn a_submodule_that_is_at_another_commit_than_at_base_is_doubted() {
    let fixture = Fixture::new();
    let (user, one, two) = with_submodule(&fixture);
    let job = fixture.job(&user, &[]);
    let sub = user.root.join("sub");
    let found = || problems(&job.capture_worktree(&UserSettings::default()));
    let git = |args: &[&str]| run_git(&sub, &user.home, args);
    assert_eq!(found(), []);
    fs::write(sub.join("inner"), "a commit can't hold this").unwrap();
    assert_eq!(found(), []);
    git(&["checkout", "-q", "--force", "--detach", &two]);
    assert_eq!(found(), [submodule("sub")]);
    let text = &job.capture_worktree(&UserSettings::default()).problems[0].text;
    assert!(text.contains(&two) && text.contains(&one) && text.contains("--commit"), "{text}");
    // On a branch, whose commit lies in a file of its own or among others.
    git(&["checkout", "-q", "-B", "side/branch", &one]);
    assert_eq!(found(), []);
    git(&["pack-refs", "--all"]);
    assert_eq!(found(), []);
    git(&["checkout", "-q", "--orphan", "nothing"]);
    assert_eq!(found(), [submodule("sub")]);
    git(&["checkout", "-q", "--force", "side/branch"]);
    git(&["reset", "-q", "--hard", &two]);
    assert_eq!(found(), [submodule("sub")]);
    assert_each_difference_is_doubted(&fixture, &user, &job);
}

#[test]
fn a_submodule_that_is_not_checked_out_is_what_the_index_says() {
    let fixture = Fixture::new();
    let (user, _, two) = with_submodule(&fixture);
    let job = fixture.job(&user, &[]);
    let found = || problems(&job.capture_worktree(&UserSettings::default()));
    user.run(&["submodule", "--quiet", "deinit", "--force", "sub"]);
    assert_eq!(found(), []);
    // Files there are none of the commit as long as the index says so.
    user.write("sub/file", b"x");
    assert_eq!(found(), [submodule("sub")]);
    fs::remove_file(user.root.join("sub/file")).unwrap();
    user.run(&["update-index", "--cacheinfo", &format!("160000,{two},sub")]);
    assert_eq!(found(), [submodule("sub")]);
    user.run(&["rm", "-q", "--cached", "sub"]);
    assert_eq!(found(), [submodule("sub")]);
    user.write("sub/file", b"x");
    assert_eq!(found(), []);
}

#[test]
fn a_repository_that_base_does_not_know_is_doubted_unless_it_lies_among_tracked_files() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("tracked/file", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    let found = || problems(&job.capture_worktree(&UserSettings::default()));
    for folder in ["tracked", "nested/deep"] {
        user.write(&format!("{folder}/inner"), b"x");
        run_git(&user.root.join(folder), &user.home, &["init", "-q"]);
    }
    assert_eq!(found(), [submodule("nested/deep")]);
    run_git(
        &user.root.join("nested/deep"),
        &user.home,
        &["-c", "user.name=U", "-c", "user.email=u@localhost", "commit", "-q", "--allow-empty", "-m", "x"],
    );
    assert_each_difference_is_doubted(&fixture, &user, &job);
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
