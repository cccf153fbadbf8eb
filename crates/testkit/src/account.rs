//! Whose rights a program of a test runs with. Making users is not here: an ordinary user is just a number.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::tree;

/// The user id of the ordinary user where `NIGHTGATE_TEST_UID` doesn't name another: `nobody`.
const ORDINARY_UID: u32 = 65534;

/// Whose rights a program runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Whoever runs the tests.
    Caller,
    /// Somebody without rights, reached through `setpriv`; only root can become it.
    Ordinary {
        /// User and group id.
        uid: u32,
    },
}

impl Account {
    /// The ordinary user: 65534, or what `NIGHTGATE_TEST_UID` says.
    pub fn ordinary() -> Self {
        let uid = std::env::var("NIGHTGATE_TEST_UID").map_or(ORDINARY_UID, |text| {
            text.parse().unwrap_or_else(|_| panic!("NIGHTGATE_TEST_UID is `{text}`: write a user id"))
        });
        Self::Ordinary { uid }
    }

    /// Whether the tests are run by root, who alone can become another.
    pub fn caller_is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// `root` or `user`, as it stands in the names of tests.
    pub fn label(self) -> &'static str {
        match self {
            Self::Caller if Self::caller_is_root() => "root",
            Self::Caller | Self::Ordinary { .. } => "user",
        }
    }

    /// A command that starts `program` with this account's rights. `setpriv` replaces itself, so the process id of
    /// the child is the program's own.
    pub fn command(self, program: &OsStr) -> Command {
        match self {
            Self::Caller => Command::new(program),
            Self::Ordinary { uid } => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={uid}"), format!("--regid={uid}")]);
                command.args(["--clear-groups", "--inh-caps=-all"]).arg(program);
                command
            }
        }
    }

    /// Gives `path` and all below it to this account.
    pub fn own(self, path: &Path) {
        if let Self::Ordinary { uid } = self {
            tree::give(path, uid);
        }
    }
}
