//! SIGKILL of Nightgate and of its helpers, anywhere in a job: readers tell the truth, nothing is left
//! running, and the next command that writes keeps what the agent had made. What a single crash of the store
//! leaves is the store's.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Fifo, Hermetic, Outcome, Repository, Snapshot};

use crate::bench::{
    HONEST, assert_kept, assert_nothing_left, codes, declaration, declared, entries, execution, job_of,
    listed, run_arguments, shell, shop, shown, text, told_again, unboxed_environment, unboxed_environments,
    unboxed_for, verify,
};

/// When the git of a job ends the program that started it.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// In the place of what git would have done.
    Instead,
    /// When git has done its work and before anybody knows.
    After,
    /// While git goes on alone.
    Meanwhile,
}

/// A folder with a `git` that numbers its runs (an empty file for each in `calls`) and ends its parent at the
/// one whose number `fatal` is.
fn numbering_git(hermetic: &Hermetic, fatal: usize, moment: Moment) -> (PathBuf, PathBuf) {
    let git = hermetic.find("git").expect("git is in the system's folders");
    let git = git.display();
    let calls = hermetic.root().join(format!("calls-{fatal}"));
    fs::create_dir(&calls).expect("a new folder can be made");
    hermetic.account().own(&calls);
    let fate = match moment {
        Moment::Instead => "kill -9 $PPID; exit 1".to_owned(),
        Moment::After => format!("{git} \"$@\"; status=$?; kill -9 $PPID; exit $status"),
        Moment::Meanwhile => format!("kill -9 $PPID; exec {git} \"$@\""),
    };
    let script = format!(
        "#!/bin/sh\nset -C\nn=1\nuntil true 2>/dev/null >{calls}/$n; do n=$((n+1)); done\n\
         if [ $n = {fatal} ]; then {fate}; fi\nexec {git} \"$@\"\n",
        calls = calls.display(),
    );
    let wrapper = hermetic.write(&format!("git-{fatal}/git"), script);
    hermetic.run(hermetic.command("chmod").arg("755").arg(&wrapper)).assert_code(0);
    (wrapper.parent().expect("a file lies in a folder").to_owned(), calls)
}

/// Shows that whatever readers say after a death is true: nothing is still at work, and no verdict is without
/// a record.
#[track_caller]
fn readers_tell_the_truth(hermetic: &Hermetic, point: &str) -> Option<Value> {
    for arguments in [&["list"][..], &["list", "--json"]] {
        hermetic.nightgate(hermetic.root(), arguments).assert_code(0);
    }
    let jobs = listed(hermetic);
    assert!(jobs.len() <= 1, "{point}: {jobs:?}");
    let line = jobs.into_iter().next()?;
    let job = job_of(&line);
    hermetic.nightgate(hermetic.root(), ["show", job]).assert_code(0);
    hermetic.nightgate(hermetic.root(), ["logs", job]).assert_code(0);
    let shown = shown(hermetic, job);
    let ended = ["done", "blocked", "cancelled"].contains(&shown["state"].as_str().unwrap_or_default());
    assert_eq!(shown["interrupted"], json!(!ended), "{point}: {shown:#}");
    assert_eq!(line["interrupted"], shown["interrupted"], "{point}");
    assert_eq!(shown["verdict"] == Value::Null, shown["record"] == Value::Null, "{point}: {shown:#}");
    assert_eq!(shown["state"] == json!("done"), shown["verdict"] == json!("VERIFIED"), "{point}: {shown:#}");
    Some(shown)
}

/// Lets the next command that writes pick up what was left: a `verify` that has nothing to do with the dead
/// job.
#[track_caller]
fn recover(hermetic: &Hermetic, repository: &Repository<'_>) {
    let outcome = verify(hermetic, repository, &declared(json!({})), &["--base", "HEAD", "--commit", "HEAD"]);
    assert_eq!(codes(&outcome.assert_code(1).json()), ["outcome_absent"], "{outcome}");
}

