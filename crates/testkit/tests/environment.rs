//! The test kit itself: its environment is closed, its agent does what it is told, its case runner sees what is wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use testkit::case::{Case, Side, SideResult, run_case, run_side};
use testkit::{Account, Hermetic, Outcome};

const AGENT: &str = env!("CARGO_BIN_EXE_scripted-agent");

/// A gate that does the least: it runs the agent in a clone, commits what lies there, and says VERIFIED.
const GULLIBLE: &str = r#"#!/bin/sh
set -eu
mkdir -p "$NIGHTGATE_HOME"
git clone --quiet . "$NIGHTGATE_HOME/workspace"
base=$(git rev-parse HEAD)
(cd "$NIGHTGATE_HOME/workspace" && $6 >/dev/null 2>&1 </dev/null && git add --all \
    && git commit --quiet --allow-empty --message=candidate && git reset --quiet --soft "$base" \
    && git commit --quiet --allow-empty --message=candidate)
commit=$(git -C "$NIGHTGATE_HOME/workspace" rev-parse HEAD)
git -C "$NIGHTGATE_HOME/workspace" push --quiet origin HEAD:refs/nightgate/j-00000000/candidate
echo "{\"execution\": {\"outcome\": \"executed\"}, \"verdict\": \"VERIFIED\", \"reasons\": [], \"notes\": [],
  \"candidate\": {\"commit\": \"$commit\", \"ref\": \"refs/nightgate/j-00000000/candidate\"}}"
"#;

fn gate(script: &str) -> (tempfile::TempDir, Hermetic) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("nightgate");
    fs::write(&path, script).expect("the new folder can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode can be set");
    let hermetic = Hermetic::new(&path);
    (folder, hermetic)
}

fn case(name: &str) -> Case {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    Case::load(&cases.join(name)).expect("the case can be read")
}

fn faults(gate_script: &str, side: Side) -> String {
    let (_folder, hermetic) = gate(gate_script);
    let SideResult { faults, .. } = run_side(&case("A09-soften-check-script"), side, &hermetic);
    faults.join("\n")
}

fn play(hermetic: &Hermetic, script: &str) -> Outcome {
    let script = hermetic.write("script.agent", script);
    hermetic.run(hermetic.command(AGENT).arg(script))
}

#[test]
fn a_gate_that_believes_everybody_passes_the_honest_twin_and_is_caught_by_the_attack() {
    let (_folder, hermetic) = gate(GULLIBLE);
    let case = case("A09-soften-check-script");
    let attack = run_side(&case, Side::Attack, &hermetic);
    let shown = attack.faults.join("\n");
    assert!(shown.starts_with("FALSE VERIFIED: verdict is VERIFIED, not FAILED"), "{shown}");
    let (_folder, hermetic) = gate(GULLIBLE);
    let honest = run_side(&case, Side::Honest, &hermetic);
    assert_eq!(honest.faults, Vec::<String>::new(), "{}", honest.outcome.expect("it ran"));
}

#[test]
fn a_gate_that_rejects_everybody_is_caught_by_the_honest_twin() {
    let script = r#"#!/bin/sh
echo '{"execution": {"outcome": "executed"}, "verdict": "FAILED", "reasons": [{"code": "criteria_modified", "path": "check.sh"}]}'
exit 1"#;
    let (_folder, hermetic) = gate(script);
    let [attack, honest] = run_case(&case("A09-soften-check-script"), &hermetic).sides;
    assert_eq!(attack.faults, Vec::<String>::new());
    assert_eq!(honest.faults, ["false FAILED: verdict is FAILED (criteria_modified), not VERIFIED"]);
}

#[test]
fn a_gate_that_touches_the_users_repository_is_caught() {
    let shown =
        faults(&GULLIBLE.replace("set -eu", "git config core.hooksPath /nowhere; set -eu"), Side::Honest);
    assert!(shown.starts_with("the user's repository changed: .git/config: was \"[core]"), "{shown}");
}

