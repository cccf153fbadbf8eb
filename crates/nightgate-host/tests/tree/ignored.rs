//! What stays out of a candidate, against git itself.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use nightgate_core::RepoPath;
use nightgate_core::evidence::CaptureProblemKind;
use nightgate_host::ignored::{Effort, MOST_PATTERN_BYTES, Rules};
use proptest::prelude::*;

use crate::fixture::*;

#[test]
fn ignored_files_and_caches_stay_out_and_are_counted_apart() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write(".gitignore", b"*.log\n/build/\n!keep.log\n");
    user.write("build/tracked", b"old");
    user.write("tracked.log", b"old");
    user.commit();
    let job = fixture.job(&user, &[]);
    for name in [
        "a.log",
        "keep.log",
        "build/new",
        "build/deeper/new",
        "target/CACHEDIR.TAG",
        "target/debug/x",
        "sub/__pycache__/m.pyc",
        "m.pyc",
    ] {
        job.write(name, b"x");
    }
    job.write("target/CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n# a comment");
    job.write("false/CACHEDIR.TAG", b"Signature: 0");
    job.write("build/tracked", b"new");
    job.write("tracked.log", b"new");
    let capture = job.capture();
    assert_eq!(changed(&capture), ["M build/tracked", "A false/CACHEDIR.TAG", "A keep.log", "M tracked.log"]);
    assert_eq!(capture.ignored.sample, paths(&["a.log", "build/deeper", "build/new"]));
    assert_eq!(capture.ignored.count, 3);
    assert_eq!(capture.caches.sample, paths(&["m.pyc", "sub/__pycache__", "target"]));
}

#[test]
fn a_cache_tag_at_the_root_keeps_nothing_out() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");
    job.write("file", b"x");
    assert_eq!(changed(&job.capture()), ["A CACHEDIR.TAG", "A file"]);
}

#[test]
fn patterns_behind_a_link_count_for_nothing() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    fs::write(fixture.path("patterns"), "*\n").unwrap();
    symlink(fixture.path("patterns"), job.root.join(".gitignore")).unwrap();
    job.write("file", b"x");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), ["A .gitignore", "A file"]);
}

#[test]
fn the_agents_own_patterns_count_also_for_the_file_that_holds_them() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write(".gitignore", b".gitignore\n*.tmp\n");
    job.write("a.tmp", b"x");
    job.write("file", b"x");
    let capture = job.capture();
    assert_eq!(changed(&capture), ["A file"]);
    assert_eq!(capture.ignored.count, 2);
}

/// Pieces of patterns that have a meaning somewhere.
fn pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[abc]",
        2 => Just("*".to_owned()),
        2 => Just("**".to_owned()),
        3 => Just("/".to_owned()),
        1 => Just("?".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[!a]".to_owned()),
        1 => Just("[a-c]".to_owned()),
        1 => Just("[]a]".to_owned()),
        1 => Just("[[:alpha:]]".to_owned()),
        1 => Just("[[:x:]]".to_owned()),
        1 => Just("[a\\]]".to_owned()),
        1 => Just("[".to_owned()),
        1 => Just("\\".to_owned()),
        1 => Just("{a,b}".to_owned()),
        1 => Just("\u{e9}".to_owned()),
        1 => Just(" ".to_owned()),
        1 => Just("-".to_owned()),
        1 => Just("]".to_owned()),
        1 => Just("***".to_owned()),
    ];
    let body = prop::collection::vec(piece, 1..7).prop_map(|pieces| pieces.concat());
    (prop_oneof![5 => Just(""), 2 => Just("!"), 1 => Just("#"), 1 => Just("/"), 1 => Just("\\!")], body)
        .prop_map(|(head, body)| format!("{head}{body}"))
}

fn component() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[abc]{1,3}",
        1 => "[abc\\-\\] {},\\[]{1,3}",
        1 => Just("\u{e9}".to_owned()),
        1 => Just("!a".to_owned()),
        1 => Just("#a".to_owned()),
        1 => Just("a\\b".to_owned()),
    ]
}

