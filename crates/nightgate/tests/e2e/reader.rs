//! Readers: `list`, `show`, `logs` and `plan show`. What they print, for programs and for people, and what
//! they do where they can't. Whether what they say of a crash is true is `kill`.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use testkit::{Account, Hermetic};

use crate::bench::{
    HONEST, assert_kept, codes, declaration, declared, entries, environment, environments, job_of, listed,
    run, run_arguments, shell, shop, text, told_again, unboxed_environments, verify,
};

/// The kinds of value that a key of a printed document may have.
type Schema = &'static [(&'static str, &'static str)];

const JOB: Schema = &[
    ("schemaVersion", "number"),
    ("job", "text"),
    ("kind", "text"),
    ("state", "text"),
    ("interrupted", "truth"),
    ("title", "text"),
    ("repository", "text"),
    ("createdMs", "number"),
    ("changedMs", "number"),
    ("base", "text null"),
    ("baseTimeMs", "number"),
    ("plan", "text null"),
    ("frozenAt", "text null"),
    ("agent", "text null"),
    ("attempts", "number"),
    ("execution", "object null"),
    ("verdict", "text null"),
    ("class", "text null"),
    ("reasons", "list"),
    ("gates", "list"),
    ("checks", "list"),
    ("changes", "list"),
    ("ignored", "object"),
    ("caches", "object"),
    ("notes", "list"),
    ("isolation", "object null"),
    ("candidate", "object null"),
    ("record", "text null"),
    ("waitingFor", "object null"),
    ("blocked", "text null"),
];
const REASON: Schema =
    &[("code", "text"), ("gate", "text"), ("path", "text null"), ("text", "text"), ("evidence", "text null")];
const CHECK: Schema = &[
    ("name", "text"),
    ("required", "truth"),
    ("passed", "truth"),
    ("exit", "object text"),
    ("atBase", "object text null"),
    ("durationMs", "number"),
    ("stdout", "object"),
    ("stderr", "object"),
];
const CHANGE: Schema = &[("path", "text"), ("change", "text")];
const LEFT_OUT: Schema = &[("count", "number"), ("sample", "list")];
const ISOLATION: Schema = &[("level", "text"), ("capabilities", "list")];
const CANDIDATE: Schema = &[("commit", "text"), ("ref", "text null")];
const WAITING: Schema = &[("digest", "text"), ("of", "text")];
const LIST: Schema = &[("schemaVersion", "number"), ("jobs", "list"), ("damaged", "list")];
const LINE: Schema = &[
    ("job", "text"),
    ("kind", "text"),
    ("state", "text"),
    ("interrupted", "truth"),
    ("title", "text"),
    ("repository", "text"),
    ("createdMs", "number"),
    ("changedMs", "number"),
    ("agent", "text null"),
    ("execution", "object null"),
    ("verdict", "text null"),
    ("reasons", "list"),
    ("candidate", "object null"),
];
const LOGS: Schema = &[("schemaVersion", "number"), ("job", "text"), ("logs", "list")];
const LOG: Schema = &[
    ("of", "text"),
    ("stream", "text"),
    ("bytes", "number null"),
    ("truncated", "truth null"),
    ("log", "text null"),
    ("text", "text"),
];

