//! The supervisor: one loop that reads output, keeps time and ends what has to end. Starting processes is not here.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ended::{Ended, Exit, Limit, Mechanism, Output, Stop};
use super::running::{Outputs, Running};
use super::stream::Capture;
use super::sweep::PATIENCE;
use super::wire::{ANSWER_TIME, Command, Inbox, Report, Status};
use super::{Cancel, Launch, Progress, Stdin, Stream, SuperviseError};

/// From the request to end to the killing.
const GRACE: Duration = Duration::from_secs(2);
/// What a helper gets on top of the time that its work may take.
const MARGIN: Duration = Duration::from_secs(3);
/// Between two signs of life.
const TICK: Duration = Duration::from_secs(1);
/// So much is read after everything has ended. A pipe holds 1 MiB at most; more comes from outside.
const LAST_BYTES: usize = 4 << 20;

/// Runs a program to its end and everything that it started to theirs. Blocks; `observe` is called on this thread.
///
/// When this returns, either [`Stop::is_complete`] holds or `stop` says what is left. If this process dies instead,
/// the helpers end everything by themselves; what was captured is in the logs.
///
/// # Errors
/// Where no target was started because of the launch or of this machine. A program that can't be executed is not an
/// error but [`Exit::NotStarted`].
pub fn supervise(
    launch: &Launch<'_>,
    cancel: &Cancel,
    observe: &mut dyn FnMut(Progress<'_>),
) -> Result<Ended, SuperviseError> {
    check_paths(launch)?;
    let mut stdout = begin_log(launch, "stdout")?;
    let mut stderr = begin_log(launch, "stderr")?;
    if cancel.is_cancelled() {
        return Ok(never_started(stdout.finish(), stderr.finish()));
    }
    let failed = |error| SuperviseError::Helper { program: launch.helper.program.clone(), error };
    let (running, outputs) = Running::start(launch).map_err(failed)?;
    let Outputs { stdout: stdout_pipe, stderr: stderr_pipe } = outputs;
    (stdout.pipe, stderr.pipe) = (Some(stdout_pipe), Some(stderr_pipe));
    let now = Instant::now();
    let watch = Watch {
        launch,
        cancel,
        observe,
        running,
        streams: [stdout, stderr],
        buffer: vec![0; 64 << 10],
        inbox: Inbox::default(),
        heard: Heard::default(),
        created: now,
        last_output: now,
        last_tick: now,
        decision: None,
        ending: Ending::No,
    };
    watch.run().map_err(failed)
}

/// What guard and keeper have reported.
#[derive(Default)]
struct Heard {
    started: Option<Instant>,
    proc_mounted: bool,
    end: Option<Exit>,
    survivors: u32,
    names: Vec<String>,
    remaining: Option<u32>,
    keeper: Option<String>,
}

/// How far the ending of the run has got, and since when.
#[derive(Clone, Copy)]
enum Ending {
    No,
    /// The target has been asked to end.
    Asked(Instant),
    /// The keeper is killing, or has reported the end.
    Sweeping(Instant),
    /// The keeper was killed; the guard is sweeping.
    Forced(Instant),
    /// Given up: nobody does what they should.
    Abandoned,
}

struct Watch<'a> {
    launch: &'a Launch<'a>,
    cancel: &'a Cancel,
    observe: &'a mut dyn FnMut(Progress<'_>),
    running: Running,
    streams: [Capture; 2],
    buffer: Vec<u8>,
    inbox: Inbox,
    heard: Heard,
    created: Instant,
    last_output: Instant,
    last_tick: Instant,
    decision: Option<Exit>,
    ending: Ending,
}

