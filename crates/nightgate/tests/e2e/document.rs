//! Files that a person names: whatever stands there, the program neither waits for it nor takes it all in.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::{Hermetic, Outcome, Repository};

use crate::bench::{codes, declaration, declared, environment, environments, listed, shop, text};

/// What is no document, each with a word of the error that says why.
fn others(hermetic: &Hermetic) -> Vec<(PathBuf, &'static str)> {
    let large = hermetic.root().join("large");
    File::create(&large).and_then(|file| file.set_len(100 << 20)).expect("a large file can be made");
    vec![
        (hermetic.fifo("fifo").path().to_owned(), "FIFO"),
        ("/dev/zero".into(), "device"),
        (hermetic.root().to_owned(), "folder"),
        (large, "4 MiB"),
    ]
}

fn nightgate(hermetic: &Hermetic, repository: &Repository<'_>, arguments: &[&str]) -> Outcome {
    hermetic.nightgate(repository.path(), arguments)
}

#[test]
fn what_is_no_document_is_refused_at_once_wherever_a_file_can_be_named() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let good = declaration(&hermetic, &declared(json!({})));
    let agent = hermetic.scripted_agent("write greeting 'two\\n'\n");
    let base: &[&str] = &["--base", "HEAD"];
    for (place, word) in others(&hermetic) {
        let file = text(&place);
        let said = |outcome: &Outcome, code: i32| {
            outcome.assert_code(code);
            let told = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
            assert!(told.contains(word) && told.contains(file), "{word}: {outcome}");
            assert!(told.contains("name that") || told.contains("name the right file"), "{outcome}");
        };
        let verified = nightgate(&hermetic, &repository, &[&["verify", file, "--json"], base].concat());
        said(&verified, 2);
        assert_eq!(codes(&verified.json()), ["environment_fault"], "{verified}");
        for command in ["freeze", "show", "approve"] {
            said(&nightgate(&hermetic, &repository, &["plan", command, file]), 1);
        }
        let run = |more: &[&str]| {
            nightgate(&hermetic, &repository, &[&["run"], more, &["--agent-command", &agent]].concat())
        };
        said(&run(&["say two", "--declaration", file]), 2);
        said(&run(&["--task-file", file, "--declaration", text(&good)]), 64);
    }
    assert_eq!(listed(&hermetic), Vec::<serde_json::Value>::new(), "none of these made a job");
}

#[test]
fn a_configuration_that_is_no_document_stops_the_run_and_a_link_to_one_is_read() {
    let hermetic = environment();
    let repository = shop(&hermetic);
    let file = declaration(&hermetic, &declared(json!({})));
    let run = || {
        let words = ["run", "say two", "--json", "--agent", "mine", "--declaration", text(&file)];
        nightgate(&hermetic, &repository, &words)
    };
    let place = hermetic.state().join("config.toml");
    let put = |aim: &Path| {
        let _none_yet = fs::remove_file(&place);
        fs::create_dir_all(hermetic.state()).expect("a folder can be made");
        std::os::unix::fs::symlink(aim, &place).expect("a link can be made");
    };
    for (other, word) in others(&hermetic) {
        put(&other);
        let outcome = run();
        assert_eq!(codes(&outcome.assert_code(2).json()), ["environment_fault"], "{outcome}");
        assert!(outcome.stdout_text().contains(word), "{outcome}");
    }
    let agent = hermetic.scripted_agent("write greeting 'two\\n'\n");
    let words = shlex::split(&agent).expect("the command is well-formed");
    let (program, args) = words.split_first().expect("the command names a program");
    put(&hermetic.write(
        "dotfiles/config.toml",
        format!("[agents.mine]\nexecutable = {program:?}\nargs = {args:?}\n"),
    ));
    run().assert_code(0);
}

#[test]
fn a_task_on_standard_input_ends_somewhere() {
    for hermetic in environments() {
        let repository = shop(&hermetic);
        let file = declaration(&hermetic, &declared(json!({})));
        let agent = hermetic.scripted_agent("write greeting 'two\\n'\n");
        let run = |stdin: &str| {
            let words = ["run", "--declaration", text(&file), "--agent-command", &agent];
            let mut command = hermetic.nightgate_command(repository.path(), words);
            hermetic.run(command.stdin(File::open(stdin).expect("it can be opened")))
        };
        let outcome = run("/dev/zero");
        outcome.assert_code(64);
        assert!(outcome.stderr_text().contains("4 MiB"), "{outcome}");
        run(text(&hermetic.write("task", "say two\n"))).assert_code(0);
    }
}