/// Panics unless `value` has exactly these keys, each of one of its kinds; `null` parts of it are skipped.
#[track_caller]
fn assert_shape(value: &Value, schema: Schema, what: &str) {
    if value.is_null() {
        return;
    }
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "truth",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    let object = value.as_object().unwrap_or_else(|| panic!("{what} is no object: {value}"));
    let found: BTreeMap<&str, &str> = object.iter().map(|(key, value)| (key.as_str(), kind(value))).collect();
    let keys: Vec<&str> = found.keys().copied().collect();
    let mut wanted: Vec<&str> = schema.iter().map(|(key, _)| *key).collect();
    wanted.sort_unstable();
    assert_eq!(keys, wanted, "the keys of {what}");
    for (key, kinds) in schema {
        assert!(kinds.split(' ').any(|kind| kind == found[key]), "{what}.{key} is {}", value[key]);
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[track_caller]
fn assert_job_shape(document: &Value) {
    assert_shape(document, JOB, "the job");
    for (part, schema) in [
        ("ignored", LEFT_OUT),
        ("caches", LEFT_OUT),
        ("isolation", ISOLATION),
        ("candidate", CANDIDATE),
        ("waitingFor", WAITING),
    ] {
        assert_shape(&document[part], schema, part);
    }
    for (part, schema) in [("reasons", REASON), ("checks", CHECK), ("changes", CHANGE)] {
        items(&document[part]).for_each(|item| assert_shape(item, schema, part));
    }
    for gate in items(&document["gates"]) {
        assert_shape(
            gate,
            &[("gate", "text object"), ("role", "text"), ("outcome", "text"), ("findings", "list")],
            "a gate",
        );
    }
    for capability in items(&document["isolation"]["capabilities"]) {
        for (key, kind) in [("capability", true), ("wanted", true), ("got", true), ("enforced", false)] {
            assert!(
                if kind { capability[key].is_string() } else { capability[key].is_boolean() },
                "{capability}"
            );
        }
    }
    for stream in items(&document["checks"]).flat_map(|check| [&check["stdout"], &check["stderr"]]) {
        assert!(stream["bytes"].is_u64() && stream["truncated"].is_boolean(), "{stream}");
    }
}

#[test]
fn every_printed_document_has_exactly_its_keys() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let content = declared(json!({"setup": [shell("deps", "echo ready")]}));
        let verified = run(
            &hermetic,
            &repository,
            &content,
            &format!("{HONEST}print hello\\\\n\nwrite .gitignore x\nwrite x y\n"),
        );
        let failed =
            run(&hermetic, &repository, &declared(json!({"changedPaths": ["other"]})), "write check.sh x\n");
        let crashed = run(&hermetic, &repository, &content, "exit 1\n");
        let judged = verify(
            &hermetic,
            &repository,
            &declared(json!({"outcomeRequirement": "any", "isolation": {"minimum": "I3"}})),
            &["--base", "HEAD", "--worktree"],
        );
        repository.write(
            "nightgate.toml",
            "criteriaPaths = []\n[[commands]]\nname = \"x\"\nexecutable = \"make\"\n",
        );
        let agent = hermetic.scripted_agent(HONEST);
        let waiting =
            hermetic.nightgate(repository.path(), ["run", "x", "--json", "--agent-command", &agent]);
        for (outcome, code) in [(&verified, 0), (&failed, 1), (&crashed, 3), (&judged, 1), (&waiting, 4)] {
            let said = told_again(&hermetic, outcome.assert_code(code));
            assert_job_shape(&said);
            let logs =
                hermetic.nightgate(hermetic.root(), ["logs", job_of(&said), "--json"]).assert_code(0).json();
            assert_shape(&logs, LOGS, "the logs");
            items(&logs["logs"]).for_each(|log| assert_shape(log, LOG, "a log"));
        }
        let list = hermetic.nightgate(hermetic.root(), ["list", "--json"]).assert_code(0).json();
        assert_shape(&list, LIST, "the list");
        assert_eq!(items(&list["jobs"]).count(), 5);
        items(&list["jobs"]).for_each(|line| assert_shape(line, LINE, "a line of the list"));
        let refused = verify(&hermetic, &repository, &json!({}), &["--base", "HEAD"]).assert_code(2).json();
        let keys = |document: &Value| -> Vec<String> {
            document.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
        };
        assert_eq!(keys(&refused), keys(&verified.json()), "an answer without a job has the same keys");
    }
}

#[test]
fn the_newest_job_is_listed_first_and_any_beginning_of_its_id_names_it() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let first = run(&hermetic, &repository, &declared(json!({})), HONEST).json();
    let second = run(&hermetic, &repository, &declared(json!({})), "exit 1\n").json();
    let jobs = listed(&hermetic);
    let ids: Vec<&str> = jobs.iter().map(job_of).collect();
    assert_eq!(ids, [job_of(&second), job_of(&first)]);
    let show = |name: &str| hermetic.nightgate(hermetic.root(), ["show", name, "--json"]);
    assert_eq!(show(&job_of(&first)[..9]).assert_code(0).json(), first);
    for name in ["j-", "j-00000000", "", "no-job", "../../etc/passwd"] {
        let outcome = show(name);
        outcome.assert_code(1);
        assert_eq!(outcome.stdout, b"", "{name}");
        assert_ne!(outcome.stderr, b"", "{name}");
    }
}