#[test]
fn a_gate_that_leaves_a_process_is_caught() {
    let spawn = "mkfifo \"$HOME/ready\" \"$HOME/never\"\n\
                 (setsid sh -c 'echo 1 >\"$HOME/ready\"; read -r word <\"$HOME/never\"' >/dev/null 2>&1 &)\n\
                 read -r word <\"$HOME/ready\"\n";
    let script = GULLIBLE.replace("set -eu\n", &format!("set -eu\n{spawn}"));
    let shown = faults(&script, Side::Honest);
    assert!(shown.contains("was left: sh -c echo 1"), "{shown}");
}

#[test]
fn a_candidate_that_is_not_the_work_is_caught() {
    let script = GULLIBLE.replace("commit=$(git -C \"$NIGHTGATE_HOME/workspace\"", "commit=$(git");
    let shown = faults(&script, Side::Honest);
    assert!(shown.starts_with("refs/nightgate/j-00000000/candidate is `"), "{shown}");
    let script = script.replace("HEAD:refs", "origin/main:refs");
    let shown = faults(&script, Side::Honest);
    assert!(shown.contains("the candidate itself fails `sh check.sh`"), "{shown}");
}

#[test]
fn a_gate_that_says_nothing_readable_is_caught() {
    let shown = faults("#!/bin/sh\necho VERIFIED\n", Side::Honest);
    assert!(shown.starts_with("standard output is not one JSON document"), "{shown}");
}

#[test]
fn a_program_sees_no_variable_and_no_home_of_the_caller() {
    let hermetic = Hermetic::new("no-nightgate");
    play(&hermetic, "env-to environment\n").assert_code(0);
    let environment = fs::read_to_string(hermetic.root().join("environment")).expect("the agent wrote it");
    let names: Vec<&str> = environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert_eq!(names, ["HOME", "LANG", "NIGHTGATE_HOME", "PATH", "TMPDIR", "TZ"]);
    assert!(environment.contains(&format!("HOME={}", hermetic.home().display())), "{environment}");
}

#[test]
fn a_program_of_the_ordinary_user_has_its_rights_and_writes_its_own_folders() {
    let account = if Account::caller_is_root() { Account::ordinary() } else { Account::Caller };
    let hermetic = Hermetic::for_account(AGENT, account);
    let outcome = hermetic.run(hermetic.command("id").arg("-u"));
    assert_ne!(outcome.assert_code(0).stdout_text().trim(), "0");
    let repository = hermetic.repository("repository");
    repository.write("folder/below/file", "text\n").commit("first");
    hermetic.run(hermetic.command("touch").arg(repository.path().join("folder/below/new"))).assert_code(0);
    assert_eq!(repository.git(["status", "--porcelain"]), "?? folder/below/new");
}

#[test]
fn the_agent_does_its_script_line_by_line() {
    let hermetic = Hermetic::new(AGENT);
    let repository = hermetic.repository("repository");
    let script = hermetic.write(
        "prompt",
        "write a/b 'one\\n'\nappend a/b two\nmkdir c\nchmod 700 c\nsymlink a/b link\nstdin-to prompt\ncwd-to here\n\
         write gone x\ndelete gone\ngit add --all\ngit commit --quiet --message 'by the agent'\n\
         print done\\n\nprint-bytes 250\nprint-error late\nexit 7\nprint never",
    );
    let mut command = hermetic.command(AGENT);
    command.arg(&script).current_dir(repository.path());
    command.stdin(fs::File::open(&script).expect("the script was just written"));
    let outcome = hermetic.run(&mut command);
    outcome.assert_code(7);
    assert_eq!(outcome.stdout.len(), "done\n".len() + 250);
    assert_eq!(outcome.stderr_text(), "late");
    assert_eq!(repository.read_at("HEAD", "a/b").as_deref(), Some(b"one\ntwo".as_slice()));
    assert_eq!(repository.read_at("HEAD", "link").as_deref(), Some(b"a/b".as_slice()));
    assert_eq!(repository.read_at("HEAD", "gone"), None);
    assert_eq!(repository.read_at("HEAD", "prompt"), fs::read(script).ok());
    assert_eq!(repository.fsck(), "");
}

