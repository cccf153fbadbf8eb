//! Exit statuses of `run` and `verify`, each told again by new processes that read from disk. Why a verdict
//! is right is `verify` and the gate cases.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{Hermetic, Outcome, Repository};

use crate::bench::{
    HONEST, assert_kept, assert_nothing_left, codes, declaration, declared, environment, environments,
    execution, job_of, listed, run, run_arguments, shell, shop, shown, text, told_again, unboxed_environment,
    unboxed_environments, verify,
};

#[track_caller]
fn assert_answer(document: &Value, verdict: &str, reasons: &[&str], state: &str) {
    assert_eq!(document["verdict"], json!(verdict), "{document:#}");
    assert_eq!(codes(document), reasons, "{document:#}");
    assert_eq!(document["state"], json!(state), "{document:#}");
}

#[test]
fn run_ends_with_0_where_the_work_is_verified() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let outcome = run(&hermetic, &repository, &declared(json!({})), HONEST);
        outcome.assert_code(0);
        let said = told_again(&hermetic, &outcome);
        assert_answer(&said, "VERIFIED", &[], "done");
        assert_eq!(said["execution"], json!({"outcome": "executed"}));
        assert_kept(&repository, &said);
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn run_ends_with_1_where_the_evidence_contradicts_the_plan() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let outcome = run(&hermetic, &repository, &declared(json!({})), "write greeting 'three\\n'\n");
        outcome.assert_code(1);
        let said = told_again(&hermetic, &outcome);
        assert_answer(&said, "FAILED", &["check_failed"], "blocked");
        assert_eq!(said["class"], json!("implementation"));
        assert_kept(&repository, &said);
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn run_ends_with_2_where_it_cannot_be_told() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        repository.write("check.sh", "grep -q one greeting || no-such-tool\n").commit("base");
        let outcome = run(&hermetic, &repository, &declared(json!({})), HONEST);
        outcome.assert_code(2);
        let said = told_again(&hermetic, &outcome);
        assert_answer(&said, "UNCERTAIN", &["check_not_started"], "blocked");
        assert_kept(&repository, &said);
        assert_nothing_left(&hermetic);
    }
}

/// Runs a job whose agent isn't executed: no verdict, and the work kept.
#[track_caller]
fn not_executed(hermetic: &Hermetic, budget: Value, script: &str) -> Value {
    let repository = shop(hermetic);
    let outcome = run(hermetic, &repository, &declared(json!({"budget": budget})), script);
    outcome.assert_code(3);
    let said = told_again(hermetic, &outcome);
    assert_eq!(said["verdict"], Value::Null, "{said:#}");
    assert_eq!(said["record"], Value::Null, "{said:#}");
    assert_eq!(said["state"], json!("blocked"));
    assert_kept(&repository, &said);
    let candidate = said["candidate"]["commit"].as_str().expect("there is a candidate");
    assert_eq!(repository.read_at(candidate, "greeting").as_deref(), Some(b"two\n".as_slice()));
    assert_nothing_left(hermetic);
    said
}

#[test]
fn run_ends_with_3_where_the_agent_exits_with_another_status_than_0() {
    for hermetic in environments() {
        let said = not_executed(&hermetic, json!({}), "write greeting 'two\\n'\nexit 7\n");
        assert_eq!(said["execution"], json!({"outcome": "crashed", "text": "exit 7"}));
    }
}

#[test]
fn run_ends_with_3_where_a_signal_ends_the_agent() {
    let said = not_executed(&environment(), json!({}), "write greeting 'two\\n'\nsignal ABRT\n");
    assert_eq!(said["execution"], json!({"outcome": "crashed", "text": "ended by signal 6"}));
}

#[test]
fn run_ends_with_3_where_the_agent_is_over_its_wall_limit() {
    let said = not_executed(&environment(), json!({"wallSeconds": 1}), "write greeting 'two\\n'\nhang\n");
    assert_eq!(said["execution"], json!({"outcome": "timed_out", "limit": "wall", "seconds": 1}));
}

#[test]
fn run_ends_with_3_where_the_agent_is_silent_for_too_long() {
    let said = not_executed(
        &environment(),
        json!({"wallSeconds": 600, "silenceSeconds": 1}),
        "print 'begun\\n'\nwrite greeting 'two\\n'\nhang\n",
    );
    assert_eq!(said["execution"], json!({"outcome": "timed_out", "limit": "silence", "seconds": 1}));
}

