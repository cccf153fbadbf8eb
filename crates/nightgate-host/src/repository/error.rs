//! Why a repository gave no answer. What that means for a job is not here.

use std::path::PathBuf;

use nightgate_core::{CommitId, RepoPath};

use crate::git::{GitError, TRUSTS_BY_OPTION, Version};

/// Why something could not be read from or written to a repository.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// Git itself.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The folder isn't there.
    #[error("{} is not a folder: give the folder of a git repository", folder.display())]
    NoSuchFolder {
        /// Which.
        folder: PathBuf,
    },
    /// No repository is there or above.
    #[error("{} is in no git repository ({said}): run `git init` and commit, or go to one", folder.display())]
    NotARepository {
        /// From where it was looked for.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// Git refuses it because of its owner.
    #[error(
        "the repository around {} belongs to another user, and git does not trust it: \
         if you do, run `git config --global --add safe.directory <its folder>`",
        folder.display()
    )]
    DubiousOwnership {
        /// From where it was looked for.
        folder: PathBuf,
    },
    /// Git refuses it because of its owner, and is too old to be told that its user trusts it.
    #[error(
        "the repository around {} belongs to another user, and git {found} can't be told that you trust it: \
         install git {TRUSTS_BY_OPTION} or newer and list its folder in `safe.directory`, or let its owner run this",
        folder.display()
    )]
    UntrustedByOldGit {
        /// From where it was looked for.
        folder: PathBuf,
        /// The version of git.
        found: Version,
    },
    /// A branch without a commit.
    #[error("branch {branch} has no commit yet: commit something first")]
    Unborn {
        /// Its name.
        branch: String,
    },
    /// A revision that names no commit.
    #[error("`{revision}` names no commit of this repository: give a branch, a tag or a commit id")]
    NoSuchRevision {
        /// As it was given.
        revision: String,
    },
    /// An object that should be there isn't.
    #[error("object {object} is not in {}", in_repository.display())]
    Missing {
        /// Its id.
        object: String,
        /// Where it was looked for.
        in_repository: PathBuf,
    },
    /// Objects that a transfer needs aren't there.
    #[error(
        "{} lacks objects that {commit} needs, the first of them {object}: it is a partial or damaged clone; \
         `git fetch --refetch` or a whole clone brings them", in_repository.display()
    )]
    Incomplete {
        /// What was to be transferred.
        commit: CommitId,
        /// One of the missing.
        object: String,
        /// Where they were looked for.
        in_repository: PathBuf,
    },
    /// An object that git would not have written.
    #[error("object {object} can't be used: {what}")]
    Malformed {
        /// Its id.
        object: String,
        /// Why, in words.
        what: String,
    },
    /// Not a regular file.
    #[error("{path} is {what} in that commit: it must be a regular file")]
    NotAFile {
        /// Where.
        path: RepoPath,
        /// What it is.
        what: &'static str,
    },
    /// A file over the limit.
    #[error("{path} has more than {most} bytes in that commit: make it smaller")]
    TooLarge {
        /// Where.
        path: RepoPath,
        /// The limit.
        most: u64,
    },
    /// A ref that Nightgate never writes.
    #[error("ref {name} is not Nightgate's to write: only plain names below refs/nightgate/ are")]
    RefName {
        /// As it was given.
        name: String,
    },
    /// A ref that isn't where it was expected.
    #[error("ref {name} is at {}, not at {}: somebody else moved it", shown(there), shown(expected))]
    RefMoved {
        /// Its name.
        name: String,
        /// Where it is.
        there: Option<CommitId>,
        /// Where it should have been.
        expected: Option<CommitId>,
    },
    /// The two repositories name objects by different hashes.
    #[error(
        "one repository names its objects by {one}, the other by {other}: nothing can be moved between them"
    )]
    Formats {
        /// The source's.
        one: crate::hash::ObjectFormat,
        /// The destination's.
        other: crate::hash::ObjectFormat,
    },
    /// Something must be new and isn't.
    #[error("{} is there already: it must be made fresh", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// A file of a repository of ours couldn't be read or written.
    #[error("{doing} {}: {source}", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

fn shown(commit: &Option<CommitId>) -> String {
    commit.as_ref().map_or_else(|| "nothing".to_owned(), CommitId::to_string)
}

impl RepositoryError {
    /// A wrapper for `map_err` that names what was being done to which path.
    pub(crate) fn file(doing: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }
}
