//! Chooses the box of each run, and says what it was. Building boxes is the host's; what they mean for a verdict, core's.

use std::fs;
use std::path::{Path, PathBuf};

use nightgate_core::JobId;
use nightgate_core::isolation::{Enforcement, IsolationLevel};
use nightgate_host::sandbox::{Access, Bind, Network, Probed, Sandbox, Strength, is_system, probe};

use crate::Engine;
use crate::error::EngineError;

/// What the folders of a run are called in a box with namespaces: the same for every job, with nothing above them.
const TREE: &str = "/nightgate/tree";
const HOME: &str = "/nightgate/home";
const TMP: &str = "/tmp";

/// More read-only criteria files than this are left to the comparison alone: each is a mount, and a machine bears so many.
const MOST_PROTECTED: usize = 4096;

/// A run's own folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) tree: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) tmp: PathBuf,
}

/// What is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Agent,
    Setup,
    Check,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Setup => "setup",
            Self::Check => "checks",
        }
    }

    fn network(self) -> Network {
        match self {
            Self::Agent | Self::Setup => Network::Open,
            Self::Check => Network::None,
        }
    }
}

/// What a box must show beside the run's own folders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// Files and folders to read, at their own places.
    pub(crate) read: Vec<PathBuf>,
    /// Files of the tree, relative to it, that can't be written where the box can do that.
    pub(crate) protected: Vec<PathBuf>,
    /// Folders of the tree, relative to it and outermost first, that can't be moved where the box can do that.
    pub(crate) pinned: Vec<PathBuf>,
}

/// The files among a command's arguments: whoever wrote `sh /home/me/agent.sh` means that file to be read. Folders aren't
/// taken, since one may hold everything of a user.
pub(crate) fn named_files(args: &[String]) -> impl Iterator<Item = PathBuf> {
    args.iter().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file())
}

/// How one run is confined.
#[derive(Clone, Debug)]
pub(crate) struct Confined {
    pub(crate) sandbox: Option<Sandbox>,
    /// Where the run's own folders are, as its program sees them.
    pub(crate) inside: Place,
    outside: Place,
    /// What the evidence says of it.
    pub(crate) enforcements: Vec<Enforcement>,
}

impl Confined {
    /// A path below one of the run's own folders, as its program sees it; any other stays as it is.
    pub(crate) fn seen(&self, path: &Path) -> PathBuf {
        let pairs = [
            (&self.outside.tree, &self.inside.tree),
            (&self.outside.home, &self.inside.home),
            (&self.outside.tmp, &self.inside.tmp),
        ];
        let below =
            |(outside, inside): (&PathBuf, &PathBuf)| Some(inside.join(path.strip_prefix(outside).ok()?));
        pairs.into_iter().find_map(below).unwrap_or_else(|| path.to_owned())
    }
}

impl Engine {
    /// The strongest kind of box that this machine builds and the user allows. Found once, by trying.
    pub(crate) fn strength(&self, job: &JobId) -> Result<Option<Strength>, EngineError> {
        let most = match self.around.strongest {
            IsolationLevel::I0 | IsolationLevel::I1 => return Ok(None),
            IsolationLevel::I2 => Strength::Restricted,
            IsolationLevel::I3 | IsolationLevel::I4 => Strength::Namespaces,
        };
        Ok(self.probed(job)?.best(most))
    }

    fn probed(&self, job: &JobId) -> Result<&Probed, EngineError> {
        if let Some(probed) = self.probed.get() {
            return Ok(probed);
        }
        let rooms = self.home.rooms();
        let scratch = tempfile::Builder::new()
            .prefix(&format!("{job}-probe-"))
            .tempdir_in(&rooms)
            .map_err(|source| EngineError::file("try boxes in", &rooms, source))?;
        let found = probe(&self.around.helper, scratch.path())
            .map_err(|fault| EngineError::environment("try which boxes this machine builds", fault))?;
        Ok(self.probed.get_or_init(|| found))
    }

    /// The level that runs of this engine reach.
    pub(crate) fn level(&self, job: &JobId) -> Result<IsolationLevel, EngineError> {
        Ok(match self.strength(job)? {
            Some(strength) => level_of(strength),
            None => self.around.strongest.min(IsolationLevel::I1),
        })
    }

    /// Where the programs of a room see its tree.
    pub(crate) fn tree_seen(&self, job: &JobId, tree: &Path) -> Result<PathBuf, EngineError> {
        match self.strength(job)? {
            Some(Strength::Namespaces) => Ok(TREE.into()),
            Some(Strength::Restricted) | None => {
                fs::canonicalize(tree).map_err(|source| EngineError::file("find", tree, source))
            }
        }
    }