#[test]
fn what_agent_setup_and_checks_wrote_can_be_read_again() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let content = declared(json!({
            "setup": [shell("deps", "echo of setup")],
            "commands": [
                shell("tests", "echo of tests; echo aside >&2; grep -q two greeting"),
                shell("more tests", "printf 'no end of line'; grep -q two greeting"),
            ],
        }));
        let script = format!("{HONEST}print 'of the agent\\n'\nprint-error 'its errors\\n'\n");
        let outcome = run(&hermetic, &repository, &content, &script);
        let said = told_again(&hermetic, outcome.assert_code(0));
        let logs = |more: &[&str]| {
            let arguments = ["logs", job_of(&said)].into_iter().chain(more.iter().copied());
            hermetic.nightgate(hermetic.root(), arguments)
        };
        assert_eq!(
            logs(&[]).assert_code(0).stdout_text(),
            "==> agent stdout <==\nof the agent\n==> agent stderr <==\nits errors\n\
             ==> setup deps stdout <==\nof setup\n\
             ==> setup deps stdout <==\nof setup\n\
             ==> check tests stdout <==\nof tests\n==> check tests stderr <==\naside\n\
             ==> check more tests stdout <==\nno end of line\n"
        );
        assert_eq!(
            logs(&["--check", "more tests"]).assert_code(0).stdout_text(),
            "==> check more tests stdout <==\nno end of line\n"
        );
        let document = logs(&["--check", "tests", "--json"]).assert_code(0).json();
        let found: Vec<(&str, &str, &str)> = items(&document["logs"])
            .map(|log| (text_of(&log["of"]), text_of(&log["stream"]), text_of(&log["text"])))
            .collect();
        assert_eq!(found, [("check tests", "stdout", "of tests\n"), ("check tests", "stderr", "aside\n")]);
        let unknown = logs(&["--check", "nothing"]);
        assert!(unknown.assert_code(64).stderr_text().contains("tests, more tests"), "{unknown}");
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Runs nightgate with a standard output that takes nothing.
fn into(hermetic: &Hermetic, folder: &Path, arguments: &[&str], stdout: Stdio) -> Output {
    let mut command = hermetic.nightgate_command(folder, arguments);
    command.stdout(stdout).stderr(Stdio::piped());
    command.spawn().and_then(|child| child.wait_with_output()).expect("nightgate can be started")
}

#[test]
fn a_standard_output_that_takes_nothing_is_an_error_and_never_a_panic() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let content = declared(json!({}));
    let verified = run(&hermetic, &repository, &content, HONEST).assert_code(0).json();
    let (job, plan) = (job_of(&verified).to_owned(), text_of(&verified["plan"]).to_owned());
    let file = declaration(&hermetic, &content);
    let closed = || {
        let (reader, writer) = io::pipe().expect("a pipe can be made");
        drop(reader);
        Stdio::from(writer)
    };
    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").expect("this is Linux"));
    let commands: &[&[&str]] = &[
        &["list"],
        &["list", "--json"],
        &["show", &job],
        &["show", &job, "--json"],
        &["logs", &job, "--json"],
        &["plan", "show", &plan],
        &["plan", "show", &plan, "--json"],
        &["plan", "freeze", text(&file)],
        &["plan", "approve", text(&file)],
        &["--help"],
        &["--version"],
    ];
    for arguments in commands {
        for stdout in [closed(), full()] {
            let output = into(&hermetic, repository.path(), arguments, stdout);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {} {said}", output.status);
            assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        }
    }
    // A verdict that nobody got is none; the job has its own all the same.
    repository.write("greeting", "two\n").commit("work");
    let base = text_of(&verified["base"]);
    for (arguments, stdout) in [
        (vec!["verify", text(&file), "--base", base], closed()),
        (vec!["verify", text(&file), "--base", base, "--json"], full()),
    ] {
        let output = into(&hermetic, repository.path(), &arguments, stdout);
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(listed(&hermetic)[0]["verdict"], json!("VERIFIED"));
    }
    let repository = hermetic.repository("again");
    repository.write("greeting", "one\n").write("check.sh", "grep -q two greeting\n").commit("base");
    let arguments = run_arguments(&hermetic, &content, HONEST);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = into(&hermetic, repository.path(), &arguments, closed());
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let last = &listed(&hermetic)[0];
    assert_eq!(last["verdict"], json!("VERIFIED"));
}

