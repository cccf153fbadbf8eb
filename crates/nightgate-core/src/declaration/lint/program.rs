//! What a program with its arguments can end with, as far as its name and they show. Shell syntax is not here.

use super::status::Statuses;

/// What is known of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// It always ends so; `prints` where something may be on its standard output.
    Always { status: u8, prints: bool },
    /// It may fail, and says nothing about the work when it does: `cd`, `rm`, `cat`.
    Aside,
    /// It says whether there is more to read or to do: `read`.
    Input,
    /// It decides by itself.
    Open,
    /// It runs this script.
    Script(Script),
}

/// A shell's script with what its options turn on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) text: String,
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
}

const SILENT: Reply = Reply::Always { status: 0, prints: false };
const PRINTING: Reply = Reply::Always { status: 0, prints: true };

/// Succeed whatever happens.
const ALWAYS: &[&str] = &["true", ":", "sleep", "export", "readonly", "declare", "typeset", "local"];

/// Succeed whatever happens, and may print.
const ALWAYS_PRINTING: &[&str] = &["echo", "printf"];

/// Print something of their own where they are given no operand.
const ALWAYS_ALONE: &[&str] = &["ls", "date", "pwd", "whoami", "hostname", "uname", "id", "env", "wait"];

/// Prepare, clean up, or show what others made. That they fail is never an answer about the work.
const ASIDE: &[&str] = &[
    "cd", "pushd", "popd", "rm", "rmdir", "mkdir", "touch", "chmod", "umask", "ulimit", "unset", "alias",
    "cat", "tac", "head", "tail", "less", "more", "tee", "wc", "tr", "cut", "uniq", "nl", "rev", "fold",
    "fmt", "column", "sed", "sort", "pkill", "killall", "disown", "clear", "tput",
];

/// Loops ask these whether to go on.
const INPUTS: &[&str] = &["read", "getopts", "shift", "kill"];

/// Where a system has its programs.
const PLACES: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"];

/// Shells that take a script as an argument.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"];

/// Programs that run the rest of their arguments as a program; their options that take a value, in letters and as
/// words, and how many operands of their own come first.
const CARRIERS: &[(&str, &str, &[&str], usize)] = &[
    ("env", "uC", &["--unset", "--chdir"], 0),
    ("timeout", "sk", &["--signal", "--kill-after"], 1),
    ("nice", "n", &["--adjustment"], 0),
    ("ionice", "cn", &["--class", "--classdata"], 0),
    ("stdbuf", "ioe", &["--input", "--output", "--error"], 0),
    ("time", "fo", &["--format", "--output"], 0),
    ("nohup", "", &[], 0),
    ("setsid", "", &[], 0),
    ("exec", "a", &[], 0),
    ("command", "", &[], 0),
    ("builtin", "", &[], 0),
    ("busybox", "", &[], 0),
];

