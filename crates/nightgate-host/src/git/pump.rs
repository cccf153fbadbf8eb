//! Feeds and reads one process in one loop until it has ended or its time is over. Which process is not here.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::process::Cancel;

/// When a process is given up, whatever it still does.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) deadline: Instant,
    pub(super) cancel: Option<&'a Cancel>,
}

pub(super) enum Fault {
    TimedOut,
    Cancelled,
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// How much of standard error is kept: its end.
const KEPT_STDERR: usize = 8 * 1024;

/// Bytes moved at once.
const PIECE: usize = 64 * 1024;

/// Kills the process's group where it hasn't been waited for.
struct Running {
    child: Child,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Runs `child`, the leader of its own process group, to its end: returns its status and the end of its standard error.
/// Before an error returns, the group is killed and the child waited for.
pub(super) fn run(
    mut child: Child,
    input: Option<&mut dyn Read>,
    output: &mut dyn Write,
    end: End<'_>,
) -> Result<(ExitStatus, String), Fault> {
    let stdin = child.stdin.take().map(OwnedFd::from);
    let stdout = child.stdout.take().map(OwnedFd::from);
    let stderr = child.stderr.take().map(OwnedFd::from);
    let mut running = Running { child, ended: false };
    let mut pipes = Pipes {
        stdin: stdin.zip(input).map(|(pipe, source)| Feed {
            pipe: pipe.into(),
            source,
            piece: Vec::new(),
            sent: 0,
        }),
        stdout: stdout.map(File::from),
        stderr: stderr.map(File::from),
        said: Vec::new(),
    };
    pipes.make_nonblocking()?;
    while pipes.stdout.is_some() || pipes.stderr.is_some() {
        pipes.step(output, end)?;
    }
    drop(pipes.stdin);
    wait(&running.child, end)?;
    let status = running.child.wait()?;
    running.ended = true;
    Ok((status, String::from_utf8_lossy(&pipes.said).trim_end().to_owned()))
}

struct Feed<'a> {
    pipe: File,
    source: &'a mut dyn Read,
    piece: Vec<u8>,
    sent: usize,
}

struct Pipes<'a> {
    stdin: Option<Feed<'a>>,
    stdout: Option<File>,
    stderr: Option<File>,
    said: Vec<u8>,
}

impl Pipes<'_> {
    fn make_nonblocking(&self) -> Result<(), Errno> {
        let stdin = self.stdin.as_ref().map(|feed| &feed.pipe);
        for pipe in stdin.into_iter().chain(&self.stdout).chain(&self.stderr) {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(())
    }

    /// Waits until one of the pipes is ready and moves what can be moved.
    fn step(&mut self, output: &mut dyn Write, end: End<'_>) -> Result<(), Fault> {
        let ready = {
            let stdin = self.stdin.as_ref().map(|feed| (feed.pipe.as_fd(), PollFlags::OUT));
            let stdout = self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
            let stderr = self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN));
            let wanted = [stdin, stdout, stderr];
            let mut polled: Vec<_> = wanted
                .iter()
                .flatten()
                .map(|(pipe, flags)| PollFd::from_borrowed_fd(*pipe, *flags))
                .collect();
            poll_until(&mut polled, end)?;
            let mut answers = polled.iter().map(|polled| !polled.revents().is_empty());
            wanted.map(|pipe| pipe.is_some() && answers.next().unwrap_or(false))
        };
        if ready[0] && !self.feed()? {
            self.stdin = None;
        }
        if ready[1] && !drain(self.stdout.as_mut(), |bytes| output.write_all(bytes))? {
            self.stdout = None;
        }
        let said = &mut self.said;
        let keep = |bytes: &[u8]| {
            said.extend_from_slice(bytes);
            said.drain(..said.len().saturating_sub(KEPT_STDERR));
            Ok(())
        };
        if ready[2] && !drain(self.stderr.as_mut(), keep)? {
            self.stderr = None;
        }
        Ok(())
    }

    /// Writes some of the input; false at its end, or where the process doesn't want more.
    fn feed(&mut self) -> Result<bool, Fault> {
        let Some(feed) = &mut self.stdin else { return Ok(false) };
        if feed.sent == feed.piece.len() {
            feed.piece.resize(PIECE, 0);
            feed.sent = 0;
            let count = loop {
                match feed.source.read(&mut feed.piece) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    other => break other?,
                }
            };
            feed.piece.truncate(count);
            if count == 0 {
                return Ok(false);
            }
        }
        match feed.pipe.write(&feed.piece[feed.sent..]) {
            Ok(count) => feed.sent += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }
}

/// Reads one piece; false at the end of the stream.
fn drain(pipe: Option<&mut File>, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> Result<bool, Fault> {
    let Some(pipe) = pipe else { return Ok(false) };
    let mut piece = vec![0; PIECE];
    match pipe.read(&mut piece) {
        Ok(0) => Ok(false),
        Ok(count) => {
            take(&piece[..count])?;
            Ok(true)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Waits until one of these is ready. What comes after the flag was raised isn't looked at.
fn poll_until<'p>(polled: &mut Vec<PollFd<'p>>, end: End<'p>) -> Result<(), Fault> {
    polled.extend(end.cancel.map(|cancel| PollFd::new(cancel, PollFlags::IN)));
    loop {
        let left = end.deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(polled, Some(&left)) {
            Ok(0) => return Err(Fault::TimedOut),
            Ok(_) if end.cancel.is_some_and(Cancel::is_cancelled) => return Err(Fault::Cancelled),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Waits for the end of a process that has closed its outputs. Without pidfd (before Linux 5.3) without a limit.
fn wait(child: &Child, end: End<'_>) -> Result<(), Fault> {
    match pidfd_open(Pid::from_child(child), PidfdFlags::empty()) {
        Ok(pidfd) => poll_until(&mut vec![PollFd::new(&pidfd, PollFlags::IN)], end),
        Err(_) => Ok(()),
    }
}
