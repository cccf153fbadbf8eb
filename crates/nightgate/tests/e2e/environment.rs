//! The environment of everything that Nightgate starts: agent, setup, checks and git, each looked at from
//! inside. What a policy builds from which names is tested in the host.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::{Hermetic, Repository};

use crate::bench::{
    HONEST, assert_nothing_left, declared, entries, run_arguments, shell, shop, text, told_again,
    unboxed_environment, unboxed_environments,
};

/// Part of the value of every variable that nothing may see.
const CANARY: &str = "canary-of-the-test";

/// Variables of Nightgate's own environment: secrets, things that steer git, the loader, a shell, a language
/// or an agent.
const NAMES: &[&str] = &[
    "SECRET_X",
    "MY_TOKEN",
    "DB_PASSWORD",
    "OLD_PASSWD",
    "AWS_SECRET_ACCESS_KEY",
    "SOME_API_KEY",
    "SOMEAPIKEY",
    "PRIVATE_KEY_FILE",
    "A_CREDENTIAL",
    "my_token_lower",
    "PLAIN_CANARY",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_AUTHOR_NAME",
    "GIT_SSH_COMMAND",
    "LD_CANARY",
    "LD_LIBRARY_PATH",
    "DYLD_CANARY",
    "NIGHTGATE_CANARY",
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_THREAD_ID",
    "CODEX_SANDBOX",
    "GEMINI_CLI",
    "OPENCODE",
    "CURSOR_TRACE_ID",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PYTHONPATH",
    "NODE_OPTIONS",
    "RUSTFLAGS",
    "RUBYOPT",
    "PERL5OPT",
    "JAVA_TOOL_OPTIONS",
    "MAKEFLAGS",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "DISPLAY",
    "EDITOR",
    "PAGER",
    "LESSOPEN",
    "http_proxy",
];

/// Where each of the four kinds of process writes its environment.
struct Places {
    agent: PathBuf,
    setup: PathBuf,
    check: PathBuf,
    git: PathBuf,
    wrapper: PathBuf,
}

impl Places {
    fn new(hermetic: &Hermetic) -> Self {
        let place = |name: &str| hermetic.root().join(name);
        let git = place("git-environments");
        fs::create_dir(&git).expect("a new folder can be made");
        hermetic.account().own(&git);
        let real = hermetic.find("git").expect("git is in the system's folders");
        let script = format!(
            "#!/bin/sh\nset -C\nn=1\nuntil true 2>/dev/null >{git}/$n; do n=$((n+1)); done\n\
             env >>{git}/$n\nexec {real} \"$@\"\n",
            git = git.display(),
            real = real.display(),
        );
        let wrapper = hermetic.write("wrapped/git", script);
        hermetic.run(hermetic.command("chmod").arg("755").arg(&wrapper)).assert_code(0);
        let wrapper = wrapper.parent().expect("a file lies in a folder").to_owned();
        Self { agent: place("agent.env"), setup: place("setup.env"), check: place("check.env"), git, wrapper }
    }

    fn content(&self, extra: Value) -> Value {
        let mut content = declared(json!({
            "setup": [shell("deps", format!("env >{}", self.setup.display()))],
            "commands": [shell("tests", format!("env >{}; grep -q two greeting", self.check.display()))],
        }));
        content
            .as_object_mut()
            .expect("it is an object")
            .extend(extra.as_object().expect("it is an object").clone());
        content
    }

    fn script(&self) -> String {
        format!("{HONEST}env-to {}\n", text(&self.agent))
    }

    /// Runs a job with the canaries in Nightgate's own environment.
    fn run(&self, hermetic: &Hermetic, repository: &Repository<'_>, content: &Value) -> Value {
        let mut command =
            hermetic.nightgate_command(repository.path(), run_arguments(hermetic, content, &self.script()));
        self.surround(&mut command);
        let outcome = hermetic.run(&mut command);
        told_again(hermetic, outcome.assert_code(0))
    }