/// Shows that a job that was killed is what it should be once the next command has written.
#[track_caller]
fn brought_to_an_end(
    hermetic: &Hermetic,
    repository: &Repository<'_>,
    before: &Snapshot,
    dead: Option<&Value>,
    point: &str,
) {
    before.assert_same(&repository.snapshot());
    recover(hermetic, repository);
    let Some(dead) = dead else {
        assert_eq!(repository.git(["for-each-ref", "refs/nightgate"]), "", "{point}: a ref of no job");
        assert_nothing_left(hermetic);
        return;
    };
    let job = job_of(dead);
    let mut now = shown(hermetic, job);
    assert_eq!(now["attempts"], dead["attempts"], "{point}: an attempt was charged");
    if now["state"] == json!("verifying") {
        assert_eq!(now["interrupted"], json!(true), "{point}: {now:#}");
        let resumed = hermetic.nightgate(repository.path(), ["run", "--resume", job, "--json"]);
        resumed.assert_code(0);
        now = told_again(hermetic, &resumed);
        assert_eq!(now["verdict"], json!("VERIFIED"), "{point}: {now:#}");
    }
    assert_eq!(now["interrupted"], json!(false), "{point}: {now:#}");
    if now["attempts"] == json!(0) {
        assert_eq!(now["state"], json!("blocked"), "{point}: {now:#}");
        assert_eq!(now["candidate"], Value::Null, "{point}: {now:#}");
        assert_eq!(
            repository.git(["for-each-ref", "refs/nightgate"]),
            "",
            "{point}: a ref without an attempt"
        );
    } else {
        assert_kept(repository, &now);
        let commit = now["candidate"]["commit"].as_str().expect("there is a candidate");
        assert_eq!(
            repository.read_at(commit, "greeting").as_deref(),
            Some(b"two\n".as_slice()),
            "{point}: the work that was kept"
        );
    }
    if now["verdict"] == Value::Null {
        assert_eq!(now["state"], json!("blocked"), "{point}: {now:#}");
        assert_ne!(execution(&now), "executed", "{point}: {now:#}");
    }
    before.assert_same(&repository.snapshot());
    assert_eq!(repository.fsck(), "", "{point}");
    assert_nothing_left(hermetic);
}

/// Runs one tiny job for each git of a whole run, killed there, and shows that it comes to a true end.
fn killed_at_each_git(moment: Moment, chosen: impl Fn(usize) -> bool) {
    let count = {
        let hermetic = unboxed_environment();
        let repository = shop(&hermetic);
        let (folder, calls) = numbering_git(&hermetic, 0, moment);
        let outcome = killed_run(&hermetic, &repository, &folder);
        outcome.assert_code(0);
        entries(&calls).len()
    };
    assert!(count >= 20, "a run takes {count} calls of git: this shows little");
    for fatal in (1..=count).filter(|fatal| chosen(*fatal)) {
        let point = format!("{moment:?} git {fatal} of {count}");
        let hermetic = unboxed_environment();
        let repository = shop(&hermetic);
        let before = repository.snapshot();
        let (folder, _) = numbering_git(&hermetic, fatal, moment);
        let outcome = killed_run(&hermetic, &repository, &folder);
        assert_eq!(outcome.code(), None, "{point} didn't kill it: {outcome}");
        hermetic.await_processes();
        let dead = readers_tell_the_truth(&hermetic, &point);
        brought_to_an_end(&hermetic, &repository, &before, dead.as_ref(), &point);
    }
}

/// A run with the `git` of `folder`, which nothing else uses.
fn killed_run(hermetic: &Hermetic, repository: &Repository<'_>, folder: &Path) -> Outcome {
    let arguments = run_arguments(hermetic, &declared(json!({})), HONEST);
    let mut command = hermetic.nightgate_command(repository.path(), arguments);
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
    hermetic.run(&mut command)
}

#[test]
fn a_job_that_is_killed_instead_of_any_odd_git_comes_to_a_true_end() {
    killed_at_each_git(Moment::Instead, |fatal| fatal % 2 == 1);
}

#[test]
fn a_job_that_is_killed_instead_of_any_even_git_comes_to_a_true_end() {
    killed_at_each_git(Moment::Instead, |fatal| fatal % 2 == 0);
}

#[test]
fn a_job_that_is_killed_after_any_odd_git_comes_to_a_true_end() {
    killed_at_each_git(Moment::After, |fatal| fatal % 2 == 1);
}

