//! `verify --worktree` where files don't show what a commit of them would hold: neither FAILED nor VERIFIED, but what to do
//! instead. And commits whose trees no checkout could give.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use testkit::{Hermetic, Repository};

use crate::bench::{
    assert_nothing_left, codes, declared, environment, environments, shop, told_again, verify,
};

/// What of a job is judged as a working tree, and then as the commit that the user makes of it.
struct Doubted<'a> {
    what: &'a str,
    content: Value,
    /// Made and committed before the base.
    before: &'a dyn Fn(&Repository<'_>),
    /// The work.
    work: &'a dyn Fn(&Repository<'_>),
    /// The path that is told.
    path: &'a str,
    /// The verdict on the commit.
    commit: &'a str,
}

#[track_caller]
fn judge(hermetic: &Hermetic, case: &Doubted<'_>) {
    let what = case.what;
    let repository = shop(hermetic);
    (case.before)(&repository);
    let base = repository.commit("before");
    (case.work)(&repository);
    let before = repository.snapshot();
    let outcome = verify(hermetic, &repository, &case.content, &["--base", &base, "--worktree"]);
    before.assert_same(&repository.snapshot());
    assert_eq!(outcome.code(), Some(2), "{what}: {outcome}");
    let said = told_again(hermetic, &outcome);
    assert_eq!(said["verdict"], json!("UNCERTAIN"), "{what}: {said:#}");
    assert_eq!(codes(&said)[0], "evidence_incomplete", "{what}: {said:#}");
    let reasons = said["reasons"].as_array().expect("`reasons` is a list");
    let told = reasons.iter().find(|reason| reason["path"] == json!(case.path));
    let advice = told.and_then(|told| told["text"].as_str()).unwrap_or_default();
    assert!(advice.contains("commit it") && advice.contains("--commit"), "{what}: {said:#}");
    repository.git(["-c", "core.safecrlf=false", "add", "--all"]);
    repository.git(["commit", "--quiet", "--allow-empty", "--message", "work"]);
    let outcome = verify(hermetic, &repository, &case.content, &["--base", &base, "--commit", "HEAD"]);
    let said = told_again(hermetic, &outcome);
    assert_eq!(said["verdict"], json!(case.commit), "{what}: {said:#}");
    assert_nothing_left(hermetic);
}

/// Everything but `greeting` must stay, and the checks are criteria.
fn strict() -> Value {
    declared(json!({"allowedPaths": ["greeting"], "criteriaPaths": ["check.sh", "docs"]}))
}

/// Has git write all files anew, as its configuration is now.
fn check_out_again(repository: &Repository<'_>) {
    for name in ["check.sh", "greeting", "docs/notes"] {
        fs::remove_file(repository.path().join(name)).expect("a file can be removed");
    }
    repository.git(["checkout", "--quiet", "--", "."]);
}

fn set_mode(repository: &Repository<'_>, name: &str, mode: u32) {
    let path = repository.path().join(name);
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode can be set");
}

#[test]
fn line_ends_that_git_converts_are_no_tampering() {
    let hermetic = environment();
    let work = |repository: &Repository<'_>| {
        check_out_again(repository);
        let shown = fs::read(repository.path().join("check.sh")).expect("the file can be read");
        assert!(shown.ends_with(b"\r\n"), "git converts nothing: this shows nothing");
        repository.write("greeting", "two\r\n");
    };
    for hermetic in environments() {
        judge(
            &hermetic,
            &Doubted {
                what: "core.autocrlf",
                content: strict(),
                before: &|_| (),
                work: &|repository| {
                    repository.git(["config", "core.autocrlf", "true"]);
                    work(repository);
                },
                path: "check.sh",
                commit: "VERIFIED",
            },
        );
    }
    judge(
        &hermetic,
        &Doubted {
            what: "an attribute",
            content: strict(),
            before: &|repository| {
                repository.write(".gitattributes", "* text eol=crlf\n");
            },
            work: &work,
            path: "check.sh",
            commit: "VERIFIED",
        },
    );
    // The project's own file is no exception.
    let hermetic = environment();
    judge(
        &hermetic,
        &Doubted {
            what: "nightgate.toml",
            content: declared(json!({})),
            before: &|repository| {
                repository.write("nightgate.toml", "criteriaPaths = []\n");
            },
            work: &|repository| {
                repository.git(["config", "core.autocrlf", "true"]);
                repository.write("nightgate.toml", "criteriaPaths = []\r\n").write("greeting", "two\n");
            },
            path: "nightgate.toml",
            commit: "VERIFIED",
        },
    );
}

