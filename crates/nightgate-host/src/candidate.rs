//! A job's own bare repository and the candidates in it. What a candidate's files are is decided in `capture`.

mod stream;

use std::ffi::OsStr;
use std::path::Path;

use nightgate_core::evidence::{CaptureProblem, CaptureProblemKind};
use nightgate_core::tree::{Change, EntryMode, Listing};
use nightgate_core::{CommitId, RepoPath};

use crate::base_store::{BaseStore, adopt};
use crate::git::{Git, GitError};
use crate::hash::tree_id;
use crate::process::Cancel;
use crate::repository::{Repository, RepositoryError, object_id, read_shallow, write_shallow};
use crate::walk::Folder;

use stream::Stream;

/// Where `fast-import` leaves a commit until it has its own ref.
const INCOMING: &str = "refs/captures/incoming";

/// The bare repository of one job. It borrows the base's objects from the store of bases and holds what its attempts
/// made. One process at a time may write to it.
#[derive(Clone, Debug)]
pub struct JobRepository {
    repository: Repository,
}

/// Who and when: the agent as author, with the time of the capture as seconds since 1970.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The agent's name.
    pub name: String,
    /// An address; need not exist.
    pub email: String,
    /// Seconds since 1970.
    pub time: i64,
}

/// Why no candidate was made.
#[derive(Debug)]
pub(crate) enum CommitFault {
    /// A file was not what the capture had read.
    Changed(RepoPath),
    /// A person interrupted.
    Cancelled,
    Repository(RepositoryError),
}

impl From<RepositoryError> for CommitFault {
    fn from(error: RepositoryError) -> Self {
        Self::Repository(error)
    }
}

/// What a candidate is made of.
pub(crate) struct NewCommit<'a> {
    pub(crate) base: &'a CommitId,
    /// The whole listing of base.
    pub(crate) base_listing: &'a Listing,
    pub(crate) changes: &'a [Change],
    pub(crate) author: &'a Signature,
    pub(crate) message: &'a str,
    /// The folder that holds the new contents, at their paths.
    pub(crate) root: &'a Folder,
    /// Ends it between two blocks.
    pub(crate) cancel: Option<&'a Cancel>,
}

impl JobRepository {
    /// Makes a job's repository at `git_dir`, whole or not at all. The folder above must exist.
    ///
    /// # Errors
    /// [`RepositoryError::Exists`] where something is there already.
    pub fn create(store: &BaseStore, git_dir: &Path) -> Result<Self, RepositoryError> {
        let lender = store.repository();
        let fill = |new: &Repository| {
            new.borrow_from(lender.git_dir())?;
            write_shallow(new.git_dir(), &read_shallow(lender.git_dir())?)
        };
        let repository = Repository::create_bare(lender.git(), git_dir, lender.object_format(), fill)?;
        Ok(Self { repository })
    }

    /// Opens a job's repository that was made before.
    ///
    /// # Errors
    /// Where none is there.
    pub fn open(git: &Git, git_dir: &Path) -> Result<Self, RepositoryError> {
        Ok(Self { repository: Repository::open(git, git_dir)? })
    }

    /// The bare repository itself.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Brings a commit of the user's repository in, with its history, and keeps it by a ref.
    ///
    /// # Errors
    /// [`RepositoryError::Incomplete`] where the user's repository lacks objects of it.
    pub fn adopt(
        &self,
        user: &crate::repository::UserRepository,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<(), RepositoryError> {
        adopt(user, &self.repository, commit, std::slice::from_ref(base))?;
        self.keep(commit)
    }

    fn keep(&self, commit: &CommitId) -> Result<(), RepositoryError> {
        match self.repository.set_reference(&format!("refs/captures/{commit}"), commit, None) {
            Err(RepositoryError::RefMoved { there: Some(there), .. }) if there == *commit => Ok(()),
            other => other,
        }
    }

    /// Makes the commit and keeps it at `refs/captures/<id>`. When this returns, it is on the disk.
    pub(crate) fn commit(&self, new: &NewCommit<'_>) -> Result<CommitId, CommitFault> {
        let mut stream = Stream::new(new, INCOMING, self.repository.object_format());
        let mut answer = Vec::new();
        let one_pack = [OsStr::new("-c"), OsStr::new("fastimport.unpackLimit=0")];
        let git = self.repository.git();
        let command =
            git.in_repository(self.repository.git_dir(), &one_pack, "fast-import").long().until(new.cancel);
        // Never unpacked: one pack is one file to bring safely onto the disk.
        let command = command.args(["--quiet", "--force", "--done", "--date-format=raw"]);
        let ended = command.converse(&mut stream, &mut answer);
        if let Some(path) = stream.changed() {
            return Err(CommitFault::Changed(path));
        }
        match ended {
            Err(GitError::Cancelled { .. }) => return Err(CommitFault::Cancelled),
            other => other.map_err(RepositoryError::from)?,
        };
        let commit = crate::repository::id_of(answer.trim_ascii_end(), "git fast-import")?;
        self.keep(&commit)?;
        self.repository
            .command("update-ref")
            .args(["-d", INCOMING])
            .success()
            .map_err(RepositoryError::from)?;
        Ok(commit)
    }

    /// Reads the candidate back from git and says how it differs from what was captured; nothing where it doesn't.
    pub(crate) fn read_back(
        &self,
        commit: &CommitId,
        base: &CommitId,
        expected: &Listing,
    ) -> Result<Option<CaptureProblem>, RepositoryError> {
        let problem = |path: Option<RepoPath>, text: String| {
            Ok(Some(CaptureProblem { kind: CaptureProblemKind::NotReadBack, path, text }))
        };
        if self.repository.parents(commit)? != [base.clone()] {
            return problem(None, "the candidate's parent is not base".to_owned());
        }
        let tree = self.repository.tree(commit)?;
        let listing = self.repository.listing(&tree)?;
        if let Some(difference) = nightgate_core::tree::changes(expected, &listing).into_iter().next() {
            let text = format!("{} is not in the candidate as it was captured", difference.path);
            return problem(Some(difference.path), text);
        }
        if tree_id(self.repository.object_format(), &listing) != tree {
            return problem(None, "the candidate's tree is not the one that its files make".to_owned());
        }
        let blobs: Vec<_> = listing
            .values()
            .filter(|entry| entry.mode != EntryMode::Gitlink)
            .map(|entry| &entry.object)
            .chain([&object_id(commit)])
            .cloned()
            .collect();
        match self.repository.missing(&blobs.iter().collect::<Vec<_>>())?.into_iter().min() {
            None => Ok(None),
            Some(id) => problem(None, format!("object {id} of the candidate is not in the job's repository")),
        }
    }
}
