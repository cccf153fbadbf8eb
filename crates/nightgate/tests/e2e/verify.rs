//! The gate alone: `verify` of commits and working trees, honest work beside attacks, each with its reason.
//! Plans that were frozen before are `approval`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use testkit::{Hermetic, Repository};

use crate::bench::{
    assert_nothing_left, codes, declared, entries, environment, environments, listed, shell, shop,
    told_again, unboxed_environment, unboxed_environments, verify,
};

/// A repository with more to change than the shop's.
fn yard(hermetic: &Hermetic) -> Repository<'_> {
    let repository = shop(hermetic);
    repository.write("deps.lock", "1\n").write("src/token", "secret\n").write("src/handler", "one\n");
    repository
        .write("tests/expected", "two\n")
        .write_executable("tests/run.sh", "#!/bin/sh\ngrep -q two greeting\n");
    repository.write("tests/deep/data", "data\n");
    repository.commit("base");
    repository
}

/// Judges one commit on top of the yard and shows that the repository stayed as it was.
#[track_caller]
fn judge_in(hermetic: &Hermetic, content: &Value, work: impl FnOnce(&Repository<'_>)) -> Value {
    let repository = yard(hermetic);
    let base = repository.head();
    repository.write("greeting", "two\n");
    work(&repository);
    repository.commit("work");
    let before = repository.snapshot();
    let outcome = verify(hermetic, &repository, content, &["--base", &base, "--commit", "HEAD"]);
    let said = told_again(hermetic, &outcome);
    let status = match said["verdict"].as_str() {
        Some("VERIFIED") => 0,
        Some("FAILED") => 1,
        _ => 2,
    };
    outcome.assert_code(status);
    before.assert_same(&repository.snapshot());
    assert_eq!(repository.git(["for-each-ref", "refs/nightgate"]), "");
    assert_nothing_left(hermetic);
    said
}

#[track_caller]
fn judge(content: &Value, work: impl FnOnce(&Repository<'_>)) -> Value {
    judge_in(&environment(), content, work)
}

#[track_caller]
fn assert_answer(said: &Value, verdict: &str, reasons: &[&str], what: &str) {
    assert_eq!((&said["verdict"], codes(said)), (&json!(verdict), reasons.to_vec()), "{what}: {said:#}");
}

/// The declaration of the issue, with every key that it names and no other.
fn minimal() -> Value {
    json!({
        "outcomeRequirement": "repository_change_required",
        "changedPaths": ["greeting"],
        "protectedPathsUnchanged": ["src/token"],
        "dependencyFilesUnchanged": ["deps.lock"],
        "criteriaPaths": ["check.sh", "tests"],
        "commands": [{"name": "tests", "executable": "sh", "args": ["check.sh"]}],
    })
}

#[test]
fn the_minimal_declaration_is_accepted_as_it_stands_for_a_commit_and_for_a_working_tree() {
    for hermetic in environments() {
        let repository = yard(&hermetic);
        let base = repository.head();
        repository.write("greeting", "two\n").write("new", "untracked\n");
        let before = repository.snapshot();
        let outcome = verify(&hermetic, &repository, &minimal(), &["--base", &base, "--worktree"]);
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_answer(&said, "VERIFIED", &[], "worktree");
        assert_eq!(
            said["changes"],
            json!([{"path": "greeting", "change": "modified"}, {"path": "new", "change": "added"}])
        );
        before.assert_same(&repository.snapshot());
        let kept = said["candidate"]["commit"].as_str().expect("there is a candidate");
        assert_eq!(repository.read_at(kept, "new").as_deref(), Some(b"untracked\n".as_slice()));
        let work = repository.commit("work");
        let outcome = verify(&hermetic, &repository, &minimal(), &["--base", &base, "--commit", "HEAD"]);
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_answer(&said, "VERIFIED", &[], "commit");
        assert_eq!(said["candidate"], json!({"commit": work, "ref": null}));
        assert_eq!(repository.fsck(), "");
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn a_commit_that_touches_the_criteria_is_failed_by_what_it_did_to_them() {
    let set_mode = |repository: &Repository<'_>, name: &str, mode: u32| {
        fs::set_permissions(repository.path().join(name), fs::Permissions::from_mode(mode))
            .expect("a mode can be set");
    };
    let remove = |repository: &Repository<'_>, name: &str| {
        fs::remove_file(repository.path().join(name)).expect("a file can be removed");
    };
    type Work<'w> = (&'w str, &'w [&'w str], &'w dyn Fn(&Repository<'_>));
    let works: &[Work<'_>] = &[
        ("modified", &["criteria_modified"], &|r| {
            r.write("check.sh", "test -e greeting\n");
        }),
        ("an empty line", &["criteria_modified"], &|r| {
            r.write("tests/expected", "two\n\n");
        }),
        ("deleted", &["criteria_deleted"], &|r| remove(r, "tests/expected")),
        ("a new member", &["criteria_modified"], &|r| {
            r.write("tests/conftest.py", "");
        }),
        ("made executable", &["criteria_modified"], &|r| set_mode(r, "check.sh", 0o755)),
        ("not executable any more", &["criteria_modified"], &|r| set_mode(r, "tests/run.sh", 0o644)),
        ("a link", &["criteria_redirected", "criteria_type_changed"], &|r| {
            remove(r, "check.sh");
            r.write("mine.sh", "test -e greeting\n").link("check.sh", "mine.sh");
        }),
        ("a folder that is a link", &["criteria_redirected"], &|r| {
            fs::rename(r.path().join("tests"), r.path().join("mine")).expect("a folder can be renamed");
            r.link("tests", "mine");
        }),
    ];
    for (what, reasons, work) in works {
        let said = judge(&minimal(), work);
        assert_eq!(said["verdict"], json!("FAILED"), "{what}: {said:#}");
        let found = codes(&said);
        assert!(reasons.iter().all(|reason| found.contains(reason)), "{what}: {found:?}");
        let tamper =
            ["criteria_modified", "criteria_deleted", "criteria_redirected", "criteria_type_changed"];
        assert!(found.iter().all(|code| tamper.contains(code)), "{what}: {found:?}");
        assert_eq!((&said["class"], &said["checks"]), (&json!("tamper"), &json!([])), "{what}: {said:#}");
    }
}

