//! The environment of everything that Nightgate starts, built from nothing. Starting it is not here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::process::Command;

/// A complete environment: what isn't in it, the process doesn't have.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    withheld: Vec<String>,
}

impl Environment {
    /// Makes `command` start with exactly this environment.
    pub fn apply(&self, command: &mut Command) {
        command.env_clear().envs(&self.variables);
    }

    /// The value of one variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}
