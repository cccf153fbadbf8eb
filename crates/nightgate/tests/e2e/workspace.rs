//! Agents that take the workspace itself away, or close it: each job comes to an end, and nothing that may be work is lost.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Account, Hermetic, Outcome, Repository};

use crate::bench::{
    HONEST, assert_kept, assert_nothing_left, codes, declared, entries, execution, job_of, listed, run,
    run_arguments, shell, shop, shown, text, told_again, unboxed_environment, unboxed_environments, verify,
};

/// The agent's script: honest work, then this shell script in the workspace.
fn then(script: &str) -> String {
    format!("{HONEST}run sh -c '{script}'\n")
}

/// Panics unless `said` names the place where what was left lies; returns that place.
#[track_caller]
fn kept_at(hermetic: &Hermetic, said: &Value) -> PathBuf {
    let place = hermetic.state().join("kept").join(job_of(said));
    let notes = said["notes"].as_array().expect("`notes` is a list");
    let note = notes.iter().find(|note| note["code"] == json!("workspace_kept"));
    let told = note.and_then(|note| note["text"].as_str()).unwrap_or_default();
    assert!(told.contains(text(&place)), "{said:#}");
    place
}

#[track_caller]
fn assert_nothing_captured(repository: &Repository<'_>, outcome: &Outcome, said: &Value, what: &str) {
    outcome.assert_code(2);
    assert_eq!(said["verdict"], json!("UNCERTAIN"), "{what}: {said:#}");
    assert_eq!(codes(said)[0], "evidence_incomplete", "{what}: {said:#}");
    assert_eq!(
        (&said["state"], &said["interrupted"]),
        (&json!("blocked"), &json!(false)),
        "{what}: {said:#}"
    );
    assert_eq!(said["candidate"], Value::Null, "{what}: {said:#}");
    assert_eq!(repository.git(["for-each-ref", "refs/nightgate"]), "", "{what}");
}

#[test]
fn a_workspace_that_its_agent_removed_or_replaced_is_uncertain_and_what_is_left_is_kept() {
    type Left = Option<(&'static str, &'static str)>;
    let works: [(&str, &str, &str, Left); 4] = [
        ("removed", "rm -rf \"$PWD\"", "was removed", None),
        (
            "a file",
            "w=$PWD; cd ..; rm -rf \"$w\"; echo two >\"$w\"",
            "no folder",
            Some(("workspace", "two\n")),
        ),
        (
            "a link",
            "w=$PWD; cd ..; mv \"$w\" moved; ln -s moved \"$w\"",
            "a symbolic link",
            Some(("moved/greeting", "two\n")),
        ),
        (
            "another folder of the job",
            "w=$PWD; cd ..; mv \"$w\" tmp/mine",
            "was removed",
            Some(("tmp/mine/greeting", "two\n")),
        ),
    ];
    for (what, script, said_of_it, left) in works {
        for hermetic in unboxed_environments() {
            let repository = shop(&hermetic);
            let before = repository.snapshot();
            let outcome = run(&hermetic, &repository, &declared(json!({})), &then(script));
            let said = told_again(&hermetic, &outcome);
            assert_nothing_captured(&repository, &outcome, &said, what);
            assert_eq!(execution(&said), "executed", "{what}: {said:#}");
            let told = said["reasons"].to_string();
            assert!(told.contains(said_of_it), "{what}: {told}");
            let kept = kept_at(&hermetic, &said);
            if let Some((file, content)) = left {
                assert_eq!(fs::read_to_string(kept.join(file)).ok().as_deref(), Some(content), "{what}");
            }
            before.assert_same(&repository.snapshot());
            assert_nothing_left(&hermetic);
            // The next job is not in its way.
            run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0);
        }
    }
}

#[test]
fn a_workspace_that_its_agent_closed_is_captured() {
    for script in ["chmod 000 \"$PWD\"", "chmod 000 ..", "chmod 100 ..; chmod 400 \"$PWD\""] {
        for hermetic in unboxed_environments() {
            let repository = shop(&hermetic);
            let outcome = run(&hermetic, &repository, &declared(json!({})), &then(script));
            let said = told_again(&hermetic, outcome.assert_code(0));
            assert_kept(&repository, &said);
            assert_nothing_left(&hermetic);
        }
    }
}

#[test]
fn a_repository_that_the_agent_laid_where_the_jobs_own_would_be_is_never_used() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let place = "../candidate.git";
    let script = format!("{HONEST}git init --quiet --bare {place}\nwrite {place}/config 'broken\\n'\n");
    let outcome = run(&hermetic, &repository, &declared(json!({})), &script);
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_kept(&repository, &said);
    assert_nothing_left(&hermetic);
}

