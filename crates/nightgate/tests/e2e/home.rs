//! Nightgate's own folders: reached through links, and with something in them that resists. What a home that can't
//! be read or written is told as is `reader`; what a killed program leaves in it is `kill`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Account, Hermetic};

use crate::bench::{
    HONEST, assert_nothing_left, codes, declared, entries, job_of, listed, run, run_arguments, shop, shown,
    text, told_again, unboxed_environment, unboxed_environments, unboxed_for, verify,
};

/// What makes a capture incomplete for everybody: a file of more bytes than one may have. It holds none.
const TOO_LARGE: &str = "run truncate -s 5G large\n";

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode can be set");
}

/// An environment of somebody whom a mode can keep out.
fn environment_without_rights() -> Hermetic {
    let account = if Account::caller_is_root() { Account::ordinary() } else { Account::Caller };
    unboxed_for(account)
}

#[test]
fn a_home_behind_a_link_is_the_same_home() {
    for mut hermetic in unboxed_environments() {
        let place = hermetic.root().join("elsewhere");
        fs::create_dir(&place).expect("a new folder can be made");
        hermetic.account().own(&place);
        let link = hermetic.root().join("link");
        symlink(&place, &link).expect("a link can be made");
        for home in [link.clone(), link.join("below")] {
            hermetic.set("NIGHTGATE_HOME", &home);
            let repository = hermetic.repository(&format!("shop-{}", home.components().count()));
            repository.write("greeting", "one\n").write("check.sh", "grep -q two greeting\n").commit("base");
            let ran = run(&hermetic, &repository, &declared(json!({})), HONEST);
            let said = told_again(&hermetic, ran.assert_code(0));
            let arguments = ["--base", "HEAD", "--commit", "HEAD"];
            let judged = verify(&hermetic, &repository, &declared(json!({})), &arguments);
            assert_eq!(codes(&judged.assert_code(1).json()), ["outcome_absent"], "{judged}");
            let real = fs::canonicalize(&home).expect("the home was made");
            for folder in ["jobs", "rooms"] {
                assert_eq!(entries(&real.join(folder)), [""; 0], "{folder}");
            }
            hermetic.set("NIGHTGATE_HOME", &real);
            assert_eq!(shown(&hermetic, job_of(&said)), said);
        }
    }
}

#[test]
fn a_folder_of_the_home_that_is_a_link_is_refused_before_anything_runs() {
    for name in ["jobs", "rooms", "locks", "projects", "blobs", "kept"] {
        let hermetic = unboxed_environment();
        let repository = shop(&hermetic);
        let aim = hermetic.root().join("aim");
        hermetic.write("aim/j-00000000/mine", "mine\n");
        fs::create_dir(hermetic.state()).expect("a new folder can be made");
        symlink(&aim, hermetic.state().join(name)).expect("a link can be made");
        let trace = hermetic.root().join("ran");
        let script = format!("write {} x\n{HONEST}", trace.display());
        let outcome = run(&hermetic, &repository, &declared(json!({})), &script);
        let said = outcome.assert_code(2).json();
        assert_eq!(codes(&said), ["environment_fault"], "{outcome}");
        let told = said["reasons"][0]["text"].as_str().unwrap_or_default();
        assert!(told.contains(text(&hermetic.state().join(name))) && told.contains("link"), "{told}");
        assert!(!trace.exists(), "the agent ran");
        assert_eq!(entries(&aim), ["j-00000000"], "what the link aims at was touched");
    }
}

#[test]
fn a_jobs_folder_that_cannot_be_removed_takes_back_no_verdict_and_stops_no_other_command() {
    let hermetic = environment_without_rights();
    let repository = shop(&hermetic);
    let jobs = hermetic.state().join("jobs");
    // The folder above the job's own; what lies in the job's own can be removed, and it itself can't.
    let outcome = run(&hermetic, &repository, &declared(json!({})), &format!("{HONEST}chmod 500 ../..\n"));
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
    assert_eq!(entries(&jobs), [job_of(&said)]);
    repository
        .write("nightgate.toml", "criteriaPaths = []\n[[commands]]\nname = \"t\"\nexecutable = \"make\"\n");
    repository.commit("a project's file");
    hermetic.nightgate(repository.path(), ["plan", "approve"]).assert_code(0);
    set_mode(&jobs, 0o700);
    run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0);
    assert_nothing_left(&hermetic);
}

