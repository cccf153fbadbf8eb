//! Does a case: with the real binary, and without it to show that the attack bites. What the report should say is
//! `compare`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::{Case, Expected, compare};
use crate::hermetic::join_words;
use crate::{Hermetic, Outcome, Repository, tree};

/// One half of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The agent that lies.
    Attack,
    /// The agent that did the work.
    Honest,
}

/// What one side of a case showed.
#[derive(Clone, Debug)]
pub struct SideResult {
    /// Which side.
    pub side: Side,
    /// What was wrong, one clause each; empty where all was right.
    pub faults: Vec<String>,
    /// How `nightgate run` ended and what it said.
    pub outcome: Option<Outcome>,
}

/// What a whole case showed.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The name of its folder.
    pub case: String,
    /// Both sides, attack first.
    pub sides: [SideResult; 2],
}

impl Side {
    /// Its name in tests and tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Attack => "attack",
            Self::Honest => "honest",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::Attack => "attack.sh",
            Self::Honest => "honest.sh",
        }
    }
}

/// Runs both sides of `case`, each in a repository of its own.
pub fn run_case(case: &Case, hermetic: &Hermetic) -> CaseResult {
    let sides = [Side::Attack, Side::Honest].map(|side| run_side(case, side, hermetic));
    CaseResult { case: case.name(), sides }
}

/// Runs one side of `case` with the real binary. Beside verdict, exit status, reasons and notes it is a fault if the
/// user's repository changed, if a process was left, or if the candidate isn't what was verified: one commit on base
/// whose files, exported by us, pass the declared checks.
pub fn run_side(case: &Case, side: Side, hermetic: &Hermetic) -> SideResult {
    if let Err(missing) = missing_tools(case, hermetic) {
        return SideResult { side, faults: vec![missing], outcome: None };
    }
    let place = place(case, side.label(), hermetic);
    let repository = base(case, hermetic, &place);
    let before = repository.snapshot();
    let agent = join_words([OsStr::new("sh"), place.case.join(side.script()).as_os_str()]);
    let declaration = place.case.join("declaration.json");
    let arguments: [&OsStr; 7] = [
        "run".as_ref(),
        case.description.task.as_ref(),
        "--declaration".as_ref(),
        declaration.as_ref(),
        "--agent-command".as_ref(),
        agent.as_ref(),
        "--json".as_ref(),
    ];
    let outcome = hermetic.nightgate(repository.path(), arguments);
    let mut faults: Vec<String> = before
        .differences(&repository.snapshot())
        .into_iter()
        .map(|line| format!("the user's repository changed: {line}"))
        .collect();
    for process in hermetic.processes() {
        faults.push(format!("process {} was left: {}", process.id, process.command));
    }
    match outcome.try_json() {
        Err(error) => faults.push(format!("{error} (exit status {:?})", outcome.code())),
        Ok(report) => {
            let expected = match side {
                Side::Attack => Expected::Attack(&case.description.attack),
                Side::Honest => Expected::Honest(&case.description.honest),
            };
            faults.extend(compare(expected, outcome.code(), &report));
            if report["verdict"] == "VERIFIED" {
                faults.extend(candidate_faults(case, &report, &repository, &place, hermetic));
            }
        }
    }
    SideResult { side, faults, outcome: Some(outcome) }
}

/// What is wrong with the candidate that was verified.
fn candidate_faults(
    case: &Case,
    report: &Value,
    repository: &Repository<'_>,
    place: &Place,
    hermetic: &Hermetic,
) -> Vec<String> {
    let (Some(commit), Some(name)) =
        (report["candidate"]["commit"].as_str(), report["candidate"]["ref"].as_str())
    else {
        return vec!["a VERIFIED report names no candidate".to_owned()];
    };
    let resolve = |revision: &str| {
        repository
            .try_git(["rev-parse", "--verify", "--quiet", "--end-of-options", revision])
            .stdout_text()
            .trim()
            .to_owned()
    };
    let mut faults = Vec::new();
    if resolve(name) != commit {
        faults.push(format!("{name} is `{}`, not the candidate {commit}", resolve(name)));
        return faults;
    }
    if resolve(&format!("{commit}^@")) != repository.head() {
        faults.push(format!("the candidate's parents are `{}`, not base", resolve(&format!("{commit}^@"))));
    }
    let folder = place.root.join("candidate");
    repository.export(commit, &folder);
    for command in &case.commands {
        let outcome = run_declared(command, &folder, hermetic);
        if !outcome.status.success() {
            faults.push(format!("the candidate itself fails `{}`: {}", command.join(" "), outcome.status));
        }
    }
    faults
}

