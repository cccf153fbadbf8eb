//! An agent that does what a script says: a real process that really edits files. The language is `testkit::script`.
//!
//! `scripted-agent SCRIPT` does the lines of the file SCRIPT; `scripted-agent --line LINE` does one line;
//! `scripted-agent --help` prints the language.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::{CWD, FileType, Mode};
use rustix::process::Signal;
use testkit::script::{self, Action};

type Done = Result<Option<u8>, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match start(&arguments) {
        Ok(status) => ExitCode::from(status.unwrap_or(0)),
        Err(error) => {
            // Standard error may be closed; there is nobody else to tell.
            let _ = writeln!(io::stderr(), "scripted-agent: {error}");
            ExitCode::from(97)
        }
    }
}

fn start(arguments: &[OsString]) -> Done {
    let words: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    match words.as_slice() {
        ["--help"] => {
            let lines = include_str!("../script.rs").lines().map_while(|line| line.strip_prefix("//!"));
            for line in lines.filter(|line| !line.contains("```")) {
                writeln!(io::stdout(), "{}", line.strip_prefix(' ').unwrap_or(line))?;
            }
            Ok(None)
        }
        ["--line", line] => play(line),
        ["--daemon", line] => {
            rustix::process::setsid()?;
            detach(&["--line", line])?;
            Ok(None)
        }
        [file] => play(&fs::read_to_string(file).map_err(|error| format!("failed to read {file}: {error}"))?),
        _ => Err("usage: scripted-agent SCRIPT".into()),
    }
}

fn play(text: &str) -> Done {
    for action in script::parse(text)? {
        if let Some(status) = perform(&action).map_err(|error| format!("failed to do {action:?}: {error}"))? {
            return Ok(Some(status));
        }
    }
    Ok(None)
}

/// Does one action; a status is the end.
fn perform(action: &Action) -> Done {
    match action {
        Action::Write(file, text) => {
            make_parent(file)?;
            fs::write(file, text)?;
        }
        Action::Append(file, text) => {
            make_parent(file)?;
            OpenOptions::new().create(true).append(true).open(file)?.write_all(text)?;
        }
        Action::Delete(path) if fs::symlink_metadata(path)?.is_dir() => fs::remove_dir_all(path)?,
        Action::Delete(path) => fs::remove_file(path)?,
        Action::Chmod(mode, path) => fs::set_permissions(path, fs::Permissions::from_mode(*mode))?,
        Action::Mkdir(path) => fs::create_dir_all(path)?,
        Action::Symlink(aim, path) => symlink(aim, path)?,
        Action::Fifo(path) => {
            rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        }
        Action::Run(program, arguments) => {
            let status = Command::new(program).args(arguments).stdin(Stdio::null()).status()?;
            if !status.success() {
                return Err(status.to_string().into());
            }
        }
        Action::Print(text) => io::stdout().write_all(text)?,
        Action::PrintError(text) => io::stderr().write_all(text)?,
        Action::PrintBytes(count) => print_bytes(*count)?,
        Action::StdinTo(file) => {
            make_parent(file)?;
            io::copy(&mut io::stdin().lock(), &mut fs::File::create(file)?)?;
        }
        Action::EnvTo(file) => fs::write(file, environment())?,
        Action::CwdTo(file) => fs::write(file, std::env::current_dir()?.as_os_str().as_encoded_bytes())?,
        Action::WaitFor(fifo) => {
            fs::File::open(fifo)?.read_to_end(&mut Vec::new())?;
        }
        Action::Poke(fifo) => OpenOptions::new().write(true).open(fifo)?.write_all(b"now\n")?,
        Action::Spawn(line) => detach(&["--line", line])?,
        Action::Daemon(fifo, line) => {
            let first = fifo.as_ref().map(|fifo| {
                let path = fifo.to_string_lossy();
                shlex::try_join(["wait-for", &*path]).map(|words| words + "\n")
            });
            let script = first.transpose()?.unwrap_or_default() + line;
            let status = Command::new(std::env::current_exe()?).args(["--daemon", &script]).status()?;
            if !status.success() {
                return Err(status.to_string().into());
            }
        }
        Action::Signal(name) => rustix::process::kill_process(rustix::process::getpid(), signal(name)?)?,
        Action::Hang => loop {
            std::thread::park();
        },
        Action::Exit(status) => return Ok(Some(u8::try_from(*status)?)),
    }
    Ok(None)
}

fn make_parent(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) => fs::create_dir_all(folder),
        None => Ok(()),
    }
}

/// Starts this program again and doesn't wait for it. It keeps our output: that is what real leftovers do.
fn detach(arguments: &[&str]) -> io::Result<()> {
    Command::new(std::env::current_exe()?).args(arguments).stdin(Stdio::null()).spawn().map(drop)
}

fn print_bytes(count: u64) -> io::Result<()> {
    let mut line = [b'x'; 100];
    line[99] = b'\n';
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut left = count;
    while left > 0 {
        let part = usize::try_from(left).map_or(line.len(), |left| left.min(line.len()));
        out.write_all(&line[line.len() - part..])?;
        left -= part as u64;
    }
    out.flush()
}

fn environment() -> Vec<u8> {
    let mut lines: Vec<OsString> = std::env::vars_os()
        .map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            name.push("\n");
            name
        })
        .collect();
    lines.sort();
    lines.into_iter().flat_map(OsString::into_encoded_bytes).collect()
}

fn signal(name: &str) -> Result<Signal, String> {
    Ok(match name {
        "ABRT" => Signal::ABORT,
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "KILL" => Signal::KILL,
        "SEGV" => Signal::SEGV,
        "STOP" => Signal::STOP,
        "TERM" => Signal::TERM,
        "USR1" => Signal::USR1,
        _ => return Err(format!("`{name}` is no signal that is known here")),
    })
}
