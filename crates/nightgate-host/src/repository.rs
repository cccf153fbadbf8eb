//! Git repositories: the user's, which is only read and given objects and refs below `refs/nightgate/`, and ours.
//!
//! Checking files out, capturing them and making commits are not here. What is asked is plumbing that consults neither
//! index nor attributes nor filters, always by id once a revision is resolved.

mod blobs;
mod criteria;
mod error;
mod listing;
mod ours;
mod transfer;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use nightgate_core::{CommitId, Digest, ProjectId, RepoPath, TreeId};

use crate::git::{Git, GitError, Invocation, TRUSTS_BY_OPTION};
use crate::hash::ObjectFormat;

pub(crate) use blobs::BlobSink;
pub use criteria::{BaselineError, Uncommitted};
pub use error::RepositoryError;
pub(crate) use ours::{
    CONFIGURATION, append, c_quoted, merge_shallow, object_id, read_shallow, write_shallow,
};
pub(crate) use transfer::transfer;

/// A repository at a known place, with its object format.
#[derive(Clone, Debug)]
pub struct Repository {
    git: Git,
    git_dir: PathBuf,
    format: ObjectFormat,
}

impl Repository {
    /// Opens the repository whose git directory is `git_dir`.
    ///
    /// # Errors
    /// Where git finds no repository there.
    pub fn open(git: &Git, git_dir: &Path) -> Result<Self, RepositoryError> {
        if !git_dir.is_dir() {
            return Err(RepositoryError::NoSuchFolder { folder: git_dir.to_owned() });
        }
        let output = git.in_repository(git_dir, &[], "rev-parse").arg("--show-object-format").success()?;
        Ok(Self { git: git.clone(), git_dir: git_dir.to_owned(), format: format_of(output.line())? })
    }

    /// Where its git directory is.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Which hash names its objects.
    pub fn object_format(&self) -> ObjectFormat {
        self.format
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    pub(crate) fn command(&self, verb: &str) -> Invocation {
        self.git.in_repository(&self.git_dir, &[], verb)
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// Where the commit isn't in this repository.
    pub fn tree(&self, commit: &CommitId) -> Result<TreeId, RepositoryError> {
        self.commit_header(commit)?.tree(commit)
    }

    /// The parents of a commit, as the commit itself names them.
    ///
    /// # Errors
    /// Where the commit isn't in this repository.
    pub fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, RepositoryError> {
        self.commit_header(commit)?.parents(commit)
    }

    /// When the commit was made, by its committer's clock: seconds since 1970.
    ///
    /// # Errors
    /// Where the commit isn't in this repository or has no time.
    pub fn commit_time(&self, commit: &CommitId) -> Result<i64, RepositoryError> {
        self.commit_header(commit)?.time(commit)
    }

    fn commit_header(&self, commit: &CommitId) -> Result<CommitHeader, RepositoryError> {
        let output = self.command("cat-file").args(["commit", commit.as_str()]).run()?;
        match output.code {
            0 => Ok(CommitHeader(output.stdout)),
            _ => Err(RepositoryError::Missing {
                object: commit.to_string(),
                in_repository: self.git_dir.clone(),
            }),
        }
    }

    /// The raw content of the file at `path` in `commit`; `None` where nothing stands there.
    ///
    /// # Errors
    /// Where what stands there is no regular file, or has more than `most` bytes.
    pub fn read_file(
        &self,
        commit: &CommitId,
        path: &RepoPath,
        most: u64,
    ) -> Result<Option<Vec<u8>>, RepositoryError> {
        let listed = self.listing_at(commit.as_str(), std::slice::from_ref(path))?;
        let Some(entry) = listed.get(path) else {
            return if listed.is_empty() {
                Ok(None)
            } else {
                Err(RepositoryError::NotAFile { path: path.clone(), what: "a folder" })
            };
        };
        use nightgate_core::tree::EntryMode;
        match entry.mode {
            EntryMode::File | EntryMode::Executable => {}
            EntryMode::Symlink => {
                return Err(RepositoryError::NotAFile { path: path.clone(), what: "a symbolic link" });
            }
            EntryMode::Gitlink => {
                return Err(RepositoryError::NotAFile { path: path.clone(), what: "a submodule" });
            }
        }
        let output = self.command("cat-file").args(["-s", entry.object.as_str()]).success()?;
        let size = std::str::from_utf8(output.line()).ok().and_then(|digits| digits.parse::<u64>().ok());
        if size.is_none_or(|size| size > most) {
            return Err(RepositoryError::TooLarge { path: path.clone(), most });
        }
        Ok(Some(self.command("cat-file").args(["blob", entry.object.as_str()]).success()?.stdout))
    }

    /// The commit that a ref points at; `None` where there is no such ref.
    ///
    /// # Errors
    /// Where git can't tell.
    pub fn reference(&self, name: &str) -> Result<Option<CommitId>, RepositoryError> {
        let output =
            self.command("rev-parse").args(["--verify", "--quiet", "--end-of-options", name]).run()?;
        match output.code {
            0 => Ok(Some(id_of(output.line(), "git rev-parse")?)),
            _ => Ok(None),
        }
    }

    /// Moves a ref by compare-and-set: it must be at `expected`, or not exist where that is `None`.
    pub(crate) fn set_reference(
        &self,
        name: &str,
        commit: &CommitId,
        expected: Option<&CommitId>,
    ) -> Result<(), RepositoryError> {
        let absent = "0".repeat(self.format.digits());
        let old = expected.map_or(absent.as_str(), CommitId::as_str);
        let output = self
            .command("update-ref")
            .args(["--no-deref", "--end-of-options", name, commit.as_str(), old])
            .run()?;
        if output.code == 0 {
            return Ok(());
        }
        // Another process may have done the same.
        match self.reference(name)? {
            Some(there) if there == *commit => Ok(()),
            there if there.as_ref() != expected => {
                Err(RepositoryError::RefMoved { name: name.to_owned(), there, expected: expected.cloned() })
            }
            _ => Err(GitError::Failed {
                doing: "git update-ref".to_owned(),
                code: output.code,
                stderr: output.stderr,
            }
            .into()),
        }
    }
}

struct CommitHeader(Vec<u8>);

impl CommitHeader {
    /// The values of the header lines with this keyword.
    fn values<'a>(&'a self, keyword: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let lines = self.0.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty());
        lines.filter_map(move |line| line.strip_prefix(keyword)?.strip_prefix(b" "))
    }