/// Interpreters, by the beginning of their names, and the options behind which a program stands.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval", "-p", "--print"]),
    ("ruby", &["-e"]),
    ("perl", &["-e", "-E"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
];

/// Statements that leave the status at 0, in the languages of [`INTERPRETERS`].
const EMPTY_STATEMENTS: &[&str] = &[
    "",
    "pass",
    "0",
    "1",
    "None",
    "nil",
    "null",
    "undefined",
    "true",
    "True",
    "exit",
    "exit 0",
    "exit(0)",
    "exit()",
    "quit()",
    "quit(0)",
    "sys.exit()",
    "sys.exit(0)",
    "os._exit(0)",
    "process.exit()",
    "process.exit(0)",
    "process.exitCode = 0",
    "import os",
    "import sys",
    "import os, sys",
    "import sys, os",
];

/// Beginnings of statements that print what is written behind them.
const PRINTS: &[&str] = &["print", "puts", "echo", "say", "console.log"];

/// What `words` can end with: a program and its arguments. A word that only a shell can tell is `None`; `alone` where
/// nothing is on its standard input.
pub(super) fn reply(words: &[Option<&str>], alone: bool) -> Reply {
    let mut words = words;
    loop {
        let Some((Some(program), args)) = words.split_first() else { return Reply::Open };
        let Some(name) = name_of(program) else { return Reply::Open };
        match carried(name, args) {
            Some(rest) if !rest.is_empty() => words = rest,
            Some(_) | None => return of_program(name, args, alone),
        }
    }
}

/// The name of a program of the system; `None` for one of the tree, such as `./test`, or of a place that isn't known.
fn name_of(program: &str) -> Option<&str> {
    match program.rsplit_once('/') {
        None => Some(program),
        Some((folder, name)) => PLACES.contains(&folder).then_some(name),
    }
}

/// The words of the program that a carrier runs; `None` where it is no carrier, or can't be read.
fn carried<'w, 'a>(name: &str, args: &'w [Option<&'a str>]) -> Option<&'w [Option<&'a str>]> {
    let (_, letters, long, operands) = CARRIERS.iter().find(|(carrier, ..)| *carrier == name)?;
    let mut at = 0;
    while let Some(Some(word)) = args.get(at) {
        if *word == "--" {
            at += 1;
            break;
        }
        if name == "env" && (word.contains('=') && !word.starts_with('-') || *word == "-") {
            at += 1;
            continue;
        }
        let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else { break };
        // `command -v x` asks whether there is such a program; `env -S` splits a text into words.
        if name == "command" && option.contains(['v', 'V']) || name == "env" && option.starts_with(['S', 'v'])
        {
            return None;
        }
        // The letter's value is the rest of the word, or the next one.
        let value_follows = match option.find(|letter| letters.contains(letter)) {
            _ if option.starts_with('-') => long.contains(word),
            Some(place) => place + 1 == option.len(),
            None => false,
        };
        at += if value_follows { 2 } else { 1 };
    }
    // `env` may go on with assignments behind `--`.
    while name == "env" && args.get(at).is_some_and(|word| word.is_some_and(|word| word.contains('='))) {
        at += 1;
    }
    args.get(at + operands..)
}

fn of_program(name: &str, args: &[Option<&str>], alone: bool) -> Reply {
    if SHELLS.contains(&name) {
        return of_shell(args, alone);
    }
    if let Some((_, options)) = INTERPRETERS.iter().find(|(interpreter, _)| is_of(name, interpreter)) {
        return of_interpreter(args, options, alone);
    }
    let has_operand = args.iter().any(|arg| !arg.is_some_and(|arg| arg.starts_with('-')));
    let literal = || args.iter().copied().collect::<Option<Vec<&str>>>();
    match name {
        "false" => Reply::Always { status: 1, prints: false },
        "test" => literal().map_or(Reply::Open, |args| of_test(&args)),
        "[" => match literal() {
            Some(args) if args.last() == Some(&"]") => of_test(&args[..args.len() - 1]),
            _ => Reply::Open,
        },
        // These tell by their status where they are asked to.
        "sort"
            if args.iter().any(|arg| {
                arg.is_none_or(|arg| {
                    arg.starts_with("-c") || arg.starts_with("-C") || arg.starts_with("--check")
                })
            }) =>
        {
            Reply::Open
        }
        "sed" if args.iter().any(|arg| arg.is_none_or(|arg| arg.contains(['q', 'Q']))) => Reply::Open,
        _ if ALWAYS.contains(&name) => SILENT,
        _ if ALWAYS_PRINTING.contains(&name) => PRINTING,
        _ if ALWAYS_ALONE.contains(&name) && !has_operand => PRINTING,
        "cat" if alone && args.is_empty() => SILENT,
        _ if INPUTS.contains(&name) => Reply::Input,
        _ if ASIDE.contains(&name) => Reply::Aside,
        _ => Reply::Open,
    }
}

/// Whether a program's name is an interpreter's, with or without a version: `python`, `python3`, `python3.11`.
fn is_of(name: &str, interpreter: &str) -> bool {
    name.strip_prefix(interpreter).is_some_and(|version| {
        version.chars().all(|character| character.is_ascii_digit() || character == '.')
    })
}