#[test]
fn run_ends_with_3_where_the_agents_program_cannot_be_started() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let agent = hermetic.write("agent", "#!/no/such/interpreter\n");
    hermetic.run(hermetic.command("chmod").arg("755").arg(&agent)).assert_code(0);
    let file = declaration(&hermetic, &declared(json!({})));
    let arguments = ["run", "x", "--json", "--declaration", text(&file), "--agent-command", text(&agent)];
    let outcome = hermetic.nightgate(repository.path(), arguments);
    outcome.assert_code(3);
    let said = told_again(&hermetic, &outcome);
    assert_eq!(execution(&said), "not_started", "{said:#}");
    assert_eq!(said["verdict"], Value::Null);
    assert_nothing_left(&hermetic);
}

#[test]
fn run_ends_with_3_and_without_a_job_where_the_agents_program_is_missing() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let before = repository.snapshot();
    let file = declaration(&hermetic, &declared(json!({})));
    let arguments =
        ["run", "x", "--json", "--declaration", text(&file), "--agent-command", "no-such-agent --go"];
    let outcome = hermetic.nightgate(repository.path(), arguments);
    let said = outcome.assert_code(3).json();
    assert_eq!(
        (&said["job"], execution(&said), &said["verdict"]),
        (&Value::Null, "not_started", &Value::Null)
    );
    assert!(outcome.stdout_text().contains("no-such-agent"), "{outcome}");
    assert_eq!(listed(&hermetic), Vec::<Value>::new());
    before.assert_same(&repository.snapshot());
    assert_nothing_left(&hermetic);
}

#[test]
fn run_ends_with_4_where_a_person_has_to_approve_the_projects_file() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let project = "criteriaPaths = [\"check.sh\"]\n[[commands]]\nname = \"tests\"\nexecutable = \"sh\"\n\
                       args = [\"check.sh\"]\n";
        repository.write("nightgate.toml", project);
        repository.commit("a declaration");
        let agent = hermetic.scripted_agent(HONEST);
        let outcome =
            hermetic.nightgate(repository.path(), ["run", "say two", "--json", "--agent-command", &agent]);
        outcome.assert_code(4);
        let said = told_again(&hermetic, &outcome);
        assert_eq!(said["state"], json!("waiting"));
        assert_eq!(said["verdict"], Value::Null);
        assert_eq!(said["attempts"], json!(0));
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn run_ends_with_64_for_arguments_that_it_cannot_use() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let file = declaration(&hermetic, &declared(json!({})));
    let task = hermetic.write("task", "say two\n");
    let (file, task) = (text(&file), text(&task));
    let refused: &[&[&str]] = &[
        &[],
        &["walk"],
        &["run", "--no-such-flag"],
        &["run", "task", "--declaration", file],
        &["run", "", "--declaration", file, "--agent-command", "sh"],
        &["run", "task", "--task-file", task, "--agent-command", "sh"],
        &["run", "--task-file", "no-such-file", "--agent-command", "sh"],
        &["run", "task", "--agent", "one", "--agent-command", "sh"],
        &["run", "task", "--declaration", file, "--agent-command", ""],
        &["run", "task", "--declaration", file, "--agent-command", "sh 'unclosed"],
        &["run", "task", "--resume", "j-00000000"],
    ];
    for arguments in refused {
        let outcome = hermetic.nightgate(repository.path(), *arguments);
        assert_eq!(outcome.code(), Some(64), "{arguments:?} {outcome}");
        assert_eq!(outcome.stdout, b"", "{arguments:?} {outcome}");
        assert_ne!(outcome.stderr, b"", "{arguments:?} says nothing");
    }
    assert_eq!(listed(&hermetic), Vec::<Value>::new());
}

#[test]
fn a_task_comes_from_the_command_line_a_file_or_standard_input_and_reaches_the_agent_whole() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let told = "say two\n\"quoted\", é\n".to_owned() + &"long ".repeat(40_000);
    let file = hermetic.write("task", &told);
    let place = hermetic.root().join("prompt");
    let content = declared(json!({}));
    let script = format!("stdin-to {}\n{HONEST}", place.display());
    let given = run_arguments(&hermetic, &content, &script);
    let from = |arguments: Vec<String>, stdin: Stdio| {
        let mut command = hermetic.nightgate_command(repository.path(), arguments);
        hermetic.run(command.stdin(stdin)).assert_code(0);
        let read = std::fs::read_to_string(&place).expect("the agent wrote its prompt");
        std::fs::remove_file(&place).expect("the prompt can be removed");
        read
    };
    let without_task = |more: &[&str]| -> Vec<String> {
        let mut arguments = given.clone();
        arguments.splice(1..2, more.iter().map(|word| (*word).to_owned()));
        arguments
    };
    assert_eq!(from(given.clone(), Stdio::null()), "say two");
    assert!(from(without_task(&["--task-file", text(&file)]), Stdio::null()) == told);
    let open = std::fs::File::open(&file).expect("the task was just written");
    assert!(from(without_task(&[]), open.into()) == told);
}

