//! What agents, setup and checks can do to everything that isn't theirs, at each level; and what the verdict says of it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Hermetic, Outcome, Repository};

use crate::bench::{
    assert_nothing_left, codes, declaration, declared, entries, environment, environments, job_of, listed,
    shell, shop, shown, text, unboxed_environment, verify, words,
};

/// The environments of these tests at a level.
fn at(level: &str) -> Vec<Hermetic> {
    let mut all = environments();
    for hermetic in &mut all {
        hermetic.set("NIGHTGATE_ISOLATION", level);
    }
    all
}

/// Things that no box may let through, each a line of shell whose success prints a word. They aim at what this environment
/// holds: the user's repository, Nightgate's own data, another job, a secret of the user.
fn attacks(hermetic: &Hermetic, repository: &Repository<'_>) -> String {
    let (root, state) = (text(hermetic.root()), hermetic.root().join("home/.ssh"));
    let (shop, home) = (text(repository.path()), text(&state));
    format!(
        "try() {{ if ( eval \"$2\" ) >/dev/null 2>&1; then echo \"did: $1\"; fi; }}
        try read-secret 'cat {home}/id_test'
        try write-home 'echo x > {home}/made'
        try write-repository 'echo x > {shop}/made'
        try write-hook 'echo x > {shop}/.git/hooks/pre-commit'
        try write-store 'find {root} -name store.sqlite -exec sh -c \"echo x >> \\\"\\$1\\\"\" sh {{}} + | grep x; \
            for file in $(find {root} -name store.sqlite 2>/dev/null); do echo x >> \"$file\" && exit 0; done; exit 1'
        try read-blobs 'find {root} -path \"*/blobs/*\" -type f 2>/dev/null | grep -q .'
        try list-jobs 'find {root} -path \"*/locks/*\" 2>/dev/null | grep -q .'
        try trace 'python3 -c \"import ctypes,os; libc=ctypes.CDLL(None); \
            raise SystemExit(0 if libc.ptrace(0x4206, os.getppid(), 0, 0) == 0 else 1)\"'
        try mount 'mount -t tmpfs none /mnt'
        :\n"
    )
}

