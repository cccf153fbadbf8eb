//! What is known about a run that has ended. How it is found out is not here.

use std::time::Duration;

use crate::log::LogFiles;

/// The facts about one run. Only [`Exit::Exited`] with 0, and `stop` and outputs without a doubt, can mean success.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How the target ended.
    pub exit: Exit,
    /// How its descendants were ended.
    pub stop: Stop,
    /// Its standard output.
    pub stdout: Output,
    /// Its standard error.
    pub stderr: Output,
    /// From the target's start (of the helper, where the target never started) to the last descendant's end.
    pub duration: Duration,
}

/// How the target ended. Timed out, signalled, killed and cancelled are four things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status, by itself.
    Exited(i32),
    /// It was ended by this signal, which Nightgate did not send.
    Signalled(i32),
    /// It was never started.
    NotStarted {
        /// The system's error number.
        errno: i32,
        /// What was being done, and what the system said.
        text: String,
    },
    /// Nightgate ended it at a limit, whatever its status was then.
    TimedOut(Limit),
    /// Nightgate ended it because it was asked to.
    Cancelled,
    /// Nobody knows: the helper processes ended without a report.
    Lost {
        /// What was seen instead of a report.
        why: String,
    },
}

/// A limit on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// It ran too long.
    Wall,
    /// It wrote nothing for too long.
    Silence,
}

/// How descendants are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// A pid namespace: the kernel ends every process in it together with its first one.
    PidNamespace,
    /// A subreaper: descendants come back to it when their parents end, and are killed one by one, bounded. A
    /// descendant can kill the subreaper itself; that is [`Exit::Lost`].
    Subreaper,
    /// None, because no process of the target was ever started.
    Nothing,
}

/// How the descendants of the target were ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What held them.
    pub mechanism: Mechanism,
    /// Whether a user namespace was needed for it.
    pub user_namespace: bool,
    /// Whether the target had a `/proc` of its own namespace.
    pub proc_mounted: bool,
    /// How many processes were still there when the target ended, and were killed.
    pub survivors: u32,
    /// The names of some of them, for display: a process chooses its own name.
    pub survivor_names: Vec<String>,
    /// How many could not be killed; `None` where that isn't known.
    pub remaining: Option<u32>,
    /// Why a pid namespace was not used although it was wanted, with the error number.
    pub fell_back: Option<String>,
}

impl Stop {
    /// Whether it is established that no process of the target is left.
    pub fn is_complete(&self) -> bool {
        self.remaining == Some(0)
    }
}

/// What came on one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How many bytes came.
    pub bytes: u64,
    /// Whether the log holds less than all of them because of its limits.
    pub truncated: bool,
    /// Whether the stream was read to its end. If not, somebody outside still holds it.
    pub closed: bool,
    /// Why the log ends early, where the disk or the pipe refused; such a log is no evidence.
    pub broken: Option<String>,
    /// Where the log lies.
    pub files: LogFiles,
}