#[test]
fn verify_ends_with_0_1_or_2_by_the_verdict() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        repository.write("check.sh", "grep -q four greeting && no-such-tool\ngrep -q two greeting\n");
        let base = repository.commit("base");
        for (greeting, status, verdict, reasons, state) in [
            ("two\n", 0, "VERIFIED", &[][..], "done"),
            ("three\n", 1, "FAILED", &["check_failed"], "blocked"),
        ] {
            repository.git(["reset", "--quiet", "--hard", &base]);
            repository.write("greeting", greeting).commit("work");
            let outcome =
                verify(&hermetic, &repository, &declared(json!({})), &["--base", &base, "--commit", "HEAD"]);
            outcome.assert_code(status);
            let said = told_again(&hermetic, &outcome);
            assert_answer(&said, verdict, reasons, state);
            assert_eq!(said["kind"], json!("verify"));
            assert_eq!(said["frozenAt"], json!("verify"));
            assert_eq!(said["execution"], Value::Null);
        }
        repository.git(["reset", "--quiet", "--hard", &base]);
        repository.write("greeting", "four\n").commit("work");
        let content = declared(json!({"commands": [shell("tests", "no-such-tool")]}));
        let outcome = verify(&hermetic, &repository, &content, &["--base", &base]);
        outcome.assert_code(2);
        assert_answer(&told_again(&hermetic, &outcome), "UNCERTAIN", &["check_not_started"], "blocked");
        assert_eq!(repository.git(["for-each-ref", "refs/nightgate"]), "", "verify of a commit keeps no ref");
        assert_nothing_left(&hermetic);
    }
}

/// Panics unless `outcome` is UNCERTAIN with just this reason, without a job.
#[track_caller]
fn assert_unasked(outcome: &Outcome, reason: &str) {
    outcome.assert_code(2);
    let said = outcome.json();
    assert_eq!(said["verdict"], json!("UNCERTAIN"), "{outcome}");
    assert_eq!(codes(&said), [reason], "{outcome}");
    assert_eq!(said["job"], Value::Null, "{outcome}");
}

#[test]
fn verify_ends_with_2_where_the_declaration_cannot_be_used() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let work = |bytes: &[u8], reason: &str| {
        let file = hermetic.write("declaration.json", bytes);
        let outcome =
            hermetic.nightgate(repository.path(), ["verify", text(&file), "--json", "--base", "HEAD"]);
        assert_unasked(&outcome, reason);
    };
    work(b"{\"criteriaPaths\": [", "plan_refused");
    work(b"{\"criteriaPaths\": [], \"unknown\": 1}", "plan_refused");
    work(b"{\"criteriaPaths\": [], \"criteriaPaths\": []}", "plan_refused");
    work(b"{\"criteriaPaths\": []}", "plan_refused");
    work(b"\xff\xfe{}", "plan_refused");
    work(b"", "plan_refused");
    work(
        br#"{"criteriaPaths": ["no/file"], "commands": [{"name": "t", "executable": "ls", "args": ["x"]}]}"#,
        "plan_refused",
    );
    let missing = hermetic.root().join("missing.json");
    let outcome =
        hermetic.nightgate(repository.path(), ["verify", text(&missing), "--json", "--base", "HEAD"]);
    assert_unasked(&outcome, "environment_fault");
    assert_nothing_left(&hermetic);
}