#[test]
fn more_patterns_than_are_read_are_a_problem_and_ignore_nothing() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    let most = usize::try_from(MOST_PATTERN_BYTES).unwrap();
    job.write(".gitignore", &b"*.log\n".repeat(most / 6 + 1));
    job.write("sub/.gitignore", "**/".repeat(600_000).as_bytes());
    job.write("full/.gitignore", &[&b"a-file\n".repeat(most / 7 - 1)[..], b"*.log\n"].concat());
    for name in ["a.log", "sub/b.log", "full/c.log"] {
        job.write(name, b"log");
    }
    let capture = job.capture();
    let over = |name: &str| (CaptureProblemKind::OverBudget, name.to_owned());
    assert_eq!(problems(&capture), [over(".gitignore"), over("sub/.gitignore")]);
    let added = ["A .gitignore", "A a.log", "A full/.gitignore", "A sub/.gitignore", "A sub/b.log"];
    assert_eq!(changed(&capture), added);
    assert_eq!(capture.ignored.sample, paths(&["full/c.log"]));
}

#[test]
fn a_pattern_that_never_ends_is_passed_over() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    let endless = "**/".repeat(40_000);
    job.write(".gitignore", format!("{endless}\n*.log\n!{endless}x\n").as_bytes());
    job.write("a/a.log", b"log");
    job.write("a/x", b"x");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), ["A .gitignore", "A a/x"]);
    assert_eq!(capture.ignored.sample, paths(&["a/a.log"]));
}

