//! Whether a check could ever say no, as far as its text shows. Running it at base, which shows more, is not here.

/// A check that can't fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this check can't fail ({0}), so its success would prove nothing: declare the program whose exit status decides"
)]
pub struct CannotFail(String);

/// Commands that succeed whatever happens.
const ALWAYS_SUCCEED: &[&str] = &["true", ":", "echo", "printf"];

/// Shells that take a script as an argument.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "busybox"];

/// Programs that run the rest of their arguments as a program.
const CARRIERS: &[&str] = &["env", "timeout", "nice", "nohup", "setsid", "stdbuf", "time", "command", "exec"];

/// Refuses a check whose exit status can't be that of the work: `true`, `exit 0`, a shell string with `|| true`, one
/// that ends in a command that always succeeds, one whose status a pipe takes away.
pub fn can_fail(executable: &str, args: &[String]) -> Result<(), CannotFail> {
    let mut words: Vec<&str> = std::iter::once(executable).chain(args.iter().map(String::as_str)).collect();
    while let Some(carried) = carried_program(&words) {
        words.drain(..carried);
    }
    let Some((program, args)) = words.split_first() else { return Ok(()) };
    let name = program.rsplit('/').next().unwrap_or(program);
    if ALWAYS_SUCCEED.contains(&name) {
        return Err(CannotFail(format!("`{name}` succeeds whatever happens")));
    }
    if SHELLS.contains(&name)
        && let Some((options, script)) = shell_script(args)
    {
        return script_can_fail(script, options.contains("pipefail"));
    }
    Ok(())
}

/// How many leading words only carry the program that really runs.
fn carried_program(words: &[&str]) -> Option<usize> {
    let name = words.first()?.rsplit('/').next()?;
    if !CARRIERS.contains(&name) {
        return None;
    }
    let skipped = words[1..]
        .iter()
        .take_while(|word| {
            word.starts_with('-')
                || word.contains('=')
                || word.starts_with(|first: char| first.is_ascii_digit())
        })
        .count();
    (skipped + 1 < words.len()).then_some(skipped + 1)
}

/// The options and the script of `sh [options] -c script`.
fn shell_script<'a>(args: &[&'a str]) -> Option<(String, &'a str)> {
    let at =
        args.iter().position(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains('c'))?;
    Some((args[..at].join(" "), args.get(at + 1)?))
}

/// What stands between two commands of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    End,
    Then,
    And,
    Or,
    Pipe,
    Background,
}

fn script_can_fail(script: &str, pipefail: bool) -> Result<(), CannotFail> {
    let commands = split_commands(script);
    let pipefail = pipefail || script.contains("pipefail");
    for (at, (_, joint)) in commands.iter().enumerate() {
        let next = commands.get(at + 1).map(|(command, _)| command.as_str());
        if *joint == Joint::Or && next.is_some_and(always_succeeds) {
            return Err(CannotFail(format!(
                "`|| {}` turns every failure into success",
                next.unwrap_or_default()
            )));
        }
        if *joint == Joint::Pipe && !pipefail {
            return Err(CannotFail(
                "the exit status before `|` is lost without `set -o pipefail`".to_owned(),
            ));
        }
    }
    let Some((last, joint)) = commands.last() else {
        return Err(CannotFail("the script is empty".to_owned()));
    };
    if *joint == Joint::Background {
        return Err(CannotFail("the last command is put in the background".to_owned()));
    }
    let before = commands.len().checked_sub(2).map(|at| commands[at].1);
    // `set -e` ends the script at the first failure, so that its last command no longer matters.
    let stops_at_failure = commands.iter().any(|(command, _)| sets_errexit(command));
    if always_succeeds(last) && before != Some(Joint::And) && !(stops_at_failure && before.is_some()) {
        return Err(CannotFail(format!("its last command `{last}` succeeds whatever went before")));
    }
    Ok(())
}

fn sets_errexit(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("set")
        && words.any(|word| {
            word == "errexit" || word.starts_with('-') && !word.starts_with("--") && word.contains('e')
        })
}