#[test]
fn run_ends_with_2_where_the_declaration_cannot_be_used() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let file = hermetic.write("declaration.json", "{\"criteriaPaths\": [], \"unknown\": 1}");
    let agent = hermetic.scripted_agent(HONEST);
    let arguments = ["run", "x", "--json", "--declaration", text(&file), "--agent-command", &agent];
    assert_unasked(&hermetic.nightgate(repository.path(), arguments), "plan_refused");
    let missing = hermetic.root().join("missing.json");
    let arguments = ["run", "x", "--json", "--declaration", text(&missing), "--agent-command", &agent];
    assert_unasked(&hermetic.nightgate(repository.path(), arguments), "environment_fault");
    // Without --declaration, and without a nightgate.toml.
    let arguments = ["run", "x", "--json", "--agent-command", &agent];
    assert_unasked(&hermetic.nightgate(repository.path(), arguments), "environment_fault");
    assert_eq!(listed(&hermetic), Vec::<Value>::new());
}

#[test]
fn verify_and_run_end_with_2_without_a_base_a_commit_or_a_repository() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let content = declared(json!({}));
    assert_unasked(&verify(&hermetic, &repository, &content, &[]), "environment_fault");
    for arguments in [
        &["--base", "no-such-commit"][..],
        &["--base", "HEAD", "--commit", "no-such-commit"],
        &["--base", "HEAD", "--commit", "0123456789012345678901234567890123456789"],
        &["--base", "HEAD:greeting"],
        &["--base", "--help"],
    ] {
        let outcome = verify(&hermetic, &repository, &content, arguments);
        if arguments[1].starts_with("--") {
            outcome.assert_code(64);
        } else {
            assert_unasked(&outcome, "environment_fault");
        }
    }
    let mut arguments = run_arguments(&hermetic, &content, HONEST);
    arguments.splice(2..2, ["--base".to_owned(), "no-such-commit".to_owned()]);
    assert_unasked(&hermetic.nightgate(repository.path(), &arguments), "environment_fault");
    arguments.drain(2..4);
    assert_unasked(&hermetic.nightgate(&hermetic.home(), &arguments), "environment_fault");
    let file = declaration(&hermetic, &content);
    let outcome = hermetic.nightgate(&hermetic.home(), ["verify", text(&file), "--json", "--base", "HEAD"]);
    assert_unasked(&outcome, "environment_fault");
    let unborn = hermetic.repository("unborn");
    assert_unasked(&hermetic.nightgate(unborn.path(), &arguments), "environment_fault");
    assert_eq!(listed(&hermetic), Vec::<Value>::new());
    assert_nothing_left(&hermetic);
}

#[test]
fn verify_ends_with_64_for_arguments_that_it_cannot_use() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let file = declaration(&hermetic, &declared(json!({})));
    let file = text(&file);
    let refused: &[&[&str]] = &[
        &["verify"],
        &["verify", file, "--digest", "sha256:short"],
        &["verify", file, "--base", "HEAD", "--commit", "HEAD", "--worktree"],
        &["verify", file, "--base"],
        &["verify", file, "another"],
    ];
    for arguments in refused {
        let outcome = hermetic.nightgate(repository.path(), *arguments);
        assert_eq!(outcome.code(), Some(64), "{arguments:?} {outcome}");
        assert_eq!(outcome.stdout, b"", "{arguments:?} {outcome}");
    }
}

/// Starts a job, interrupts it once `ready` was written, and returns how it ended.
fn interrupted(
    hermetic: &Hermetic,
    repository: &Repository<'_>,
    content: &Value,
    script: &str,
    signal: Signal,
) -> Outcome {
    let ready = hermetic.fifo("ready");
    let script = script.replace("READY", text(ready.path()));
    let content: Value = serde_json::from_str(&content.to_string().replace("READY", text(ready.path())))
        .expect("a path of a test needs no escape in JSON");
    let running = hermetic.start_nightgate(repository.path(), run_arguments(hermetic, &content, &script));
    ready.wait();
    running.signal(signal);
    running.wait()
}

#[test]
fn an_interrupted_agent_is_ended_and_its_work_kept_with_status_130() {
    for hermetic in unboxed_environments() {
        for signal in [Signal::INT, Signal::TERM] {
            let repository = Repository::at(&hermetic, hermetic.root().join(format!("{signal:?}")));
            std::fs::create_dir(repository.path()).expect("a new folder can be made");
            hermetic.account().own(repository.path());
            repository.git(["init", "--quiet"]);
            repository.write("greeting", "one\n").write("check.sh", "grep -q two greeting\n").commit("base");
            let before = repository.snapshot();
            let script = "write greeting 'two\\n'\ndaemon hang\npoke READY\nhang\n";
            let outcome = interrupted(&hermetic, &repository, &declared(json!({})), script, signal);
            std::fs::remove_file(hermetic.root().join("ready")).expect("the FIFO can be removed");
            outcome.assert_code(130);
            let said = told_again(&hermetic, &outcome);
            assert_eq!(said["execution"], json!({"outcome": "cancelled"}));
            assert_eq!(said["verdict"], Value::Null);
            assert_kept(&repository, &said);
            let commit = said["candidate"]["commit"].as_str().expect("there is a candidate");
            assert_eq!(repository.read_at(commit, "greeting").as_deref(), Some(b"two\n".as_slice()));
            before.assert_same(&repository.snapshot());
            assert_eq!(repository.fsck(), "");
            assert_nothing_left(&hermetic);
        }
    }
}

