//! Makes repositories of our own and the files in them that git has no command for. What they are for is not here.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use nightgate_core::{CommitId, ObjectId};

use super::{Repository, RepositoryError};
use crate::git::Git;
use crate::hash::ObjectFormat;

/// Appended to the configuration of each repository of ours: nothing ever packs, prunes or logs by itself, and names that
/// only other systems can't hold are no reason to refuse.
pub(crate) const CONFIGURATION: &str = "\
[gc]\n\tauto = 0\n\tpruneExpire = never\n\
[maintenance]\n\tauto = false\n\
[core]\n\tprotectNTFS = false\n\tprotectHFS = false\n";

impl Repository {
    /// Makes a bare repository at `git_dir`, whole or not at all: `fill` gets it before it stands there. The folder above
    /// must exist.
    ///
    /// # Errors
    /// [`RepositoryError::Exists`] where something is there already.
    pub(crate) fn create_bare(
        git: &Git,
        git_dir: &Path,
        format: ObjectFormat,
        fill: impl FnOnce(&Self) -> Result<(), RepositoryError>,
    ) -> Result<Self, RepositoryError> {
        let exists = || RepositoryError::Exists { path: git_dir.to_owned() };
        if git_dir.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let parent = git_dir.parent().unwrap_or(Path::new("/"));
        let fresh = tempfile::Builder::new()
            .prefix(".new-repository-")
            .tempdir_in(parent)
            .map_err(RepositoryError::file("make a folder in", parent))?;
        let new = fresh.path();
        git.discovering(new, &[], "init")
            .args(["--bare", "--quiet", "--template=", "--initial-branch=none"])
            .arg(format!("--object-format={format}"))
            .arg(new)
            .success()?;
        append(&new.join("config"), CONFIGURATION.as_bytes())?;
        fill(&Self { git: git.clone(), git_dir: new.to_owned(), format })?;
        sync(&new.join("HEAD"))?;
        sync(new)?;
        match fs::rename(new, git_dir) {
            Ok(()) => {
                // Nothing is left where it was made.
                let _ = fresh.keep();
                sync(parent)?;
                Ok(Self { git: git.clone(), git_dir: git_dir.to_owned(), format })
            }
            Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
                Err(exists())
            }
            Err(error) => Err(RepositoryError::file("make", git_dir)(error)),
        }
    }
}

/// Appends to a file and waits until it is on the disk.
pub(crate) fn append(file: &Path, content: &[u8]) -> Result<(), RepositoryError> {
    let opened = fs::OpenOptions::new().append(true).open(file);
    opened
        .and_then(|mut opened| opened.write_all(content).and_then(|()| opened.sync_all()))
        .map_err(RepositoryError::file("write", file))
}

fn sync(path: &Path) -> Result<(), RepositoryError> {
    fs::File::open(path).and_then(|opened| opened.sync_all()).map_err(RepositoryError::file("write", path))
}

/// The commits in a git directory's `shallow` file (gitformat, "Shallow commits"); none where there is no such file.
pub(crate) fn read_shallow(git_dir: &Path) -> Result<Vec<CommitId>, RepositoryError> {
    let file = git_dir.join("shallow");
    match fs::read_to_string(&file) {
        Ok(text) => Ok(text.lines().filter_map(|line| line.parse().ok()).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(RepositoryError::file("read", &file)(error)),
    }
}

/// Both lists as one, sorted, each commit once.
pub(crate) fn merge_shallow(one: &[CommitId], other: &[CommitId]) -> Vec<CommitId> {
    let all: std::collections::BTreeSet<_> = one.iter().chain(other).cloned().collect();
    all.into_iter().collect()
}

/// Replaces a git directory's `shallow` file, whole or not at all; without commits there is none.
pub(crate) fn write_shallow(git_dir: &Path, commits: &[CommitId]) -> Result<(), RepositoryError> {
    if commits.is_empty() {
        return Ok(());
    }
    let file = git_dir.join("shallow");
    let write = || {
        let mut fresh = tempfile::NamedTempFile::new_in(git_dir)?;
        for commit in commits {
            writeln!(fresh, "{commit}")?;
        }
        fresh.as_file().sync_all()?;
        fresh.persist(&file).map_err(|error| error.error)
    };
    write().map(drop).map_err(RepositoryError::file("write", &file))
}

/// A commit's id as that of an object.
pub(crate) fn object_id(commit: &CommitId) -> ObjectId {
    commit.as_str().parse().expect("every commit id is an object id")
}

/// A path as a line of `objects/info/alternates`: quoted where it would otherwise be read as something else.
pub(crate) fn quoted(path: &[u8]) -> Vec<u8> {
    if path.contains(&b'\n') || matches!(path.first(), Some(b'"' | b'#')) {
        c_quoted(path)
    } else {
        path.to_vec()
    }
}

/// Bytes in git's quoted form: between double quotes, with `\\`, `\"` and `\ooo`.
pub(crate) fn c_quoted(bytes: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            0..=0x1f | 0x7f => quoted.extend(format!("\\{byte:03o}").bytes()),
            other => quoted.push(other),
        }
    }
    quoted.push(b'"');
    quoted
}