#[test]
fn a_folder_in_the_place_of_a_criterion_is_of_another_type() {
    let said = judge(&minimal(), |repository| {
        fs::remove_file(repository.path().join("check.sh")).expect("a file can be removed");
        repository.write("check.sh/file", "");
    });
    assert_eq!(said["verdict"], json!("FAILED"), "{said:#}");
    assert!(codes(&said).contains(&"criteria_type_changed"), "{said:#}");
}

#[test]
fn an_ordinary_user_is_told_of_a_criterion_that_was_changed_by_its_path() {
    for hermetic in environments() {
        let said = judge_in(&hermetic, &minimal(), |repository| {
            repository.write("tests/deep/data", "other\n");
        });
        assert_answer(&said, "FAILED", &["criteria_modified"], "a changed file");
        assert_eq!(said["reasons"][0]["path"], json!("tests/deep/data"));
    }
}

#[test]
fn a_commit_outside_its_scope_is_failed_for_each_rule_that_it_breaks() {
    let with = |key: &str, value: Value| {
        let mut content = minimal();
        content[key] = value;
        content
    };
    let allowed = with("allowedPaths", json!(["greeting", "src"]));
    let forbidden = json!({
        "outcomeRequirement": "repository_change_forbidden",
        "criteriaPaths": ["check.sh"],
        "commands": [{"name": "tests", "executable": "sh", "args": ["check.sh"]}],
    });
    type Work<'w> = (&'w str, &'w Value, &'w [&'w str], &'w dyn Fn(&Repository<'_>));
    let plain = minimal();
    let works: &[Work<'_>] = &[
        ("within", &allowed, &[], &|r| {
            r.write("src/handler", "two\n");
        }),
        ("outside", &allowed, &["scope_violation"], &|r| {
            r.write("docs/notes", "mine\n");
        }),
        ("a new file outside", &allowed, &["scope_violation"], &|r| {
            r.write("srcs/file", "mine\n");
        }),
        ("protected", &plain, &["protected_changed"], &|r| {
            r.write("src/token", "stolen\n");
        }),
        ("protected, made executable", &plain, &["protected_changed"], &|r| {
            r.write_executable("src/token", "secret\n");
        }),
        ("a dependency file", &plain, &["dependency_changed"], &|r| {
            r.write("deps.lock", "2\n");
        }),
        ("all at once", &allowed, &["protected_changed", "dependency_changed", "scope_violation"], &|r| {
            r.write("src/token", "stolen\n").write("deps.lock", "2\n");
        }),
        ("a change where none may be", &forbidden, &["scope_violation"], &|_| ()),
        ("the project's own file", &plain, &["influence_changed"], &|r| {
            r.write("nightgate.toml", "criteriaPaths = []\n");
        }),
    ];
    for (what, content, reasons, work) in works {
        let said = judge(content, work);
        let mut found = codes(&said);
        found.sort_unstable();
        found.dedup();
        let mut reasons = reasons.to_vec();
        reasons.sort_unstable();
        let verdict = if reasons.is_empty() { "VERIFIED" } else { "FAILED" };
        assert_eq!((&said["verdict"], found), (&json!(verdict), reasons), "{what}: {said:#}");
    }
}

#[test]
fn work_without_its_outcome_is_failed() {
    let said = judge(&minimal(), |repository| {
        repository.write("greeting", "one\n");
    });
    assert_eq!(said["verdict"], json!("FAILED"));
    assert_eq!(
        codes(&said),
        ["outcome_absent", "outcome_absent"],
        "nothing changed, and not what had to: {said:#}"
    );
    let said = judge(&minimal(), |repository| {
        repository.write("greeting", "one\n").write("docs/notes", "x\n");
    });
    assert_answer(&said, "FAILED", &["outcome_absent"], "something else changed");
    assert_eq!(said["reasons"][0]["path"], json!("greeting"));
    let any = declared(json!({"outcomeRequirement": "any"}));
    let said = judge(&any, |_| ());
    assert_answer(&said, "VERIFIED", &[], "any outcome");
    let hermetic = environment();
    let repository = yard(&hermetic);
    let outcome = verify(&hermetic, &repository, &minimal(), &["--base", "HEAD", "--commit", "HEAD"]);
    assert_eq!(codes(&told_again(&hermetic, outcome.assert_code(1))), ["outcome_absent", "outcome_absent"]);
}

/// A declaration whose one check is this shell script.
fn checked_by(script: &str) -> Value {
    declared(json!({"commands": [
        {"name": "tests", "executable": "sh", "args": ["-c", script], "timeoutSeconds": 60},
    ]}))
}

#[test]
fn how_a_check_ends_decides_what_is_known() {
    for (script, verdict, reason) in [
        ("exit 1", "FAILED", "check_failed"),
        ("exit 125", "FAILED", "check_failed"),
        ("exit 128", "FAILED", "check_failed"),
        ("exit 255", "FAILED", "check_failed"),
        ("no-such-tool", "UNCERTAIN", "check_not_started"),
        ("exit 126", "UNCERTAIN", "check_not_started"),
        ("./tests/expected", "UNCERTAIN", "check_not_started"),
        ("kill -KILL $$", "FAILED", "check_signal"),
        ("kill -TERM $$", "FAILED", "check_signal"),
    ] {
        let said = judge(&checked_by(script), |_| ());
        assert_answer(&said, verdict, &[reason], script);
    }
}

#[test]
fn a_check_over_its_time_is_ended_and_makes_the_verdict_uncertain() {
    for hermetic in environments() {
        let content = declared(json!({"commands": [{
            "name": "tests", "executable": "sh", "timeoutSeconds": 1,
            "args": ["-c", "trap '' TERM; (while :; do sleep 600; done) & while :; do sleep 600; done"],
        }]}));
        let said = judge_in(&hermetic, &content, |_| ());
        assert_answer(&said, "UNCERTAIN", &["check_timeout"], "a check that never ends");
    }
}

#[test]
fn a_program_that_is_missing_is_uncertain_and_one_that_the_work_removed_is_failed() {
    let tool =
        |executable: &str| declared(json!({"commands": [{"name": "tests", "executable": executable}]}));
    let said = judge(&tool("no-such-tool"), |_| ());
    assert_answer(&said, "UNCERTAIN", &["check_not_started"], "a tool");
    let said = judge(&tool("./tests/run.sh"), |_| ());
    assert_answer(&said, "VERIFIED", &[], "a program of the tree");
    let said = judge(&tool("./tests/run.sh"), |repository| {
        fs::remove_file(repository.path().join("tests/run.sh")).expect("a file can be removed");
    });
    assert_answer(&said, "FAILED", &["check_failed"], "a program of the tree that is gone");
}

#[test]
fn what_a_check_expects_is_what_passes_and_an_advisory_one_changes_nothing() {
    let with = |more: Value| {
        let mut check = json!({"name": "tests", "executable": "sh", "args": ["check.sh"]});
        check
            .as_object_mut()
            .expect("it is an object")
            .extend(more.as_object().expect("it is an object").clone());
        declared(json!({"commands": [
            check,
            {"name": "other", "executable": "sh", "args": ["-c", "exit 3"], "required": false},
        ]}))
    };
    let said = judge(&with(json!({})), |_| ());
    assert_answer(&said, "VERIFIED", &[], "an advisory failure");
    assert_eq!(said["gates"][5]["role"], json!("advisory"), "{said:#}");
    let said = judge(&with(json!({"expect": {"exit": 3}})), |_| ());
    assert_answer(&said, "FAILED", &["check_failed"], "another status");
    let said = judge(
        &with(json!({"args": ["-c", "grep -q two greeting && exit 3"], "expect": {"exit": 3}})),
        |_| (),
    );
    assert_answer(&said, "VERIFIED", &[], "the expected status");
    let said = judge(
        &with(json!({"args": ["-c", "echo found; grep -q two greeting"], "expect": {"emptyOutput": true}})),
        |_| (),
    );
    assert_answer(&said, "FAILED", &["check_failed"], "output where none may be");
    let said = judge(
        &with(
            json!({"args": ["-c", "echo found >&2; grep -q two greeting"], "expect": {"emptyOutput": true}}),
        ),
        |_| (),
    );
    assert_answer(&said, "VERIFIED", &[], "output on the other stream");
}

#[test]
fn what_one_check_leaves_never_reaches_the_next() {
    let leaves = "mkdir left; echo two >left/x; echo two >$HOME/x; echo two >$TMPDIR/x; sh check.sh";
    for finds in ["grep -q two left/x", "grep -q two $HOME/x", "grep -q two $TMPDIR/x"] {
        for setup in [json!([]), json!([shell("deps", "echo of setup")])] {
            let content = declared(
                json!({"setup": setup, "commands": [shell("leaves", leaves), shell("finds", finds)]}),
            );
            let said = judge(&content, |_| ());
            assert_answer(&said, "FAILED", &["check_failed"], finds);
        }
    }
}

#[test]
fn a_check_that_must_fail_at_base_is_asked_there() {
    let must_fail = |script: &str| {
        declared(json!({"commands": [
            {"name": "tests", "executable": "sh", "args": ["-c", script], "mustFailOnBase": true},
        ]}))
    };
    let said = judge(&must_fail("grep -q two greeting"), |_| ());
    assert_answer(&said, "VERIFIED", &[], "a check that fails at base");
    assert_eq!(said["checks"][0]["atBase"], json!({"exited": {"code": 1}}), "{said:#}");
    let hermetic = environment();
    let repository = yard(&hermetic);
    let base = repository.head();
    repository.write("greeting", "two\n").commit("work");
    let outcome = verify(&hermetic, &repository, &must_fail("test -e greeting"), &["--base", &base]);
    assert_eq!(codes(&outcome.assert_code(2).json()), ["plan_refused"], "{outcome}");
    assert_nothing_left(&hermetic);
}

#[test]
fn tracked_files_that_change_under_a_check_make_the_verdict_uncertain_unless_they_are_its_outputs() {
    let said = judge_in(&unboxed_environment(), &checked_by("echo '# more' >>check.sh; sh check.sh"), |_| ());
    assert_answer(&said, "UNCERTAIN", &["criteria_unstable"], "a criteria file");
    let said = judge_in(&unboxed_environment(), &checked_by("rm check.sh; grep -q two greeting"), |_| ());
    assert_answer(&said, "UNCERTAIN", &["criteria_unstable"], "a criteria file that is removed");
    let said = judge_in(&unboxed_environment(), &checked_by("chmod 755 docs/notes; sh check.sh"), |_| ());
    assert_answer(&said, "UNCERTAIN", &["tree_unstable"], "a mode");
    let rewriting = "echo generated >docs/notes; sh check.sh";
    let said = judge_in(&unboxed_environment(), &checked_by(rewriting), |_| ());
    assert_answer(&said, "UNCERTAIN", &["tree_unstable"], "another tracked file");
    assert_eq!(said["reasons"][0]["path"], json!("docs/notes"));
    let said =
        judge_in(&unboxed_environment(), &checked_by("mkdir made; echo x >made/x; sh check.sh"), |_| ());
    assert_answer(&said, "VERIFIED", &[], "new files");
    let content = declared(json!({"commands": [
        {"name": "tests", "executable": "sh", "args": ["-c", rewriting], "outputs": ["docs"]},
    ]}));
    let said = judge_in(&unboxed_environment(), &content, |_| ());
    assert_answer(&said, "VERIFIED", &[], "its own output");
    let content = declared(json!({"commands": [
        {"name": "tests", "executable": "sh", "args": ["-c", rewriting], "outputs": ["docs"]},
        shell("again", rewriting),
    ]}));
    let said = judge_in(&unboxed_environment(), &content, |_| ());
    assert_answer(&said, "UNCERTAIN", &["tree_unstable"], "an output of one check is none of the next");
    let content = declared(json!({"commands": [
        {
            "name": "tests", "executable": "sh", "args": ["-c", "echo x >check.sh; grep -q two greeting"],
            "outputs": ["check.sh"],
        },
    ]}));
    let said = judge_in(&unboxed_environment(), &content, |_| ());
    assert_answer(&said, "UNCERTAIN", &["criteria_unstable"], "criteria are no output");
}

#[test]
fn a_daemon_that_a_check_leaves_is_ended_with_it() {
    for hermetic in unboxed_environments() {
        let seen = hermetic.root().join("seen");
        let content = declared(json!({"commands": [
            shell("one", format!(
                "setsid sh -c 'exec 3>{seen}; while :; do sleep 600; done' >/dev/null 2>&1 & \
                 until test -e {seen}; do :; done; sh check.sh", seen = seen.display())),
        ]}));
        let said = judge_in(&hermetic, &content, |_| ());
        assert_answer(&said, "VERIFIED", &[], "a check that leaves a daemon");
        assert!(seen.exists(), "the daemon never ran");
    }
}

#[test]
fn setup_prepares_the_room_and_is_no_part_of_the_candidate() {
    for hermetic in environments() {
        let content = declared(json!({
            "setup": [{
                "name": "deps", "executable": "sh", "inputs": ["deps.lock"],
                "args": ["-c", "mkdir -p built; cp deps.lock built/lock; echo setup ran"],
            }],
            "commands": [shell("tests", "cmp built/lock deps.lock && grep -q two greeting")],
        }));
        let said = judge_in(&hermetic, &content, |_| ());
        assert_answer(&said, "VERIFIED", &[], "setup");
        let logs =
            hermetic.nightgate(hermetic.root(), ["logs", said["job"].as_str().expect("there is a job")]);
        assert!(logs.stdout_text().contains("==> setup deps stdout <==\nsetup ran\n"), "{logs}");
    }
    let content = |inputs: Value| {
        declared(json!({
            "setup": [{
                "name": "deps", "executable": "sh", "inputs": inputs,
                "args": ["-c", "cp deps.lock built-lock"],
            }],
            "commands": [shell("tests", "cmp built-lock deps.lock && grep -q two greeting")],
        }))
    };
    let changed = |repository: &Repository<'_>| {
        repository.write("deps.lock", "2\n");
    };
    assert_answer(&judge(&content(json!(["deps.lock"])), changed), "VERIFIED", &[], "changed inputs");
    assert_answer(&judge(&content(json!([])), changed), "FAILED", &["check_failed"], "no inputs");
}

#[test]
fn setup_that_fails_makes_the_verdict_uncertain() {
    for (args, what) in [
        (json!(["-c", "echo no network >&2; exit 1"]), "a failure"),
        (json!(["-c", "kill -KILL $$"]), "a signal"),
        (json!(["-c", "while :; do sleep 600; done"]), "a time limit"),
    ] {
        let content = declared(json!({"setup": [
            {"name": "deps", "executable": "sh", "args": args, "timeoutSeconds": 1},
        ]}));
        let said = judge(&content, |_| ());
        assert_eq!(said["verdict"], json!("UNCERTAIN"), "{what}: {said:#}");
        assert!(codes(&said).contains(&"setup_failed"), "{what}: {said:#}");
    }
    let content = declared(json!({"setup": [{"name": "deps", "executable": "no-such-tool"}]}));
    let said = judge(&content, |_| ());
    assert!(said["verdict"] == json!("UNCERTAIN") && codes(&said).contains(&"setup_failed"), "{said:#}");
    let content = declared(json!({"setup": [
        {"name": "deps", "executable": "sh", "args": ["-c", "grep -q 1 deps.lock"], "inputs": ["deps.lock"]},
    ]}));
    let said = judge(&content, |repository| {
        repository.write("deps.lock", "2\n");
    });
    assert!(said["verdict"] == json!("UNCERTAIN") && codes(&said).contains(&"setup_failed"), "{said:#}");
}

#[test]
fn a_working_tree_that_git_converts_is_uncertain_and_its_commit_can_be_judged() {
    for (attributes, what) in [
        ("greeting text eol=crlf\n", "line ends"),
        ("greeting filter=lfs\n", "a filter"),
        ("greeting ident\n", "ident"),
    ] {
        let hermetic = environment();
        let repository = shop(&hermetic);
        repository.write(".gitattributes", attributes).commit("attributes");
        let base = repository.head();
        repository.write("greeting", "two\r\n$Id: 1$\r\n");
        let before = repository.snapshot();
        let content = declared(json!({}));
        let outcome = verify(&hermetic, &repository, &content, &["--base", &base, "--worktree"]);
        let said = told_again(&hermetic, outcome.assert_code(2));
        assert_answer(&said, "UNCERTAIN", &["evidence_incomplete"], what);
        assert_eq!(said["reasons"][0]["path"], json!("greeting"), "{what}");
        let advice = said["reasons"][0]["text"].as_str().unwrap_or_default();
        assert!(advice.contains("commit") && advice.contains("--commit"), "{what}: {advice}");
        before.assert_same(&repository.snapshot());
        repository.git(["-c", "core.safecrlf=false", "commit", "--quiet", "--all", "--message", "work"]);
        let outcome = verify(&hermetic, &repository, &content, &["--base", &base, "--commit", "HEAD"]);
        assert_answer(&told_again(&hermetic, outcome.assert_code(0)), "VERIFIED", &[], what);
    }
}

#[test]
fn a_working_tree_is_judged_by_its_files_and_not_by_its_index() {
    for hermetic in environments() {
        let repository = yard(&hermetic);
        repository.write("greeting", "two\n");
        repository.git(["add", "greeting"]);
        repository.write("greeting", "three\n").write(".gitignore", "*.log\n").write("a.log", "ignored\n");
        let before = repository.snapshot();
        let outcome = verify(&hermetic, &repository, &minimal(), &["--base", "HEAD", "--worktree"]);
        let said = told_again(&hermetic, outcome.assert_code(1));
        assert_eq!(codes(&said), ["check_failed", "not_self_contained"], "{said:#}");
        assert_eq!(said["ignored"], json!({"count": 1, "sample": ["a.log"]}));
        before.assert_same(&repository.snapshot());
    }
}

#[test]
fn keys_of_later_steps_are_refused_by_name_unless_they_are_at_their_default() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let command = |more: Value| {
        let mut command = json!({"name": "tests", "executable": "sh", "args": ["check.sh"]});
        command
            .as_object_mut()
            .expect("it is an object")
            .extend(more.as_object().expect("it is an object").clone());
        json!({"commands": [command]})
    };
    for (extra, key) in [
        (json!({"stages": [{"id": "S1"}]}), "stages"),
        (json!({"criteriaMayGrow": ["tests"]}), "criteriaMayGrow"),
        (json!({"influence": {"allowed": ["x"]}}), "influence.allowed"),
        (command(json!({"repeat": 2})), "commands[].repeat"),
        (command(json!({"report": {"format": "junit", "path": "r.xml"}})), "commands[].report"),
        (command(json!({"requiredTests": ["a"]})), "commands[].requiredTests"),
        (command(json!({"canary": {"file": "x"}})), "commands[].canary"),
        (json!({"heldOut": [{"name": "x"}]}), "heldOut"),
        (json!({"reviewers": [{"agent": "x"}]}), "reviewers"),
        (json!({"verifiers": [{"name": "x"}]}), "verifiers"),
        (json!({"byReviewOnly": true}), "byReviewOnly"),
        (json!({"recovery": {"limit": 1}}), "recovery"),
        (json!({"ladder": ["x"]}), "ladder"),
        (json!({"isolation": {"network": {"checks": "open"}}}), "isolation.network"),
        (json!({"budget": {"usd": 5.0}}), "budget.usd"),
        (json!({"strength": {"x": 1}}), "strength"),
    ] {
        let outcome = verify(&hermetic, &repository, &declared(extra), &["--base", "HEAD"]);
        let said = outcome.assert_code(2).json();
        assert_eq!(codes(&said), ["plan_refused"], "{key}: {outcome}");
        let text = said["reasons"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(&format!("not yet: {key}")), "{key}: {text}");
    }
    let defaults = declared(json!({
        "schemaVersion": 1, "stages": [], "criteriaMayGrow": [], "influence": {"allowed": []}, "heldOut": [],
        "reviewers": [], "verifiers": [], "byReviewOnly": false, "recovery": {"limit": 0}, "ladder": [],
        "isolation": {
            "minimum": "I1",
            "network": {"agent": "open", "setup": "open", "checks": "none", "reviewers": "open"},
        },
        "commands": [{
            "name": "tests", "executable": "sh", "args": ["check.sh"],
            "repeat": 1, "requiredTests": [], "canary": null, "report": null,
        }],
    }));
    let outcome = verify(&hermetic, &repository, &defaults, &["--base", "HEAD"]);
    assert_eq!(codes(&outcome.assert_code(1).json()), ["outcome_absent"]);
    assert_eq!(listed(&hermetic).len(), 1, "a refused declaration makes no job");
}