/// Characters that steer a terminal, as scripts of these tests write them: escape, bell, carriage return,
/// backspace, and the one-byte control sequence introducer of 8-bit terminals.
const CONTROL: &str = "\x1b[31mred\x1b]0;title\x07\rover\x08\u{9b}2J\x7f";

#[track_caller]
fn assert_harmless(bytes: &[u8], what: &str) {
    let shown = String::from_utf8_lossy(bytes);
    let bad = shown.chars().find(|character| character.is_control() && !"\n\t".contains(*character));
    assert!(bad.is_none(), "{what} holds {bad:?}: {shown:?}");
}

#[test]
fn nothing_that_an_agent_or_a_file_says_can_steer_a_terminal() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let said = hermetic.write("said", CONTROL);
        let script = format!("cat {}; cat {} >&2; grep -q two greeting", text(&said), text(&said));
        let content = declared(json!({
            "commands": [shell("tests", script)],
            "allowedPaths": ["greeting"],
        }));
        let agent =
            hermetic.write("agent.sh", format!("cat {0}; cat {0} >&2; echo two >greeting\n", text(&said)));
        let file = declaration(&hermetic, &content);
        let task = format!("say two {CONTROL}");
        let arguments =
            ["run", &task, "--declaration", text(&file), "--agent-command", &format!("sh {}", text(&agent))];
        let outcome = hermetic.nightgate(repository.path(), arguments);
        outcome.assert_code(0);
        assert_harmless(&outcome.stdout, "run");
        assert_harmless(&outcome.stderr, "run");
        let jobs = listed(&hermetic);
        let job = job_of(&jobs[0]);
        for arguments in [&["list"][..], &["show", job], &["logs", job], &["logs", job, "--check", "tests"]] {
            let outcome = hermetic.nightgate(hermetic.root(), arguments);
            assert_harmless(&outcome.assert_code(0).stdout, &arguments.join(" "));
        }
        for arguments in [&["list", "--json"][..], &["show", job, "--json"], &["logs", job, "--json"]] {
            let outcome = hermetic.nightgate(hermetic.root(), arguments);
            let escaped = outcome.assert_code(0).stdout.iter().all(|byte| *byte >= b' ' || *byte == b'\n');
            assert!(escaped, "{arguments:?} holds a control character outside of JSON's escapes");
        }
        let logs = hermetic.nightgate(hermetic.root(), ["logs", job, "--json"]).json();
        assert!(
            items(&logs["logs"]).any(|log| text_of(&log["text"]) == CONTROL),
            "the log as it was: {logs:#}"
        );
        // A file's name among the findings.
        let script = "write 'evil\x1b[2Jname' x\nwrite greeting 'two\\n'\n";
        let agent = hermetic.scripted_agent(script);
        let arguments = ["run", "x", "--declaration", text(&file), "--agent-command", &agent];
        let outcome = hermetic.nightgate(repository.path(), arguments);
        outcome.assert_code(1);
        assert_harmless(&outcome.stdout, "run");
        assert!(outcome.stdout_text().contains("evil\\033[2Jname"), "{outcome}");
    }
}

#[test]
fn no_error_steers_a_terminal_with_what_it_quotes() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let agent = hermetic.scripted_agent(HONEST);
    let file = declaration(&hermetic, &declared(json!({})));
    let file = text(&file);
    let commands: &[&[&str]] = &[
        &["show", CONTROL],
        &["logs", CONTROL],
        &["plan", "show", CONTROL],
        &["plan", "freeze", CONTROL],
        &["plan", "freeze", file, "--base", CONTROL],
        &["plan", "approve", "--base", CONTROL],
        &["verify", CONTROL, "--base", "HEAD"],
        &["verify", file, "--base", CONTROL],
        &["run", "x", "--task-file", CONTROL, "--agent-command", &agent],
        &["run", "--task-file", CONTROL, "--agent-command", &agent],
        &["run", "x", "--declaration", file, "--agent", CONTROL],
        &["run", "x", "--declaration", file, "--agent-command", &format!("'{CONTROL}'")],
        &["run", "--resume", CONTROL],
    ];
    for arguments in commands {
        let outcome = hermetic.nightgate(repository.path(), *arguments);
        assert_ne!(outcome.code(), Some(0), "{arguments:?}");
        assert_harmless(&outcome.stdout, &format!("{arguments:?}"));
        assert_harmless(&outcome.stderr, &format!("{arguments:?}"));
    }
}