#[test]
fn a_filter_makes_a_working_tree_say_neither_yes_nor_no() {
    for (clean, shown, commit) in
        [("sed s/TWO/two/", "TWO\n", "VERIFIED"), ("sed s/two/ten/", "two\n", "FAILED")]
    {
        let hermetic = environment();
        judge(
            &hermetic,
            &Doubted {
                what: clean,
                content: strict(),
                before: &|repository| {
                    repository.write(".gitattributes", "greeting filter=mine\n");
                },
                work: &|repository| {
                    repository.git(["config", "filter.mine.clean", clean]);
                    repository.write("greeting", shown);
                },
                path: "greeting",
                commit,
            },
        );
    }
}

#[test]
fn an_executable_bit_that_git_does_not_look_at_says_nothing() {
    let off = |repository: &Repository<'_>| {
        repository.git(["config", "core.fileMode", "false"]);
        repository.write("greeting", "two\n");
    };
    let hermetic = environment();
    judge(
        &hermetic,
        &Doubted {
            what: "a criterion that lost its bit on the disk alone",
            content: declared(json!({
                "criteriaPaths": ["run.sh"], "commands": [{"name": "tests", "executable": "./run.sh"}],
            })),
            before: &|repository| {
                repository.write_executable("run.sh", "#!/bin/sh\nexec sh check.sh\n");
            },
            work: &|repository| {
                off(repository);
                set_mode(repository, "run.sh", 0o644);
            },
            path: "run.sh",
            commit: "VERIFIED",
        },
    );
    let hermetic = environment();
    judge(
        &hermetic,
        &Doubted {
            what: "a new program that a commit would hold without its bit",
            content: declared(json!({"commands": [
                {"name": "tests", "executable": "sh", "args": ["-c", "test -x new.sh && sh check.sh"]},
            ]})),
            before: &|_| (),
            work: &|repository| {
                off(repository);
                repository.write_executable("new.sh", "#!/bin/sh\n");
            },
            path: "new.sh",
            commit: "FAILED",
        },
    );
}

#[test]
fn a_file_that_stands_for_a_link_is_no_change_of_type() {
    let hermetic = environment();
    judge(
        &hermetic,
        &Doubted {
            what: "core.symlinks",
            content: declared(json!({"allowedPaths": ["greeting"], "criteriaPaths": ["check.sh", "link"]})),
            before: &|repository| {
                repository.link("link", "check.sh");
            },
            work: &|repository| {
                repository.git(["config", "core.symlinks", "false"]);
                fs::remove_file(repository.path().join("link")).expect("a link can be removed");
                repository.write("link", "check.sh").write("greeting", "two\n");
            },
            path: "link",
            commit: "VERIFIED",
        },
    );
}

#[test]
fn what_a_sparse_checkout_leaves_away_is_not_deleted() {
    let hermetic = environment();
    judge(
        &hermetic,
        &Doubted {
            what: "a sparse checkout",
            content: declared(json!({"criteriaPaths": ["check.sh", "docs"]})),
            before: &|_| (),
            work: &|repository| {
                repository.git(["sparse-checkout", "set", "--no-cone", "/greeting", "/check.sh"]);
                assert!(!repository.path().join("docs/notes").exists(), "this shows nothing");
                repository.write("greeting", "two\n");
            },
            path: "docs/notes",
            commit: "VERIFIED",
        },
    );
}

#[test]
fn files_that_the_users_own_rules_ignore_are_no_part_of_the_change_and_no_fault() {
    for hermetic in environments() {
        let ignore = |repository: &Repository<'_>| {
            repository.write(".git/info/exclude", "/notes.mine\n");
            hermetic.write("home/.config/git/ignore", "*.swp\n");
            repository.write("greeting", "two\n");
        };
        judge(
            &hermetic,
            &Doubted {
                what: "outside the scope, and among the criteria",
                content: strict(),
                before: &|_| (),
                work: &|repository| {
                    ignore(repository);
                    repository.write("notes.mine", "x\n").write("docs/.notes.swp", "x\n");
                },
                path: "docs/.notes.swp",
                commit: "VERIFIED",
            },
        );
    }
    let hermetic = environment();
    hermetic.write("mine", "*.swp\n");
    judge(
        &hermetic,
        &Doubted {
            what: "a check that finds it",
            content: declared(json!({"commands": [
                {"name": "tests", "executable": "sh", "args": ["-c", "test ! -e x.swp && sh check.sh"]},
            ]})),
            before: &|_| (),
            work: &|repository| {
                let file = hermetic.root().join("mine");
                let config = hermetic.home().join(".gitconfig");
                let mut text = fs::read_to_string(&config).expect("the configuration can be read");
                text.push_str(&format!("[core]\n\texcludesFile = {}\n", file.display()));
                fs::write(&config, text).expect("the configuration can be written");
                repository.write("x.swp", "x\n").write("greeting", "two\n");
            },
            path: "x.swp",
            commit: "VERIFIED",
        },
    );
}

