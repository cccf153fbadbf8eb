//! Where this program starts again as guard, keeper or entry. What each of them does is not here.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};

use super::wire::{self, Order};
use super::{entry, guard, keeper};
use crate::sandbox;

/// The exit status of a stage that could not do its work.
const BROKEN: u8 = 70;

/// The whole of a helper process: call it from the program and argument that a [`super::Helper`] names. Its orders come
/// over a socket on standard input; without one it exits with 70 at once and does nothing. Told so by an argument, it is the
/// program that tries a box from inside.
pub fn helper_main() -> ExitCode {
    if let Some(words) = sandbox::attempt_words() {
        return sandbox::attempts_main(&words);
    }
    let done = control().and_then(|control| match wire::receive(&control)? {
        Some(Order::Guard(order)) => guard::run(&control, &order),
        Some(Order::Keeper(order)) => keeper::run(control, &order),
        Some(Order::Entry(order)) => Err(entry::run(&control, &order)),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    });
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) }
}

/// The socket that is standard input, moved to where no child gets it; standard input becomes `/dev/null`.
fn control() -> io::Result<UnixStream> {
    let control = rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3)?;
    rustix::stdio::dup2_stdin(OpenOptions::new().read(true).open("/dev/null")?)?;
    rustix::net::sockopt::socket_type(&control)?;
    Ok(UnixStream::from(control))
}

/// The command for the next stage: this very file, even if another one lies in its place by now; no environment.
pub(super) fn next(argument: Option<&OsString>, control: impl Into<OwnedFd>) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(argument).env_clear().stdin(Stdio::from(control.into()));
    command
}
