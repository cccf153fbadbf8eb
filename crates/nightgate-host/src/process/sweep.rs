//! Killing and reaping everything that the target has left. Knowing that the target has ended is not here.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process_group, wait};

use super::table::{self, Process};

/// How long a sweep goes on before it says that something is left.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// So many names of survivors are reported, each so many characters long.
const NAMES: usize = 16;

/// Which processes are meant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// All of the namespace whose first process this one is; whether `/proc` shows that namespace.
    Namespace { proc_mounted: bool },
    /// All that descend from this process, which is a subreaper.
    Descendants,
}

/// What a sweep found and did.
#[derive(Debug, Default)]
pub(super) struct Swept {
    pub(super) survivors: u32,
    pub(super) names: Vec<String>,
    pub(super) remaining: u32,
}

/// Kills and reaps until this process has no child left (then nothing is left at all: what has lost its parent is our
/// child), for [`PATIENCE`] at most.
pub(super) fn run(scope: Scope) -> Swept {
    // What has ended before is not a survivor.
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    let seen = present(scope);
    let ended: HashSet<Pid> =
        seen.iter().filter(|process| process.ended).map(|process| process.pid).collect();
    let mut names: Vec<String> =
        seen.iter().filter(|process| !process.ended).map(|one| one.name.clone()).collect();
    let visible = names.len();
    names.sort_unstable();
    names.dedup();
    names.truncate(NAMES);
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_micros(200);
    let mut reaped = 0;
    let remaining = loop {
        kill_all(scope);
        let empty = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, _))) => reaped += usize::from(!ended.contains(&pid)),
                Ok(None) => break false,
                Err(rustix::io::Errno::INTR) => {}
                Err(_no_child) => break true,
            }
        };
        if empty {
            break 0;
        }
        if Instant::now() >= deadline {
            break present(scope).len().max(1);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Swept { survivors: count(reaped.max(visible)), names, remaining: count(remaining) }
}

/// Sends SIGKILL once to everything in the scope.
pub(super) fn kill_all(scope: Scope) {
    match scope {
        // The group "1" is written -1, which means everything that this process can see, except itself: one
        // atomic step, which no fork escapes. An error means that there is nothing.
        Scope::Namespace { .. } => drop(kill_process_group(Pid::INIT, Signal::KILL)),
        Scope::Descendants => {
            for process in present(scope) {
                process.signal(Signal::KILL);
            }
        }
    }
}

/// The processes of the scope that can be seen, without this one.
fn present(scope: Scope) -> Vec<Process> {
    let me = getpid();
    match scope {
        Scope::Namespace { proc_mounted: false } => Vec::new(),
        Scope::Namespace { proc_mounted: true } => {
            table::all().unwrap_or_default().into_iter().filter(|process| process.pid != me).collect()
        }
        Scope::Descendants => table::descendants(table::all().unwrap_or_default(), me),
    }
}
