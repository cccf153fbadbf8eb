//! The language of the scripted agent: one action a line, read here, done by the binary `scripted-agent`. Conditions
//! and loops are not here: an agent that needs them is a shell script.
//!
//! Words are split as a shell would split them (quotes, backslashes, `#` comments), without any expansion. A TEXT is
//! all words that are left, joined by one space, in which `\n`, `\t`, `\0` and `\\` stand for what they do in C; no
//! line break is added.
//!
//! ```text
//! write FILE TEXT          make FILE, with its folders, or replace it
//! append FILE TEXT         add TEXT to the end of FILE
//! delete PATH              remove a file, link or whole folder
//! chmod MODE PATH          set the mode, in octal
//! mkdir PATH               make a folder, with its parents
//! symlink AIM PATH         make a link at PATH
//! fifo PATH                make a FIFO
//! git ARGUMENT...          run git, which must succeed
//! run PROGRAM ARGUMENT...  run a program, which must succeed
//! print TEXT               to standard output
//! print-error TEXT         to standard error
//! print-bytes COUNT        that many bytes to standard output, a line break after each 100
//! stdin-to FILE            copy standard input (the prompt) into FILE
//! env-to FILE              write the environment into FILE, one sorted NAME=VALUE a line
//! cwd-to FILE              write the working directory into FILE
//! wait-for FIFO            block until somebody has written to FIFO and closed it
//! poke FIFO                block until somebody reads FIFO, then write a line
//! spawn ACTION             do the rest of the line in a child that isn't waited for
//! daemon ACTION            the same in a session of its own and orphaned, as daemons do
//! daemon-after FIFO ACTION the same, once somebody has written to FIFO
//! signal NAME              send a signal (TERM, KILL, ...) to itself
//! hang                     block for ever
//! exit STATUS              end
//! ```
//!
//! The end of the script is `exit 0`. An action that fails ends the agent with status 97 and a line on standard error.

use std::path::PathBuf;

#[cfg(test)]
mod tests;

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Replace a file.
    Write(PathBuf, Vec<u8>),
    /// Add to the end of a file.
    Append(PathBuf, Vec<u8>),
    /// Remove what lies there.
    Delete(PathBuf),
    /// Set the mode.
    Chmod(u32, PathBuf),
    /// Make a folder.
    Mkdir(PathBuf),
    /// Make a link: aim, then path.
    Symlink(PathBuf, PathBuf),
    /// Make a FIFO.
    Fifo(PathBuf),
    /// Run a program with arguments.
    Run(String, Vec<String>),
    /// Write to standard output.
    Print(Vec<u8>),
    /// Write to standard error.
    PrintError(Vec<u8>),
    /// Write this many bytes to standard output.
    PrintBytes(u64),
    /// Copy standard input into a file.
    StdinTo(PathBuf),
    /// Write the environment into a file.
    EnvTo(PathBuf),
    /// Write the working directory into a file.
    CwdTo(PathBuf),
    /// Block until a FIFO was written.
    WaitFor(PathBuf),
    /// Write to a FIFO once it is read.
    Poke(PathBuf),
    /// Do one line in a child that isn't waited for.
    Spawn(String),
    /// Do one line in an orphan with a session of its own, perhaps after a FIFO was written.
    Daemon(Option<PathBuf>, String),
    /// Send a signal to itself.
    Signal(String),
    /// Block for ever.
    Hang,
    /// End with this status.
    Exit(i32),
}

/// A line that isn't an action.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {fault}")]
pub struct ScriptError {
    line: usize,
    fault: String,
}

/// Reads a whole script.
pub fn parse(text: &str) -> Result<Vec<Action>, ScriptError> {
    let mut actions = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let words = shlex::split(line)
            .ok_or_else(|| ScriptError { line: index + 1, fault: "a quote isn't closed".to_owned() })?;
        if let Some((name, rest)) = words.split_first() {
            let action = action(name, rest).map_err(|fault| ScriptError { line: index + 1, fault })?;
            actions.push(action);
        }
    }
    Ok(actions)
}

fn action(name: &str, words: &[String]) -> Result<Action, String> {
    Ok(match (name, words) {
        ("write", [file, text @ ..]) => Action::Write(file.into(), unescape(&text.join(" "))?),
        ("append", [file, text @ ..]) => Action::Append(file.into(), unescape(&text.join(" "))?),
        ("delete", [path]) => Action::Delete(path.into()),
        ("chmod", [mode, path]) => Action::Chmod(octal(mode)?, path.into()),
        ("mkdir", [path]) => Action::Mkdir(path.into()),
        ("symlink", [aim, path]) => Action::Symlink(aim.into(), path.into()),
        ("fifo", [path]) => Action::Fifo(path.into()),
        ("git", arguments @ [_, ..]) => Action::Run("git".to_owned(), arguments.to_vec()),
        ("run", [program, arguments @ ..]) => Action::Run(program.clone(), arguments.to_vec()),
        ("print", text) => Action::Print(unescape(&text.join(" "))?),
        ("print-error", text) => Action::PrintError(unescape(&text.join(" "))?),
        ("print-bytes", [count]) => Action::PrintBytes(number(count)?),
        ("stdin-to", [file]) => Action::StdinTo(file.into()),
        ("env-to", [file]) => Action::EnvTo(file.into()),
        ("cwd-to", [file]) => Action::CwdTo(file.into()),
        ("wait-for", [fifo]) => Action::WaitFor(fifo.into()),
        ("poke", [fifo]) => Action::Poke(fifo.into()),
        ("spawn", rest @ [_, ..]) => Action::Spawn(checked(rest)?),
        ("daemon", rest @ [_, ..]) => Action::Daemon(None, checked(rest)?),
        ("daemon-after", [fifo, rest @ ..]) => Action::Daemon(Some(fifo.into()), checked(rest)?),
        ("signal", [name]) => Action::Signal(name.clone()),
        ("hang", []) => Action::Hang,
        ("exit", [status]) => Action::Exit(number(status)?),
        _ => return Err(format!("`{name}` with {} words is no action", words.len())),
    })
}

/// One action as a line of its own, refused here if it isn't one.
fn checked(words: &[String]) -> Result<String, String> {
    let (name, rest) = words.split_first().ok_or("an action is missing")?;
    action(name, rest)?;
    shlex::try_join(words.iter().map(String::as_str)).map_err(|error| error.to_string())
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is no number that fits"))
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| format!("`{text}` is no octal mode"))
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'0') => 0,
                Some(b'\\') => b'\\',
                _ => return Err(r"only \n, \t, \0 and \\ may follow a backslash".to_owned()),
            },
            other => other,
        });
    }
    Ok(bytes)
}
