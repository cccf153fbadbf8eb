//! Drives: takes a job from a request through freeze, attempt, capture and verdict to a record, and back up after a crash.
//!
//! No SQL, HTTP or terminal. What a fact means is decided in `nightgate-core`; what is done to the machine is done by
//! `nightgate-host`; what must be remembered is remembered by `nightgate-store`.

mod agent;
mod approval;
mod capture;
mod confine;
mod doctor;
mod error;
mod example;
mod freeze;
mod home;
mod journal;
mod program;
mod project;
mod read;
mod recover;
mod request;
mod room;
mod run;
mod step;
mod verify;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nightgate_core::isolation::IsolationLevel;
use nightgate_core::job::JobState;
use nightgate_core::plan::Plan;
use nightgate_core::record::Record;
use nightgate_core::{CommitId, JobId};
use nightgate_host::env::{Environment, EnvironmentSpec, Role};
use nightgate_host::git::{Git, GitError, UserSettings};
use nightgate_host::sandbox::Probed;
use nightgate_store::{Blobs, SqliteStore, Store, StoreError};

pub use agent::Agent;
pub use approval::Ask;
pub use doctor::Ability;
pub use error::EngineError;
pub use freeze::{FreezeRecord, Frozen};
pub use nightgate_host::document::{
    DocumentError, read as read_document, read_stream as read_document_stream,
};
pub use nightgate_host::env::Inherited;
pub use nightgate_host::process::{Cancel, Helper, helper_main};
pub use project::agents_in;
pub use read::JobView;
pub use request::{AgentChoice, DeclarationText, PlanText, RunRequest, Subject, VerifyRequest};
pub use step::{Observer, Step};

use home::Home;

/// What the engine has to be told about the process that it runs in.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where Nightgate keeps everything of its own. Absolute.
    pub home: PathBuf,
    /// The environment that this process was given.
    pub inherited: Inherited,
    /// How to start this program again as the keeper of other processes.
    pub helper: Helper,
    /// No run is confined more strongly than this, whatever the machine could do: for comparing levels, and for machines
    /// whose boxes don't fit. The evidence says so.
    pub strongest: IsolationLevel,
    /// Who acts: `user:1000`, ...
    pub identity: String,
    /// Ends what is running, when a person interrupts.
    pub cancel: Cancel,
    /// Milliseconds since 1970 (UTC).
    pub clock: fn() -> u64,
}

/// The one way in for every surface: the command line now, a daemon later.
pub struct Engine {
    home: Home,
    store: Box<dyn Store>,
    blobs: Blobs,
    git: OnceLock<Git>,
    probed: OnceLock<Probed>,
    around: Surroundings,
}

/// A job as it stands, with what it rests on.
#[derive(Debug)]
pub struct Report {
    /// The job's state.
    pub state: JobState,
    /// The plan, once frozen.
    pub plan: Option<Plan>,
    /// The record, once judged.
    pub record: Option<Record>,
    /// The base that was asked for, also before there is a plan.
    pub requested_base: CommitId,
    /// When the base was committed, in seconds since 1970.
    pub base_time: i64,
    /// The last lines of each check that was run, by its name.
    pub tails: BTreeMap<String, Vec<String>>,
}

impl Engine {
    /// Opens Nightgate's home for work; makes what is missing of it (0700).
    pub fn open(around: Surroundings) -> Result<Self, EngineError> {
        let home = Home::new(around.home.clone());
        home.make()?;
        let store = SqliteStore::open(home.store()).map_err(EngineError::store)?;
        let blobs =
            Blobs::open(home.blobs()).map_err(|fault| EngineError::environment("open the blobs", fault))?;
        Ok(Self::with_store(home, Box::new(store), blobs, around))
    }

    /// Opens Nightgate's home for reading; makes and changes nothing.
    pub fn open_for_reading(around: Surroundings) -> Result<Self, EngineError> {
        let home = Home::new(around.home.clone());
        let store = SqliteStore::read_only(home.store());
        let blobs = Blobs::read_only(home.blobs());
        Ok(Self::with_store(home, Box::new(store), blobs, around))
    }

    fn with_store(home: Home, store: Box<dyn Store>, blobs: Blobs, around: Surroundings) -> Self {
        Self { home, store, blobs, git: OnceLock::new(), probed: OnceLock::new(), around }
    }

    /// The user's git, looked for when it is first needed: readers do without.
    fn git(&self) -> Result<&Git, EngineError> {
        match self.git.get() {
            Some(git) => Ok(git),
            None => {
                let git = find_git(&self.home, &self.around)?;
                Ok(self.git.get_or_init(|| git))
            }
        }
    }

    fn now(&self) -> u64 {
        (self.around.clock)()
    }

    /// A job id that no job of this store has.
    fn new_job_id(&self) -> Result<JobId, EngineError> {
        loop {
            let mut bits = [0; 8];
            let filled = rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty());
            filled.map_err(|errno| EngineError::environment("make a job id", errno))?;
            let job = JobId::from_bits(u64::from_le_bytes(bits));
            match self.store.lease_of(&job) {
                Err(StoreError::NoSuchJob(_)) => return Ok(job),
                Ok(_) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
    }
}

/// The git on the user's `PATH`, with an environment of its own.
fn find_git(home: &Home, around: &Surroundings) -> Result<Git, EngineError> {
    let doing = "find git";
    let search = around.inherited.search_path();
    let program =
        search.iter().map(|folder| folder.join("git")).find(|path| path.is_file()).ok_or_else(|| {
            EngineError::environment(doing, "it is in none of the folders of PATH: install git 2.31 or newer")
        })?;
    let spec = EnvironmentSpec {
        home: home.root().to_owned(),
        tmp: around.inherited.get("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from),
        path: Vec::new(),
        pass: &[],
        extra: Vec::new(),
    };
    let git = Git::new(program, Environment::build(Role::Git, &around.inherited, &spec));
    git.version().map_err(|fault| EngineError::environment(doing, fault))?;
    let settings = read_user_settings(&git, &around.inherited)
        .map_err(|fault| EngineError::environment(doing, fault))?;
    Ok(git.with_safe_directories(settings.safe_directories))
}

/// What of the user's own git configuration has to be known.
fn read_user_settings(git: &Git, inherited: &Inherited) -> Result<UserSettings, GitError> {
    let home = inherited.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let xdg = inherited.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    match home {
        Some(home) => UserSettings::read(git, &home, xdg.as_deref()),
        None => UserSettings::read(git, Path::new("/nonexistent"), xdg.as_deref()),
    }
}