#[test]
fn a_job_that_is_killed_after_any_even_git_comes_to_a_true_end() {
    killed_at_each_git(Moment::After, |fatal| fatal % 2 == 0);
}

#[test]
fn a_job_that_is_killed_while_its_git_goes_on_alone_comes_to_a_true_end() {
    killed_at_each_git(Moment::Meanwhile, |fatal| fatal % 4 == 0);
}

/// What kills happen to: a repository, and a FIFO that says that the moment has come.
struct Scene<'h> {
    hermetic: &'h Hermetic,
    repository: Repository<'h>,
    before: Snapshot,
    ready: Fifo,
    allowed: PathBuf,
}

impl<'h> Scene<'h> {
    fn new(hermetic: &'h Hermetic) -> Self {
        let repository = shop(hermetic);
        let before = repository.snapshot();
        let allowed = hermetic.write("allowed", "");
        Self { hermetic, repository, before, ready: hermetic.fifo("ready"), allowed }
    }

    /// A shell script that says that the moment has come and then never ends, where `condition` holds and the
    /// test hasn't forbidden it.
    fn hang_where(&self, condition: &str) -> String {
        let (ready, allowed) = (self.ready.path().display(), self.allowed.display());
        format!(
            "if {condition} && test -e {allowed}; then setsid sh -c 'while :; do sleep 600; done' & \
             echo now >{ready}; while :; do sleep 600; done; fi\n"
        )
    }

    /// Runs a job until the moment has come, kills Nightgate, and returns what readers say once all is quiet.
    fn killed(&self, content: &Value, script: &str, point: &str) -> Value {
        let script = script.replace("READY", text(self.ready.path()));
        let arguments = run_arguments(self.hermetic, content, &script);
        let running = self.hermetic.start_nightgate(self.repository.path(), arguments);
        self.ready.wait();
        let outcome = running.kill();
        assert_eq!(outcome.code(), None, "{point}: {outcome}");
        self.hermetic.await_processes();
        fs::remove_file(&self.allowed).expect("the file can be removed");
        readers_tell_the_truth(self.hermetic, point).expect("there is a job")
    }

    fn brought_to_an_end(&self, dead: &Value, point: &str) -> Value {
        brought_to_an_end(self.hermetic, &self.repository, &self.before, Some(dead), point);
        shown(self.hermetic, job_of(dead))
    }
}

#[test]
fn a_job_that_is_killed_while_its_agent_works_is_crashed_and_its_work_is_kept() {
    for hermetic in unboxed_environments() {
        let scene = Scene::new(&hermetic);
        // More than a pipe holds: by the time that it is written, the beginning is in the log.
        let script = format!(
            "{HONEST}write new/file 'é\\n'\nprint 'half done\\n'\nprint-bytes 300000\npoke READY\nhang\n"
        );
        let dead = scene.killed(&declared(json!({})), &script, "the agent works");
        assert_eq!((&dead["state"], &dead["attempts"]), (&json!("running"), &json!(1)));
        assert_eq!(dead["candidate"], Value::Null);
        let now = scene.brought_to_an_end(&dead, "the agent works");
        assert_eq!(execution(&now), "crashed", "{now:#}");
        let commit = now["candidate"]["commit"].as_str().expect("there is a candidate");
        assert_eq!(scene.repository.read_at(commit, "new/file").as_deref(), Some("é\n".as_bytes()));
        let logs = hermetic.nightgate(hermetic.root(), ["logs", job_of(&now)]);
        assert!(logs.assert_code(0).stdout_text().contains("half done"), "{logs}");
    }
}

#[test]
fn a_job_that_is_killed_while_daemons_of_its_agent_write_keeps_one_state_and_ends_them() {
    for hermetic in unboxed_environments() {
        let scene = Scene::new(&hermetic);
        let writer = hermetic.write(
            "writer.sh",
            format!(
                "echo two >greeting\necho now >{}\nwhile :; do echo more >>growing; done\n",
                scene.ready.path().display()
            ),
        );
        let script = format!("daemon run sh {}\nspawn hang\nhang\n", text(&writer));
        let dead = scene.killed(&declared(json!({})), &script, "daemons write");
        let now = scene.brought_to_an_end(&dead, "daemons write");
        assert_eq!(execution(&now), "crashed", "{now:#}");
    }
}