#[test]
fn a_check_that_cannot_fail_is_refused() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    for script in ["true", "sh check.sh || true", "sh check.sh; exit 0", "sh check.sh | tail -1"] {
        let outcome = verify(&hermetic, &repository, &checked_by(script), &["--base", "HEAD"]);
        assert_eq!(codes(&outcome.assert_code(2).json()), ["plan_refused"], "{script}: {outcome}");
    }
}

#[test]
fn fifty_megabytes_of_output_are_counted_and_kept_within_bounds() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    repository
        .write("check.sh", "echo first; head -c 50000000 /dev/zero; echo; echo last; grep -q two greeting\n");
    let base = repository.commit("base");
    repository.write("greeting", "two\n").commit("work");
    let outcome = verify(&hermetic, &repository, &declared(json!({})), &["--base", &base]);
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_eq!(said["checks"][0]["stdout"]["bytes"], json!(50_000_012), "{said:#}");
    assert_eq!(said["checks"][0]["stdout"]["truncated"], json!(true));
    let job = said["job"].as_str().expect("there is a job");
    let logs = hermetic.nightgate(hermetic.root(), ["logs", job, "--json"]).assert_code(0).json();
    let text = logs["logs"][0]["text"].as_str().expect("the log is text");
    assert!(text.starts_with("first\n") && text.ends_with("\nlast\n"), "{} bytes", text.len());
    assert!(text.contains("bytes left out"));
    let kept = stored_bytes(&hermetic.state());
    assert!(kept < 8 << 20, "Nightgate's home holds {kept} bytes");
    assert_nothing_left(&hermetic);
}

