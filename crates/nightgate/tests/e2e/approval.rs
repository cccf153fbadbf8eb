//! Approval: nothing that a person hasn't read decides what is checked, and a frozen plan is its bytes. The
//! verdicts that come after it are `verify` and the gate cases.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::{Hermetic, Outcome, Repository};

use crate::bench::{
    HONEST, assert_kept, assert_nothing_left, codes, declaration, declared, job_of, listed, shell, shop,
    shown, text, told_again, unboxed_environment, unboxed_environments,
};

/// A `nightgate.toml` for the shop whose check leaves a trace at `trace` each time that it runs.
fn project(trace: &Path) -> String {
    format!(
        "criteriaPaths = [\"check.sh\"]\n[[commands]]\nname = \"tests\"\nexecutable = \"sh\"\n\
         args = [\"-c\", \"echo ran >>{}; grep -q two greeting\"]\n",
        trace.display()
    )
}

/// `nightgate run` by the project's own file; the agent leaves a trace beside the check's.
fn run_project(hermetic: &Hermetic, repository: &Repository<'_>, script: &str) -> Outcome {
    let trace = hermetic.root().join("agent-ran");
    let agent = hermetic.scripted_agent(&format!("write {} ran\n{script}", trace.display()));
    hermetic.nightgate(repository.path(), ["run", "say two", "--json", "--agent-command", &agent])
}

/// Approves, and returns the digest that was approved.
#[track_caller]
fn approve(hermetic: &Hermetic, repository: &Repository<'_>, arguments: &[&str]) -> String {
    let all = ["plan", "approve"].iter().chain(arguments);
    let said = hermetic.nightgate(repository.path(), all).assert_code(0).stdout_text();
    assert!(said.contains("approved by user:"), "{said}");
    said.split(' ').next().unwrap_or_default().to_owned()
}

#[track_caller]
fn resume(hermetic: &Hermetic, repository: &Repository<'_>, job: &str) -> Outcome {
    hermetic.nightgate(repository.path(), ["run", "--resume", job, "--json"])
}

#[test]
fn an_unapproved_projects_file_runs_nothing_and_once_approved_the_job_goes_on() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let (trace, agent_trace) = (hermetic.root().join("check-ran"), hermetic.root().join("agent-ran"));
        repository.write("nightgate.toml", project(&trace)).commit("a declaration");
        let before = repository.snapshot();
        let outcome = run_project(&hermetic, &repository, HONEST);
        let waiting = told_again(&hermetic, outcome.assert_code(4));
        let job = job_of(&waiting);
        assert_eq!((&waiting["state"], &waiting["interrupted"]), (&json!("waiting"), &json!(false)));
        assert_eq!(waiting["plan"], Value::Null);
        assert!(!trace.exists() && !agent_trace.exists(), "something ran without approval");
        let outcome = resume(&hermetic, &repository, job);
        assert_eq!(told_again(&hermetic, outcome.assert_code(4)), waiting, "still not approved");
        assert!(!trace.exists() && !agent_trace.exists(), "something ran without approval");
        let digest = approve(&hermetic, &repository, &[]);
        assert_eq!(json!(digest), waiting["waitingFor"]["digest"]);
        assert!(!trace.exists() && !agent_trace.exists(), "approving ran something");
        let outcome = resume(&hermetic, &repository, job);
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_eq!((&said["verdict"], &said["job"]), (&json!("VERIFIED"), &waiting["job"]));
        assert!(trace.exists() && agent_trace.exists());
        assert_kept(&repository, &said);
        let outcome = resume(&hermetic, &repository, job);
        assert_eq!(codes(&outcome.assert_code(2).json()), ["environment_fault"], "an ended job: {outcome}");
        assert_eq!(shown(&hermetic, job), said);
        before.assert_same(&repository.snapshot());
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn an_approval_is_of_bytes_and_holds_for_no_others() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let trace = hermetic.root().join("check-ran");
    repository.write("nightgate.toml", project(&trace)).commit("a declaration");
    approve(&hermetic, &repository, &[]);
    run_project(&hermetic, &repository, HONEST).assert_code(0);
    run_project(&hermetic, &repository, HONEST).assert_code(0);
    fs::remove_file(&trace).expect("the check ran");
    let first = repository.head();
    // One comment is another file.
    repository.write("nightgate.toml", project(&trace) + "# more\n").commit("another declaration");
    let waiting = run_project(&hermetic, &repository, HONEST).assert_code(4).json();
    assert!(!trace.exists(), "a check ran without approval");
    approve(&hermetic, &repository, &["--base", &first]);
    resume(&hermetic, &repository, job_of(&waiting)).assert_code(4);
    approve(&hermetic, &repository, &[]);
    resume(&hermetic, &repository, job_of(&waiting)).assert_code(0);
    // What was approved first still is, for its own base.
    let agent = hermetic.scripted_agent(HONEST);
    let arguments = ["run", "x", "--base", &first, "--agent-command", &agent];
    hermetic.nightgate(repository.path(), arguments).assert_code(0);
}