fn plant(hermetic: &Hermetic) {
    let ssh = hermetic.root().join("home/.ssh");
    fs::create_dir_all(&ssh).expect("the home can be written");
    fs::write(ssh.join("id_test"), "a key").expect("the home can be written");
    for path in [&ssh, &ssh.join("id_test")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    hermetic.account().own(&ssh);
}

fn run_agent(hermetic: &Hermetic, repository: &Repository<'_>, content: &Value, script: &str) -> Outcome {
    let file = declaration(hermetic, content);
    let agent = hermetic.write("agent.sh", script);
    let command = format!("sh {}", text(&agent));
    let arguments = ["run", "say two", "--json", "--declaration", text(&file), "--agent-command", &command];
    hermetic.nightgate(repository.path(), words(&arguments))
}

fn everything_written(hermetic: &Hermetic, job: &str) -> String {
    hermetic.nightgate(hermetic.root(), ["logs", job]).assert_code(0).stdout_text()
}

#[test]
fn no_agent_setup_or_check_gets_out_of_its_box() {
    for level in ["I3", "I2"] {
        for hermetic in at(level) {
            let repository = shop(&hermetic);
            plant(&hermetic);
            let attack = hermetic.write("attack.sh", attacks(&hermetic, &repository));
            let attacking = |name: &str| json!({"name": name, "executable": "sh", "args": [text(&attack)]});
            let content = declared(json!({
                "setup": [attacking("prepare")],
                "commands": [{"name": "tests", "executable": "sh", "args": ["check.sh"]}, attacking("attack")],
            }));
            let agent =
                format!("printf 'two\\n' > greeting\necho agent ran\n{}", attacks(&hermetic, &repository));
            let outcome = run_agent(&hermetic, &repository, &content, &agent);
            let said = outcome.json();
            let written = everything_written(&hermetic, job_of(&said));
            assert!(written.contains("agent ran"), "{level}: {written}");
            assert!(!written.contains("did: "), "{level}: {written}");
            assert_eq!(said["verdict"], "VERIFIED", "{level}: {said:#}");
            assert_eq!(said["isolation"]["level"], level);
            assert!(!repository.path().join("made").exists());
            assert_nothing_left(&hermetic);
        }
    }
}

#[test]
fn without_a_box_the_same_things_are_done_and_the_verdict_says_what_was_not_enforced() {
    let mut hermetic = environment();
    hermetic.set("NIGHTGATE_ISOLATION", "I1");
    let repository = shop(&hermetic);
    plant(&hermetic);
    let attack = hermetic.write("attack.sh", attacks(&hermetic, &repository));
    let said = verify(
        &hermetic,
        &repository,
        &declared(json!({
            "outcomeRequirement": "any",
            "commands": [{"name": "attack", "executable": "sh", "args": [text(&attack)]}],
        })),
        &["--base", "HEAD"],
    )
    .json();
    let written = everything_written(&hermetic, job_of(&said));
    assert!(written.contains("did: read-secret") && written.contains("did: write-repository"), "{written}");
    assert_eq!(said["isolation"]["level"], "I1");
    let capability = |name: &str| capability(&said, name);
    for name in ["files.checks", "network.checks", "criteria.checks"] {
        assert_eq!(capability(name)["enforced"], false, "{name}");
        assert!(capability(name)["error"].as_str().is_some_and(|why| why.contains("I1 at most")), "{said:#}");
    }
}

fn capability(said: &Value, name: &str) -> Value {
    let all = said["isolation"]["capabilities"].as_array().expect("capabilities are a list");
    all.iter()
        .find(|found| found["capability"] == name)
        .unwrap_or_else(|| panic!("no {name}: {said:#}"))
        .clone()
}

#[test]
fn a_level_that_is_not_reached_makes_the_verdict_uncertain() {
    for (allowed, minimum) in [("I1", "I2"), ("I2", "I3"), ("I4", "I4"), ("I0", "I1")] {
        let mut hermetic = environment();
        hermetic.set("NIGHTGATE_ISOLATION", allowed);
        let repository = shop(&hermetic);
        repository.write("greeting", "two\n").commit("work");
        let judge = |level: &str| {
            let content = declared(json!({"isolation": {"minimum": level}}));
            verify(&hermetic, &repository, &content, &["--base", "HEAD~"]).json()
        };
        let said = judge(minimum);
        assert_eq!(said["verdict"], "UNCERTAIN", "{said:#}");
        assert_eq!(codes(&said), ["sandbox_degraded"], "{said:#}");
        assert_eq!(said["checks"][0]["passed"], true, "{said:#}");
        let reached = if allowed == "I4" { "I3" } else { allowed };
        assert_eq!(judge(reached)["verdict"], "VERIFIED");
    }
}

#[test]
fn a_check_reaches_no_service_of_the_machine_but_its_own() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a loopback");
    let port = listener.local_addr().expect("it is bound").port();
    let connect =
        format!("! python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'");
    let own = "python3 -c '
import socket
server = socket.create_server((\"127.0.0.1\", 0))
socket.create_connection(server.getsockname())
server.accept()'";
    let hermetic = environment();
    let repository = shop(&hermetic);
    repository.write("greeting", "two\n").commit("work");
    let content = declared(json!({"commands": [shell("reach", connect), shell("own", own)]}));
    let said = verify(&hermetic, &repository, &content, &["--base", "HEAD~"]).json();
    assert_eq!(said["verdict"], "VERIFIED", "{said:#}");
    assert_eq!(capability(&said, "network.checks")["enforced"], true);
}

#[test]
fn criteria_cannot_be_written_by_a_check_nor_moved_away() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    repository.write("tests/a", "expected\n").write("tests/deep/b", "expected\n").commit("tests");
    repository.write("greeting", "two\n").commit("work");
    let script = "for change in 'echo x > tests/a' 'rm -f tests/a' 'mv tests other' 'mv tests/deep tests/other' 'chmod +x tests/deep/b'
        do if eval \"$change\" 2>/dev/null; then echo \"did: $change\"; exit 1; fi; done
        mkdir tests/cache && echo x > tests/cache/y";
    let content = declared(json!({"criteriaPaths": ["tests"], "commands": [shell("change", script)]}));
    let said = verify(&hermetic, &repository, &content, &["--base", "HEAD~"]).json();
    assert_eq!(said["verdict"], "VERIFIED", "{said:#}\n{}", everything_written(&hermetic, job_of(&said)));
    assert_eq!(capability(&said, "criteria.checks")["enforced"], true);
}

#[test]
fn a_machine_without_user_namespaces_falls_to_i2_before_anything_runs_and_says_so() {
    for mut hermetic in environments() {
        hermetic.without_user_namespaces();
        let repository = shop(&hermetic);
        repository.write("greeting", "two\n").commit("work");
        let judge = |level: &str| {
            let content = declared(json!({"isolation": {"minimum": level}}));
            verify(&hermetic, &repository, &content, &["--base", "HEAD~"]).json()
        };
        let said = judge("I2");
        assert_eq!(
            (&said["verdict"], &said["isolation"]["level"]),
            (&json!("VERIFIED"), &json!("I2")),
            "{said:#}"
        );
        let why = capability(&said, "criteria.checks")["error"].clone();
        assert!(
            why.as_str().is_some_and(|why| why.contains("I3: build the box: make the namespaces")),
            "{why}"
        );
        assert_eq!(codes(&judge("I3")), ["sandbox_degraded"]);
        let doctor = hermetic.nightgate(hermetic.root(), ["doctor", "--json"]).assert_code(0).json();
        let reached = |place: usize| {
            (doctor["levels"][place]["level"].clone(), doctor["levels"][place]["reached"].clone())
        };
        assert_eq!(reached(1), (json!("I3"), json!(false)), "{doctor:#}");
        assert!(doctor["levels"][1]["hint"].is_string());
        assert_eq!(reached(2), (json!("I2"), json!(true)), "{doctor:#}");
    }
}

#[test]
fn the_doctor_names_each_level_and_what_was_tried() {
    for hermetic in environments() {
        let plain = hermetic.nightgate(hermetic.root(), ["doctor"]).assert_code(0).stdout_text();
        for (line, word) in plain
            .lines()
            .filter(|line| line.starts_with('I'))
            .zip(["I4  no", "I3  yes", "I2  yes", "I1  yes"])
        {
            assert!(line.starts_with(word), "{plain}");
        }
        let doctor = hermetic.nightgate(hermetic.root(), ["doctor", "--json"]).assert_code(0).json();
        let attempts = doctor["levels"][1]["attempts"].as_array().expect("a list");
        assert!(
            attempts.len() > 10 && attempts.iter().all(|attempt| attempt["refused"].is_string()),
            "{doctor:#}"
        );
        assert!(!Path::new(&hermetic.root().join("data")).exists());
    }
}

#[test]
fn an_unknown_level_is_refused_before_anything_is_done() {
    let mut hermetic = environment();
    hermetic.set("NIGHTGATE_ISOLATION", "I9");
    let outcome = hermetic.nightgate(hermetic.root(), ["doctor"]);
    outcome.assert_code(64);
    assert!(outcome.stderr_text().contains("write one of I0, I1, I2, I3, I4"), "{}", outcome.stderr_text());
}

#[test]
fn a_job_of_another_time_is_read_with_what_it_was_told() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    repository.write("greeting", "two\n").commit("work");
    let said = verify(&hermetic, &repository, &declared(json!({})), &["--base", "HEAD~"]).json();
    assert_eq!(shown(&hermetic, job_of(&said))["isolation"], said["isolation"]);
}

