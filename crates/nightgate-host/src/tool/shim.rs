//! The stand-ins that version managers put on `PATH`, and what they stand for. What lies there is not looked at here.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ask::{Answer, ask};
use super::{Kind, ToolError, is_executable};
use crate::env::{Environment, EnvironmentSpec, Inherited, Role};

/// A stand-in, and whom to ask about it.
#[derive(Debug)]
pub(super) struct Shim {
    pub(super) kind: Kind,
    name: String,
    found: PathBuf,
    /// The version manager, or nothing where it is none that is known here.
    manager: Option<PathBuf>,
    /// Where it keeps its versions, under the name of the variable that says so.
    root: Option<(&'static str, PathBuf)>,
}

/// Whether the executable `found` is a stand-in.
pub(super) fn of(found: &Path) -> io::Result<Option<Shim>> {
    let (Some(name), Some(folder)) = (found.file_name().and_then(OsStr::to_str), found.parent()) else {
        return Ok(None);
    };
    let shim = |kind, manager, root| {
        Ok(Some(Shim { kind, name: name.to_owned(), found: found.to_owned(), manager, root }))
    };
    let real = found.canonicalize()?;
    let is_called = |wanted: &str| real.file_name() == Some(OsStr::new(wanted)) && name != wanted;
    if is_called("rustup") {
        return shim(Kind::Rustup, Some(real), None);
    }
    let beside = folder.join("rustup");
    if name != "rustup" && is_executable(&beside) && same_file(&beside, &real)? {
        return shim(Kind::Rustup, Some(beside), None);
    }
    if is_called("volta-shim") {
        let volta = [folder, real.parent().unwrap_or(folder)].map(|folder| folder.join("volta"));
        let root = folder.parent().map(|root| ("VOLTA_HOME", root.to_owned()));
        return shim(Kind::Volta, volta.into_iter().find(|volta| is_executable(volta)), root);
    }
    if folder.file_name() == Some(OsStr::new("shims")) {
        let root = folder.parent().unwrap_or(folder);
        let pyenv = [root.join("bin/pyenv"), root.join("libexec/pyenv")];
        let pyenv = pyenv.into_iter().find(|pyenv| is_executable(pyenv));
        return shim(Kind::Pyenv, pyenv, Some(("PYENV_ROOT", root.to_owned())));
    }
    if is_called("mise") {
        return shim(Kind::Other, None, None);
    }
    Ok(None)
}

/// rustup installs its proxies as links of either kind, or as copies.
fn same_file(one: &Path, other: &Path) -> io::Result<bool> {
    let (a, b) = (fs::metadata(one)?, fs::metadata(other)?);
    if (a.dev(), a.ino()) == (b.dev(), b.ino()) {
        return Ok(true);
    }
    Ok(a.len() == b.len() && super::digest(one)? == super::digest(other)?)
}

impl Shim {
    /// Asks the version manager, in `cwd`, which program would run.
    pub(super) fn answer(
        &self,
        cwd: &Path,
        search: &[PathBuf],
        inherited: &Inherited,
    ) -> Result<PathBuf, ToolError> {
        let Some(manager) = &self.manager else { return Err(ToolError::UnknownShim(self.found.clone())) };
        let fault = |said: String| ToolError::Shim { name: self.name.clone(), asked: manager.clone(), said };
        let mut command = Command::new(manager);
        command.arg("which").arg(&self.name).current_dir(cwd);
        self.environment(search, inherited).apply(&mut command);
        let Answer { status, mut stdout, stderr } = ask(command).map_err(|error| fault(error.to_string()))?;
        if !status.success() {
            let said = String::from_utf8_lossy(&stderr);
            return Err(fault(format!("{status}: {}", said.trim().chars().take(500).collect::<String>())));
        }
        stdout.truncate(stdout.trim_ascii_end().len());
        let path = PathBuf::from(OsString::from_vec(stdout));
        if !path.is_absolute() || !is_executable(&path) {
            return Err(fault(format!("it answered `{}`, which is no program", path.display())));
        }
        match of(&path) {
            Ok(None) => Ok(path),
            Ok(Some(_)) => Err(fault(format!("it answered {}, which is a shim too", path.display()))),
            Err(error) => Err(ToolError::Read { path, error }),
        }
    }

    /// The user's home and choice of versions, and a manager that fetches nothing.
    fn environment(&self, search: &[PathBuf], inherited: &Inherited) -> Environment {
        let mut extra = vec![(OsString::from("RUSTUP_AUTO_INSTALL"), OsString::from("0"))];
        for name in ["RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN", "PYENV_VERSION", "VOLTA_HOME"] {
            extra.extend(inherited.get(name).map(|value| (OsString::from(name), value.to_owned())));
        }
        if let Some((name, root)) = &self.root {
            extra.push((OsString::from(name), root.clone().into()));
        }
        let folder = |name, otherwise: &str| inherited.get(name).unwrap_or(OsStr::new(otherwise)).into();
        let spec = EnvironmentSpec {
            home: folder("HOME", "/"),
            tmp: folder("TMPDIR", "/tmp"),
            // "The system's version" of a tool is the one that the user's PATH finds.
            path: search.to_vec(),
            pass: &[],
            extra,
        };
        Environment::build(Role::ToolProbe, inherited, &spec)
    }
}