#[test]
fn the_base_commits_file_counts_and_not_the_working_trees() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let trace = hermetic.root().join("check-ran");
    repository.write("nightgate.toml", project(&trace)).commit("a declaration");
    approve(&hermetic, &repository, &[]);
    repository
        .write("nightgate.toml", "criteriaPaths = []\n[[commands]]\nname = \"soft\"\nexecutable = \"ls\"\n");
    let before = repository.snapshot();
    let outcome = run_project(&hermetic, &repository, "write greeting 'three\\n'\n");
    let said = told_again(&hermetic, outcome.assert_code(1));
    assert_eq!(codes(&said), ["check_failed"], "{said:#}");
    before.assert_same(&repository.snapshot());
}

#[test]
fn a_projects_file_that_is_not_committed_counts_once_approved_and_the_answer_says_so() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let trace = hermetic.root().join("check-ran");
        repository.write("nightgate.toml", project(&trace));
        let before = repository.snapshot();
        let waiting = run_project(&hermetic, &repository, HONEST).assert_code(4).json();
        assert!(!trace.exists(), "a check ran without approval");
        approve(&hermetic, &repository, &[]);
        let outcome = resume(&hermetic, &repository, job_of(&waiting));
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_eq!(said["verdict"], json!("VERIFIED"));
        let shown = hermetic.nightgate(repository.path(), ["show", job_of(&said)]);
        assert!(shown.assert_code(0).stdout_text().contains("not committed"), "{shown}");
        let plan = said["plan"].as_str().expect("there is a plan");
        let plan =
            hermetic.nightgate(repository.path(), ["plan", "show", plan, "--json"]).assert_code(0).json();
        assert_eq!(plan["declaration"]["kind"], json!("uncommitted"));
        before.assert_same(&repository.snapshot());
        // It is no part of base, so an agent that makes one changes what decides.
        let outcome = run_project(&hermetic, &repository, &format!("{HONEST}write nightgate.toml x\n"));
        assert_eq!(codes(&told_again(&hermetic, outcome.assert_code(1))), ["influence_changed"]);
    }
}

#[test]
fn an_agent_that_touches_the_projects_file_is_failed_whatever_the_checks_say() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let trace = hermetic.root().join("check-ran");
    repository.write("nightgate.toml", project(&trace)).commit("a declaration");
    approve(&hermetic, &repository, &[]);
    for change in ["append nightgate.toml '# more\\n'", "delete nightgate.toml", "chmod 755 nightgate.toml"] {
        let outcome = run_project(&hermetic, &repository, &format!("{HONEST}{change}\n"));
        let said = told_again(&hermetic, outcome.assert_code(1));
        assert_eq!((codes(&said), &said["class"]), (vec!["influence_changed"], &json!("tamper")), "{change}");
        assert_eq!(said["reasons"][0]["path"], json!("nightgate.toml"));
    }
    // Its change approves nothing: the next job is judged by base's file again.
    let outcome = run_project(&hermetic, &repository, HONEST);
    assert_eq!(told_again(&hermetic, outcome.assert_code(0))["verdict"], json!("VERIFIED"));
}