    fn tree(&self, commit: &CommitId) -> Result<TreeId, RepositoryError> {
        let value =
            self.values(b"tree").next().and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
        value.ok_or_else(|| malformed(commit, "it names no tree"))
    }

    fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, RepositoryError> {
        self.values(b"parent")
            .map(|value| {
                let id = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                id.ok_or_else(|| malformed(commit, "a parent is no commit id"))
            })
            .collect()
    }

    fn time(&self, commit: &CommitId) -> Result<i64, RepositoryError> {
        let line = self.values(b"committer").next().unwrap_or_default();
        let mut words = line.rsplit(|&byte| byte == b' ');
        let seconds = words.nth(1).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        seconds.ok_or_else(|| malformed(commit, "it has no committer's time"))
    }
}

fn malformed(object: &CommitId, what: &'static str) -> RepositoryError {
    RepositoryError::Malformed { object: object.to_string(), what: what.to_owned() }
}

fn format_of(line: &[u8]) -> Result<ObjectFormat, RepositoryError> {
    let unexpected = |what: String| GitError::Answer { doing: "git rev-parse".to_owned(), what };
    let text = std::str::from_utf8(line).map_err(|error| unexpected(error.to_string()))?;
    Ok(text.parse().map_err(|error: crate::hash::ObjectFormatError| unexpected(error.to_string()))?)
}

pub(crate) fn id_of(line: &[u8], doing: &str) -> Result<CommitId, RepositoryError> {
    let text = String::from_utf8_lossy(line);
    let unexpected =
        |_| GitError::Answer { doing: doing.to_owned(), what: format!("`{text}` in place of an id") };
    Ok(text.parse().map_err(unexpected)?)
}

/// Whether git finds a repository at or above `folder` when it is told where: it asks for no owner then.
fn is_there_when_named(git: &Git, folder: &Path) -> Result<bool, RepositoryError> {
    let is_bare = folder.join("objects").is_dir() && folder.join("HEAD").is_file();
    let above = || folder.ancestors().map(|above| above.join(".git")).find(|path| path.exists());
    let Some(git_dir) = is_bare.then(|| folder.to_owned()).or_else(above) else { return Ok(false) };
    let named = git.in_repository(&git_dir, &[], "rev-parse").directory(folder).arg("--git-dir");
    Ok(named.run()?.code == 0)
}

/// The user's repository, found from a folder in it.
#[derive(Clone, Debug)]
pub struct UserRepository {
    repository: Repository,
    top: Option<PathBuf>,
    common_dir: PathBuf,
}

impl UserRepository {
    /// Finds the repository that `folder` lies in, as git does: from a working tree, a linked one, a bare repository or
    /// a git directory. Nothing is written, no program of the repository's configuration is run.
    ///
    /// # Errors
    /// [`RepositoryError::DubiousOwnership`] where it belongs to somebody else and the user hasn't said that it is safe;
    /// [`RepositoryError::UntrustedByOldGit`] where git can't be told; [`RepositoryError::NotARepository`] where there is
    /// none.
    pub fn discover(git: &Git, folder: &Path) -> Result<Self, RepositoryError> {
        if !folder.is_dir() {
            return Err(RepositoryError::NoSuchFolder { folder: folder.to_owned() });
        }
        let ask = |before: &[&OsStr], question: &str| {
            git.discovering(folder, before, "rev-parse").args(["--path-format=absolute", question]).run()
        };
        let output = ask(&[], "--git-dir")?;
        if output.code != 0 {
            // Exit statuses can't tell these two apart, and texts change; asking once more with everybody trusted can.
            let trusting = [OsStr::new("-c"), OsStr::new("safe.directory=*")];
            let folder = folder.to_owned();
            if ask(&trusting, "--git-dir")?.code == 0 {
                return Err(RepositoryError::DubiousOwnership { folder });
            }
            let found = git.version()?;
            return Err(match found < TRUSTS_BY_OPTION && is_there_when_named(git, &folder)? {
                true => RepositoryError::UntrustedByOldGit { folder, found },
                false => RepositoryError::NotARepository { folder, said: output.stderr },
            });
        }
        let git_dir = path_of(output.line());
        let common_dir = path_of(ask(&[], "--git-common-dir")?.line());
        let inside = ask(&[], "--is-inside-work-tree")?;
        let top = match inside.line() {
            b"true" => {
                let output = ask(&[], "--show-toplevel")?;
                (output.code == 0).then(|| path_of(output.line()))
            }
            _ => None,
        };
        Ok(Self { repository: Repository::open(git, &git_dir)?, top, common_dir })
    }