fn always_succeeds(command: &str) -> bool {
    let grouping = |character: char| matches!(character, '(' | ')' | '{' | '}') || character.is_whitespace();
    let mut words = command.trim_matches(grouping).split_whitespace();
    match words.next() {
        Some("exit" | "return") => words.next() == Some("0"),
        Some(name) => ALWAYS_SUCCEED.contains(&name.rsplit('/').next().unwrap_or(name)),
        None => true,
    }
}

/// Splits a script at its operators, outside quotes and comments. Approximate by design: it only has to see the plain
/// ways of losing a status; whatever it can't read is allowed.
fn split_commands(script: &str) -> Vec<(String, Joint)> {
    let mut commands = Vec::new();
    let mut current = String::new();
    let mut quote = None;
    let mut characters = script.chars().peekable();
    let mut push = |current: &mut String, joint| {
        let command = current.trim().to_owned();
        current.clear();
        if !command.is_empty() {
            commands.push((command, joint));
        }
    };
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => {
                quote = None;
                current.push(character);
            }
            (Some('"') | None, '\\') => {
                current.push(character);
                current.extend(characters.next());
            }
            (Some(_), _) => current.push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                current.push(character);
            }
            (None, '#') if current.is_empty() || current.ends_with(char::is_whitespace) => {
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            (None, '|') if characters.next_if_eq(&'|').is_some() => push(&mut current, Joint::Or),
            (None, '|') => {
                let _ = characters.next_if_eq(&'&');
                push(&mut current, Joint::Pipe);
            }
            (None, '&') if characters.next_if_eq(&'&').is_some() => push(&mut current, Joint::And),
            // `2>&1` and `&>file` are redirections.
            (None, '&') if current.ends_with('>') || characters.peek() == Some(&'>') => {
                current.push(character)
            }
            (None, '&') => push(&mut current, Joint::Background),
            (None, ';' | '\n') => push(&mut current, Joint::Then),
            (None, _) => current.push(character),
        }
    }
    push(&mut current, Joint::End);
    commands
}

#[cfg(test)]
mod tests {
    use super::can_fail;

    fn shell(script: &str) -> Result<(), super::CannotFail> {
        can_fail("sh", &["-c".to_owned(), script.to_owned()])
    }

    #[test]
    fn a_check_that_always_succeeds_is_refused() {
        for program in ["true", "/bin/true", ":", "echo"] {
            assert!(can_fail(program, &[]).is_err(), "{program}");
        }
        assert!(can_fail("env", &["A=1".to_owned(), "true".to_owned()]).is_err());
        assert!(can_fail("timeout", &["5".to_owned(), "true".to_owned()]).is_err());
    }

    #[test]
    fn a_shell_string_that_loses_its_status_is_refused() {
        for script in [
            "",
            "true",
            "exit 0",
            "make test || true",
            "make test||:",
            "make test || exit 0",
            "make test; exit 0",
            "make test; true",
            "make test; echo done",
            "make test\necho done",
            "make test | tail -5",
            "make test 2>&1 | tee log",
            "make test |& tee log",
            "make test &",
            "(make test || true) && echo ok",
            "make test || echo failed",
        ] {
            assert!(shell(script).is_err(), "{script:?} was accepted");
        }
        assert!(can_fail("bash", &["-ec".to_owned(), "make || true".to_owned()]).is_err());
    }

    #[test]
    fn a_shell_string_that_can_fail_is_accepted() {
        for script in [
            "make test",
            "cd app && make test",
            "make test && echo ok",
            "set -e; make test; echo done",
            "set -euo pipefail; make test | tee log",
            "grep -q 'a || true' file",
            "make test 2>&1",
            "make test # || true",
            "test -f a || exit 1",
        ] {
            assert_eq!(shell(script), Ok(()), "{script:?}");
        }
        assert!(
            can_fail("bash", &["-o".into(), "pipefail".into(), "-c".into(), "make | tee l".into()]).is_ok()
        );
        assert!(can_fail("python3", &["-m".to_owned(), "unittest".to_owned()]).is_ok());
        assert!(can_fail("sh", &["check.sh".to_owned()]).is_ok());
    }
}