#[test]
fn a_declaration_that_cannot_be_used_is_not_approved() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    repository.write("nightgate.toml", "criteriaPaths = []\n").commit("nothing to check");
    let outcome = hermetic.nightgate(repository.path(), ["plan", "approve"]);
    outcome.assert_code(1);
    assert!(outcome.stderr_text().contains("commands"), "{outcome}");
    repository.write("nightgate.toml", "criteriaPaths = [\n").commit("no TOML");
    let outcome = hermetic.nightgate(repository.path(), ["plan", "approve"]);
    outcome.assert_code(1);
    assert!(outcome.stderr_text().contains("nightgate.toml"), "{outcome}");
    let outcome = run_project(&hermetic, &repository, HONEST);
    assert_eq!(codes(&outcome.assert_code(2).json()), ["plan_refused"], "{outcome}");
    assert_eq!(listed(&hermetic), Vec::<Value>::new());
}

/// Freezes the shop's declaration into a file; returns it and its digest as `plan freeze` printed it.
fn freeze(hermetic: &Hermetic, repository: &Repository<'_>, content: &Value) -> (PathBuf, String) {
    let file = declaration(hermetic, content);
    let plan = file.with_extension("plan");
    let outcome = hermetic.nightgate(
        repository.path(),
        ["plan", "freeze", text(&file), "--base", "HEAD", "--out", text(&plan)],
    );
    outcome.assert_code(0);
    let said = outcome.stderr_text();
    let digest =
        said.lines().find_map(|line| line.strip_prefix("plan ")).expect("the digest is printed").to_owned();
    (plan, digest)
}

fn verify_plan(hermetic: &Hermetic, repository: &Repository<'_>, plan: &Path, more: &[&str]) -> Outcome {
    let first = ["verify", text(plan), "--json"];
    hermetic.nightgate(repository.path(), first.iter().chain(more))
}

#[test]
fn a_plan_is_frozen_shown_approved_and_judged_by() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let base = repository.head();
        let before = repository.snapshot();
        let (plan, digest) = freeze(&hermetic, &repository, &declared(json!({})));
        before.assert_same(&repository.snapshot());
        assert_nothing_left(&hermetic);
        let sum = hermetic.run(hermetic.command("sha256sum").arg(&plan)).assert_code(0).stdout_text();
        assert_eq!(digest, format!("sha256:{}", sum.split(' ').next().unwrap_or_default()));
        let bytes = fs::read_to_string(&plan).expect("the plan was written");
        let root = text(hermetic.root());
        assert!(
            !bytes.contains(root) && !bytes.contains("durationMs"),
            "a plan holds no place and no time: {bytes}"
        );
        let shown = hermetic.nightgate(repository.path(), ["plan", "show", text(&plan)]);
        assert!(shown.assert_code(0).stdout_text().contains("approved    no"), "{shown}");
        assert!(shown.stdout_text().contains("fails at base (exit 1)"), "{shown}");
        let by_digest = hermetic.nightgate(repository.path(), ["plan", "show", &digest, "--json"]);
        assert_eq!(by_digest.assert_code(0).stdout_text(), bytes);
        repository.write("greeting", "two\n").commit("work");
        let refused = verify_plan(&hermetic, &repository, &plan, &[]);
        assert_eq!(codes(&refused.assert_code(2).json()), ["not_approved"], "{refused}");
        let outcome = verify_plan(&hermetic, &repository, &plan, &["--digest", &digest]);
        assert_eq!(told_again(&hermetic, outcome.assert_code(0))["frozenAt"], json!("freeze"));
        assert_eq!(approve(&hermetic, &repository, &[text(&plan)]), digest);
        let outcome = verify_plan(&hermetic, &repository, &plan, &[]);
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_eq!(
            (&said["verdict"], &said["plan"], &said["base"]),
            (&json!("VERIFIED"), &json!(digest), &json!(base))
        );
        let shown = hermetic.nightgate(repository.path(), ["plan", "show", text(&plan)]);
        assert!(shown.stdout_text().contains("approved    by user:"), "{shown}");
        repository.write("greeting", "three\n").commit("other work");
        let outcome = verify_plan(&hermetic, &repository, &plan, &[]);
        assert_eq!(codes(&told_again(&hermetic, outcome.assert_code(1))), ["check_failed"]);
        for option in [&["--base", "HEAD"][..], &["--base-checks"]] {
            verify_plan(&hermetic, &repository, &plan, option).assert_code(64);
        }
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn freezing_the_same_again_gives_the_same_bytes_and_overwrites_nothing() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let (plan, digest) = freeze(&hermetic, &repository, &declared(json!({})));
    let (again, same) = freeze(&hermetic, &repository, &declared(json!({})));
    assert_eq!(digest, same);
    let bytes = fs::read(&plan).expect("the plan was written");
    assert_eq!(fs::read(&again).expect("the plan was written"), bytes);
    let file = declaration(&hermetic, &declared(json!({})));
    let kept = hermetic.write("kept", "mine\n");
    let outcome =
        hermetic.nightgate(repository.path(), ["plan", "freeze", text(&file), "--out", text(&kept)]);
    outcome.assert_code(1);
    assert_eq!(fs::read(&kept).expect("the file is there"), b"mine\n");
    let outcome = hermetic.nightgate(repository.path(), ["plan", "freeze", text(&file)]);
    assert_eq!(outcome.assert_code(0).stdout, bytes);
}