#[test]
fn a_job_that_is_killed_in_a_check_at_base_has_no_attempt_and_keeps_nothing() {
    for hermetic in unboxed_environments() {
        let scene = Scene::new(&hermetic);
        let check = scene.hang_where("grep -q one greeting") + "grep -q two greeting";
        let content = declared(json!({"commands": [shell("t", check)]}));
        let dead = scene.killed(&content, HONEST, "a check at base");
        assert_eq!((&dead["state"], &dead["attempts"]), (&json!("queued"), &json!(0)));
        let now = scene.brought_to_an_end(&dead, "a check at base");
        assert_eq!(now["execution"], Value::Null, "{now:#}");
    }
}

#[test]
fn a_job_that_is_killed_in_the_setup_at_base_has_no_attempt_and_keeps_nothing() {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    let setup = scene.hang_where("true") + "touch made";
    let content = declared(json!({"setup": [shell("s", setup)]}));
    let dead = scene.killed(&content, HONEST, "setup at base");
    assert_eq!(dead["state"], json!("queued"));
    scene.brought_to_an_end(&dead, "setup at base");
}

#[test]
fn a_job_that_is_killed_in_the_setup_of_its_verification_goes_on_to_its_verdict() {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    let count = hermetic.root().join("setups");
    let again = format!("echo . >>{count} && test $(wc -l <{count}) = 2", count = count.display());
    let setup = scene.hang_where(&again) + "touch made";
    let content = declared(json!({"setup": [shell("s", setup)]}));
    let dead = scene.killed(&content, HONEST, "setup");
    assert_eq!((&dead["state"], execution(&dead)), (&json!("verifying"), "executed"));
    let now = scene.brought_to_an_end(&dead, "setup");
    assert_eq!((&now["verdict"], &now["candidate"]), (&json!("VERIFIED"), &dead["candidate"]));
}

#[test]
fn a_job_that_is_killed_in_either_of_two_checks_goes_on_to_its_verdict() {
    for hermetic in unboxed_environments() {
        for fatal in 0..2 {
            // Each kill has an environment of its own.
            let hermetic = unboxed_for(hermetic.account());
            let scene = Scene::new(&hermetic);
            let hang = scene.hang_where("grep -q two greeting") + "grep -q two greeting";
            let mut checks = vec![json!({"name": "plain", "executable": "sh", "args": ["check.sh"]})];
            checks.insert(fatal, shell("hangs", hang));
            let point = format!("check {fatal}");
            let dead = scene.killed(&declared(json!({"commands": checks})), HONEST, &point);
            assert_eq!((&dead["state"], execution(&dead)), (&json!("verifying"), "executed"), "{point}");
            assert_kept(&scene.repository, &dead);
            let now = scene.brought_to_an_end(&dead, &point);
            assert_eq!(
                (&now["verdict"], &now["candidate"]),
                (&json!("VERIFIED"), &dead["candidate"]),
                "{point}"
            );
        }
    }
}

#[test]
fn work_that_a_killed_verification_left_unjudged_can_still_fail() {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    let check = scene.hang_where("grep -q three greeting") + "grep -q two greeting";
    let content = declared(json!({"commands": [shell("t", check)]}));
    let dead = scene.killed(&content, "write greeting 'three\\n'\n", "a check");
    recover(&hermetic, &scene.repository);
    let resumed = hermetic.nightgate(scene.repository.path(), ["run", "--resume", job_of(&dead), "--json"]);
    let said = told_again(&hermetic, resumed.assert_code(1));
    assert_eq!((&said["verdict"], codes(&said)), (&json!("FAILED"), vec!["check_failed"]));
    assert_nothing_left(&hermetic);
}

