//! Runs git: one function for every spawn, with a built environment, fixed settings and a time limit.
//!
//! What is asked of git, and of which repository, is not here.

mod pump;
mod settings;

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::env::Environment;
use crate::process::Cancel;

pub use settings::UserSettings;

/// Given to every git with `-c`: nothing of the user's repository may start a program, rewrite history files, convert
/// names or ask a question.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.quotePath=false",
    "core.logAllRefUpdates=false",
    "core.filesRefLockTimeout=10000",
    "core.packedRefsTimeout=10000",
    "core.fsync=committed,loose-object,reference",
    // `GIT_GRAFT_FILE` below would be warned of each time.
    "advice.graftFileDeprecated=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "protocol.allow=never",
];

/// Set after the built environment, so that they hold whatever that contains. `GIT_ALLOW_PROTOCOL` keeps a partial
/// clone of a git that doesn't know `GIT_NO_LAZY_FETCH` from fetching.
const VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
];

/// The oldest git that does all that is asked of it (`rev-parse --path-format=absolute` is of 2.31).
pub const OLDEST: Version = Version { major: 2, minor: 31 };

/// The oldest git that takes `safe.directory` from `-c`; those before it take it from files alone.
pub const TRUSTS_BY_OPTION: Version = Version { major: 2, minor: 38 };

/// A version of git. The numbers behind the second are of no interest here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 2 in 2.47.3.
    pub major: u32,
    /// 47 in 2.47.3.
    pub minor: u32,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Why git gave no answer. That it answered "no" is not among these, except where only success was expected.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program couldn't be started.
    #[error("{doing} could not be started: {source}; is {} there and executable?", program.display())]
    NotStarted {
        /// The command, shortened.
        doing: String,
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It took too long and was killed. Says nothing about the repository or the work.
    #[error("{doing} had not ended after {seconds} s and was killed; the disk may be slow, try again")]
    TimedOut {
        /// The command, shortened.
        doing: String,
        /// The limit.
        seconds: u64,
    },
    /// A person interrupted, and it was killed.
    #[error("{doing} was interrupted")]
    Cancelled {
        /// The command, shortened.
        doing: String,
    },
    /// A signal that was not ours ended it.
    #[error("{doing} was ended by signal {signal}")]
    Signalled {
        /// The command, shortened.
        doing: String,
        /// The signal's number.
        signal: i32,
    },
    /// It ended with a status that means failure.
    #[error("{doing} failed with status {code}: {stderr}")]
    Failed {
        /// The command, shortened.
        doing: String,
        /// Its exit status.
        code: i32,
        /// What it said, shortened.
        stderr: String,
    },
    /// It said something that it never should.
    #[error("{doing} answered something unexpected: {what}")]
    Answer {
        /// The command, shortened.
        doing: String,
        /// What, in words.
        what: String,
    },
    /// Talking with it failed, or what was to be told to it couldn't be read.
    #[error("{doing} was given up: {source}")]
    Pipe {
        /// The command, shortened.
        doing: String,
        /// Why.
        source: std::io::Error,
    },
    /// The git that is installed is too old.
    #[error("git {found} is too old: install git {OLDEST} or newer")]
    TooOld {
        /// What is there.
        found: Version,
    },
}

/// How to run git.
#[derive(Clone, Debug)]
pub struct Git {
    program: Arc<Path>,
    environment: Arc<Environment>,
    safe_directories: Arc<[OsString]>,
    time_limit: Duration,
}

impl Git {
    /// The git at `program`, started with exactly `environment` and a few variables of ours on top of it.
    pub fn new(program: PathBuf, environment: Environment) -> Self {
        Self {
            program: program.into(),
            environment: Arc::new(environment),
            safe_directories: Arc::new([]),
            time_limit: Duration::from_secs(300),
        }
    }

    /// The values of the user's own `safe.directory` (see [`UserSettings::read`]): repositories of other owners that the
    /// user trusts. None are trusted otherwise.
    pub fn with_safe_directories(self, safe_directories: Vec<OsString>) -> Self {
        Self { safe_directories: safe_directories.into(), ..self }
    }

    /// Another limit than 300 s for one command. Transfers of objects have twelve times that.
    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The version of the installed git.
    ///
    /// # Errors
    /// [`GitError::TooOld`] for one before [`OLDEST`].
    pub fn version(&self) -> Result<Version, GitError> {
        let output = self.command("version").success()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().nth(2).unwrap_or_default().split('.').map(str::parse);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
            return Err(GitError::Answer { doing: "git version".to_owned(), what: text });
        };
        let found = Version { major, minor };
        if found < OLDEST { Err(GitError::TooOld { found }) } else { Ok(found) }
    }

    /// A command that is told the repository with `--git-dir` and starts in it; `before` are further options of git itself.
    pub(crate) fn in_repository(&self, git_dir: &Path, before: &[&OsStr], verb: &str) -> Invocation {
        let mut git_dir_option = OsString::from("--git-dir=");
        git_dir_option.push(git_dir);
        let mut invocation = self.unspoken(verb);
        invocation.command.current_dir(git_dir).arg(git_dir_option).args(before).arg(verb);
        invocation
    }

    /// A command that finds the repository around `directory` by itself. Only for discovery: this is where git checks
    /// who owns it.
    pub(crate) fn discovering(&self, directory: &Path, before: &[&OsStr], verb: &str) -> Invocation {
        let mut invocation = self.unspoken(verb);
        invocation.command.current_dir(directory).args(before).arg(verb);
        invocation
    }

    /// A command that concerns no repository.
    pub(crate) fn command(&self, verb: &str) -> Invocation {
        let mut invocation = self.unspoken(verb);
        invocation.command.current_dir("/").arg(verb);
        invocation
    }

    fn unspoken(&self, verb: &str) -> Invocation {
        let mut command = Command::new(&*self.program);
        self.environment.apply(&mut command);
        command.envs(VARIABLES.iter().copied());
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for directory in self.safe_directories.iter() {
            let mut setting = OsString::from("safe.directory=");
            setting.push(directory);
            command.arg("-c").arg(setting);
        }
        Invocation {
            command,
            program: self.program.to_path_buf(),
            doing: format!("git {verb}"),
            limit: self.time_limit,
            cancel: None,
            stdin: None,
            stdout: None,
        }
    }
}

