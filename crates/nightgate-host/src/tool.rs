//! From the name of an executable to the real program and what it needs to run without its user's home. Making it
//! readable in a box, and pinning its digest in a plan, is not here.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use nightgate_core::Digest;
use rustix::fs::{Access, access};
use sha2::{Digest as _, Sha256};

use crate::env::Inherited;

mod ask;
mod layout;
mod shim;

/// A program that was found, and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name that was asked for.
    pub name: String,
    /// The program itself, an absolute path: never a version manager's shim. Links are followed, except where what
    /// the program does depends on its own name or place (the system's programs, a Python environment's interpreter).
    pub program: PathBuf,
    /// The digest of the program's bytes.
    pub digest: Digest,
    /// Folders that `PATH` needs before the system's, so that the program finds its companions.
    pub path: Vec<PathBuf>,
    /// Variables that it needs.
    pub variables: Vec<(OsString, OsString)>,
    /// Files and folders outside the system's that must be readable for it to run. Never a whole home.
    pub roots: Vec<PathBuf>,
    /// Who installed it, as far as its place tells.
    pub kind: Kind,
}

/// Who has installed a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The system, below `/usr` and the like; readable to everybody.
    System,
    /// A Rust toolchain of rustup.
    Rustup,
    /// A Python of pyenv.
    Pyenv,
    /// A Node of nvm.
    Nvm,
    /// A tool or a Python of uv.
    Uv,
    /// A Node or a tool of Volta.
    Volta,
    /// Somebody else.
    Other,
}

/// Why there is no tool.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The name is a path within the tree (`./x`, `a/b`), or empty: nothing that could be resolved before there is
    /// a tree.
    #[error("resolve `{0}`: it is a path within the tree, not the name of a tool")]
    InTree(String),
    /// There is no such program.
    #[error("find `{name}`: it is in none of {}", list(searched))]
    NotFound {
        /// What was looked for.
        name: String,
        /// Where, in this order.
        searched: Vec<PathBuf>,
    },
    /// An absolute path that isn't an executable file.
    #[error("use {}: it is not an executable file", .0.display())]
    NotExecutable(PathBuf),
    /// The program lies in the tree that is to be judged, which could then replace it.
    #[error("use `{name}`: it leads to {} in the tree itself", path.display())]
    LeadsIntoTree {
        /// What was looked for.
        name: String,
        /// What was found.
        path: PathBuf,
    },
    /// A version manager didn't say what its shim stands for.
    #[error("ask {} what `{name}` stands for: {said}", asked.display())]
    Shim {
        /// What was looked for.
        name: String,
        /// The program that was asked.
        asked: PathBuf,
        /// Its answer, or what went wrong.
        said: String,
    },
    /// A shim of a version manager that isn't known here.
    #[error(
        "use {}: it is a shim that can't run without its user's home; write the real program's absolute path",
        .0.display()
    )]
    UnknownShim(PathBuf),
    /// The program can't be read.
    #[error("read {}: {error}", path.display())]
    Read {
        /// The program.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Resolves an executable as `execvp` would, and through the shims of rustup, pyenv and Volta, whose choice may depend
/// on files in `cwd`. Only absolute folders of `search` are searched. An absolute name is taken as it is, shims
/// included. What a script's `#!/usr/bin/env` needs isn't resolved with it: ask for that too.
///
/// # Errors
/// See [`ToolError`]. Nothing is ever installed or fetched to answer.
pub fn resolve(name: &str, search: &[PathBuf], cwd: &Path, inherited: &Inherited) -> Result<Tool, ToolError> {
    let found = find(name, search)?;
    let read = |path: &Path| {
        let path = path.to_owned();
        move |error| ToolError::Read { path, error }
    };
    let home = inherited.get("HOME").and_then(|home| Path::new(home).canonicalize().ok());
    let shim = shim::of(&found).map_err(read(&found))?;
    let (program, kind) = match shim {
        Some(shim) => (shim.answer(cwd, search, inherited)?, Some(shim.kind)),
        None => (found, None),
    };
    let place = layout::place(&program, home.as_deref()).map_err(read(&program))?;
    let tree = cwd.canonicalize().map_err(read(cwd))?;
    let real = place.program.canonicalize().map_err(read(&place.program))?;
    if let Some(path) = [&program, &place.program, &real].into_iter().find(|path| path.starts_with(&tree)) {
        return Err(ToolError::LeadsIntoTree { name: name.to_owned(), path: path.clone() });
    }
    let digest = digest(&real).map_err(read(&real))?;
    Ok(Tool {
        name: name.to_owned(),
        program: place.program,
        digest,
        path: place.path,
        variables: place.variables,
        roots: place.roots,
        kind: kind.unwrap_or(place.kind),
    })
}

fn find(name: &str, search: &[PathBuf]) -> Result<PathBuf, ToolError> {
    if name.starts_with('/') {
        let path = PathBuf::from(name);
        return if is_executable(&path) { Ok(path) } else { Err(ToolError::NotExecutable(path)) };
    }
    if name.is_empty() || name.contains('/') {
        return Err(ToolError::InTree(name.to_owned()));
    }
    let searched: Vec<PathBuf> = search.iter().filter(|folder| folder.is_absolute()).cloned().collect();
    let found = searched.iter().map(|folder| folder.join(name)).find(|path| is_executable(path));
    found.ok_or_else(|| ToolError::NotFound { name: name.to_owned(), searched })
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

fn digest(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest::from_raw(hasher.finalize().into())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn list(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "no folder at all (PATH has no absolute one)".to_owned();
    }
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