#[test]
fn plan_bytes_that_were_changed_by_hand_are_not_what_was_meant() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let (plan, digest) = freeze(&hermetic, &repository, &declared(json!({})));
    approve(&hermetic, &repository, &[text(&plan)]);
    repository.write("greeting", "two\n").commit("work");
    verify_plan(&hermetic, &repository, &plan, &[]).assert_code(0);
    let bytes = fs::read_to_string(&plan).expect("the plan was written");
    let mut softer: Value = serde_json::from_str(&bytes).expect("a plan is JSON");
    softer["terms"]["commands"][0]["args"] = json!(["-c", "test -e greeting"]);
    let mut other_base = bytes.clone();
    other_base.push(' ');
    for (changed, what) in [
        (softer.to_string(), "other terms under an approved declaration's digest"),
        (bytes.replace("\"timeoutSeconds\": 600", "\"timeoutSeconds\": 601"), "another limit"),
        (other_base, "one more space"),
        (bytes.replace('\n', "\r\n"), "other line ends"),
    ] {
        assert_ne!(changed, bytes, "{what}");
        let file = hermetic.write("changed.plan", &changed);
        let outcome = verify_plan(&hermetic, &repository, &file, &[]);
        assert_eq!(codes(&outcome.assert_code(2).json()), ["not_approved"], "{what}: {outcome}");
        let outcome = verify_plan(&hermetic, &repository, &file, &["--digest", &digest]);
        assert_eq!(codes(&outcome.assert_code(2).json()), ["plan_changed"], "{what}: {outcome}");
    }
    assert_eq!(listed(&hermetic).len(), 1, "a refused plan makes no job");
}

#[test]
fn an_approved_declaration_approves_no_plan_that_only_names_it() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let trace = hermetic.root().join("check-ran");
    repository.write("nightgate.toml", project(&trace)).commit("a declaration");
    let base = repository.head();
    let digest = approve(&hermetic, &repository, &[]);
    let (plan, _) = freeze(&hermetic, &repository, &declared(json!({})));
    let mut forged: Value =
        serde_json::from_slice(&fs::read(&plan).expect("the plan was written")).expect("a plan is JSON");
    forged["declaration"] = json!({"kind": "project", "digest": digest});
    forged["terms"]["commands"][0]["args"] = json!(["-c", "test -e greeting"]);
    forged["base"] = json!(base);
    repository.write("greeting", "three\n").commit("bad work");
    let file = hermetic.write("forged.plan", forged.to_string());
    let outcome = verify_plan(&hermetic, &repository, &file, &[]);
    assert_eq!(codes(&outcome.assert_code(2).json()), ["not_approved"], "{outcome}");
    assert!(!trace.exists(), "a check ran without approval");
}

