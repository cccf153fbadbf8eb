//! The entry: takes on the target's restrictions and becomes the target. Making the restrictions up is not here.

use std::ffi::{CString, OsStr};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, chdir, set_parent_process_death_signal, setrlimit, umask};
use rustix::thread::set_no_new_privs;

use super::raw;
use super::wire::{self, Entering, EntryOrder};
use crate::sandbox;

/// Becomes the target; returns only if that failed, after it has told the keeper why.
pub(super) fn run(control: &UnixStream, order: &EntryOrder) -> io::Error {
    let (error, doing) = match enter(control, order) {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    let failed = Entering::Failed {
        errno: error.raw_os_error().unwrap_or_default(),
        text: format!("{doing}: {error}"),
    };
    wire::send(control, &failed).err().unwrap_or(error)
}

/// How often, and after how long, a program that somebody has open for writing is tried again.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

type Failure = (io::Error, String);

fn enter(control: &UnixStream, order: &EntryOrder) -> Result<std::convert::Infallible, Failure> {
    let because = |doing: &'static str| move |error: io::Error| (error, doing.to_owned());
    let input = order.stdin.as_deref().unwrap_or(OsStr::new("/dev/null"));
    OpenOptions::new()
        .read(true)
        .open(input)
        .and_then(|file| Ok(rustix::stdio::dup2_stdin(file)?))
        .map_err(|error| (error, format!("open the standard input {}", input.display())))?;
    let program = c_string(&order.program).map_err(because("read the program's name"))?;
    let mut argv = vec![program.clone()];
    for argument in &order.args {
        argv.push(c_string(argument).map_err(because("read an argument"))?);
    }
    let mut environment = Vec::new();
    for (name, value) in &order.environment {
        let both = [name.as_bytes(), b"=", value.as_bytes()].concat();
        environment.push(c_string(OsStr::from_bytes(&both)).map_err(because("read the environment"))?);
    }
    restrict().map_err(because("apply the restrictions"))?;
    if let Some(sandbox) = &order.sandbox {
        sandbox::enter(sandbox).map_err(|(error, doing)| (error, format!("build the box: {doing}")))?;
    }
    chdir(order.cwd.as_os_str())
        .map_err(|error| (error.into(), format!("enter the folder {}", order.cwd.display())))?;
    wire::send(control, &Entering::Executing).map_err(because("speak to the keeper"))?;
    let mut error = raw::execute(&program, &argv, &environment);
    // Another thread of Nightgate may have started a process while this file was being written; until that process
    // executes something it holds the file open.
    for _ in 0..BUSY_TRIES {
        if error.raw_os_error() != Some(Errno::TXTBSY.raw_os_error()) {
            break;
        }
        thread::sleep(BUSY_PAUSE);
        error = raw::execute(&program, &argv, &environment);
    }
    let missing = error.kind() == io::ErrorKind::NotFound && Path::new(&order.program).exists();
    let what = if missing { " (its interpreter is missing)" } else { "" };
    Err((error, format!("execute {}{what}", order.program.display())))
}

/// What holds for every target, with a box around it or without.
fn restrict() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    umask(Mode::from_raw_mode(0o022));
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    raw::reset_signals();
    raw::close_descriptors_on_exec()?;
    set_no_new_privs(true)?;
    Ok(())
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}