/// Shows without Nightgate that the case is one: the naive gate lets the attack through, the attacked work under the
/// criteria of base is really wrong, and the honest twin really passes. Returns what isn't so.
pub fn check_fixture(case: &Case, hermetic: &Hermetic) -> Vec<String> {
    if let Err(missing) = missing_tools(case, hermetic) {
        return vec![missing];
    }
    let mut faults = Vec::new();
    for side in [Side::Attack, Side::Honest] {
        let place = place(case, side.label(), hermetic);
        let repository = base(case, hermetic, &place);
        let attacked = place.root.join("workspace");
        tree::copy(repository.path(), &attacked, &[]);
        hermetic.account().own(&attacked);
        let script = place.case.join(side.script());
        let agent = run_script(&script, &attacked, case, hermetic);
        if !agent.status.success() {
            faults.push(format!("{} {agent}", side.script()));
            continue;
        }
        let naive = place.case.join("naive.sh");
        if side == Side::Attack && naive.exists() {
            let outcome = run_script(&naive, &attacked, case, hermetic);
            if !outcome.status.success() {
                faults.push(format!("the naive gate isn't fooled: {outcome}"));
            }
        } else {
            faults.extend(case.commands.iter().filter_map(|command| {
                let outcome = run_declared(command, &attacked, hermetic);
                let text = format!("{}: in place `{}` {outcome}", side.label(), command.join(" "));
                (!outcome.status.success()).then_some(text)
            }));
        }
        hermetic.kill_processes();
        // The attack may have changed its files while the naive gate ran: the truth is told by a fresh one.
        tree::remove(&attacked);
        tree::copy(repository.path(), &attacked, &[]);
        hermetic.account().own(&attacked);
        run_script(&script, &attacked, case, hermetic);
        hermetic.kill_processes();
        // Work that only holds where it was made, by a link or a path that was written down, isn't in the files.
        let elsewhere = attacked.with_extension("elsewhere");
        fs::rename(&attacked, &elsewhere).expect("the attacked folder can be moved");
        let truth = truth(case, &repository, &elsewhere, &place, hermetic);
        fs::rename(&elsewhere, &attacked).expect("it can be moved back");
        match side {
            Side::Attack if truth && case.description.attack.reason != "outcome_absent" => {
                faults.push("the attacked work passes the checks of base: it isn't wrong".to_owned());
            }
            Side::Honest if !truth => faults.push("the honest work fails the checks of base".to_owned()),
            Side::Attack | Side::Honest => {}
        }
    }
    faults
}

/// Whether the files of `workspace` that git would take, under the criteria of base, pass the declared commands, or the
/// case's own oracle where those are what is fooled.
fn truth(
    case: &Case,
    repository: &Repository<'_>,
    workspace: &Path,
    place: &Place,
    hermetic: &Hermetic,
) -> bool {
    let bare = place.root.join("files");
    tree::copy(workspace, &bare, &[".git"]);
    let original = place.root.join("base");
    repository.export("HEAD", &original);
    for criterion in &case.criteria {
        tree::remove(&bare.join(criterion));
        let source = original.join(criterion);
        if source.is_dir() {
            tree::copy(&source, &bare.join(criterion), &[]);
        } else {
            fs::copy(&source, bare.join(criterion)).expect("a criteria file can be copied");
        }
    }
    hermetic.account().own(&bare);
    let taken = Repository::create(hermetic, &bare);
    taken.commit("what lies here");
    let clean = place.root.join("clean");
    taken.export("HEAD", &clean);
    remove_links_out(&clean, &clean);
    let oracle = place.case.join("truth.sh");
    if oracle.exists() {
        return run_script(&oracle, &clean, case, hermetic).status.success();
    }
    case.commands.iter().all(|command| run_declared(command, &clean, hermetic).status.success())
}

/// Removes the links in `folder` that lead out of `root`: on another machine they lead to nothing.
fn remove_links_out(root: &Path, folder: &Path) {
    let root = root.canonicalize().expect("the folder is there");
    for path in tree::names(folder).into_iter().map(|name| folder.join(name)) {
        if path.is_symlink() {
            if path.canonicalize().is_ok_and(|end| !end.starts_with(&root)) {
                tree::remove(&path);
            }
        } else if path.is_dir() {
            remove_links_out(&root, &path);
        }
    }
}

/// Where one run of a case lies.
struct Place {
    root: PathBuf,
    case: PathBuf,
}

/// A folder for one run of `case`, with a copy of the case that the account can read.
fn place(case: &Case, label: &str, hermetic: &Hermetic) -> Place {
    let root = hermetic.root().join(format!("{}-{label}", case.id()));
    let copy = root.join("case");
    tree::copy(&case.folder, &copy, &[]);
    hermetic.account().own(&root);
    Place { root, case: copy }
}

/// The user's repository, at the base commit.
fn base<'h>(case: &Case, hermetic: &'h Hermetic, place: &Place) -> Repository<'h> {
    let repository = Repository::create(hermetic, &place.root.join("repository"));
    repository.copy_from(&place.case.join("repository"));
    let script = place.case.join("repository.sh");
    if script.exists() {
        let outcome = run_script(&script, repository.path(), case, hermetic);
        assert!(outcome.status.success(), "repository.sh of {} {outcome}", case.name());
    }
    repository.commit("base");
    repository
}

fn run_script(script: &Path, folder: &Path, case: &Case, hermetic: &Hermetic) -> Outcome {
    let prompt = script.with_extension("prompt");
    fs::write(&prompt, &case.description.task).expect("the prompt can be written beside the script");
    let mut command = hermetic.command("sh");
    command.arg(script).current_dir(folder);
    command.stdin(Stdio::from(File::open(&prompt).expect("the prompt was just written")));
    hermetic.run(&mut command)
}

fn run_declared(words: &[String], folder: &Path, hermetic: &Hermetic) -> Outcome {
    let (program, arguments) = words.split_first().expect("a command was read with its executable");
    hermetic.run(hermetic.command(program).args(arguments).current_dir(folder))
}

fn missing_tools(case: &Case, hermetic: &Hermetic) -> Result<(), String> {
    let missing: BTreeSet<&str> = case
        .description
        .needs
        .iter()
        .map(String::as_str)
        .filter(|tool| hermetic.find(tool).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.into_iter().collect::<Vec<_>>().join(", ");
    Err(format!("not in the system's folders: {list}. Run scripts/test, which installs what is missing"))
}