/// Waits until something that others do has happened, without a limit: the test runner has one.
fn await_that(has_happened: impl Fn() -> bool) {
    while !has_happened() {
        std::thread::yield_now();
    }
}

/// Waits for a file that something else makes.
fn await_file(found: impl Fn() -> Option<std::path::PathBuf>) {
    await_that(|| found().is_some_and(|path| path.exists()));
}

/// The only entry of a folder, once there is one.
fn only_entry(folder: &Path) -> Option<std::path::PathBuf> {
    entries(folder).first().map(|name| folder.join(name))
}

#[test]
fn a_boxed_run_that_is_killed_leaves_no_process_mount_or_folder_and_its_work_is_kept() {
    const DAEMON: &str =
        "setsid sh -c 'while :; do sleep 600; done' &\ntouch ready\nwhile :; do sleep 600; done\n";
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("there is a list of mounts");
        let agent = hermetic.write("agent.sh", format!("printf 'two\\n' > greeting\n{DAEMON}"));
        let file = declaration(&hermetic, &declared(json!({})));
        let command = format!("sh {}", text(&agent));
        let arguments = ["run", "say two", "--declaration", text(&file), "--agent-command", &command];
        let running = hermetic.start_nightgate(repository.path(), words(&arguments));
        let jobs = hermetic.state().join("jobs");
        await_file(|| Some(only_entry(&jobs)?.join("workspace/ready")));
        // That they are seen at all: the agent waits in its box, and so does what it left behind.
        await_that(|| {
            hermetic.processes().iter().filter(|process| process.command == "sleep 600").count() == 2
        });
        running.kill();
        hermetic.await_processes();
        assert_eq!(fs::read_to_string("/proc/self/mountinfo").expect("there is a list of mounts"), mounts);
        hermetic.nightgate(repository.path(), ["plan", "approve"]).assert_code(1);
        let said = shown(&hermetic, listed(&hermetic)[0]["job"].as_str().expect("a job has an id"));
        assert_eq!(said["execution"]["outcome"], "crashed", "{said:#}");
        let commit = said["candidate"]["commit"].as_str().expect("the work was kept");
        assert_eq!(repository.read_at(commit, "greeting").as_deref(), Some("two\n".as_bytes()));
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn a_boxed_check_that_is_killed_with_nightgate_leaves_no_process_or_room_and_no_verdict() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let hang = "grep -q one greeting || test ! -e greeting.hang || { touch ready; while :; do sleep 600; done; }; sh check.sh";
        let content = declared(json!({"commands": [shell("tests", hang)]}));
        let file = declaration(&hermetic, &content);
        let agent = hermetic.write("agent.sh", "printf 'two\\n' > greeting\ntouch greeting.hang\n");
        let command = format!("sh {}", text(&agent));
        let arguments = ["run", "say two", "--declaration", text(&file), "--agent-command", &command];
        let running = hermetic.start_nightgate(repository.path(), words(&arguments));
        let rooms = hermetic.state().join("rooms");
        let rooms_of_candidate = || {
            let tree = |name: &String| rooms.join(name).join("tree/ready");
            entries(&rooms).iter().map(tree).find(|path| path.exists())
        };
        await_file(rooms_of_candidate);
        running.kill();
        hermetic.await_processes();
        let job = listed(&hermetic)[0]["job"].as_str().expect("a job has an id").to_owned();
        assert_eq!(shown(&hermetic, &job)["state"], "verifying");
        assert_eq!(shown(&hermetic, &job)["verdict"], Value::Null);
        hermetic.nightgate(repository.path(), ["plan", "approve"]).assert_code(1);
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn no_agent_runs_where_less_than_the_demanded_level_can_be_had() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let trace = hermetic.root().join("ran");
    for minimum in ["I3", "I4"] {
        let content = declared(json!({"isolation": {"minimum": minimum}}));
        let outcome = run_agent(&hermetic, &repository, &content, &format!("touch {}\n", text(&trace)));
        let said = outcome.assert_code(2).json();
        assert_eq!(
            (&said["verdict"], codes(&said)),
            (&json!("UNCERTAIN"), vec!["sandbox_degraded"]),
            "{said:#}"
        );
        let told = said["reasons"][0]["text"].as_str().unwrap_or_default();
        assert!(told.contains("isolation I1 is all") && told.contains("doctor"), "{told}");
        assert!(!trace.exists(), "the agent ran");
        assert_eq!(listed(&hermetic)[0]["state"], "blocked");
        assert_nothing_left(&hermetic);
    }
}
