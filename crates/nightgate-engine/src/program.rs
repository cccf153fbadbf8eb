//! Finds the programs of a plan and starts them: one way for agents, setup steps and checks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nightgate_core::declaration::Terms;
use nightgate_core::evidence::{self, Exit, Remaining, Survivors};
use nightgate_core::isolation::Enforcement;
use nightgate_core::plan::FrozenTool;
use nightgate_host::env::Environment;
use nightgate_host::log::{Limits, LogFiles};
use nightgate_host::process::{self, Confine, Ended, Launch, Logs, Mechanism, Stdin, Stop};
use nightgate_host::sandbox::Sandbox;
use nightgate_host::tool::{self, Tool};

use crate::Engine;
use crate::agent::Agent;
use crate::error::EngineError;
use crate::step::Observer;

/// Toolchains that a check's own scripts may call although the plan names only the script. Those that lie in the user's
/// home would not be found under a fresh one; whichever of these is installed is offered on `PATH`.
const COMPANIONS: &[&str] = &["cargo", "rustc", "python3", "node", "npm", "go", "uv"];

/// The programs of a plan, as they were found on this machine at one moment.
#[derive(Debug)]
pub(crate) struct Programs {
    found: BTreeMap<String, Result<Tool, String>>,
    companions: Vec<Tool>,
}

impl Programs {
    /// Looks up what `terms` names. `cwd` is where version files of the project (`rust-toolchain.toml`,
    /// `.python-version`) are read: a folder with base's files, never the agent's.
    pub(crate) fn find(engine: &Engine, terms: &Terms, cwd: &Path) -> Self {
        let resolve = |name: &str| {
            tool::resolve(name, &engine.around.inherited.search_path(), cwd, &engine.around.inherited)
        };
        let executables = terms
            .setup
            .iter()
            .map(|step| &step.executable)
            .chain(terms.commands.iter().map(|check| &check.executable))
            .filter(|executable| !is_in_tree(executable));
        let found = executables
            .map(|name| (name.clone(), resolve(name).map_err(|fault| fault.to_string())))
            .collect::<BTreeMap<_, _>>();
        // `cargo nextest` is a program of its own, `cargo-nextest`.
        let subcommands = terms
            .commands
            .iter()
            .filter(|check| check.executable.rsplit('/').next() == Some("cargo"))
            .filter_map(|check| check.args.iter().find(|arg| !arg.starts_with(['-', '+'])))
            .map(|subcommand| format!("cargo-{subcommand}"));
        let companions = COMPANIONS.iter().map(ToString::to_string).chain(subcommands).filter_map(|name| {
            resolve(&name).ok().filter(|tool| !found.contains_key(&name) && tool.kind != tool::Kind::System)
        });
        let companions = companions.collect();
        Self { found, companions }
    }

    /// Those that the plan keeps: each with the digest of its program's file.
    pub(crate) fn frozen(&self) -> Vec<FrozenTool> {
        let found = self.found.iter().filter_map(|(name, tool)| Some((name, tool.as_ref().ok()?)));
        found.map(|(name, tool)| FrozenTool { executable: name.clone(), digest: tool.digest }).collect()
    }

    /// Where each was found, for the record of freezing; a plan holds no path of a machine.
    pub(crate) fn places(&self) -> Vec<(String, String)> {
        let found = self.found.iter().filter_map(|(name, tool)| Some((name, tool.as_ref().ok()?)));
        found.map(|(name, tool)| (name.clone(), tool.program.display().to_string())).collect()
    }

    /// The names of those that are not the plan's any more. A missing one is told by its check.
    pub(crate) fn changed_since(&self, frozen: &[FrozenTool]) -> Vec<String> {
        let differs = |tool: &&FrozenTool| match self.found.get(&tool.executable) {
            Some(Ok(found)) => found.digest != tool.digest,
            Some(Err(_)) | None => false,
        };
        frozen.iter().filter(differs).map(|tool| tool.executable.clone()).collect()
    }

    /// The program that `executable` means, for a tree that lies at `tree`; the reason where there is none.
    pub(crate) fn program(&self, executable: &str, tree: &Path) -> Result<PathBuf, String> {
        if is_in_tree(executable) {
            return Ok(tree.join(executable.strip_prefix("./").unwrap_or(executable)));
        }
        match self.found.get(executable) {
            Some(Ok(tool)) => Ok(tool.program.clone()),
            Some(Err(why)) => Err(why.clone()),
            None => Err(format!("`{executable}` is none of the plan's programs")),
        }
    }

    /// Folders for `PATH`: the named tools' first.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.tools().flat_map(|tool| tool.path.clone()).collect()
    }

    /// What a box must show for the tools to run.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        self.tools().flat_map(|tool| tool.roots.clone()).collect()
    }

    /// Variables that the tools need under a fresh home.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        self.tools().flat_map(|tool| tool.variables.clone()).collect()
    }

    fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.found.values().filter_map(|tool| tool.as_ref().ok()).chain(&self.companions)
    }
}