/// One run of git that hasn't started yet.
pub(crate) struct Invocation {
    command: Command,
    program: PathBuf,
    doing: String,
    limit: Duration,
    cancel: Option<Cancel>,
    stdin: Option<Stdio>,
    stdout: Option<Stdio>,
}

/// A run of git that came to an end by itself.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    /// The last part of what it said, without line ends at the end.
    pub(crate) stderr: String,
}

impl Invocation {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Starts it in another folder.
    pub(crate) fn directory(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Allows twelve times the usual time.
    pub(crate) fn long(mut self) -> Self {
        self.limit *= 12;
        self
    }

    /// Kills it as soon as the flag is raised.
    pub(crate) fn until(mut self, cancel: Option<&Cancel>) -> Self {
        self.cancel = cancel.cloned();
        self
    }

    /// Gives the other end of a pipe as standard input.
    pub(crate) fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.stdin = Some(stdin.into());
        self
    }

    /// Gives the other end of a pipe as standard output.
    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = Some(stdout.into());
        self
    }

    /// Sets or (with `None`) removes one variable; only for what belongs to this one run.
    pub(crate) fn variable(mut self, name: &str, value: Option<&OsStr>) -> Self {
        match value {
            Some(value) => self.command.env(name, value),
            None => self.command.env_remove(name),
        };
        self
    }

    /// Runs it with nothing on standard input.
    pub(crate) fn run(self) -> Result<Output, GitError> {
        let mut stdout = Vec::new();
        let mut output = self.start(None, &mut stdout)?;
        output.stdout = stdout;
        Ok(output)
    }

    /// Runs it with nothing on standard input; any status but 0 is an error.
    pub(crate) fn success(self) -> Result<Output, GitError> {
        let doing = self.doing.clone();
        self.run()?.expect_success(doing)
    }

    /// Runs it while `input` is given to it and what it prints is given to `stdout`; any status but 0 is an error. An error
    /// of either ends it at once.
    pub(crate) fn converse(self, input: &mut dyn Read, stdout: &mut dyn Write) -> Result<Output, GitError> {
        let doing = self.doing.clone();
        self.start(Some(input), stdout)?.expect_success(doing)
    }

    /// The same, where the exit status is an answer.
    pub(crate) fn ask(self, input: &mut dyn Read, stdout: &mut dyn Write) -> Result<Output, GitError> {
        self.start(Some(input), stdout)
    }

    /// The one place at which git is started.
    fn start(mut self, input: Option<&mut dyn Read>, stdout: &mut dyn Write) -> Result<Output, GitError> {
        use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command
            .stdin(self.stdin.take().unwrap_or(stdin))
            .stdout(self.stdout.take().unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped())
            .process_group(0);
        let spawned = self.command.spawn();
        let Self { command, program, doing, limit, cancel, .. } = self;
        // Ends of pipes that were given to the process must not stay open here.
        drop(command);
        let child = match spawned {
            Ok(child) => child,
            Err(source) => return Err(GitError::NotStarted { doing, program, source }),
        };
        let end = pump::End { deadline: Instant::now() + limit, cancel: cancel.as_ref() };
        let (status, stderr) = match pump::run(child, input, stdout, end) {
            Ok(ended) => ended,
            Err(pump::Fault::Cancelled) => return Err(GitError::Cancelled { doing }),
            Err(pump::Fault::TimedOut) => return Err(GitError::TimedOut { doing, seconds: limit.as_secs() }),
            Err(pump::Fault::Io(source)) => return Err(GitError::Pipe { doing, source }),
        };
        match (status.code(), status.signal()) {
            (Some(code), _) => Ok(Output { code, stdout: Vec::new(), stderr }),
            (None, signal) => Err(GitError::Signalled { doing, signal: signal.unwrap_or(0) }),
        }
    }
}

impl Output {
    fn expect_success(self, doing: String) -> Result<Self, GitError> {
        match self.code {
            0 => Ok(self),
            code => Err(GitError::Failed { doing, code, stderr: self.stderr }),
        }
    }

    /// Standard output as one line of text.
    pub(crate) fn line(&self) -> &[u8] {
        self.stdout.strip_suffix(b"\n").unwrap_or(&self.stdout)
    }
}
