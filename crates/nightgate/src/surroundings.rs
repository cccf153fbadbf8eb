//! Reads what this process was given: environment, folders, signals. Nobody else asks the real environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nightgate_core::declaration::AgentDeclaration;
use nightgate_core::isolation::IsolationLevel;
use nightgate_engine::{
    Cancel, Engine, EngineError, Helper, Inherited, Surroundings, agents_in, read_document,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::CommandError;

/// The first argument by which this program is started again as the keeper of other processes.
pub const BOX_ARGUMENT: &str = "__box";

/// Everything that the engine has to be told about this process. From here on, signals raise the returned flag.
pub fn surroundings() -> Result<Surroundings, CommandError> {
    let inherited = Inherited::new(std::env::vars_os());
    let cancel = Cancel::new().map_err(CommandError::io("make a flag for interruption"))?;
    watch_signals(&cancel)?;
    Ok(Surroundings {
        home: home(&inherited)?,
        helper: Helper {
            program: PathBuf::from("/proc/self/exe"),
            argument: Some(OsString::from(BOX_ARGUMENT)),
        },
        strongest: strongest(&inherited)?,
        inherited,
        identity: format!("user:{}", rustix::process::getuid().as_raw()),
        cancel,
        clock: milliseconds,
    })
}

/// The engine, for commands that write.
pub fn open() -> Result<(Engine, Cancel), CommandError> {
    let around = surroundings()?;
    let cancel = around.cancel.clone();
    Ok((Engine::open(around)?, cancel))
}

/// The engine, for commands that only read.
pub fn open_for_reading() -> Result<Engine, CommandError> {
    Ok(Engine::open_for_reading(surroundings()?)?)
}

/// Agents of the user's own configuration.
pub fn user_agents() -> Result<BTreeMap<String, AgentDeclaration>, CommandError> {
    let inherited = Inherited::new(std::env::vars_os());
    let Some(file) = configuration(&inherited)? else { return Ok(BTreeMap::new()) };
    let name = file.display();
    let bytes = match read_document(&file) {
        Ok(bytes) => bytes,
        Err(fault) if fault.is_absence() => return Ok(BTreeMap::new()),
        Err(fault) => return Err(CommandError::Surroundings(format!("read {name}: {fault}"))),
    };
    let refuse = |why: String| CommandError::Usage(format!("{name} can't be used:\n{why}"));
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".to_owned()))?;
    agents_in(&text).map_err(|fault| refuse(fault.to_string()))
}

/// The bytes of a file that the command line names.
pub fn read_named(file: &Path) -> Result<Vec<u8>, CommandError> {
    read_document(file).map_err(|fault| {
        let doing = format!("read {}", file.display());
        CommandError::Engine(EngineError::Environment { doing, why: fault.to_string() })
    })
}

/// The folder that the program was started in.
pub fn current_folder() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(CommandError::io("find the current folder"))
}

/// `NIGHTGATE_HOME`, else the XDG data folder.
fn home(inherited: &Inherited) -> Result<PathBuf, CommandError> {
    let absolute = |name: &str| inherited.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(given) = inherited.get("NIGHTGATE_HOME").filter(|given| !given.is_empty()) {
        return std::path::absolute(given).map_err(CommandError::io("use NIGHTGATE_HOME"));
    }
    if let Some(data) = absolute("XDG_DATA_HOME") {
        return Ok(data.join("nightgate"));
    }
    let home = absolute("HOME").ok_or_else(|| {
        CommandError::Surroundings(
            "find a place for nightgate's data: HOME is not set to an absolute folder; set it, or NIGHTGATE_HOME"
                .to_owned(),
        )
    })?;
    Ok(home.join(".local/share/nightgate"))
}

/// `NIGHTGATE_ISOLATION`: no run is confined more strongly than it says.
fn strongest(inherited: &Inherited) -> Result<IsolationLevel, CommandError> {
    let Some(given) = inherited.get("NIGHTGATE_ISOLATION").filter(|given| !given.is_empty()) else {
        return Ok(IsolationLevel::I4);
    };
    let levels =
        [IsolationLevel::I0, IsolationLevel::I1, IsolationLevel::I2, IsolationLevel::I3, IsolationLevel::I4];
    levels.into_iter().find(|level| given == level.as_str()).ok_or_else(|| {
        CommandError::Usage(format!(
            "NIGHTGATE_ISOLATION is `{}`: write one of I0, I1, I2, I3, I4",
            given.display()
        ))
    })
}

/// The user's own configuration file.
fn configuration(inherited: &Inherited) -> Result<Option<PathBuf>, CommandError> {
    if inherited.get("NIGHTGATE_HOME").is_some_and(|given| !given.is_empty()) {
        return Ok(Some(home(inherited)?.join("config.toml")));
    }
    let absolute = |name: &str| inherited.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Ok(folder.map(|folder| folder.join("nightgate/config.toml")))
}

/// The first signal ends what is running in an orderly way; the second ends this process, and with it all that it keeps.
fn watch_signals(cancel: &Cancel) -> Result<(), CommandError> {
    let doing = || "watch for signals".to_owned();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(CommandError::io(doing()))?;
    let cancel = cancel.clone();
    let watch = move || {
        for signal in signals.forever() {
            if cancel.is_cancelled() {
                std::process::exit(128 + signal);
            }
            cancel.cancel();
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch).map_err(CommandError::io(doing()))?;
    Ok(())
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