/// Which of these paths `git check-ignore` says are ignored, by their own and their folders' names.
fn git_ignores(fixture: &Fixture, user: &User, paths: &BTreeSet<String>) -> BTreeSet<String> {
    let mut child = Command::new(git_program())
        .args(["-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"])
        .current_dir(&user.root)
        .env("HOME", fixture.path("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = paths.iter().flat_map(|path| [path.as_str(), "\0"]).collect::<String>();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

/// True where these rules ignore a path or a folder above it.
fn ours(rules: &Rules, path: &str) -> bool {
    let whole = RepoPath::from_bytes(path.as_bytes()).unwrap();
    let ignore = |path: &[u8], is_folder| rules.ignore(path, is_folder, &mut Effort::new(u64::MAX)).unwrap();
    whole.ancestors().any(|folder| ignore(folder.as_bytes(), true)) || ignore(whole.as_bytes(), false)
}

#[test]
fn stars_between_folders_match_as_gits_do() {
    let fixture = Fixture::new();
    let user = fixture.user();
    let parts = ["a", "b", "ab", "x"];
    let mut paths: BTreeSet<String> = parts.map(str::to_owned).into();
    for _ in 0..3 {
        let longer =
            paths.iter().flat_map(|path| parts.map(|part| format!("{path}/{part}"))).collect::<Vec<_>>();
        paths.extend(longer);
    }
    for pattern in [
        "?**/b",
        "a?**/b",
        "[a]**/b",
        "*a**/b",
        "a**/b",
        "/a**b",
        "a/**",
        "a/**/b",
        "a/x**/b",
        "a/?**/b",
        "**/b",
        "**/a/b",
        "*/**/b",
        "a/*/b",
        "a/*",
        "/*",
        "/**",
        "**",
        "*/a",
        "***/b",
        "a/***/b",
        "?",
        "?/b",
        "a/?",
        "a?b",
        "a\\/b",
        "a/**\\/b",
        "[!a]/b",
        "a[/]b",
        "a[!x]b",
        "/a",
        "a",
        "a/b/**/x",
        "**/**/b",
        "a/**/**/b",
        "**/*/b",
        "!a",
        "*\n!a",
        "a/*\n!a/b",
    ] {
        fs::write(user.root.join(".gitignore"), pattern).unwrap();
        let rules = Rules::default().with_file(b"", pattern.as_bytes()).unwrap();
        // Whether a name that ends a path is a folder, git can't know; ours asks for a file.
        let found: BTreeSet<_> = paths.iter().filter(|path| ours(&rules, path)).cloned().collect();
        assert_eq!(found, git_ignores(&fixture, &user, &paths), "pattern {pattern:?}");
    }
}

#[test]
fn patterns_match_as_gits_do() {
    let fixture = Fixture::new();
    let user = fixture.user();
    let patterns = prop::collection::vec(pattern(), 1..5);
    // A folder at the end of a path would need to exist for git to know that it is one.
    let paths = prop::collection::btree_set(
        prop::collection::vec(component(), 1..5).prop_map(|parts| parts.join("/")),
        20..60,
    );
    runner(150)
        .run(&(patterns, paths), |(patterns, paths)| {
            // Folder-only patterns are left to the test on real folders.
            let lines = patterns.iter().map(|line| line.trim_end_matches('/')).collect::<Vec<_>>().join("\n");
            fs::write(user.root.join(".gitignore"), &lines).unwrap();
            let rules = Rules::default().with_file(b"", lines.as_bytes()).unwrap();
            let expected = git_ignores(&fixture, &user, &paths);
            let found: BTreeSet<_> = paths.iter().filter(|path| ours(&rules, path)).cloned().collect();
            prop_assert_eq!(found, expected, "patterns {:?}", lines);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_capture_keeps_what_git_would_list_in_random_trees_with_nested_patterns() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = std::cell::RefCell::new(fixture.job(&user, &[]));
    let file = prop::collection::vec("[abc]{1,2}", 1..5).prop_map(|parts| parts.join("/"));
    let files = prop::collection::btree_set(file, 1..30);
    let line =
        (pattern(), any::<bool>()).prop_map(|(line, folder)| if folder { format!("{line}/") } else { line });
    let lines = prop::collection::vec(line, 1..4).prop_map(|lines| lines.join("\n"));
    let ignore_files = prop::collection::vec(lines, 1..4);
    let tracked = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    runner(30)
        .run(&(files, ignore_files, tracked), |(files, ignore_files, tracked)| {
            let mut job = job.borrow_mut();
            for entry in fs::read_dir(&job.root).unwrap() {
                let entry = entry.unwrap().path();
                if entry.file_name() != Some(".git".as_ref()) {
                    nightgate_host::walk::remove_tree(&entry, &job.root).unwrap();
                }
            }
            let mut made: Vec<RepoPath> = Vec::new();
            for name in &files {
                let new = path(name);
                // A name that is a file already can't be a folder.
                let clashes = made.iter().any(|old| old.is_at_or_below(&new) || new.is_at_or_below(old));
                if !clashes {
                    job.write(name, b"x");
                    made.push(new);
                }
            }
            let mut folders: Vec<String> = vec![String::new()];
            folders
                .extend(made.iter().flat_map(|file| {
                    file.ancestors().map(|folder| format!("{folder}/")).collect::<Vec<_>>()
                }));
            for (place, lines) in ignore_files.iter().enumerate() {
                job.write(&format!("{}.gitignore", folders[place * 3 % folders.len()]), lines.as_bytes());
            }
            // Some of them are at base, in any folder.
            job.agent_git(&["read-tree", "--empty"]);
            job.listing.clear();
            for index in &tracked {
                let name = index.get(&made);
                job.write(&name.to_string(), b"tracked");
                job.agent_git(&["--literal-pathspecs", "add", "-f", "--", &name.to_string()]);
                let id = job.job.repository().object_format().blob_id(b"tracked");
                let mode = nightgate_core::tree::EntryMode::File;
                job.listing.insert(name.clone(), nightgate_core::tree::Entry { mode, object: id });
            }
            let listed = job.agent_git(&[
                "-c",
                "core.quotePath=false",
                "ls-files",
                "-z",
                "--others",
                "--exclude-per-directory=.gitignore",
            ]);
            let expected: BTreeSet<_> =
                listed.split('\0').filter(|name| !name.is_empty()).map(path).collect();
            // The base commit doesn't really have these, so the candidate can't be right; what is new can.
            let changes = job.capture().changes;
            prop_assert!(changes.iter().all(|change| change.before.is_none()), "{:?}", changes);
            let seen: BTreeSet<_> = changes.into_iter().map(|change| change.path).collect();
            prop_assert_eq!(seen, expected, "patterns {:?}", ignore_files);
            Ok(())
        })
        .unwrap();
}