    /// The box of one run.
    pub(crate) fn confine(
        &self,
        job: &JobId,
        purpose: Purpose,
        outside: Place,
        shown: &Shown,
    ) -> Result<Confined, EngineError> {
        let strength = self.strength(job)?;
        let enforcements = self.enforced(purpose, strength, shown);
        let Some(strength) = strength else {
            return Ok(Confined { sandbox: None, inside: outside.clone(), outside, enforcements });
        };
        let inside = match strength {
            Strength::Namespaces => Place { tree: TREE.into(), home: HOME.into(), tmp: TMP.into() },
            Strength::Restricted => outside.clone(),
        };
        let mut binds = vec![
            Bind::at(&outside.tmp, &inside.tmp, Access::Write),
            Bind::at(&outside.tree, &inside.tree, Access::Write),
            Bind::at(&outside.home, &inside.home, Access::Write),
        ];
        if strength == Strength::Namespaces && shown.protected.len() <= MOST_PROTECTED {
            let within =
                |path: &PathBuf, access| Bind::at(outside.tree.join(path), inside.tree.join(path), access);
            binds.extend(shown.pinned.iter().map(|path| within(path, Access::Write)));
            binds.extend(shown.protected.iter().map(|path| within(path, Access::Read)));
        }
        for path in &shown.read {
            // What isn't there can't be shown; the program will say what it misses.
            let Ok(real) = fs::canonicalize(path) else { continue };
            if !is_system(path) {
                binds.push(Bind::at(&real, path, Access::Read));
            }
            if real != *path && !is_system(&real) {
                binds.push(Bind::same(&real, Access::Read));
            }
        }
        let nesting = purpose == Purpose::Agent;
        let sandbox = Some(Sandbox { strength, binds, network: purpose.network(), nesting });
        Ok(Confined { sandbox, inside, outside, enforcements })
    }

    /// What was wanted of the box, and what it is.
    fn enforced(&self, purpose: Purpose, strength: Option<Strength>, shown: &Shown) -> Vec<Enforcement> {
        let name = purpose.name();
        let found = self.probed.get().into_iter().flat_map(|probed| &probed.probes);
        let why_not: Vec<String> = found
            .filter_map(|probe| {
                Some(format!("{}: {}", level_of(probe.strength).as_str(), probe.why_not.as_ref()?))
            })
            .chain(
                (self.around.strongest < IsolationLevel::I3)
                    .then(|| format!("the user allows {} at most", self.around.strongest.as_str())),
            )
            .collect();
        let error = (!why_not.is_empty()).then(|| why_not.join("; "));
        let one = |capability: String, wanted: &str, got: &str, enforced| Enforcement {
            capability,
            wanted: wanted.to_owned(),
            got: got.to_owned(),
            enforced,
            error: if enforced { None } else { error.clone() },
        };
        let files = match (strength, purpose) {
            (Some(Strength::Namespaces), Purpose::Agent) => {
                "a root of its own: user, mount and ipc namespaces, seccomp"
            }
            (Some(Strength::Namespaces), _) => {
                "a root of its own: user, mount and ipc namespaces, landlock, seccomp"
            }
            (Some(Strength::Restricted), _) => "landlock and seccomp on the user's own files",
            (None, _) => "not confined",
        };
        let mut all = vec![one(
            format!("files.{name}"),
            "reads the system and its tools, writes only its own folders",
            files,
            strength.is_some(),
        )];
        if purpose == Purpose::Check {
            let (got, enforced) = match strength {
                Some(Strength::Namespaces) => ("a network namespace with nothing but a loopback", true),
                Some(Strength::Restricted) => ("no sockets but local ones", true),
                None => ("open", false),
            };
            all.push(one("network.checks".to_owned(), "none", got, enforced));
            if strength == Some(Strength::Namespaces) && shown.protected.len() > MOST_PROTECTED {
                let got = "compared before and after: there are too many for a mount each";
                all.push(one("criteria.checks".to_owned(), "each criteria file is read-only", got, false));
            } else if strength != Some(Strength::Namespaces) {
                let got = "compared before and after";
                all.push(one("criteria.checks".to_owned(), "each criteria file is read-only", got, false));
            } else {
                let got = "each criteria file is a read-only mount";
                all.push(one("criteria.checks".to_owned(), "each criteria file is read-only", got, true));
            }
        }
        all
    }
}

/// The level that a kind of box gives.
pub(crate) fn level_of(strength: Strength) -> IsolationLevel {
    match strength {
        Strength::Restricted => IsolationLevel::I2,
        Strength::Namespaces => IsolationLevel::I3,
    }
}
