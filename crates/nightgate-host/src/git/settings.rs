//! What of the user's own git configuration Nightgate must know. Nothing else of it is ever read.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use super::{Git, GitError};

/// The few values of the user's global and system configuration that decide what Nightgate may read and how git would
/// convert files. In git's own order: system first, global after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserSettings {
    /// `safe.directory`, all values; an empty one resets those before it.
    pub safe_directories: Vec<OsString>,
    /// `core.autocrlf`.
    pub autocrlf: Option<OsString>,
    /// `core.attributesFile`, `~` resolved.
    pub attributes_file: Option<OsString>,
    /// `core.excludesFile`, `~` resolved.
    pub excludes_file: Option<OsString>,
    /// The folder that `~` means in the configuration of the user's repositories.
    pub home: Option<OsString>,
}

impl UserSettings {
    /// Reads them as the user's own git would with this HOME and XDG_CONFIG_HOME. Runs no program but git.
    ///
    /// # Errors
    /// Where git can't be run. A configuration file that isn't there or can't be read counts as empty.
    pub fn read(git: &Git, home: &Path, xdg_config_home: Option<&Path>) -> Result<Self, GitError> {
        let ask = |key: &str, kind: &[&str]| -> Result<Vec<OsString>, GitError> {
            let mut values = Vec::new();
            for scope in ["--system", "--global"] {
                let output = git
                    .command("config")
                    .variable("HOME", Some(home.as_os_str()))
                    .variable("XDG_CONFIG_HOME", xdg_config_home.map(Path::as_os_str))
                    .variable("GIT_CONFIG_GLOBAL", None)
                    .variable("GIT_CONFIG_SYSTEM", None)
                    .variable("GIT_CONFIG_NOSYSTEM", None)
                    .args([scope, "--includes", "-z"])
                    .args(kind)
                    .args(["--get-all", key])
                    .run()?;
                // 1 says that there is none; anything else, that the file is unreadable: no value can be trusted then.
                if output.code == 0 {
                    let found = output
                        .stdout
                        .split(|&byte| byte == 0)
                        .map(|value| OsString::from_vec(value.to_vec()));
                    values.extend(found);
                    values.pop();
                }
            }
            Ok(values)
        };
        let last = |values: Vec<OsString>| values.into_iter().next_back().filter(|value| !value.is_empty());
        Ok(Self {
            safe_directories: ask("safe.directory", &["--type=path"])?,
            autocrlf: last(ask("core.autocrlf", &[])?),
            attributes_file: match last(ask("core.attributesFile", &["--type=path"])?) {
                None => default_file(home, xdg_config_home, "git/attributes"),
                named => named,
            },
            excludes_file: match last(ask("core.excludesFile", &["--type=path"])?) {
                None => default_file(home, xdg_config_home, "git/ignore"),
                named => named,
            },
            home: Some(home.as_os_str().to_owned()),
        })
    }
}

/// gitattributes(5) and gitignore(5): below `$XDG_CONFIG_HOME`, or below `$HOME/.config`.
fn default_file(home: &Path, xdg_config_home: Option<&Path>, name: &str) -> Option<OsString> {
    let folder = match xdg_config_home.filter(|folder| folder.as_os_str() != OsStr::new("")) {
        Some(folder) => folder.to_owned(),
        None => home.join(".config"),
    };
    let file = folder.join(name);
    file.is_file().then(|| file.into_os_string())
}