impl Watch<'_> {
    fn run(mut self) -> io::Result<Ended> {
        loop {
            let guard_ended = self.wait()?;
            self.hear();
            for stream in [Stream::Stdout, Stream::Stderr] {
                self.read(stream);
            }
            self.tick();
            self.enforce();
            if guard_ended || matches!(self.ending, Ending::Abandoned) {
                break;
            }
        }
        self.hear();
        for stream in [Stream::Stdout, Stream::Stderr] {
            let mut left = LAST_BYTES;
            while left > 0 {
                match self.read(stream) {
                    0 => break,
                    count => left = left.saturating_sub(count),
                }
            }
        }
        Ok(self.finish())
    }

    /// Sleeps until something happens or is due; says whether the guard has ended.
    fn wait(&self) -> io::Result<bool> {
        let due = self.due().saturating_duration_since(Instant::now());
        let timeout =
            Timespec { tv_sec: due.as_secs().cast_signed(), tv_nsec: i64::from(due.subsec_nanos()) };
        let mut fds = vec![PollFd::new(&self.running, PollFlags::IN)];
        fds.extend(self.running.control.iter().map(|control| PollFd::new(control, PollFlags::IN)));
        let pipes = self.streams.iter().filter_map(|stream| stream.pipe.as_ref());
        fds.extend(pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        if matches!(self.ending, Ending::No) {
            fds.push(PollFd::new(self.cancel, PollFlags::IN));
        }
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// When something is due next.
    fn due(&self) -> Instant {
        let tick = self.last_tick + TICK;
        let limit = match self.ending {
            Ending::No => match self.heard.started {
                Some(started) => [self.launch.wall.map(|wall| (started, wall)), self.silence()]
                    .into_iter()
                    .flatten()
                    .filter_map(|(since, limit)| since.checked_add(limit))
                    .min(),
                None => Some(self.created + ANSWER_TIME),
            },
            Ending::Asked(since) => Some(since + GRACE),
            Ending::Sweeping(since) | Ending::Forced(since) => Some(since + PATIENCE + MARGIN),
            Ending::Abandoned => None,
        };
        limit.map_or(tick, |limit| limit.min(tick))
    }

    fn silence(&self) -> Option<(Instant, Duration)> {
        Some((self.last_output, self.launch.silence?))
    }

    /// Takes in the reports that have come.
    fn hear(&mut self) {
        let mut piece = [0; 4096];
        while let Some(mut control) = self.running.control.as_ref() {
            match control.read(&mut piece) {
                Ok(0) => self.running.control = None,
                Ok(count) => self.inbox.feed(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_reset) => self.running.control = None,
            }
        }
        loop {
            match self.inbox.next() {
                Ok(Some(report)) => self.note(report),
                Ok(None) => break,
                Err(error) => {
                    self.heard.end = Some(Exit::Lost { why: format!("an unreadable report: {error}") });
                    self.running.control = None;
                    self.inbox = Inbox::default();
                    break;
                }
            }
        }
    }

    fn note(&mut self, report: Report) {
        let end = match report {
            Report::Started { proc_mounted } => {
                let now = Instant::now();
                self.heard.started = Some(now);
                self.heard.proc_mounted = proc_mounted;
                self.last_output = now;
                return;
            }
            Report::Swept { keeper, survivors, names, remaining } => {
                self.heard.survivors = self.heard.survivors.saturating_add(survivors);
                self.heard.names.extend(names);
                self.heard.remaining = Some(remaining);
                self.heard.keeper = Some(keeper);
                return;
            }
            Report::Ended { status, survivors, names } => {
                self.heard.survivors = survivors;
                self.heard.names = names;
                match status {
                    Status::Exited(status) => Exit::Exited(status),
                    Status::Signalled(signal) => Exit::Signalled(signal),
                }
            }
            Report::NotStarted { errno, text } => Exit::NotStarted { errno, text },
            Report::Failed { text } => Exit::Lost { why: format!("the keeper failed: {text}") },
            Report::Ready { .. } | Report::Refused { .. } => {
                Exit::Lost { why: "a report out of order".to_owned() }
            }
        };
        // The first end holds: nothing that comes later can make it look better.
        self.heard.end.get_or_insert(end);
        if matches!(self.ending, Ending::No | Ending::Asked(_)) {
            self.ending = Ending::Sweeping(Instant::now());
        }
    }

    /// Reads what is there of one stream, at most one buffer, and shows it; says how much it was.
    fn read(&mut self, stream: Stream) -> usize {
        let count = self.streams[stream as usize].read(&mut self.buffer);
        if count > 0 {
            self.last_output = Instant::now();
            let output = Some((stream, &self.buffer[..count]));
            let [stdout, stderr] = [&self.streams[0], &self.streams[1]].map(|stream| stream.bytes);
            let elapsed = self.heard.started.map(|started| started.elapsed()).unwrap_or_default();
            (self.observe)(Progress { elapsed, stdout, stderr, output });
        }
        count
    }

    fn tick(&mut self) {
        if self.last_tick.elapsed() >= TICK {
            self.last_tick = Instant::now();
            let [stdout, stderr] = [&self.streams[0], &self.streams[1]].map(|stream| stream.bytes);
            let elapsed = self.heard.started.map(|started| started.elapsed()).unwrap_or_default();
            (self.observe)(Progress { elapsed, stdout, stderr, output: None });
        }
    }

    /// Does what is due.
    fn enforce(&mut self) {
        let now = Instant::now();
        match self.ending {
            Ending::No => {
                if self.cancel.is_cancelled() {
                    self.decide(Exit::Cancelled);
                    return;
                }
                let Some(started) = self.heard.started else {
                    if now >= self.created + ANSWER_TIME {
                        self.decide(Exit::Lost {
                            why: "the keeper did not start the program in time".to_owned(),
                        });
                    }
                    return;
                };
                let passed = |since: Instant, limit: Duration| now.saturating_duration_since(since) >= limit;
                if self.launch.wall.is_some_and(|wall| passed(started, wall)) {
                    self.decide(Exit::TimedOut(Limit::Wall));
                } else if self.silence().is_some_and(|(since, limit)| passed(since, limit)) {
                    self.decide(Exit::TimedOut(Limit::Silence));
                }
            }
            Ending::Asked(since) if now >= since + GRACE => {
                self.running.tell(Command::Kill);
                self.ending = Ending::Sweeping(now);
            }
            Ending::Sweeping(since) if now >= since + PATIENCE + MARGIN => {
                self.running.kill_keeper();
                self.ending = Ending::Forced(now);
            }
            Ending::Forced(since) if now >= since + PATIENCE + MARGIN => self.ending = Ending::Abandoned,
            Ending::Asked(_) | Ending::Sweeping(_) | Ending::Forced(_) | Ending::Abandoned => {}
        }
    }

    /// Nightgate ends the run for this reason, and the target's own status counts no more.
    fn decide(&mut self, exit: Exit) {
        self.decision = Some(exit);
        self.running.tell(Command::Terminate);
        self.ending = Ending::Asked(Instant::now());
    }

    fn finish(mut self) -> Ended {
        let guard = self.running.guard_status();
        let heard = self.heard;
        let keeper = heard.keeper.map(|keeper| format!(", the keeper {keeper}")).unwrap_or_default();
        let lost = Exit::Lost { why: format!("nobody reported the end (the guard {guard}{keeper})") };
        let exit = self.decision.or(heard.end).unwrap_or(lost);
        let mut survivor_names = heard.names;
        survivor_names.sort_unstable();
        survivor_names.dedup();
        let stop = Stop {
            mechanism: if self.running.namespace { Mechanism::PidNamespace } else { Mechanism::Subreaper },
            user_namespace: self.running.user_namespace,
            proc_mounted: heard.proc_mounted,
            survivors: heard.survivors,
            survivor_names,
            remaining: heard.remaining,
            fell_back: self.running.fell_back.take(),
        };
        let duration = heard.started.unwrap_or(self.created).elapsed();
        let [stdout, stderr] = self.streams.map(Capture::finish);
        Ended { exit, stop, stdout, stderr, duration }
    }
}

fn check_paths(launch: &Launch<'_>) -> Result<(), SuperviseError> {
    let stdin = match &launch.stdin {
        Stdin::Null => None,
        Stdin::File(path) => Some(path),
    };
    let paths = [&launch.program, &launch.cwd, &launch.helper.program];
    match paths.into_iter().chain(stdin).find(|path| !path.is_absolute()) {
        Some(relative) => Err(SuperviseError::RelativePath(relative.clone())),
        None => Ok(()),
    }
}

fn begin_log(launch: &Launch<'_>, stream: &str) -> Result<Capture, SuperviseError> {
    Capture::create(launch.logs.files(stream)).map_err(|error| SuperviseError::Log {
        folder: launch.logs.folder.clone(),
        name: format!("{}.{stream}", launch.logs.name),
        error,
    })
}

fn never_started(stdout: Output, stderr: Output) -> Ended {
    let stop = Stop {
        mechanism: Mechanism::Nothing,
        user_namespace: false,
        proc_mounted: false,
        survivors: 0,
        survivor_names: Vec::new(),
        remaining: Some(0),
        fell_back: None,
    };
    Ended { exit: Exit::Cancelled, stop, stdout, stderr, duration: Duration::ZERO }
}