/// A check that pokes a FIFO and then never ends, once the greeting is `greeting` and the test allows it.
fn hanging_check(hermetic: &Hermetic, greeting: &str) -> Value {
    let allowed = hermetic.write("hang", "");
    let script = format!(
        "if grep -q {greeting} greeting && test -e {allowed}; then\n\
         echo now >READY; while :; do sleep 600; done; fi\n\
         grep -q two greeting",
        allowed = allowed.display()
    );
    json!({"commands": [shell("tests", script)]})
}

#[test]
fn a_run_that_is_interrupted_while_it_verifies_ends_with_130_and_can_go_on_to_its_verdict() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let before = repository.snapshot();
        let content = declared(hanging_check(&hermetic, "two"));
        let outcome = interrupted(&hermetic, &repository, &content, HONEST, Signal::INT);
        outcome.assert_code(130);
        let jobs = listed(&hermetic);
        let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
        let shown = shown(&hermetic, job_of(job));
        assert_eq!(shown["state"], json!("verifying"), "{shown:#}");
        assert_eq!(shown["interrupted"], json!(true));
        assert_eq!(shown["verdict"], Value::Null);
        assert_eq!(execution(&shown), "executed");
        assert_kept(&repository, &shown);
        assert_eq!(hermetic.processes().len(), 0, "{:?}", hermetic.processes());
        std::fs::remove_file(hermetic.root().join("hang")).expect("the file can be removed");
        let resumed = hermetic.nightgate(repository.path(), ["run", "--resume", job_of(job), "--json"]);
        resumed.assert_code(0);
        let said = told_again(&hermetic, &resumed);
        assert_answer(&said, "VERIFIED", &[], "done");
        assert_eq!(said["attempts"], json!(1));
        assert_eq!(said["candidate"], shown["candidate"]);
        before.assert_same(&repository.snapshot());
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn a_run_that_is_interrupted_while_it_captures_ends_with_130_and_loses_nothing() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let before = repository.snapshot();
        let ready = hermetic.fifo("ready");
        // A git that never makes the candidate.
        let git = hermetic.find("git").expect("git is in the system's folders");
        let script = format!(
            "#!/bin/sh\ncase \" $* \" in *' fast-import '*) echo now >{}; exec sleep 600;; esac\nexec {} \"$@\"\n",
            text(ready.path()),
            text(&git)
        );
        let wrapper = hermetic.write("git/git", script);
        hermetic.run(hermetic.command("chmod").arg("755").arg(&wrapper)).assert_code(0);
        let folder = wrapper.parent().expect("a file lies in a folder");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", text(folder));
        let mut command = hermetic
            .nightgate_command(repository.path(), run_arguments(&hermetic, &declared(json!({})), HONEST));
        let running = hermetic.start(command.env("PATH", path));
        ready.wait();
        running.signal(Signal::INT);
        let outcome = running.wait();
        outcome.assert_code(130);
        let jobs = listed(&hermetic);
        let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
        let shown_now = shown(&hermetic, job_of(job));
        assert_eq!(
            (&shown_now["state"], &shown_now["interrupted"], execution(&shown_now)),
            (&json!("running"), &json!(true), "executed"),
            "{shown_now:#}"
        );
        assert_eq!(hermetic.processes().len(), 0, "{:?}", hermetic.processes());
        let resumed = hermetic.nightgate(repository.path(), ["run", "--resume", job_of(job), "--json"]);
        let said = told_again(&hermetic, resumed.assert_code(0));
        assert_answer(&said, "VERIFIED", &[], "done");
        assert_eq!(said["attempts"], json!(1));
        before.assert_same(&repository.snapshot());
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn a_run_that_is_interrupted_before_its_agent_starts_ends_with_130_and_is_cancelled() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let before = repository.snapshot();
    let content = declared(hanging_check(&hermetic, "one"));
    interrupted(&hermetic, &repository, &content, HONEST, Signal::INT).assert_code(130);
    let jobs = listed(&hermetic);
    let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
    assert_eq!(job["state"], json!("cancelled"), "{job:#}");
    assert_eq!(shown(&hermetic, job_of(job))["attempts"], json!(0));
    assert_eq!(repository.git(["for-each-ref", "refs/nightgate"]), "");
    before.assert_same(&repository.snapshot());
    assert_nothing_left(&hermetic);
}