/// `sh [options] -c script`, or `sh` that reads an empty standard input.
fn of_shell(args: &[Option<&str>], alone: bool) -> Reply {
    let mut script = Script { text: String::new(), errexit: false, pipefail: false };
    let (mut takes_script, mut only_reads) = (false, false);
    let mut at = 0;
    while let Some(&Some(word)) = args.get(at) {
        at += 1;
        if let "-" | "--" = word {
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            at += usize::from(matches!(long, "rcfile" | "init-file"));
            continue;
        }
        let Some(letters) = word.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
            at -= 1;
            break;
        };
        let is_on = word.starts_with('-');
        for letter in letters.chars() {
            match letter {
                'c' => takes_script = true,
                'e' => script.errexit = is_on,
                'n' => only_reads = is_on,
                'o' | 'O' => {
                    match args.get(at) {
                        Some(Some("errexit")) => script.errexit = is_on,
                        Some(Some("pipefail")) => script.pipefail = is_on,
                        Some(Some(_)) => {}
                        Some(None) | None => return Reply::Open,
                    }
                    at += 1;
                }
                _ => {}
            }
        }
    }
    match args.get(at) {
        Some(&Some(text)) if takes_script && !only_reads => {
            script.text = text.to_owned();
            Reply::Script(script)
        }
        Some(Some(_)) if takes_script => SILENT,
        None if alone && !takes_script => SILENT,
        _ => Reply::Open,
    }
}

/// `python3 -c pass` and the like: a program on the command line that does nothing.
fn of_interpreter(args: &[Option<&str>], options: &[&str], alone: bool) -> Reply {
    if alone && args.is_empty() {
        return SILENT;
    }
    let mut args = args.iter().copied();
    while let Some(Some(word)) = args.next() {
        let joined = word.split_once('=').filter(|(option, _)| options.contains(option));
        let is_cluster = || {
            // `-Bc` is `-B -c`.
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            letters.and_then(|letters| letters.chars().last()).is_some_and(|last| {
                letters.is_some_and(|letters| letters.chars().all(|letter| letter.is_ascii_alphabetic()))
                    && options
                        .iter()
                        .any(|option| option.strip_prefix('-') == Some(last.to_string().as_str()))
            })
        };
        if let Some((_, program)) = joined {
            return if does_nothing(program) { PRINTING } else { Reply::Open };
        }
        if options.contains(&word) || is_cluster() {
            return match args.next() {
                Some(Some(program)) if does_nothing(program) => PRINTING,
                _ => Reply::Open,
            };
        }
        // `-W ignore` and `-X dev` take a word.
        if let "-W" | "-X" = word {
            args.next();
        } else if !word.starts_with('-') || word == "-" || word == "-m" {
            return Reply::Open;
        }
    }
    Reply::Open
}

fn does_nothing(program: &str) -> bool {
    program.split(['\n', ';']).all(|statement| {
        let statement = statement.trim();
        EMPTY_STATEMENTS.contains(&statement)
            || statement.starts_with('#')
            || statement.starts_with("//")
            || prints_a_literal(statement)
    })
}

fn prints_a_literal(statement: &str) -> bool {
    PRINTS.iter().filter_map(|print| statement.strip_prefix(print)).any(|rest| {
        let rest = rest.trim();
        let rest = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(rest).trim();
        let Some(quote @ ('"' | '\'')) = rest.chars().next() else { return rest.is_empty() };
        let inside = rest.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        inside.is_some_and(|text| !text.contains([quote, '\\', '$', '#', '{', '@']))
    })
}

/// `test` where no file, variable or clock is asked.
fn of_test(args: &[&str]) -> Reply {
    let says = |holds: bool| Reply::Always { status: u8::from(!holds), prints: false };
    match args {
        [] => says(false),
        ["!", rest @ ..] if !rest.is_empty() => match of_test(rest) {
            Reply::Always { status, .. } => says(status != 0),
            Reply::Aside | Reply::Input | Reply::Open | Reply::Script(_) => Reply::Open,
        },
        [word] => says(!word.is_empty()),
        ["-n", word] => says(!word.is_empty()),
        ["-z", word] => says(word.is_empty()),
        [left, "=" | "==", right] => says(left == right),
        [left, "!=", right] => says(left != right),
        [left, operator, right] => match (left.trim().parse::<i64>(), right.trim().parse::<i64>()) {
            (Ok(left), Ok(right)) => match *operator {
                "-eq" => says(left == right),
                "-ne" => says(left != right),
                "-lt" => says(left < right),
                "-le" => says(left <= right),
                "-gt" => says(left > right),
                "-ge" => says(left >= right),
                _ => Reply::Open,
            },
            _ => Reply::Open,
        },
        _ => Reply::Open,
    }
}

/// What `exit` and `return` end with; `None` where only the shell can tell.
pub(super) fn exit_status(word: Option<&str>) -> Option<Statuses> {
    match word?.parse::<i64>() {
        Ok(number) => Some(Statuses::only(u8::try_from(number.rem_euclid(256)).unwrap_or(0))),
        Err(_) => None,
    }
}
