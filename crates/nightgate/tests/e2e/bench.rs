//! What these tests start from: a small repository, its declaration, and the program's answers. Claims are
//! not here.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::{Account, Hermetic, Outcome, Repository};

/// What the scripted agent does when it works honestly.
pub const HONEST: &str = "write greeting 'two\\n'\n";

/// An environment for whoever runs the tests.
pub fn environment() -> Hermetic {
    Hermetic::new(env!("CARGO_BIN_EXE_nightgate"))
}

/// One environment for whoever runs the tests and, where that is root, one for an ordinary user.
pub fn environments() -> Vec<Hermetic> {
    let mut accounts = vec![Account::Caller];
    if Account::caller_is_root() {
        accounts.push(Account::ordinary());
    }
    accounts
        .into_iter()
        .map(|account| Hermetic::for_account(env!("CARGO_BIN_EXE_nightgate"), account))
        .collect()
}

/// Those environments without boxes: for tests that watch from outside what runs inside, by files and FIFOs that no box
/// shows.
pub fn unboxed_environments() -> Vec<Hermetic> {
    let mut environments = environments();
    for hermetic in &mut environments {
        hermetic.set("NIGHTGATE_ISOLATION", "I1");
    }
    environments
}

/// The first of them.
pub fn unboxed_environment() -> Hermetic {
    unboxed_for(Account::Caller)
}

/// One for `account`.
pub fn unboxed_for(account: Account) -> Hermetic {
    let mut hermetic = Hermetic::for_account(env!("CARGO_BIN_EXE_nightgate"), account);
    hermetic.set("NIGHTGATE_ISOLATION", "I1");
    hermetic
}

/// A repository in which `greeting` says `one`, and `check.sh` wants it to say `two`.
pub fn shop(hermetic: &Hermetic) -> Repository<'_> {
    let repository = hermetic.repository("shop");
    repository.write("greeting", "one\n").write("check.sh", "grep -q two greeting\n");
    repository.write("docs/notes", "read me\n");
    repository.commit("base");
    repository
}

/// The least declaration of the shop, with these keys added or replaced.
pub fn declared(extra: Value) -> Value {
    let mut declaration = json!({
        "criteriaPaths": ["check.sh"],
        "commands": [{"name": "tests", "executable": "sh", "args": ["check.sh"]}],
    });
    let (Value::Object(all), Value::Object(extra)) = (&mut declaration, extra) else {
        panic!("a declaration is an object")
    };
    all.extend(extra);
    declaration
}

/// A command of a declaration: this script, read by `sh`.
pub fn shell(name: &str, script: impl Into<String>) -> Value {
    json!({"name": name, "executable": "sh", "args": ["-c", script.into()]})
}

/// A file outside the repository with this declaration.
pub fn declaration(hermetic: &Hermetic, content: &Value) -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    hermetic.write(&format!("declarations/{number}.json"), content.to_string())
}

/// The arguments of a `run` by this declaration with this scripted agent.
pub fn run_arguments(hermetic: &Hermetic, content: &Value, script: &str) -> Vec<String> {
    let file = declaration(hermetic, content);
    let agent = hermetic.scripted_agent(script);
    words(&["run", "say two", "--json", "--declaration", text(&file), "--agent-command", &agent])
}

/// Runs a job to its end.
pub fn run(hermetic: &Hermetic, repository: &Repository<'_>, content: &Value, script: &str) -> Outcome {
    hermetic.nightgate(repository.path(), run_arguments(hermetic, content, script))
}

/// Judges by a declaration; `arguments` says what.
pub fn verify(
    hermetic: &Hermetic,
    repository: &Repository<'_>,
    content: &Value,
    arguments: &[&str],
) -> Outcome {
    let file = declaration(hermetic, content);
    let first = words(&["verify", text(&file), "--json"]);
    hermetic.nightgate(repository.path(), first.into_iter().chain(words(arguments)))
}

/// `nightgate show JOB --json`, by a new process.
#[track_caller]
pub fn shown(hermetic: &Hermetic, job: &str) -> Value {
    let outcome = hermetic.nightgate(hermetic.root(), ["show", job, "--json"]);
    outcome.assert_code(0).json()
}

/// The jobs of `nightgate list --json`, by a new process, the newest first.
#[track_caller]
pub fn listed(hermetic: &Hermetic) -> Vec<Value> {
    let document = hermetic.nightgate(hermetic.root(), ["list", "--json"]).assert_code(0).json();
    assert_eq!(document["damaged"], json!([]), "{document}");
    document["jobs"].as_array().expect("`jobs` is a list").clone()
}

/// Panics unless new processes read from disk what `outcome` said, word for word; returns what it said.
#[track_caller]
pub fn told_again(hermetic: &Hermetic, outcome: &Outcome) -> Value {
    let said = outcome.json();
    let job = job_of(&said);
    assert_eq!(shown(hermetic, job), said, "`show` says something else");
    let jobs = listed(hermetic);
    let line = jobs.iter().find(|line| line["job"] == said["job"]).expect("the job is listed");
    for key in ["kind", "state", "title", "execution", "verdict", "candidate", "agent", "changedMs"] {
        assert_eq!(line[key], said[key], "`list` has another {key}");
    }
    let mut reasons: Vec<&Value> = Vec::new();
    for reason in said["reasons"].as_array().expect("`reasons` is a list") {
        if !reasons.contains(&&reason["code"]) {
            reasons.push(&reason["code"]);
        }
    }
    assert_eq!(line["reasons"].as_array().expect("`reasons` is a list").iter().collect::<Vec<_>>(), reasons);
    said
}

/// The id of the job that a document is about.
#[track_caller]
pub fn job_of(document: &Value) -> &str {
    document["job"].as_str().unwrap_or_else(|| panic!("no job: {document:#}"))
}

/// The codes of a document's reasons, in its order.
pub fn codes(document: &Value) -> Vec<&str> {
    document["reasons"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|reason| reason["code"].as_str())
        .collect()
}

/// The outcome word of a document's execution.
pub fn execution(document: &Value) -> &str {
    document["execution"]["outcome"].as_str().unwrap_or("none")
}

/// Panics unless the candidate of `document` is one commit on top of its base, and its ref, the only one of
/// this job, points at it.
#[track_caller]
pub fn assert_kept(repository: &Repository<'_>, document: &Value) {
    let commit = document["candidate"]["commit"].as_str().expect("there is a candidate");
    let reference = document["candidate"]["ref"].as_str().expect("the candidate has a ref");
    let job = job_of(document);
    assert_eq!(reference, format!("refs/nightgate/{job}/candidate"));
    let refs = repository.git([
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        &format!("refs/nightgate/{job}"),
    ]);
    assert_eq!(refs, format!("{reference} {commit}"));
    let base = document["base"].as_str().expect("there is a base");
    assert_eq!(repository.git(["rev-parse", &format!("{commit}^@")]), base, "the candidate's parents");
}

/// Panics unless Nightgate's home holds no folder of a job or a clean room.
#[track_caller]
pub fn assert_nothing_left(hermetic: &Hermetic) {
    for folder in ["jobs", "rooms"] {
        let left = entries(&hermetic.state().join(folder));
        assert!(left.is_empty(), "{folder} of Nightgate's home still holds {left:?}");
    }
    let processes = hermetic.processes();
    assert!(processes.is_empty(), "processes are left: {processes:?}");
}

/// The names in a folder; none where there is no such folder.
pub fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("the folder can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A path of a test as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

/// Borrowed words as owned ones.
pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