#[test]
fn a_plan_that_freezing_would_not_have_made_is_no_plan_even_with_its_digest() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    repository.write("tests/one", "1\n").write("tests/two", "2\n").commit("more criteria");
    let criteria = json!({"criteriaPaths": ["check.sh", "tests"]});
    let (plan, _) = freeze(&hermetic, &repository, &declared(criteria));
    let other_tree = repository.git(["rev-parse", "HEAD~1^{tree}"]);
    let content: Value =
        serde_json::from_slice(&fs::read(&plan).expect("the plan was written")).expect("a plan is JSON");
    repository.write("greeting", "two\n").commit("work");
    let forge = |edit: &dyn Fn(&mut Value)| {
        let mut forged = content.clone();
        edit(&mut forged);
        let file = hermetic.write("forged.plan", forged.to_string());
        let sum = hermetic.run(hermetic.command("sha256sum").arg(&file)).assert_code(0).stdout_text();
        let digest = format!("sha256:{}", sum.split(' ').next().unwrap_or_default());
        verify_plan(&hermetic, &repository, &file, &["--digest", &digest])
    };
    forge(&|_| ()).assert_code(0);
    type Edit<'e> = (&'e str, &'e dyn Fn(&mut Value));
    let edits: &[Edit<'_>] = &[
        ("no commands", &|plan| plan["terms"]["commands"] = json!([])),
        ("nothing required", &|plan| plan["terms"]["commands"][0]["required"] = json!(false)),
        ("a check that can't fail", &|plan| plan["terms"]["commands"][0]["args"] = json!(["-c", "exit 0"])),
        ("no baseline", &|plan| plan["criteria"] = json!([])),
        ("an empty baseline beside its paths", &|plan| plan["terms"]["criteriaPaths"] = json!([])),
        ("a baseline outside the paths", &|plan| plan["terms"]["criteriaPaths"] = json!(["check.sh"])),
        ("a baseline that lacks a member", &|plan| {
            plan["criteria"].as_array_mut().expect("it is a list").pop();
        }),
        ("a baseline of other content", &|plan| {
            plan["criteria"][0]["digest"] = plan["criteria"][1]["digest"].clone();
        }),
        ("another tree", &|plan| plan["baseTree"] = json!(other_tree)),
        ("a tree that isn't there", &|plan| plan["baseTree"] = json!("0".repeat(40))),
        ("an exit status that no check can have", &|plan| {
            plan["terms"]["commands"][0]["expectExit"] = json!(127);
        }),
        ("a limit that is none", &|plan| plan["terms"]["commands"][0]["timeoutSeconds"] = json!(0)),
        ("a check that must fail at base and was not run", &|plan| {
            plan["terms"]["commands"][0]["mustFailOnBase"] = json!(true);
            plan["atBase"] = json!([]);
        }),
        ("another version", &|plan| plan["schemaVersion"] = json!(2)),
        ("an unknown key", &|plan| plan["more"] = json!(1)),
    ];
    for (what, edit) in edits {
        let outcome = forge(edit);
        assert_eq!(codes(&outcome.assert_code(2).json()), ["plan_refused"], "{what}: {outcome}");
    }
}

#[test]
fn a_plan_is_refused_where_its_checks_cannot_be_run_at_base() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    for (content, word) in [
        (declared(json!({"commands": [{"name": "tests", "executable": "no-such-tool"}]})), "no-such-tool"),
        (
            declared(json!({"commands": [{
                "name": "tests", "executable": "sh", "args": ["-c", "test -e greeting"],
                "mustFailOnBase": true,
            }]})),
            "mustFailOnBase",
        ),
        (declared(json!({"criteriaPaths": ["no/such/path"]})), "no/such/path"),
        (declared(json!({"setup": [shell("deps", "echo broken >&2; exit 1")]})), "broken"),
    ] {
        let file = declaration(&hermetic, &content);
        let outcome = hermetic.nightgate(repository.path(), ["plan", "freeze", text(&file)]);
        outcome.assert_code(1);
        assert_eq!(outcome.stdout, b"", "{outcome}");
        assert!(outcome.stderr_text().contains(word), "{word}: {outcome}");
    }
    assert_eq!(listed(&hermetic), Vec::<Value>::new());
    assert_nothing_left(&hermetic);
}

#[test]
fn a_criterion_that_is_not_committed_is_told_to_be_committed_first() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    repository.write("tests/new", "x\n");
    let file = declaration(&hermetic, &declared(json!({"criteriaPaths": ["tests"]})));
    let outcome = hermetic.nightgate(repository.path(), ["plan", "freeze", text(&file)]);
    outcome.assert_code(1);
    assert!(outcome.stderr_text().contains("commit"), "{outcome}");
}
