//! One short question to an installed program, bounded in time and size. What to ask is not here.

use std::io::{self, PipeReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// More than any of these programs needs on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);
const LONGEST: usize = 64 << 10;

/// What a program said.
pub(super) struct Answer {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs `command` without input and takes its answer.
///
/// # Errors
/// Where it can't be started, says too much, or doesn't come to an end; then its process group is killed.
pub(super) fn ask(mut command: Command) -> io::Result<Answer> {
    let (stdout, their_stdout) = io::pipe()?;
    let (stderr, their_stderr) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(their_stdout).stderr(their_stderr).process_group(0);
    let mut child = command.spawn()?;
    drop(command);
    let deadline = Instant::now() + PATIENCE;
    let said = listen([stdout, stderr], deadline).and_then(|said| await_end(&child, deadline).map(|()| said));
    if let (Err(_), Some(group)) = (&said, Pid::from_raw(child.id().cast_signed())) {
        let _gone = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    let [stdout, stderr] = said?;
    Ok(Answer { status, stdout, stderr })
}

/// Waits until `child` has ended; a program may close its streams and stay.
fn await_end(child: &Child, deadline: Instant) -> io::Result<()> {
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or(io::ErrorKind::InvalidData)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&left(deadline)?)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// What is left of the time; an error when it is over.
fn left(deadline: Instant) -> io::Result<Timespec> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) })
}

/// Reads both pipes to their ends.
fn listen(pipes: [PipeReader; 2], deadline: Instant) -> io::Result<[Vec<u8>; 2]> {
    let mut said = [Vec::new(), Vec::new()];
    let mut open = pipes.map(Some);
    let mut buffer = vec![0; 4096];
    while open.iter().any(Option::is_some) {
        let timeout = left(deadline)?;
        let ready: Vec<bool> = {
            let mut fds: Vec<_> =
                open.iter().flatten().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            fds.iter().map(|fd| !fd.revents().is_empty()).collect()
        };
        let mut ready = ready.into_iter();
        for (pipe, said) in open.iter_mut().zip(&mut said) {
            if !(pipe.is_some() && ready.next() == Some(true)) {
                continue;
            }
            let count = pipe.as_ref().map_or(Ok(0), |pipe| rustix::io::read(pipe, &mut *buffer))?;
            said.extend_from_slice(&buffer[..count]);
            if count == 0 {
                *pipe = None;
            }
            if said.len() > LONGEST {
                return Err(io::Error::other("it says too much"));
            }
        }
    }
    Ok(said)
}
