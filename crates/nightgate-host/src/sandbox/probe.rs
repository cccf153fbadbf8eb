//! Finds out which boxes this machine can build, by building one and trying to break out of it. What a plan demands is not
//! here.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as LocalAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Pid, getpid, test_kill_process};
use serde::{Deserialize, Serialize};

use super::{Access, Bind, Network, Sandbox, Strength};
use crate::env::{Environment, EnvironmentSpec, Inherited, Role};
use crate::log::Limits;
use crate::process::{Cancel, Confine, Exit, Helper, Launch, Logs, Stdin, raw, supervise};

/// The argument that makes a helper try its box.
const WORD: &str = "attempts";
/// A box that isn't built and tried in this time isn't to be had.
const PATIENCE: Duration = Duration::from_secs(20);

/// One forbidden thing that was tried in a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// What was tried: `read.outside`, `network.loopback`, ...
    pub name: String,
    /// What the system said; `None` where it was done.
    pub refused: Option<String>,
}

/// What one kind of box was found to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Which kind.
    pub strength: Strength,
    /// Each thing that was tried in it; empty where it could not be built.
    pub attempts: Vec<Attempt>,
    /// Why it can't be used, with the system's error; `None` where it holds.
    pub why_not: Option<String>,
}

/// What this machine can build, strongest first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Probed {
    /// Each kind of box, as it was found.
    pub probes: Vec<Probe>,
}

impl Probed {
    /// The strongest kind of box that holds and is no stronger than `most`.
    pub fn best(&self, most: Strength) -> Option<Strength> {
        let holds = |probe: &&Probe| probe.why_not.is_none() && probe.strength <= most;
        self.probes.iter().filter(holds).map(|probe| probe.strength).max()
    }
}

/// Builds each kind of box and tries to break out. `scratch` is a folder of this call's own.
///
/// # Errors
/// Where not even the things to be protected can be set up in `scratch`, or no helper can be started.
pub fn probe(helper: &Helper, scratch: &Path) -> io::Result<Probed> {
    let scratch = fs::canonicalize(scratch)?;
    let mut probed = Probed::default();
    for strength in [Strength::Namespaces, Strength::Restricted] {
        let folder = scratch.join(format!("{strength:?}").to_lowercase());
        probed.probes.push(probe_one(helper, &folder, strength)?);
    }
    Ok(probed)
}

/// What the attempts are to be made on.
#[derive(Debug, Serialize, Deserialize)]
struct Targets {
    /// A file that only the outside has.
    #[serde(with = "super::path")]
    secret: PathBuf,
    /// A folder that can be written, outside.
    #[serde(with = "super::path")]
    outside: PathBuf,
    /// A read-only file in a folder that can be written, inside.
    #[serde(with = "super::path")]
    protected: PathBuf,
    /// A folder that can be written, inside.
    #[serde(with = "super::path")]
    inside: PathBuf,
    loopback: SocketAddr,
    local: String,
    supervisor: i32,
}

fn probe_one(helper: &Helper, folder: &Path, strength: Strength) -> io::Result<Probe> {
    let (outside, inside) = (folder.join("outside"), folder.join("inside"));
    for made in [&outside, &inside, &folder.join("logs")] {
        fs::create_dir_all(made)?;
    }
    let (secret, protected) = (outside.join("secret"), inside.join("protected"));
    fs::write(&secret, "secret")?;
    fs::write(&protected, "protected")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let local = format!("nightgate-probe-{}-{strength:?}", getpid().as_raw_nonzero());
    let _local_listener = UnixListener::bind_addr(&LocalAddr::from_abstract_name(&local)?)?;
    let program = fs::canonicalize(&helper.program)?;
    let sandbox = Sandbox {
        strength,
        binds: vec![
            Bind::same(&program, Access::Read),
            Bind::same(&inside, Access::Write),
            Bind::same(&protected, Access::Read),
        ],
        network: Network::None,
        nesting: false,
    };
    let targets = Targets {
        secret,
        outside,
        protected,
        inside: inside.clone(),
        loopback: listener.local_addr()?,
        local,
        supervisor: getpid().as_raw_nonzero().get(),
    };
    let spec = EnvironmentSpec {
        home: inside.clone(),
        tmp: inside.clone(),
        path: Vec::new(),
        pass: &[],
        extra: Vec::new(),
    };
    let environment = Environment::build(Role::ToolProbe, &Inherited::default(), &spec);
    let launch = Launch {
        program,
        args: helper
            .argument
            .iter()
            .cloned()
            .chain([OsString::from(WORD), OsString::from(serde_json::to_string(&targets)?)])
            .collect(),
        cwd: inside,
        environment: &environment,
        stdin: Stdin::Null,
        wall: Some(PATIENCE),
        silence: None,
        logs: Logs { folder: folder.join("logs"), name: "probe".to_owned(), limits: Limits::default() },
        helper,
        confine: Confine::Best,
        sandbox: Some(&sandbox),
        hold: None,
    };
    let cancel = Cancel::new()?;
    let ended = supervise(&launch, &cancel, &mut |_| {}).map_err(io::Error::other)?;
    let without = |why: String| Ok(Probe { strength, attempts: Vec::new(), why_not: Some(why) });
    match &ended.exit {
        Exit::Exited(0) => {}
        Exit::NotStarted { text, .. } => return without(text.clone()),
        exit => return without(format!("the box was tried and the trial ended: {exit:?}")),
    }
    let printed = ended.stdout.files.assemble().map_err(io::Error::other)?;
    let attempts: Vec<Attempt> = match serde_json::from_slice(&printed.bytes) {
        Ok(attempts) => attempts,
        Err(error) => return without(format!("the trial's answer can't be read: {error}")),
    };
    let done = |name: &str| attempts.iter().any(|attempt| attempt.name == name && attempt.refused.is_none());
    let leaks: Vec<_> = FORBIDDEN
        .iter()
        .filter(|(least, _)| *least <= strength)
        .map(|(_, name)| *name)
        .filter(|name| done(name) || !attempts.iter().any(|attempt| attempt.name == *name))
        .collect();
    let why_not = (!leaks.is_empty()).then(|| format!("in the box this could be done: {}", leaks.join(", ")));
    Ok(Probe { strength, attempts, why_not })
}