#[test]
fn a_verify_that_is_killed_in_its_check_is_told_to_be_done_again() {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    let base = scene.repository.head();
    scene.repository.write("greeting", "two\n").commit("work");
    let before = scene.repository.snapshot();
    let check = scene.hang_where("true") + "grep -q two greeting";
    let content = declared(json!({"commands": [shell("t", check)]}));
    let file = declaration(&hermetic, &content);
    let arguments = ["verify", text(&file), "--base", &base];
    let running = hermetic.start_nightgate(scene.repository.path(), arguments);
    scene.ready.wait();
    assert_eq!(running.kill().code(), None);
    hermetic.await_processes();
    let dead = readers_tell_the_truth(&hermetic, "verify").expect("there is a job");
    assert_eq!(dead["state"], json!("verifying"));
    recover(&hermetic, &scene.repository);
    let now = shown(&hermetic, job_of(&dead));
    assert_eq!((&now["state"], &now["verdict"]), (&json!("blocked"), &Value::Null));
    before.assert_same(&scene.repository.snapshot());
    assert_eq!(scene.repository.git(["for-each-ref", "refs/nightgate"]), "");
    assert_nothing_left(&hermetic);
}

#[test]
fn a_freeze_that_is_killed_leaves_nothing_behind_for_long() {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    let check = scene.hang_where("true") + "grep -q two greeting";
    let content = declared(json!({"commands": [shell("t", check)]}));
    let file = declaration(&hermetic, &content);
    let running = hermetic.start_nightgate(scene.repository.path(), ["plan", "freeze", text(&file)]);
    scene.ready.wait();
    assert_eq!(running.kill().code(), None);
    hermetic.await_processes();
    assert_eq!(listed(&hermetic), Vec::<Value>::new());
    recover(&hermetic, &scene.repository);
    scene.before.assert_same(&scene.repository.snapshot());
    assert_nothing_left(&hermetic);
}

#[test]
fn a_living_job_is_not_taken_for_a_dead_one() {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    let go = hermetic.fifo("go");
    let script = format!("{HONEST}poke {}\nwait-for {}\n", text(scene.ready.path()), text(go.path()));
    let arguments = run_arguments(&hermetic, &declared(json!({})), &script);
    let running = hermetic.start_nightgate(scene.repository.path(), arguments);
    scene.ready.wait();
    recover(&hermetic, &scene.repository);
    let jobs = listed(&hermetic);
    let living = jobs.iter().find(|job| job["kind"] == json!("run")).expect("the job is listed");
    assert_eq!((&living["state"], &living["interrupted"]), (&json!("running"), &json!(false)));
    let resumed = hermetic.nightgate(scene.repository.path(), ["run", "--resume", job_of(living), "--json"]);
    assert_eq!(codes(&resumed.assert_code(2).json()), ["environment_fault"], "{resumed}");
    go.poke();
    let outcome = running.wait();
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_eq!(said["verdict"], json!("VERIFIED"));
    scene.before.assert_same(&scene.repository.snapshot());
    assert_nothing_left(&hermetic);
}

#[test]
fn a_recovery_that_is_killed_itself_is_done_by_the_next() {
    let count = recovery_killed_at(0);
    assert!(count >= 20, "a recovery takes {count} calls of git: this shows little");
    for fatal in (1..=count).step_by(2) {
        recovery_killed_at(fatal);
    }
}

/// Kills a job while its agent works, and then the command that recovers it at its git number `fatal` (0:
/// never); says how many calls of git that command made.
fn recovery_killed_at(fatal: usize) -> usize {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    let point = format!("recovery, git {fatal}");
    let dead = scene.killed(&declared(json!({})), &format!("{HONEST}poke READY\nhang\n"), &point);
    let (folder, calls) = numbering_git(&hermetic, fatal, Moment::After);
    let file = declaration(&hermetic, &declared(json!({})));
    // Without a commit to judge it ends where recovery has ended.
    let arguments = ["verify", text(&file), "--base", "no-such-commit"];
    let mut command = hermetic.nightgate_command(scene.repository.path(), arguments);
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
    let outcome = hermetic.run(&mut command);
    assert_eq!(outcome.code(), (fatal == 0).then_some(2), "{point}: {outcome}");
    hermetic.await_processes();
    readers_tell_the_truth(&hermetic, &point);
    let now = scene.brought_to_an_end(&dead, &point);
    assert_eq!(execution(&now), "crashed", "{point}: {now:#}");
    entries(&calls).len()
}