#[test]
fn a_submodule_that_was_moved_is_not_passed_over() {
    let hermetic = environment();
    let library = hermetic.repository("library");
    library.write("inner", "one\n").commit("one");
    library.write("inner", "two\n").commit("two");
    let in_submodule = |repository: &Repository<'_>, revision: &str| {
        Repository::at(&hermetic, repository.path().join("sub")).git(["checkout", "--quiet", revision]);
    };
    judge(
        &hermetic,
        &Doubted {
            what: "a submodule",
            content: declared(json!({"protectedPathsUnchanged": ["sub"]})),
            before: &|repository| {
                let from = library.path().display().to_string();
                repository.git([
                    "-c",
                    "protocol.file.allow=always",
                    "submodule",
                    "--quiet",
                    "add",
                    &from,
                    "sub",
                ]);
                in_submodule(repository, "HEAD~1");
            },
            work: &|repository| {
                in_submodule(repository, "main");
                repository.write("greeting", "two\n");
            },
            path: "sub",
            commit: "FAILED",
        },
    );
}

#[test]
fn a_working_tree_whose_files_are_what_a_commit_would_hold_is_judged_as_it_is() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    hermetic.write("home/.config/git/ignore", "*.swp\n");
    repository.git(["config", "core.autocrlf", "true"]);
    repository.git(["config", "core.fileMode", "false"]);
    repository.write("greeting", "two\n").write("new", "unix\n").write("added.swp", "x\n");
    repository.git(["-c", "core.safecrlf=false", "add", "--force", "added.swp"]);
    let outcome = verify(&hermetic, &repository, &declared(json!({})), &["--base", "HEAD", "--worktree"]);
    assert_eq!(told_again(&hermetic, outcome.assert_code(0))["verdict"], json!("VERIFIED"));
    repository.write("check.sh", "test -e greeting\n");
    let outcome = verify(&hermetic, &repository, &declared(json!({})), &["--base", "HEAD", "--worktree"]);
    assert_eq!(codes(&told_again(&hermetic, outcome.assert_code(1))), ["criteria_modified"]);
}

/// The bytes of a tree with these entries, in this order.
fn raw_tree(entries: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend(format!("{mode} {name}\0").into_bytes());
        let digits = id.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("an id is text"));
        bytes.extend(digits.map(|pair| u8::from_str_radix(pair, 16).expect("an id is hexadecimal")));
    }
    bytes
}

#[test]
fn a_commit_with_names_that_no_checkout_could_give_is_uncertain() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let base = repository.head();
    repository.write("greeting", "two\n").commit("work");
    let id = |name: &str| repository.git(["rev-parse", &format!("HEAD:{name}")]);
    let (check, docs, greeting) = (id("check.sh"), id("docs"), id("greeting"));
    let file = |name| ("100644", name, greeting.as_str());
    let folder = |name| ("40000", name, docs.as_str());
    let (first, second, third) = (("100644", "check.sh", check.as_str()), folder("docs"), file("greeting"));
    type Entries<'e> = Vec<(&'e str, &'e str, &'e str)>;
    let trees: Vec<(&str, Entries<'_>)> = vec![
        ("a folder .git", vec![folder(".git"), first, second, third]),
        ("a file .git", vec![file(".git"), first, second, third]),
        (".git in other letters", vec![file(".GIT"), first, second, third]),
        ("the folder above", vec![folder(".."), first, second, third]),
        ("a file of the folder above", vec![file(".."), first, second, third]),
        ("the folder itself", vec![folder("."), first, second, third]),
        ("a file twice", vec![first, second, third, third]),
        ("a file that is a folder too", vec![first, second, third, folder("greeting")]),
        ("no name", vec![file(""), first, second, third]),
        ("a slash", vec![first, file("docs/more"), second, third]),
        ("another order", vec![third, second, first]),
        ("a mode that git doesn't know", vec![first, second, ("100600", "greeting", greeting.as_str())]),
    ];
    for (what, entries) in trees {
        let place = hermetic.write("tree", raw_tree(&entries));
        let place = place.to_str().expect("paths of tests are text");
        let tree = repository.git(["hash-object", "-t", "tree", "-w", "--literally", place]);
        let commit = repository.git(["commit-tree", "-p", &base, "-m", "odd", &tree]);
        let outcome =
            verify(&hermetic, &repository, &declared(json!({})), &["--base", &base, "--commit", &commit]);
        assert_eq!(outcome.code(), Some(2), "{what}: {outcome}");
        let said = outcome.json();
        assert_eq!(said["verdict"], json!("UNCERTAIN"), "{what}: {said:#}");
        // Git itself can't read a tree with an empty name, so there is not even a job.
        let reason = if what == "no name" { "environment_fault" } else { "unrepresentable_path" };
        assert!(codes(&said).contains(&reason), "{what}: {said:#}");
        assert!(!outcome.stderr_text().contains("panicked"), "{what}: {outcome}");
        assert_nothing_left(&hermetic);
    }
}