/// What must be refused, and from which strength on.
const FORBIDDEN: &[(Strength, &str)] = &[
    (Strength::Restricted, "read.outside"),
    (Strength::Restricted, "write.outside"),
    (Strength::Restricted, "write.system"),
    (Strength::Restricted, "signal.outside"),
    (Strength::Restricted, "trace"),
    (Strength::Restricted, "mount"),
    (Strength::Restricted, "namespace.user"),
    (Strength::Restricted, "network.loopback"),
    (Strength::Restricted, "socket.packet"),
    (Strength::Restricted, "socket.vsock"),
    (Strength::Restricted, "io_uring"),
    (Strength::Restricted, "keyring"),
    (Strength::Namespaces, "socket.abstract"),
    (Strength::Namespaces, "write.protected"),
    (Strength::Namespaces, "rename.protected"),
];

/// The targets, where this process was started to try its box.
pub(crate) fn attempt_words() -> Option<OsString> {
    std::env::args_os().skip_while(|word| word != WORD).nth(1)
}

/// Tries each forbidden thing, harmlessly, and prints what the system said.
pub(crate) fn attempts_main(words: &OsString) -> ExitCode {
    let targets: Option<Targets> = words.to_str().and_then(|words| serde_json::from_str(words).ok());
    let Some(targets) = targets else { return ExitCode::from(70) };
    let answer = serde_json::to_vec(&attempts(&targets)).unwrap_or_default();
    match io::stdout().write_all(&answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(70),
    }
}

fn attempts(targets: &Targets) -> Vec<Attempt> {
    let tried = |name: &str, result: io::Result<()>| Attempt {
        name: name.to_owned(),
        refused: result.err().map(|error| error.to_string()),
    };
    let call = |number, first, second, third| raw::attempt(number, [first, second, third]);
    let socket = |family: i32| call(libc::SYS_socket, family.into(), libc::SOCK_DGRAM.into(), 0);
    let patience = Duration::from_secs(2);
    let user = libc::CLONE_NEWUSER.into();
    let signalled = || -> io::Result<()> {
        let pid = Pid::from_raw(targets.supervisor).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(test_kill_process(pid)?)
    };
    let abstract_socket = || -> io::Result<()> {
        UnixStream::connect_addr(&LocalAddr::from_abstract_name(&targets.local)?).map(drop)
    };
    vec![
        tried("read.outside", fs::read(&targets.secret).map(drop)),
        tried("write.outside", fs::write(targets.outside.join("made"), "")),
        tried("write.system", fs::write("/usr/nightgate-probe", "")),
        tried("write.protected", fs::OpenOptions::new().write(true).open(&targets.protected).map(drop)),
        tried("rename.protected", fs::rename(&targets.protected, targets.inside.join("moved"))),
        tried("signal.outside", signalled()),
        // Attach to the first process there is; where the call isn't denied, it answers that there is no such request.
        tried("trace", denied(call(libc::SYS_ptrace, -1, 1, 0))),
        tried("mount", denied(call(libc::SYS_mount, 0, 0, 0))),
        tried("namespace.user", call(libc::SYS_unshare, user, 0, 0)),
        tried("network.loopback", TcpStream::connect_timeout(&targets.loopback, patience).map(drop)),
        tried("socket.packet", socket(libc::AF_PACKET)),
        tried("socket.vsock", socket(libc::AF_VSOCK)),
        tried("socket.abstract", abstract_socket()),
        tried("io_uring", denied(call(libc::SYS_io_uring_setup, 0, 0, 0))),
        tried("keyring", denied(call(libc::SYS_keyctl, -1, 0, 0))),
    ]
}

/// Of a call with senseless arguments: only "not permitted" and "no such call" mean that it was denied.
fn denied(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => Err(error),
        _ => Ok(()),
    }
}