#[test]
fn work_whose_repository_is_away_waits_for_it_and_stops_no_other_job() {
    for hermetic in unboxed_environments() {
        let scene = Scene::new(&hermetic);
        let dead =
            scene.killed(&declared(json!({})), &format!("{HONEST}poke READY\nhang\n"), "the agent works");
        let (place, away) = (scene.repository.path(), hermetic.root().join("away"));
        fs::rename(place, &away).expect("the repository can be moved");
        let other = hermetic.repository("other");
        other.write("greeting", "one\n").write("check.sh", "grep -q two greeting\n").commit("base");
        let outcome =
            hermetic.nightgate(other.path(), run_arguments(&hermetic, &declared(json!({})), HONEST));
        assert_eq!(told_again(&hermetic, outcome.assert_code(0))["verdict"], json!("VERIFIED"));
        let told = String::from_utf8_lossy(&outcome.stderr);
        assert!(told.contains(job_of(&dead)) && told.contains("find the repository"), "{told}");
        let waiting = shown(&hermetic, job_of(&dead));
        assert_eq!(
            (&waiting["state"], &waiting["interrupted"]),
            (&json!("running"), &json!(true)),
            "{waiting:#}"
        );
        assert_eq!(entries(&hermetic.state().join("jobs")), [job_of(&dead)], "the only copy of the work");
        fs::rename(&away, place).expect("the repository can be moved back");
        scene.brought_to_an_end(&dead, "the repository is back");
    }
}

#[test]
fn work_that_cannot_be_kept_at_its_ref_stays_where_it_is_until_it_can() {
    let hermetic = unboxed_environment();
    let scene = Scene::new(&hermetic);
    // A ref of the user's in the place of the folder of ours.
    scene.repository.git(["update-ref", "refs/nightgate", "HEAD"]);
    let arguments = run_arguments(&hermetic, &declared(json!({})), HONEST);
    let outcome = hermetic.nightgate(scene.repository.path(), arguments);
    assert_eq!(codes(&outcome.assert_code(2).json()), ["environment_fault"], "{outcome}");
    let jobs = listed(&hermetic);
    let [job] = &jobs[..] else { panic!("one job was made: {jobs:?}") };
    assert_eq!((&job["verdict"], &job["interrupted"]), (&Value::Null, &json!(true)), "{job:#}");
    assert_eq!(entries(&hermetic.state().join("jobs")), [job_of(job)], "the only copy of the work");
    recover(&hermetic, &scene.repository);
    assert_eq!(entries(&hermetic.state().join("jobs")), [job_of(job)], "the only copy of the work");
    scene.repository.git(["update-ref", "-d", "refs/nightgate"]);
    let dead = shown(&hermetic, job_of(job));
    let now = scene.brought_to_an_end(&dead, "the ref is free");
    assert_eq!((execution(&now), &now["verdict"]), ("executed", &json!("VERIFIED")), "{now:#}");
}

#[test]
fn a_run_whose_work_cannot_be_kept_at_its_ref_names_the_command_that_goes_on() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    repository.git(["update-ref", "refs/nightgate", "HEAD"]);
    let outcome =
        hermetic.nightgate(repository.path(), run_arguments(&hermetic, &declared(json!({})), HONEST));
    let told = outcome.assert_code(2).json()["reasons"][0]["text"].as_str().unwrap_or_default().to_owned();
    let job = job_of(&listed(&hermetic)[0]).to_owned();
    let next = format!("nightgate run --resume {job}");
    assert!(told.contains(&format!("refs/nightgate/{job}/candidate")) && told.ends_with(&next), "{told}");
    let words = hermetic.nightgate(hermetic.root(), ["show", &job]);
    assert!(words.assert_code(0).stdout_text().contains(&next), "{words}");
    let resume = || hermetic.nightgate(repository.path(), ["run", "--resume", &job, "--json"]);
    assert_eq!(resume().assert_code(2).json()["reasons"][0]["text"], json!(told), "the same reason again");
    assert_eq!(entries(&hermetic.state().join("jobs")), [&job[..]], "the only copy of the work");
    repository.git(["update-ref", "-d", "refs/nightgate"]);
    let said = told_again(&hermetic, resume().assert_code(0));
    assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
    assert_kept(&repository, &said);
    assert_nothing_left(&hermetic);
}

