//! Isolation levels and what of them was reached. Enforcing them is the host's.

use serde::{Deserialize, Serialize};

/// How strongly processes are kept apart, weakest first (the isolation ladder).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IsolationLevel {
    /// Clean room and hashes only.
    I0,
    /// All processes of a run found and ended, private clone, built environment.
    I1,
    /// Writes confined, no sockets, no ptrace.
    I2,
    /// Own user, mount, pid, network and ipc namespaces; criteria read-only.
    I3,
    /// I3 with limits on memory and processes per box.
    I4,
}

impl IsolationLevel {
    /// `I0` to `I4`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::I0 => "I0",
            Self::I1 => "I1",
            Self::I2 => "I2",
            Self::I3 => "I3",
            Self::I4 => "I4",
        }
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::I0 => "clean rooms and hashes only",
            Self::I1 => "processes found and ended, a workspace and an environment of their own",
            Self::I2 => "files and sockets confined by landlock and seccomp",
            Self::I3 => "a root, processes and a network of their own, criteria read-only",
            Self::I4 => "I3, with limits on memory and processes",
        }
    }
}

/// One capability that was wanted, and what was got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Enforcement {
    /// Its stable name: `stop`, `environment`, `network.checks`, ...
    pub capability: String,
    /// What was wanted.
    pub wanted: String,
    /// What was got.
    pub got: String,
    /// True where `got` is all that was wanted.
    pub enforced: bool,
    /// The system's error, where something was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