    /// The repository that answers questions about its objects.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The root of the working tree; `None` in a bare repository or inside a git directory.
    pub fn top(&self) -> Option<&Path> {
        self.top.as_deref()
    }

    /// The git directory; a linked working tree has its own.
    pub fn git_dir(&self) -> &Path {
        self.repository.git_dir()
    }

    /// The git directory that all working trees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Which hash names its objects.
    pub fn object_format(&self) -> ObjectFormat {
        self.repository.object_format()
    }

    /// The project that this repository is: the same for all its working trees and for every way to its folder.
    ///
    /// # Errors
    /// Where the folder can't be looked up any more.
    pub fn project_id(&self) -> std::io::Result<ProjectId> {
        let canonical = std::fs::canonicalize(&self.common_dir)?;
        Ok(ProjectId::from_digest(&Digest::of(canonical.as_os_str().as_bytes())))
    }

    /// The commit that a revision names, through tags. Replacement refs don't count.
    ///
    /// # Errors
    /// [`RepositoryError::Unborn`] where the branch has no commit yet; [`RepositoryError::NoSuchRevision`] for anything
    /// else that names no commit.
    pub fn resolve(&self, revision: &str) -> Result<CommitId, RepositoryError> {
        let no_such = || RepositoryError::NoSuchRevision { revision: revision.to_owned() };
        if revision.is_empty() || revision.contains('\0') {
            return Err(no_such());
        }
        let commit = format!("{revision}^{{commit}}");
        let command = self.repository.command("rev-parse");
        let output = command.args(["--verify", "--quiet", "--end-of-options", &commit]).run()?;
        if output.code == 0 {
            return id_of(output.line(), "git rev-parse");
        }
        let head = self.repository.command("symbolic-ref").args(["--quiet", "HEAD"]).run()?;
        let branch = String::from_utf8_lossy(head.line()).into_owned();
        let named = branch.strip_prefix("refs/heads/").unwrap_or(&branch);
        let is_head = matches!(revision, "HEAD" | "@") || revision == branch || revision == named;
        if head.code == 0 && is_head && self.repository.reference(&branch)?.is_none() {
            return Err(RepositoryError::Unborn { branch: named.to_owned() });
        }
        Err(no_such())
    }

    /// Brings `commit` from a repository of ours into this one and points a ref below `refs/nightgate/` at it. When this
    /// returns, both are on the disk; nothing else of the repository has changed. Publishing the same again is no error.
    ///
    /// `base` is the commit that the job started from, which keeps the transfer small.
    ///
    /// # Errors
    /// [`RepositoryError::RefName`] for any other ref; [`RepositoryError::RefMoved`] where it isn't at `expected`.
    pub fn publish(
        &self,
        from: &Repository,
        commit: &CommitId,
        base: &CommitId,
        name: &str,
        expected: Option<&CommitId>,
    ) -> Result<(), RepositoryError> {
        if !is_our_ref(name) {
            return Err(RepositoryError::RefName { name: name.to_owned() });
        }
        let there = self.repository.reference(name)?;
        if there.as_ref() == Some(commit) {
            return Ok(());
        }
        if there.as_ref() != expected {
            let name = name.to_owned();
            return Err(RepositoryError::RefMoved { name, there, expected: expected.cloned() });
        }
        transfer(from, &self.repository, commit, std::slice::from_ref(base))?;
        self.repository.set_reference(name, commit, expected)
    }

    /// The commits at which a shallow history ends; empty where it is whole.
    pub(crate) fn shallow_boundary(&self) -> Result<Vec<CommitId>, RepositoryError> {
        read_shallow(&self.common_dir)
    }
}

/// Refs below `refs/nightgate/` of plain words: letters, digits, `-`, `_`, and dots inside.
fn is_our_ref(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && !part.ends_with('.')
            && !part.ends_with(".lock")
            && !part.contains("..")
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    name.strip_prefix("refs/nightgate/").is_some_and(|rest| rest.split('/').all(plain))
}

fn path_of(line: &[u8]) -> PathBuf {
    OsString::from_vec(line.to_vec()).into()
}

#[cfg(test)]
mod tests;