/// True for a program that the repository itself holds.
pub(crate) fn is_in_tree(executable: &str) -> bool {
    !executable.starts_with('/') && executable.contains('/')
}

/// One program to run under supervision.
pub(crate) struct Run<'a> {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) environment: &'a Environment,
    pub(crate) stdin: Stdin,
    pub(crate) wall: Duration,
    pub(crate) silence: Option<Duration>,
    pub(crate) logs: PathBuf,
    pub(crate) log_name: String,
    /// A lock that is held until the last process of the run is gone, also if this process dies before.
    pub(crate) hold: Option<PathBuf>,
    /// The box around it; `program` and `cwd` are paths inside.
    pub(crate) sandbox: Option<Sandbox>,
}

impl Engine {
    /// Runs one program so that nothing of it outlives the call.
    pub(crate) fn supervise(&self, run: Run<'_>, observer: &mut dyn Observer) -> Result<Ended, EngineError> {
        let program = run.program.clone();
        let launch = Launch {
            program: run.program,
            args: run.args,
            cwd: run.cwd,
            environment: run.environment,
            stdin: run.stdin,
            wall: Some(run.wall),
            silence: run.silence,
            logs: Logs { folder: run.logs, name: run.log_name, limits: Limits::default() },
            helper: &self.around.helper,
            confine: Confine::Best,
            sandbox: run.sandbox.as_ref(),
            hold: run.hold,
        };
        process::supervise(&launch, &self.around.cancel, &mut |progress| {
            observer.alive(progress.elapsed, progress.stdout + progress.stderr);
        })
        .map_err(|fault| EngineError::environment(format!("run {}", program.display()), fault))
    }

    /// Keeps a stream's log as a blob. A log that can't be kept is a fact, told in `faults`, and never silently less.
    pub(crate) fn keep_stream(&self, output: &process::Output, faults: &mut Vec<String>) -> evidence::Stream {
        let mut stream = evidence::Stream { bytes: output.bytes, log: None, truncated: output.truncated };
        if let Some(broken) = &output.broken {
            faults.push(format!("a log ends early: {broken}"));
        }
        if output.bytes == 0 {
            return stream;
        }
        match self.keep_log(&output.files) {
            Ok(digest) => stream.log = Some(digest),
            Err(why) => faults.push(why),
        }
        stream
    }

    /// Keeps what is on disk of a log.
    pub(crate) fn keep_log(&self, files: &LogFiles) -> Result<nightgate_core::Digest, String> {
        let log = files.assemble().map_err(|fault| format!("a log can't be read: {fault}"))?;
        self.blobs.put(&log.bytes).map_err(|fault| format!("a log can't be kept: {fault}"))
    }
}

/// How a run ended, as evidence says it. `seconds` is the limit that it ran under.
pub(crate) fn exit_of(ended: &Ended, seconds: u64) -> Exit {
    match &ended.exit {
        process::Exit::Exited(code) => Exit::Exited { code: *code },
        process::Exit::Signalled(signal) => Exit::Signalled { signal: *signal },
        process::Exit::NotStarted { text, .. } => Exit::NotStarted { text: text.clone() },
        process::Exit::TimedOut(_) => Exit::TimedOut { seconds },
        process::Exit::Cancelled => Exit::Cancelled,
        process::Exit::Lost { why } => Exit::Lost { text: why.clone() },
    }
}

/// What a run left behind, as evidence says it.
pub(crate) fn survivors_of(stop: &Stop) -> Survivors {
    let remaining = match stop.remaining {
        Some(0) => Remaining::None,
        Some(count) => Remaining::Some(u64::from(count)),
        None => Remaining::Unknown("the process that held the others was lost".to_owned()),
    };
    Survivors { killed: u64::from(stop.survivors), names: stop.survivor_names.clone(), remaining }
}

/// How a run's processes were held together, as evidence says it.
pub(crate) fn stop_enforcement(capability: &str, stop: &Stop) -> Enforcement {
    let got = match stop.mechanism {
        Mechanism::PidNamespace if stop.user_namespace => "pid namespace in a user namespace",
        Mechanism::PidNamespace => "pid namespace",
        Mechanism::Subreaper => "child subreaper",
        Mechanism::Nothing => "nothing was started",
    };
    Enforcement {
        capability: capability.to_owned(),
        wanted: "every process is found and ended".to_owned(),
        got: got.to_owned(),
        enforced: stop.is_complete(),
        error: stop.fell_back.clone(),
    }
}

impl Engine {
    /// The agent's program, found on the user's own `PATH`.
    pub(crate) fn find_agent(&self, agent: &Agent) -> Result<Tool, EngineError> {
        let inherited = &self.around.inherited;
        tool::resolve(&agent.executable, &inherited.search_path(), self.home.root(), inherited)
            .map_err(|fault| EngineError::NoAgent { name: agent.name.clone(), why: fault.to_string() })
    }
}
