//! A supervisor for this crate's own tests to kill: runs one script as it is told and writes down how that ended. The
//! tests are not here.
//!
//! `nightgate-driver FOLDER HELPER best|subreaper terminal|none SCRIPT`: `sh` runs the script in FOLDER, HELPER keeps it,
//! and FOLDER/exit says how it ended. With `terminal`, this process has a controlling terminal.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nightgate_host::env::{Environment, EnvironmentSpec, Inherited, Role};
use nightgate_host::log::Limits;
use nightgate_host::process::{Cancel, Confine, Helper, Launch, Logs, Stdin, supervise};
use rustix::pty::OpenptFlags;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [folder, helper, confine, terminal, script] = words.as_slice() else {
        return Err("five arguments are needed".into());
    };
    let confine = match confine.to_str() {
        Some("best") => Confine::Best,
        Some("subreaper") => Confine::SubreaperOnly,
        _ => return Err("the third argument is `best` or `subreaper`".into()),
    };
    if terminal == "terminal" {
        take_terminal()?;
    }
    drive(Path::new(folder), helper.into(), confine, script)
}

/// Makes a new terminal the controlling one of this process.
fn take_terminal() -> Result<(), Box<dyn Error>> {
    rustix::process::setsid()?;
    let controller = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    rustix::pty::unlockpt(&controller)?;
    let name = rustix::pty::ptsname(&controller, Vec::new())?;
    let terminal = File::open(name.to_str()?)?;
    File::open("/dev/tty").map_err(|fault| format!("this process has no terminal: {fault}"))?;
    // Closing the other end of a terminal would send SIGHUP to this process.
    std::mem::forget((terminal, controller));
    Ok(())
}

fn drive(folder: &Path, helper: PathBuf, confine: Confine, script: &OsString) -> Result<(), Box<dyn Error>> {
    let (home, tmp) = (folder.join("home"), folder.join("tmp"));
    let spec = EnvironmentSpec { home, tmp, path: Vec::new(), pass: &[], extra: Vec::new() };
    let launch = Launch {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.clone()],
        cwd: folder.to_owned(),
        environment: &Environment::build(Role::Check, &Inherited::default(), &spec),
        stdin: Stdin::Null,
        wall: None,
        silence: None,
        logs: Logs { folder: folder.to_owned(), name: "run".to_owned(), limits: Limits::default() },
        helper: &Helper { program: helper, argument: None },
        confine,
        sandbox: None,
        hold: Some(folder.join("keeper")),
    };
    let ended = supervise(&launch, &Cancel::new()?, &mut |_| {})?;
    fs::write(folder.join("exit"), format!("{:?}", ended.exit))?;
    Ok(())
}
