//! Runs one program so that nothing of it outlives the call. What may be run, and what an exit means, is not here.
//!
//! Four processes: the *supervisor* (this one) starts the *guard*, which makes the namespaces and starts the
//! *keeper*; the keeper is the first process of the namespace, or a subreaper where there is none, and starts the
//! *entry*, which applies the restrictions to itself and becomes the target. Guard, keeper and entry are this
//! program again, see [`helper_main`]. The guard and the keeper hold one end of a socket whose other end only the
//! supervisor has: if the supervisor dies, they read an end of file and kill everything.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::env::Environment;
use crate::log::{Limits, LogFiles};
use crate::sandbox::Sandbox;

mod cancel;
mod ended;
mod entry;
mod guard;
mod keeper;
pub(crate) mod raw;
mod running;
mod stage;
mod stream;
mod supervisor;
mod sweep;
mod table;
mod wire;

pub use cancel::Cancel;
pub use ended::{Ended, Exit, Limit, Mechanism, Output, Stop};
pub use stage::helper_main;
pub use supervisor::supervise;

/// One program to run, and within which bounds.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The program's absolute path. It is not looked up on any `PATH`, and no shell stands in for it.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub args: Vec<OsString>,
    /// The absolute folder that it starts in. If it can't be entered, nothing is started.
    pub cwd: PathBuf,
    /// All of its environment.
    pub environment: &'a Environment,
    /// What it reads.
    pub stdin: Stdin,
    /// How long it may run, from its start. `None`: without limit.
    pub wall: Option<Duration>,
    /// How long it may stay without writing anything. `None`: without limit.
    pub silence: Option<Duration>,
    /// Where its output goes.
    pub logs: Logs,
    /// How to start Nightgate's own helper processes.
    pub helper: &'a Helper,
    /// How its descendants are found again.
    pub confine: Confine,
    /// The box around it; `program` and `cwd` are paths inside, `stdin` and the logs outside. `None`: it does what its user
    /// can.
    pub sandbox: Option<&'a Sandbox>,
    /// A lock (see [`crate::lock`]) that the guard takes before anything starts and holds until the last descendant is
    /// gone, also where this process dies first: who can take it knows that nothing of the run is left.
    pub hold: Option<PathBuf>,
}

/// Standard input of a program. Never a terminal, never a pipe that somebody must fill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    /// A file, read from its beginning; its end closes the input.
    File(PathBuf),
}

/// Where the two logs of one run go: `NAME.stdout` and `NAME.stderr` in a folder that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logs {
    /// The folder. The program shouldn't be able to write in it.
    pub folder: PathBuf,
    /// The beginning of the files' names, unique in the folder.
    pub name: String,
    /// How much of each stream is kept.
    pub limits: Limits,
}

impl Logs {
    /// The log of standard output.
    pub fn stdout(&self) -> LogFiles {
        self.files("stdout")
    }

    /// The log of standard error.
    pub fn stderr(&self) -> LogFiles {
        self.files("stderr")
    }

    fn files(&self, stream: &str) -> LogFiles {
        LogFiles::new(&self.folder, format!("{}.{stream}", self.name), self.limits)
    }
}

/// How Nightgate starts itself again as guard, keeper and entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    /// A program that calls [`helper_main`]; `/proc/self/exe` where that is the running program.
    pub program: PathBuf,
    /// The argument that makes it do so, for example `__box`.
    pub argument: Option<OsString>,
}

/// Which way of holding descendants is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confine {
    /// A pid namespace; where this machine has none for us, a subreaper. Decided before the target starts.
    Best,
    /// A subreaper.
    SubreaperOnly,
}

/// A sign of life of a running program: about once a second, and for each piece of output.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Since the program started.
    pub elapsed: Duration,
    /// Bytes that came on standard output so far.
    pub stdout: u64,
    /// Bytes that came on standard error so far.
    pub stderr: u64,
    /// The output that has just come, if this is about output. Cut anywhere, any bytes.
    pub output: Option<(Stream, &'a [u8])>,
}

/// One of the two output streams of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Why nothing could be supervised. No target was started.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// A path of the launch is relative.
    #[error("run `{0}`: the path must be absolute")]
    RelativePath(PathBuf),
    /// A log can't be begun.
    #[error("begin the log `{name}` in {}: {error}", folder.display())]
    Log {
        /// The log's folder.
        folder: PathBuf,
        /// Its name.
        name: String,
        /// What the system said.
        error: io::Error,
    },
    /// The guard can't be started or didn't answer.
    #[error("start the helper process {}: {error}", program.display())]
    Helper {
        /// The helper's program.
        program: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}