#[test]
fn a_verify_that_is_interrupted_ends_with_130_and_without_a_verdict() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let base = repository.head();
    repository.write("greeting", "two\n").commit("work");
    let ready = hermetic.fifo("ready");
    let content = hanging_check(&hermetic, "two").to_string().replace("READY", text(ready.path()));
    let file = declaration(&hermetic, &declared(serde_json::from_str(&content).expect("it is JSON")));
    let running =
        hermetic.start_nightgate(repository.path(), ["verify", text(&file), "--json", "--base", &base]);
    ready.wait();
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    let jobs = listed(&hermetic);
    let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
    assert_eq!(job["state"], json!("blocked"), "{job:#}");
    assert_eq!(job["verdict"], Value::Null);
    assert_nothing_left(&hermetic);
}

#[test]
fn a_run_that_the_surroundings_stop_is_uncertain_and_never_failed() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let arguments = run_arguments(&hermetic, &declared(json!({})), HONEST);
    let file = hermetic.write("file", "a file\n");
    std::fs::create_dir_all(hermetic.root().join("other/config.toml")).expect("a folder can be made");
    let homes = [
        ("a home below a file", Some(file.join("home"))),
        ("a configuration that is a folder", Some(hermetic.root().join("other"))),
        ("no home at all", None),
    ];
    for (what, home) in homes {
        let mut command = hermetic.nightgate_command(repository.path(), &arguments);
        match &home {
            Some(home) => command.env("NIGHTGATE_HOME", home),
            None => command.env_remove("NIGHTGATE_HOME").env_remove("HOME"),
        };
        let outcome = hermetic.run(&mut command);
        assert_eq!(outcome.code(), Some(2), "{what}: 1 says FAILED: {outcome}");
        assert_eq!(codes(&outcome.json()), ["environment_fault"], "{what}: {outcome}");
    }
}

#[test]
fn a_git_that_is_too_old_is_named_and_nothing_is_run() {
    let mut hermetic = environment();
    let arguments = {
        let repository = shop(&hermetic);
        let script = format!("write {} x\n{HONEST}", hermetic.root().join("ran").display());
        let mut arguments = run_arguments(&hermetic, &declared(json!({})), &script);
        arguments.extend(["--repository".to_owned(), text(repository.path()).to_owned()]);
        arguments
    };
    let old = hermetic.write("old/git", "#!/bin/sh\necho git version 2.30.9\n");
    hermetic.run(hermetic.command("chmod").arg("755").arg(&old)).assert_code(0);
    hermetic.prepend_path(hermetic.root().join("old"));
    let outcome = hermetic.nightgate(hermetic.root(), arguments);
    let said = outcome.assert_code(2).json();
    assert_eq!(codes(&said), ["environment_fault"], "{outcome}");
    let told = said["reasons"][0]["text"].as_str().unwrap_or_default();
    assert!(told.contains("git 2.30 is too old: install git 2.31 or newer"), "{told}");
    assert!(!hermetic.root().join("ran").exists(), "the agent ran");
}

#[test]
fn fifty_megabytes_of_an_agents_output_are_kept_within_bounds() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let script = format!("print 'first\\n'\nprint-bytes 50000000\nprint 'last\\n'\n{HONEST}");
    let outcome = run(&hermetic, &repository, &declared(json!({})), &script);
    let said = told_again(&hermetic, outcome.assert_code(0));
    let logs = hermetic.nightgate(hermetic.root(), ["logs", job_of(&said), "--json"]).assert_code(0).json();
    let log = logs["logs"][0]["text"].as_str().expect("the log is text");
    assert!(log.starts_with("first\n") && log.ends_with("last\n"), "{} bytes", log.len());
    assert!(log.len() < 2 << 20, "{} bytes", log.len());
}