/// How many bytes lie below a folder.
fn stored_bytes(folder: &std::path::Path) -> u64 {
    entries(folder)
        .into_iter()
        .map(|name| folder.join(name))
        .map(|path| {
            if path.is_dir() { stored_bytes(&path) } else { fs::metadata(&path).map_or(0, |file| file.len()) }
        })
        .sum()
}

#[test]
fn names_of_any_bytes_match_the_rules_and_are_shown_quoted() {
    let names: &[(&[u8], &str)] = &[
        (b"line\nbreak", "\"line\\nbreak\""),
        (b"quo\"te", "quo\"te"),
        (b"\"quoted\"", "\"\\\"quoted\\\"\""),
        (b"tab\there", "\"tab\\there\""),
        ("é".as_bytes(), "é"),
        (b"\xff\xfe", "\"\\377\\376\""),
        (b" b/ c", " b/ c"),
        (b"-dash", "-dash"),
        (b":colon", ":colon"),
    ];
    let make = |repository: &Repository<'_>| {
        for (name, _) in names {
            let path = repository.path().join(OsStr::from_bytes(name));
            fs::create_dir_all(path.parent().expect("a file lies in a folder"))
                .expect("a folder can be made");
            fs::write(path, "x\n").expect("a file of any name can be made");
        }
    };
    let said = judge(&declared(json!({"allowedPaths": ["greeting"]})), make);
    assert_eq!(said["verdict"], json!("FAILED"));
    let mut found: Vec<&str> = said["reasons"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|reason| reason["path"].as_str())
        .collect();
    let mut shown: Vec<&str> = names.iter().map(|(_, shown)| *shown).collect();
    found.sort_unstable();
    shown.sort_unstable();
    assert_eq!(found, shown);
    let all: Vec<&str> = names.iter().map(|(_, shown)| *shown).chain(["greeting"]).collect();
    let said = judge(&declared(json!({"allowedPaths": all, "changedPaths": all})), make);
    assert_answer(&said, "VERIFIED", &[], "the same names, allowed and asked for");
}

#[test]
fn a_base_that_is_no_ancestor_is_compared_by_its_files() {
    let hermetic = environment();
    let repository = yard(&hermetic);
    let first = repository.head();
    repository.git(["checkout", "--quiet", "--orphan", "other"]);
    repository.write("greeting", "two\n").commit("without a parent");
    let outcome = verify(&hermetic, &repository, &minimal(), &["--base", &first, "--commit", "HEAD"]);
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_eq!(said["changes"], json!([{"path": "greeting", "change": "modified"}]));
    repository.write("check.sh", "exit 0\n").commit("softer");
    let outcome = verify(&hermetic, &repository, &minimal(), &["--base", &first, "--commit", "HEAD"]);
    assert_answer(&told_again(&hermetic, outcome.assert_code(1)), "FAILED", &["criteria_modified"], "softer");
    // The other way round, the older commit has not changed what had to change.
    let outcome =
        verify(&hermetic, &repository, &declared(json!({})), &["--base", "HEAD", "--commit", &first]);
    assert_answer(
        &told_again(&hermetic, outcome.assert_code(1)),
        "FAILED",
        &["criteria_modified"],
        "backwards",
    );
}