#[test]
fn a_job_whose_workspace_is_gone_when_it_is_picked_up_comes_to_an_end() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let ready = hermetic.fifo("ready");
    let script = format!("{HONEST}poke {}\nhang\n", text(ready.path()));
    let running =
        hermetic.start_nightgate(repository.path(), run_arguments(&hermetic, &declared(json!({})), &script));
    ready.wait();
    assert_eq!(running.kill().code(), None);
    hermetic.await_processes();
    let jobs = listed(&hermetic);
    let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
    fs::remove_dir_all(hermetic.state().join("jobs").join(job_of(job)).join("workspace"))
        .expect("the workspace can be removed");
    verify(&hermetic, &repository, &declared(json!({})), &["--base", "HEAD", "--commit", "HEAD"])
        .assert_code(1);
    let now = shown(&hermetic, job_of(job));
    assert_eq!((&now["state"], &now["interrupted"]), (&json!("blocked"), &json!(false)), "{now:#}");
    assert_eq!((execution(&now), &now["candidate"]), ("crashed", &Value::Null), "{now:#}");
    kept_at(&hermetic, &now);
    assert_nothing_left(&hermetic);
    let plain = hermetic.nightgate(hermetic.root(), ["show", job_of(job)]);
    assert!(plain.assert_code(0).stdout_text().contains("kept"), "{plain}");
}

#[test]
fn a_job_that_waits_for_its_capture_without_a_workspace_goes_on_to_its_verdict() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    // A ref of the user's in the place of the folder of ours: the work can't be kept yet.
    repository.git(["update-ref", "refs/nightgate", "HEAD"]);
    let outcome = run(&hermetic, &repository, &declared(json!({})), HONEST);
    assert_eq!(codes(&outcome.assert_code(2).json()), ["environment_fault"], "{outcome}");
    let jobs = listed(&hermetic);
    let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
    let resumed = hermetic.nightgate(repository.path(), ["run", "--resume", job_of(job), "--json"]);
    assert_eq!(codes(&resumed.assert_code(2).json()), ["environment_fault"], "{resumed}");
    assert!(resumed.stdout_text().contains("refs/nightgate"), "{resumed}");
    assert_eq!(entries(&hermetic.state().join("jobs")), [job_of(job)], "the only copy of the work");
    fs::remove_dir_all(hermetic.state().join("jobs").join(job_of(job)).join("workspace"))
        .expect("the workspace can be removed");
    repository.git(["update-ref", "-d", "refs/nightgate"]);
    let resumed = hermetic.nightgate(repository.path(), ["run", "--resume", job_of(job), "--json"]);
    let said = told_again(&hermetic, &resumed);
    assert_nothing_captured(&repository, &resumed, &said, "resumed");
    assert_nothing_left(&hermetic);
}

#[test]
fn a_workspace_that_was_not_captured_whole_is_never_removed_by_who_picks_the_job_up() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let ready = hermetic.fifo("ready");
    let check = format!(
        "if grep -q two greeting; then echo now >{}; while :; do sleep 600; done; fi; grep -q two greeting",
        text(ready.path())
    );
    let content = declared(json!({"commands": [shell("t", check)]}));
    // No commit can hold that name.
    let script = format!("{HONEST}write .GIT 'the only copy\\n'\n");
    let running = hermetic.start_nightgate(repository.path(), run_arguments(&hermetic, &content, &script));
    ready.wait();
    assert_eq!(running.kill().code(), None);
    hermetic.await_processes();
    let jobs = listed(&hermetic);
    let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
    let kept = kept_at(&hermetic, &shown(&hermetic, job_of(job)));
    // As if it had died a moment earlier: captured, and not yet put away.
    let workspace = hermetic.state().join("jobs").join(job_of(job)).join("workspace");
    fs::rename(&kept, &workspace).expect("the workspace can be moved back");
    verify(&hermetic, &repository, &declared(json!({})), &["--base", "HEAD", "--commit", "HEAD"])
        .assert_code(1);
    assert_eq!(fs::read_to_string(kept.join(".GIT")).ok().as_deref(), Some("the only copy\n"));
    assert_nothing_left(&hermetic);
}

#[test]
fn what_of_an_attempt_resisted_its_removal_is_tried_again_and_told_while_it_resists() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let outcome = run(&hermetic, &repository, &declared(json!({})), HONEST);
        let said = told_again(&hermetic, outcome.assert_code(0));
        let jobs = hermetic.state().join("jobs");
        let left = jobs.join(format!(".left-{}-Xy12Zw", job_of(&said)));
        fs::create_dir_all(left.join("workspace/folder")).expect("a folder can be made");
        hermetic.account().own(&left);
        let next = || {
            let nothing = &["--base", "HEAD", "--commit", "HEAD"];
            let outcome = verify(&hermetic, &repository, &declared(json!({})), nothing);
            outcome.assert_code(1);
            String::from_utf8_lossy(&outcome.stderr).into_owned()
        };
        // Only root can lay something down that an ordinary user can't remove.
        if hermetic.account() != Account::Caller {
            let stubborn = left.join("workspace/folder/of-root");
            fs::create_dir_all(stubborn.join("inner")).expect("a folder can be made");
            for _ in 0..2 {
                let told = next();
                assert!(told.contains(job_of(&said)) && told.contains("of-root"), "{told}");
                assert_eq!(entries(&jobs).len(), 1, "{:?}", entries(&jobs));
            }
            hermetic.account().own(&left);
        }
        assert_eq!(next(), "");
        assert_nothing_left(&hermetic);
    }
}