#[test]
fn a_workspace_with_what_its_owner_cannot_remove_takes_back_no_verdict_and_stops_no_other_job() {
    // Only root can put somebody else's folder there.
    for hermetic in
        unboxed_environments().into_iter().filter(|hermetic| hermetic.account() != Account::Caller)
    {
        let repository = shop(&hermetic);
        repository.write(".gitignore", "held\n").commit("ignored");
        let (ready, done) = (hermetic.fifo("ready"), hermetic.fifo("done"));
        let script = format!("{HONEST}poke {}\nwait-for {}\n", ready.path().display(), done.path().display());
        let arguments = run_arguments(&hermetic, &declared(json!({})), &script);
        let running = hermetic.start_nightgate(repository.path(), &arguments);
        ready.wait();
        let jobs = hermetic.state().join("jobs");
        let job = entries(&jobs).remove(0);
        let held = jobs.join(&job).join("workspace/held");
        fs::create_dir(&held).expect("a folder can be made");
        fs::write(held.join("file"), "theirs\n").expect("a file can be written");
        done.poke();
        let outcome = running.wait();
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_eq!((&said["verdict"], job_of(&said)), (&json!("VERIFIED"), &job[..]), "{said:#}");
        let moved = entries(&jobs).into_iter().find(|name| name.starts_with(&format!(".left-{job}-")));
        let away = jobs.join(moved.expect("what resisted was moved away")).join("workspace/held/file");
        assert!(away.exists(), "{:?}", entries(&jobs));
        run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0);
        assert!(away.exists(), "{:?}", entries(&jobs));
        hermetic.account().own(&jobs);
        run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0);
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn a_workspace_that_could_not_be_captured_whole_is_kept_and_named() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let outcome = run(&hermetic, &repository, &declared(json!({})), &format!("{HONEST}{TOO_LARGE}"));
    let said = told_again(&hermetic, outcome.assert_code(2));
    assert_eq!(said["verdict"], json!("UNCERTAIN"), "{said:#}");
    assert_kept_whole(&hermetic, &said);
    let words = hermetic.nightgate(hermetic.root(), ["show", job_of(&said)]);
    let kept = hermetic.state().join("kept").join(job_of(&said));
    assert!(words.assert_code(0).stdout_text().contains(text(&kept)), "{words}");
    run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0);
    assert_kept_whole(&hermetic, &said);
    assert_nothing_left(&hermetic);
}

#[test]
fn a_workspace_that_cannot_be_kept_elsewhere_stays_where_it_is_until_it_can() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    fs::create_dir(hermetic.state()).expect("a new folder can be made");
    let obstacle = hermetic.state().join("kept");
    fs::write(&obstacle, "no folder\n").expect("a file can be written");
    let outcome = run(&hermetic, &repository, &declared(json!({})), &format!("{HONEST}{TOO_LARGE}"));
    let told = outcome.assert_code(2).json();
    assert_eq!(codes(&told), ["environment_fault"], "{outcome}");
    let job = job_of(&listed(&hermetic)[0]).to_owned();
    let told = told["reasons"][0]["text"].as_str().unwrap_or_default();
    assert!(told.ends_with(&format!("nightgate run --resume {job}")), "{told}");
    let workspace = hermetic.state().join("jobs").join(&job).join("workspace/large");
    assert!(workspace.exists(), "the only copy of the work");
    run(&hermetic, &repository, &declared(json!({})), HONEST).assert_code(0);
    assert!(workspace.exists(), "the only copy of the work");
    fs::remove_file(&obstacle).expect("a file can be removed");
    let resumed = hermetic.nightgate(repository.path(), ["run", "--resume", &job, "--json"]);
    let said = told_again(&hermetic, resumed.assert_code(2));
    assert_kept_whole(&hermetic, &said);
    assert_nothing_left(&hermetic);
}

/// Panics unless the workspace lies, with all that is in it, where the job says.
#[track_caller]
fn assert_kept_whole(hermetic: &Hermetic, said: &Value) {
    let kept = hermetic.state().join("kept").join(job_of(said));
    assert_eq!(fs::read_to_string(kept.join("greeting")).ok().as_deref(), Some("two\n"), "{said:#}");
    assert!(kept.join("large").exists(), "{said:#}");
    let notes = said["notes"].as_array().cloned().unwrap_or_default();
    let note = notes.iter().find(|note| note["code"] == json!("workspace_kept"));
    let told = note.and_then(|note| note["text"].as_str()).unwrap_or_default();
    assert!(told.contains(text(&kept)), "{said:#}");
}