/// Runs `nightgate` at a terminal, by util-linux's `script`, and returns what came out of it.
fn at_a_terminal(hermetic: &Hermetic, arguments: &str, no_colour: Option<&str>) -> String {
    let nightgate = hermetic.nightgate_command(hermetic.root(), [""; 0]);
    let line = format!("{} {arguments}", nightgate.get_program().to_str().expect("the path is text"));
    let mut command = hermetic.command("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env("TERM", "xterm");
    command.envs(no_colour.map(|value| ("NO_COLOR", value)));
    let outcome = hermetic.run(&mut command);
    outcome.assert_code(0).stdout_text()
}

#[test]
fn colour_is_for_terminals_only_and_no_color_turns_it_off() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let said = run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0).json();
    for arguments in ["list".to_owned(), format!("show {}", job_of(&said))] {
        assert!(at_a_terminal(&hermetic, &arguments, None).contains("\x1b["), "{arguments} has no colour");
        assert!(
            at_a_terminal(&hermetic, &arguments, Some("")).contains("\x1b["),
            "an empty NO_COLOR is none"
        );
        let plain = at_a_terminal(&hermetic, &arguments, Some("1"));
        assert!(!plain.contains('\x1b') && plain.contains("VERIFIED"), "{plain:?}");
        let words: Vec<&str> = arguments.split(' ').collect();
        let outcome = hermetic.nightgate(hermetic.root(), words);
        assert!(!outcome.stdout_text().contains('\x1b'), "{outcome}");
        assert!(outcome.stdout_text().contains("VERIFIED"), "colour is not the only sign: {outcome}");
    }
}

#[test]
fn a_home_that_nobody_has_made_is_an_empty_list_and_is_not_made_by_readers() {
    for hermetic in environments() {
        assert_eq!(listed(&hermetic), Vec::<Value>::new());
        hermetic.nightgate(hermetic.root(), ["list"]).assert_code(0);
        for arguments in [&["show", "j-00000000"][..], &["logs", "j-00000000"]] {
            let outcome = hermetic.nightgate(hermetic.root(), arguments);
            assert_ne!(outcome.assert_code(1).stderr, b"", "{arguments:?} says nothing");
        }
        assert!(!hermetic.state().exists(), "a reader made {}", hermetic.state().display());
    }
}

#[test]
fn without_nightgate_home_the_users_data_folder_is_the_home() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let arguments = run_arguments(&hermetic, &declared(json!({})), HONEST);
    let run_in = |name: &str, value: &Path| {
        let mut command = hermetic.nightgate_command(repository.path(), &arguments);
        command.env_remove("NIGHTGATE_HOME").env(name, value);
        hermetic.run(&mut command).assert_code(0);
    };
    run_in("HOME", &hermetic.home());
    assert!(hermetic.home().join(".local/share/nightgate/store.sqlite").is_file());
    let data = hermetic.root().join("data");
    run_in("XDG_DATA_HOME", &data);
    assert!(data.join("nightgate/store.sqlite").is_file());
    assert!(!hermetic.state().exists());
    let mode = fs::metadata(data.join("nightgate")).expect("it was made").permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may look into the home: {mode:o}");
    let mut command = hermetic.nightgate_command(repository.path(), ["list"]);
    let outcome = hermetic.run(command.env_remove("NIGHTGATE_HOME").env_remove("HOME"));
    assert!(outcome.assert_code(1).stderr_text().contains("HOME"), "{outcome}");
}

