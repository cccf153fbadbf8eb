//! The helper processes of one run, from their start to their certain end. Watching the run is not here.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::wire::{self, ANSWER_TIME, EntryOrder, GuardOrder, Order, Report};
use super::{Confine, Launch, Stdin};

/// A guard and a keeper that have been given their orders. Dropping it ends them and everything that they hold.
#[derive(Debug)]
pub(super) struct Running {
    guard: Child,
    /// Readable once the guard has ended.
    pub(super) guard_handle: OwnedFd,
    keeper_handle: Option<OwnedFd>,
    pub(super) control: Option<UnixStream>,
    pub(super) namespace: bool,
    pub(super) user_namespace: bool,
    pub(super) fell_back: Option<String>,
}

/// The reading ends of the target's output, which never block.
pub(super) struct Outputs {
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl Running {
    /// Starts the helpers and gives them their orders. Which mechanism holds the target is settled when this returns,
    /// before the target exists.
    pub(super) fn start(launch: &Launch<'_>) -> io::Result<(Self, Outputs)> {
        let (first, fell_back) = match launch.confine {
            Confine::Best => match Self::ready(launch, true)? {
                Ok(ready) => (Some(ready), None),
                Err(refusal) => (None, Some(refusal)),
            },
            Confine::SubreaperOnly => (None, None),
        };
        let (mut running, outputs) = match first {
            Some(ready) => ready,
            None => Self::ready(launch, false)?.map_err(io::Error::other)?,
        };
        running.fell_back = fell_back;
        if let Some(control) = &running.control {
            wire::send(control, &Order::Keeper(order(launch)))?;
            control.set_nonblocking(true)?;
        }
        Ok((running, outputs))
    }

    /// Starts a guard and waits for its keeper, or for its refusal.
    fn ready(launch: &Launch<'_>, namespace: bool) -> io::Result<Result<(Self, Outputs), String>> {
        let (control, theirs) = UnixStream::pair()?;
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        let outputs = Outputs { stdout: stdout.into(), stderr: stderr.into() };
        for output in [&outputs.stdout, &outputs.stderr] {
            rustix::io::ioctl_fionbio(output, true)?;
        }
        let mut command = Command::new(&launch.helper.program);
        command.args(&launch.helper.argument).env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(their_stdout).stderr(their_stderr);
        let guard = command.spawn()?;
        // The command holds the guard's ends too, and nothing would ever be seen to close.
        drop(command);
        let guard_handle = handle(guard.id().cast_signed())?;
        let argument = launch.helper.argument.clone();
        let mut running = Self {
            guard,
            guard_handle,
            keeper_handle: None,
            control: None,
            namespace,
            user_namespace: false,
            fell_back: None,
        };
        let control = running.control.insert(control);
        control.set_read_timeout(Some(ANSWER_TIME))?;
        control.set_write_timeout(Some(ANSWER_TIME))?;
        let hold = launch.hold.clone().map(PathBuf::into_os_string);
        wire::send(&*control, &Order::Guard(GuardOrder { namespace, argument, hold }))?;
        match wire::receive(&*control)? {
            Some(Report::Ready { user_namespace, keeper }) => {
                running.user_namespace = user_namespace;
                running.keeper_handle = handle(keeper).ok();
                Ok(Ok((running, outputs)))
            }
            Some(Report::Refused { text }) => Ok(Err(text)),
            Some(Report::Failed { text }) => Err(io::Error::other(text)),
            _ => Err(io::Error::other("it ended without an answer")),
        }
    }

    /// Tells the keeper something. A keeper that doesn't hear is dealt with when it doesn't end.
    pub(super) fn tell(&self, command: wire::Command) {
        if let Some(control) = &self.control {
            let _unheard = wire::send(control, &command);
        }
    }

    /// Kills the keeper, which doesn't do what it was told; the guard sweeps after it.
    pub(super) fn kill_keeper(&self) {
        if let Some(keeper) = &self.keeper_handle {
            let _gone = pidfd_send_signal(keeper, Signal::KILL);
        }
    }

    /// How the guard ended, once it has; reaps it.
    pub(super) fn guard_status(&mut self) -> String {
        match self.guard.try_wait() {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "it still runs".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Whether the guard ends within `time`.
    fn guard_ends_within(&self, time: Duration) -> bool {
        let timeout = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: 0 };
        let mut fds = [PollFd::new(&self.guard_handle, PollFlags::IN)];
        poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The end of file: the keeper kills everything and ends, the guard sweeps and ends.
        self.control = None;
        if !self.guard_ends_within(3 * super::sweep::PATIENCE) {
            let _gone = self.guard.kill();
        }
        let _reaped = self.guard.wait();
    }
}

fn handle(pid: i32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

fn order(launch: &Launch<'_>) -> EntryOrder {
    let own = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| (name.to_owned(), value.to_owned());
    EntryOrder {
        argument: launch.helper.argument.clone(),
        program: launch.program.clone().into(),
        args: launch.args.clone(),
        cwd: launch.cwd.clone().into(),
        environment: launch.environment.variables().map(own).collect(),
        stdin: match &launch.stdin {
            Stdin::Null => None,
            Stdin::File(path) => Some(OsString::from(path)),
        },
        sandbox: launch.sandbox.cloned(),
    }
}

impl AsFd for Running {
    /// Readable once the guard has ended.
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.guard_handle.as_fd()
    }
}