    fn surround(&self, command: &mut Command) {
        command.envs(NAMES.iter().map(|name| (name, format!("/{CANARY}/{name}"))));
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.wrapper.display()));
    }

    /// What every git saw.
    fn gits(&self) -> Vec<String> {
        let seen: Vec<String> = entries(&self.git).iter().map(|name| read(&self.git.join(name))).collect();
        assert!(seen.len() >= 20, "{} runs of git were seen", seen.len());
        seen
    }
}

#[track_caller]
fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("failed to read {}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn names(environment: &str) -> BTreeSet<&str> {
    environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect()
}

/// Those of the canaries that an environment holds.
fn canaries(environment: &str) -> Vec<&str> {
    let held = environment.lines().filter(|line| line.contains(CANARY));
    held.map(|line| line.split('=').next().unwrap_or_default()).collect()
}

/// What `sh` adds to its own environment.
const OF_THE_SHELL: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

#[test]
fn no_variable_of_nightgates_own_environment_reaches_agent_setup_check_or_git() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let places = Places::new(&hermetic);
        let said = places.run(&hermetic, &repository, &places.content(json!({})));
        assert_eq!(said["verdict"], json!("VERIFIED"));
        let common = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER"];
        let python = ["PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"];
        for (place, more) in [
            (&places.agent, &[][..]),
            (&places.setup, &python),
            (&places.check, &[python[0], python[1], "PYTHONNOUSERSITE"]),
        ] {
            let environment = read(place);
            assert_eq!(canaries(&environment), Vec::<&str>::new(), "{}", place.display());
            let mut found = names(&environment);
            for name in OF_THE_SHELL {
                found.remove(name);
            }
            let wanted: BTreeSet<&str> = common.iter().chain(more).copied().collect();
            assert_eq!(found, wanted, "{}", place.display());
            let homes = [hermetic.home(), hermetic.state()];
            for home in homes {
                let line = format!("HOME={}\n", home.display());
                assert!(!environment.contains(&line), "{}: {line}", place.display());
            }
        }
        for environment in places.gits() {
            assert_eq!(canaries(&environment), Vec::<&str>::new(), "git");
            for name in names(&environment) {
                let known =
                    common.contains(&name) || OF_THE_SHELL.contains(&name) || name.starts_with("GIT_");
                assert!(known || ["SSH_ASKPASS", "XDG_CONFIG_HOME"].contains(&name), "git has {name}");
            }
            assert!(environment.contains("GIT_TERMINAL_PROMPT=0") && environment.contains("LC_ALL=C\n"));
        }
        assert_nothing_left(&hermetic);
    }
}

#[test]
fn names_of_withheld_secrets_are_recorded_and_their_values_are_nowhere() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let places = Places::new(&hermetic);
    let said = places.run(&hermetic, &repository, &places.content(json!({})));
    for capability in ["environment.agent", "environment.checks"] {
        let found = said["isolation"]["capabilities"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|found| found["capability"] == json!(capability))
            .expect("the capability is reported");
        let got = found["got"].as_str().expect("it is text");
        for name in ["SECRET_X", "MY_TOKEN", "DB_PASSWORD", "SOME_API_KEY", "my_token_lower", "A_CREDENTIAL"]
        {
            assert!(got.contains(name), "{capability}: {got}");
        }
        assert!(!got.contains("PLAIN_CANARY"), "{capability}: {got}");
    }
    assert!(!said.to_string().contains(CANARY));
    no_file_holds_the_canary(&hermetic.state());
}

fn no_file_holds_the_canary(folder: &Path) {
    for name in entries(folder) {
        let path = folder.join(name);
        if path.is_dir() {
            no_file_holds_the_canary(&path);
        } else {
            assert!(!read(&path).contains(CANARY), "{} holds a secret", path.display());
        }
    }
}