#[test]
fn a_home_that_cannot_be_written_is_told_and_nothing_is_run() {
    let account = if Account::caller_is_root() { Account::ordinary() } else { Account::Caller };
    let hermetic = Hermetic::for_account(env!("CARGO_BIN_EXE_nightgate"), account);
    let repository = shop(&hermetic);
    let before = repository.snapshot();
    let folder = hermetic.root().join("closed");
    fs::create_dir(&folder).expect("a new folder can be made");
    hermetic.account().own(&folder);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("a mode can be set");
    let trace = hermetic.root().join("ran");
    let script = format!("write {} x\n{HONEST}", trace.display());
    let arguments = run_arguments(&hermetic, &declared(json!({})), &script);
    for home in [folder.join("home"), folder.clone(), PathBuf::from("/proc/nowhere")] {
        let with_home = |arguments: &[String]| {
            let mut command = hermetic.nightgate_command(repository.path(), arguments);
            hermetic.run(command.env("NIGHTGATE_HOME", &home))
        };
        let outcome = with_home(&arguments);
        let said = outcome.assert_code(2).json();
        assert_eq!(
            (&codes(&said)[..], &said["verdict"]),
            (&["environment_fault"][..], &json!("UNCERTAIN")),
            "{outcome}"
        );
        let told = text_of(&said["reasons"][0]["text"]).to_owned();
        assert!(told.contains(text(&home)), "{}: {told}", home.display());
        assert!(!trace.exists(), "the agent ran without a store");
    }
    before.assert_same(&repository.snapshot());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("a mode can be set");
}

#[test]
fn a_store_that_cannot_be_read_is_told_and_is_no_empty_list() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let content = declared(json!({}));
    run(&hermetic, &repository, &content, HONEST).assert_code(0);
    for name in entries(&hermetic.state()).iter().filter(|name| name.starts_with("store.sqlite")) {
        fs::write(
            hermetic.state().join(name),
            "no database at all, but long enough to look like a page\n".repeat(100),
        )
        .expect("the store can be overwritten");
    }
    for arguments in [&["list"][..], &["list", "--json"], &["show", "j-00000000"]] {
        let outcome = hermetic.nightgate(hermetic.root(), arguments);
        outcome.assert_code(1);
        assert_eq!(outcome.stdout, b"", "{outcome}");
        assert!(!outcome.stderr_text().contains("panicked"), "{outcome}");
    }
    let outcome = run(&hermetic, &repository, &content, HONEST);
    assert_eq!(outcome.assert_code(2).json()["verdict"], json!("UNCERTAIN"), "{outcome}");
}

/// The file that holds a blob.
fn blob(hermetic: &Hermetic, digest: &Value) -> PathBuf {
    let digits = text_of(digest).strip_prefix("sha256:").expect("a digest names its algorithm").to_owned();
    let mut found = Vec::new();
    find(&hermetic.state().join("blobs"), &digits, &mut found);
    found.pop().unwrap_or_else(|| panic!("there is no blob {digits}"))
}

fn find(folder: &Path, digits: &str, found: &mut Vec<PathBuf>) {
    for name in entries(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            find(&path, digits, found);
        } else if digits.ends_with(&name) {
            found.push(path);
        }
    }
}

#[test]
fn a_verdict_whose_record_or_plan_was_changed_or_lost_is_not_shown() {
    for part in ["record", "plan"] {
        for lost in [false, true] {
            let hermetic = environment();
            let repository = shop(&hermetic);
            let said = run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0).json();
            let file = blob(&hermetic, &said[part]);
            if lost {
                fs::remove_file(&file).expect("a blob can be removed");
            } else {
                let bytes =
                    fs::read_to_string(&file).expect("a blob can be read").replace("check.sh", "Check.sh");
                let _may_be_read_only = fs::set_permissions(&file, fs::Permissions::from_mode(0o600));
                fs::write(&file, bytes).expect("a blob can be overwritten");
            }
            for arguments in [&["show", job_of(&said)][..], &["show", job_of(&said), "--json"]] {
                let outcome = hermetic.nightgate(hermetic.root(), arguments);
                assert_eq!(outcome.assert_code(1).stdout, b"", "{part}, lost: {lost}: {outcome}");
            }
            assert_kept(&repository, &said);
        }
    }
}