#[test]
fn jobs_that_begin_at_once_in_a_home_that_is_not_there_yet_all_come_to_their_verdict() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let before = repository.snapshot();
    let start = |_| {
        let arguments = run_arguments(&hermetic, &declared(json!({})), HONEST);
        hermetic.start_nightgate(repository.path(), arguments)
    };
    let running: Vec<_> = (0..4).map(start).collect();
    for outcome in running.into_iter().map(testkit::Running::wait) {
        let said = told_again(&hermetic, outcome.assert_code(0));
        assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
        assert_kept(&repository, &said);
    }
    assert_eq!(listed(&hermetic).len(), 4);
    before.assert_same(&repository.snapshot());
    assert_eq!(repository.fsck(), "");
    assert_nothing_left(&hermetic);
}

/// Sends SIGKILL to those of Nightgate's own helper processes that belong to this environment; says how many.
fn kill_helpers(hermetic: &Hermetic, which: impl Fn(usize) -> bool) -> usize {
    let helpers = helpers(hermetic);
    for (_, id) in helpers.iter().enumerate().filter(|(place, _)| which(*place)) {
        kill_process(*id, Signal::KILL).expect("a helper that runs can be killed");
    }
    helpers.len()
}

/// The helpers, guards first: a helper whose parent is no helper is one.
fn helpers(hermetic: &Hermetic) -> Vec<Pid> {
    let is_helper = |id: u32| {
        fs::read(format!("/proc/{id}/cmdline"))
            .is_ok_and(|words| words.split(|byte| *byte == 0).nth(1) == Some(b"__box".as_slice()))
    };
    let mut found = Vec::new();
    for process in hermetic.processes() {
        if is_helper(process.id) {
            found.push(process.id);
        }
    }
    // The keeper holds nothing of the environment itself: it is the guard's child.
    let children: Vec<u32> = found.iter().flat_map(|id| children(*id)).filter(|id| is_helper(*id)).collect();
    found.extend(children.into_iter().filter(|id| !found.contains(id)).collect::<Vec<_>>());
    found.into_iter().filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?)).collect()
}

fn children(id: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

#[test]
fn an_agent_whose_helper_is_killed_is_crashed_and_its_work_is_kept() {
    for hermetic in unboxed_environments() {
        for place in 0..2 {
            let hermetic = unboxed_for(hermetic.account());
            let scene = Scene::new(&hermetic);
            let script = format!("{HONEST}daemon hang\npoke {}\nhang\n", text(scene.ready.path()));
            let arguments = run_arguments(&hermetic, &declared(json!({})), &script);
            let running = hermetic.start_nightgate(scene.repository.path(), arguments);
            scene.ready.wait();
            assert_eq!(kill_helpers(&hermetic, |at| at == place), 2, "a guard and a keeper");
            let outcome = running.wait();
            outcome.assert_code(3);
            let said = told_again(&hermetic, &outcome);
            assert_eq!((execution(&said), &said["verdict"]), ("crashed", &Value::Null), "{said:#}");
            assert_kept(&scene.repository, &said);
            let commit = said["candidate"]["commit"].as_str().expect("there is a candidate");
            assert_eq!(scene.repository.read_at(commit, "greeting").as_deref(), Some(b"two\n".as_slice()));
            scene.before.assert_same(&scene.repository.snapshot());
            assert_nothing_left(&hermetic);
        }
    }
}

#[test]
fn a_check_whose_helper_is_killed_makes_the_verdict_uncertain() {
    let account = unboxed_environment().account();
    for place in 0..2 {
        let hermetic = unboxed_for(account);
        let scene = Scene::new(&hermetic);
        let check = scene.hang_where("grep -q two greeting") + "grep -q two greeting";
        let content = declared(json!({"commands": [shell("t", check)]}));
        let running =
            hermetic.start_nightgate(scene.repository.path(), run_arguments(&hermetic, &content, HONEST));
        scene.ready.wait();
        assert_eq!(kill_helpers(&hermetic, |at| at == place), 2, "a guard and a keeper");
        let outcome = running.wait();
        let said = told_again(&hermetic, outcome.assert_code(2));
        assert_eq!(said["verdict"], json!("UNCERTAIN"));
        assert!(codes(&said).contains(&"verifier_error"), "{said:#}");
        assert_nothing_left(&hermetic);
    }
}