#[test]
fn what_the_declaration_passes_reaches_agent_setup_and_checks_and_nothing_else_does() {
    for hermetic in unboxed_environments() {
        let repository = shop(&hermetic);
        let places = Places::new(&hermetic);
        let pass = [
            "PLAIN_CANARY",
            "MY_TOKEN",
            "GIT_DIR",
            "LD_CANARY",
            "CLAUDECODE",
            "BASH_ENV",
            "NIGHTGATE_CANARY",
            "HOME",
            "PATH",
            "NOT_SET",
        ];
        let said = places.run(&hermetic, &repository, &places.content(json!({"passEnv": pass})));
        assert_eq!(said["verdict"], json!("VERIFIED"));
        for place in [&places.agent, &places.setup, &places.check] {
            let environment = read(place);
            let mut found = canaries(&environment);
            found.sort_unstable();
            assert_eq!(found, ["MY_TOKEN", "PLAIN_CANARY"], "{}", place.display());
            assert!(!environment.contains(&format!("HOME={}\n", hermetic.home().display())), "{environment}");
            assert!(!names(&environment).contains("NOT_SET"));
        }
        for environment in places.gits() {
            assert_eq!(canaries(&environment), Vec::<&str>::new(), "git");
        }
    }
}

#[test]
fn an_agents_own_credential_reaches_the_agent_alone() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let places = Places::new(&hermetic);
    let agent = hermetic.scripted_agent(&places.script());
    let (program, script) = agent.split_once(' ').expect("a program and its script");
    hermetic.write(
        "nightgate-home/config.toml",
        format!(
            "[agents.mine]\nexecutable = \"{program}\"\nargs = [\"{script}\"]\npassEnv = [\"MY_TOKEN\"]\n"
        ),
    );
    let mut arguments = run_arguments(&hermetic, &places.content(json!({})), HONEST);
    arguments.truncate(arguments.len() - 2);
    arguments.extend(["--agent".to_owned(), "mine".to_owned()]);
    let mut command = hermetic.nightgate_command(repository.path(), arguments);
    places.surround(&mut command);
    let outcome = hermetic.run(&mut command);
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_eq!(said["agent"], json!("mine"));
    assert_eq!(canaries(&read(&places.agent)), ["MY_TOKEN"]);
    assert_eq!(canaries(&read(&places.setup)), Vec::<&str>::new());
    assert_eq!(canaries(&read(&places.check)), Vec::<&str>::new());
}

#[test]
fn each_process_has_a_home_and_a_temporary_folder_of_its_own() {
    let hermetic = unboxed_environment();
    let repository = shop(&hermetic);
    let place = |name: &str| hermetic.root().join(name);
    let dump = |name: &str| {
        format!(
            "env >{}; test -z \"$(ls -A \"$HOME\" \"$TMPDIR\" | grep kept)\" && \
             touch \"$HOME/kept\" \"$TMPDIR/kept\"",
            place(name).display()
        )
    };
    let content = declared(json!({"commands": [
        shell("one", format!("{} && grep -q . greeting", dump("one"))),
        shell("two", format!("{} && grep -q two greeting", dump("two"))),
    ]}));
    let script = format!("{HONEST}run sh -c {}\n", quoted(&dump("agent")));
    let outcome = hermetic.nightgate(repository.path(), run_arguments(&hermetic, &content, &script));
    let said = told_again(&hermetic, outcome.assert_code(0));
    assert_eq!(said["verdict"], json!("VERIFIED"), "{said:#}");
    let value = |name: &str, variable: &str| {
        let environment = read(&place(name));
        let line = environment
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{variable}=")).map(str::to_owned));
        line.unwrap_or_else(|| panic!("{name} has no {variable}"))
    };
    for variable in ["HOME", "TMPDIR"] {
        let all: BTreeSet<String> =
            ["agent", "one", "two"].iter().map(|name| value(name, variable)).collect();
        assert_eq!(all.len(), 3, "{variable} is shared: {all:?}");
        for folder in all {
            assert!(Path::new(&folder).starts_with(hermetic.state()), "{folder}");
            assert!(!Path::new(&folder).exists(), "{folder} is left");
        }
    }
}

/// One word of the scripted agent's language.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
