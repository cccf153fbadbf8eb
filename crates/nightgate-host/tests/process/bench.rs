//! What the tests of supervision stand on: one launch with its folder, and FIFOs that show who still lives.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nightgate_host::env::{Environment, EnvironmentSpec, Inherited, Role};
use nightgate_host::lock::FileLock;
use nightgate_host::log::Limits;
use nightgate_host::process::{
    Cancel, Confine, Ended, Helper, Launch, Logs, Mechanism, Progress, Stdin, SuperviseError, supervise,
};
use nightgate_host::sandbox::Sandbox;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

/// Makes two tests of each function, one for each mechanism.
macro_rules! in_both {
    ($($name:ident,)*) => {
        mod namespace {
            $(#[test] fn $name() { super::$name(nightgate_host::process::Confine::Best) })*
        }
        mod subreaper {
            $(#[test] fn $name() { super::$name(nightgate_host::process::Confine::SubreaperOnly) })*
        }
    };
}
pub(crate) use in_both;

pub struct Bench {
    pub folder: tempfile::TempDir,
    pub confine: Confine,
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub stdin: Stdin,
    pub wall: Option<Duration>,
    pub silence: Option<Duration>,
    pub helper: Helper,
    pub cancel: Cancel,
    pub sandbox: Option<Sandbox>,
    pub log: String,
}

impl Bench {
    pub fn new(confine: Confine, program: impl AsRef<Path>, args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            confine,
            program: program.as_ref().to_owned(),
            args: args.iter().map(OsString::from).collect(),
            cwd: folder.path().to_owned(),
            folder,
            stdin: Stdin::Null,
            wall: None,
            silence: None,
            helper: Helper { program: env!("CARGO_BIN_EXE_nightgate-box").into(), argument: None },
            cancel: Cancel::new().unwrap(),
            sandbox: None,
            log: "run".into(),
        }
    }

    pub fn shell(confine: Confine, script: &str) -> Self {
        Self::new(confine, "/bin/sh", &["-c", script])
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn environment(&self) -> Environment {
        let (home, tmp) = (self.path("home"), self.path("tmp"));
        let spec = EnvironmentSpec { home, tmp, path: vec![], pass: &[], extra: vec![] };
        Environment::build(Role::Check, &Inherited::default(), &spec)
    }

    /// Runs and checks what holds for every run on this machine, whatever the target did.
    pub fn run(&self) -> Ended {
        self.watch(&mut |_| {}).unwrap()
    }

    pub fn watch(&self, observe: &mut dyn FnMut(Progress<'_>)) -> Result<Ended, SuperviseError> {
        let environment = self.environment();
        let launch = Launch {
            program: self.program.clone(),
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            environment: &environment,
            stdin: self.stdin.clone(),
            wall: self.wall,
            silence: self.silence,
            logs: Logs {
                folder: self.folder.path().into(),
                name: self.log.clone(),
                limits: Limits::default(),
            },
            helper: &self.helper,
            confine: self.confine,
            sandbox: self.sandbox.as_ref(),
            hold: Some(self.path("keeper")),
        };
        let ended = supervise(&launch, &self.cancel, observe)?;
        assert!(!FileLock::is_held(&self.path("keeper")).unwrap(), "the run's lock is held after its end");
        if ended.stop.mechanism != Mechanism::Nothing {
            let namespace = self.confine == Confine::Best && ended.stop.fell_back.is_none();
            let wanted = if namespace { Mechanism::PidNamespace } else { Mechanism::Subreaper };
            assert_eq!(ended.stop.mechanism, wanted);
            assert!(namespace || !ended.stop.proc_mounted && !ended.stop.user_namespace);
        }
        Ok(ended)
    }

    /// A FIFO in the folder, its reading end open: what opens it for writing can be seen to live.
    pub fn fifo(&self, name: &str) -> Fifo {
        Fifo::make(&self.path(name))
    }
}

pub fn stdout(ended: &Ended) -> String {
    String::from_utf8(ended.stdout.files.assemble().unwrap().bytes).unwrap()
}

pub fn stderr(ended: &Ended) -> String {
    String::from_utf8(ended.stderr.files.assemble().unwrap().bytes).unwrap()
}

pub struct Fifo(File);

impl Fifo {
    pub fn make(path: &Path) -> Self {
        mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        Self(File::options().read(true).custom_flags(flags).open(path).unwrap())
    }

    /// What was written, if nobody holds the writing end; panics if somebody does.
    pub fn abandoned(&mut self) -> String {
        let mut text = String::new();
        self.0.read_to_string(&mut text).expect("somebody still holds the FIFO");
        text
    }

    /// Waits until everybody has let go of the writing end, which somebody holds; what was written until then.
    pub fn wait_until_abandoned(&mut self) -> String {
        rustix::io::ioctl_fionbio(&self.0, false).unwrap();
        self.abandoned()
    }

    /// Waits for one line from a writer.
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let mut fds = [rustix::event::PollFd::new(&self.0, rustix::event::PollFlags::IN)];
            rustix::event::poll(&mut fds, None).unwrap();
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }
}
