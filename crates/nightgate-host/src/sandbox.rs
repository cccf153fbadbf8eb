//! The box around one program: what it may see, write and reach. Which box a run gets, and what its absence means for a
//! verdict, is not here.
//!
//! A box is built by the entry (see [`crate::process`]) on itself, in this order: namespaces, mounts, capabilities, landlock,
//! seccomp. A step that fails ends the start: a box is whole, or nothing runs in it. What this machine can build is found
//! before, by building it: see [`probe()`].

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

mod cgroup;
mod filter;
mod land;
mod path;
mod probe;
mod root;
mod steps;

pub use cgroup::probe_groups;
pub use probe::{Attempt, Probe, Probed, probe};
pub(crate) use probe::{attempt_words, attempts_main};
pub(crate) use steps::enter;

/// What one program may see, write and reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// By which means.
    pub strength: Strength,
    /// What it sees, outermost first: a later one lies on top of an earlier one. Beside these it sees the system's own
    /// folders, and has fresh ones for temporary files.
    pub binds: Vec<Bind>,
    /// What it reaches.
    pub network: Network,
    /// Whether it may make namespaces and mounts of its own, as an agent does that brings its own sandbox.
    pub nesting: bool,
}

/// By which means a box holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Strength {
    /// Landlock and seccomp: paths are as outside, reading and writing are restricted to the binds. Nothing below a writable
    /// folder can be read-only.
    Restricted,
    /// Namespaces of its own for users, mounts, ipc and (without network) for the network, on top of that.
    Namespaces,
}

/// One file or folder that a box has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// Where it is outside. An absolute path without links.
    #[serde(with = "path")]
    pub source: PathBuf,
    /// Where it is inside. With [`Strength::Restricted`] it is where it is outside, and this is not read.
    #[serde(with = "path")]
    pub target: PathBuf,
    /// What may be done with it.
    pub access: Access,
}

impl Bind {
    /// A bind at the same place inside as outside.
    pub fn same(path: impl Into<PathBuf>, access: Access) -> Self {
        let source: PathBuf = path.into();
        Self { target: source.clone(), source, access }
    }

    /// A bind at another place.
    pub fn at(source: impl Into<PathBuf>, target: impl Into<PathBuf>, access: Access) -> Self {
        Self { source: source.into(), target: target.into(), access }
    }
}

/// What may be done with a bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// Read and execute.
    Read,
    /// Everything, but no device is opened and no program gets its owner's rights.
    Write,
}

/// What a box reaches beyond itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// All that its user reaches.
    Open,
    /// Nothing: with [`Strength::Namespaces`] it has a loopback of its own, else no sockets but local ones.
    None,
}

/// The system's folders and files that a box can read, where they exist. What programs need to run, and nothing of a user.
pub const SYSTEM: [&str; 10] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store"];

/// Whether a box shows `path` without a bind of its own.
pub fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}