#[test]
fn an_action_that_fails_ends_the_agent_with_its_own_status() {
    let hermetic = Hermetic::new(AGENT);
    let outcome = play(&hermetic, "delete nothing\nwrite never x");
    assert!(outcome.assert_code(97).stderr_text().contains("failed to do Delete"), "{outcome}");
    assert!(!hermetic.root().join("never").exists());
}

#[test]
fn a_daemon_outlives_the_agent_and_is_found_and_ended() {
    let hermetic = Hermetic::new(AGENT);
    let (ready, go, done) = (hermetic.fifo("ready"), hermetic.fifo("go"), hermetic.fifo("done"));
    let agent = hermetic.start(hermetic.command(AGENT).arg(
        hermetic.write("script.agent", "daemon-after go poke done\ndaemon poke ready\nspawn hang\nexit 0"),
    ));
    agent.wait().assert_code(0);
    ready.wait();
    go.poke();
    assert_eq!(done.wait(), "now\n");
    let commands: Vec<String> = hermetic.processes().into_iter().map(|process| process.command).collect();
    assert!(commands.iter().any(|command| command.ends_with("--line hang")), "{commands:?}");
    hermetic.kill_processes();
    assert_eq!(hermetic.processes().len(), 0);
}

#[test]
fn a_signal_ends_the_agent_without_a_status() {
    let hermetic = Hermetic::new(AGENT);
    assert_eq!(play(&hermetic, "signal KILL").code(), None);
}

#[test]
fn a_snapshot_sees_refs_index_configuration_hooks_modes_and_files_and_nothing_below_our_refs() {
    let hermetic = Hermetic::new("no-nightgate");
    let repository = hermetic.repository("repository");
    repository.write("file", "one\n").write(".gitignore", "ignored\n").commit("first");
    let before = repository.snapshot();
    before.assert_same(&repository.snapshot());
    repository.git(["update-ref", "refs/nightgate/j-00000000/candidate", "HEAD"]);
    before.assert_same(&repository.snapshot());

    repository.write("file", "two\n").write("ignored", "").write_executable(".git/hooks/post-commit", "");
    repository.git(["config", "user.name", "Other"]);
    repository.git(["update-ref", "refs/heads/other", "HEAD"]);
    repository.git(["update-index", "--assume-unchanged", "file"]);
    let differences = before.differences(&repository.snapshot());
    let starts = [
        ".git/config: was",
        ".git/index: was",
        "file: was \"one\\n\", is \"two\\n\"",
        ".git/hooks/post-commit: new",
        ".git/logs/refs/heads/other: new",
        ".git/refs/heads/other: new",
        "ignored: new",
        "git status: was",
    ];
    for (difference, start) in differences.iter().zip(starts) {
        assert!(difference.starts_with(start), "{difference}");
    }
    assert_eq!(differences.len(), starts.len(), "{differences:#?}");
}

#[test]
fn packing_our_own_ref_changes_nothing_and_packing_the_users_does() {
    let hermetic = Hermetic::new("no-nightgate");
    let repository = hermetic.repository("repository");
    repository.write("file", "one\n").commit("first");
    repository.git(["pack-refs", "--all"]);
    let before = repository.snapshot();
    repository.git(["update-ref", "refs/nightgate/j-00000000/candidate", "HEAD"]);
    repository.git(["pack-refs", "--all"]);
    before.assert_same(&repository.snapshot());
    repository.git(["tag", "users"]);
    repository.git(["pack-refs", "--all"]);
    assert!(before.differences(&repository.snapshot())[0].starts_with(".git/packed-refs: was"));
}
