//! The store of bases: one bare repository per project that holds what the bases reach and nothing else of the user's.
//!
//! Workspaces and the jobs' repositories, which borrow its objects, are not here. It is never packed or pruned.

use std::fs::File;
use std::path::{Path, PathBuf};

use nightgate_core::CommitId;
use rustix::fs::FlockOperation;

use crate::git::Git;
use crate::hash::ObjectFormat;
use crate::repository::{Repository, RepositoryError, UserRepository, transfer};
use crate::repository::{merge_shallow, read_shallow, write_shallow};

/// A project's store of bases.
#[derive(Clone, Debug)]
pub struct BaseStore {
    repository: Repository,
}

impl BaseStore {
    /// Opens the store at `git_dir`, and makes it first where there is none. The folder above must exist. Two processes
    /// may do this at once.
    ///
    /// # Errors
    /// [`RepositoryError::Formats`] where it holds objects of another format than `format`.
    pub fn open(git: &Git, git_dir: &Path, format: ObjectFormat) -> Result<Self, RepositoryError> {
        let repository = match Repository::create_bare(git, git_dir, format, |_| Ok(())) {
            Err(RepositoryError::Exists { .. }) => Repository::open(git, git_dir)?,
            other => other?,
        };
        if repository.object_format() != format {
            return Err(RepositoryError::Formats { one: format, other: repository.object_format() });
        }
        Ok(Self { repository })
    }

    /// Brings `base`, its tree and its history in from the user's repository. When this returns, all of it is on the disk
    /// and kept by the ref `refs/bases/<id>`. A base that is there already costs one look.
    ///
    /// Processes that import at the same time wait for each other. A crash leaves at most objects that nothing refers to.
    ///
    /// # Errors
    /// [`RepositoryError::Incomplete`] where the user's repository is a partial clone or shallow within the base's tree.
    pub fn import(&self, user: &UserRepository, base: &CommitId) -> Result<(), RepositoryError> {
        let name = format!("refs/bases/{base}");
        if self.repository.reference(&name)?.is_some() {
            return Ok(());
        }
        let _alone = self.lock()?;
        let haves = self.bases()?;
        adopt(user, &self.repository, base, &haves)?;
        self.check_tree(base)?;
        self.repository.set_reference(&name, base, None)
    }

    /// The bases that were imported, in the order of their ids.
    ///
    /// # Errors
    /// Where git can't tell.
    pub fn bases(&self) -> Result<Vec<CommitId>, RepositoryError> {
        let output = self
            .repository
            .command("for-each-ref")
            .args(["--format=%(refname:lstrip=2)", "refs/bases/"])
            .success()?;
        Ok(output
            .stdout
            .split(|&byte| byte == b'\n')
            .filter_map(|line| std::str::from_utf8(line).ok()?.parse().ok())
            .collect())
    }

    /// The bare repository itself.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Makes sure that the whole tree is there: a source with missing objects can give a pack that git accepts.
    fn check_tree(&self, base: &CommitId) -> Result<(), RepositoryError> {
        use nightgate_core::tree::EntryMode;
        let listing = self.repository.listing(&self.repository.tree(base)?)?;
        let blobs: Vec<_> = listing
            .values()
            .filter(|entry| entry.mode != EntryMode::Gitlink)
            .map(|entry| &entry.object)
            .collect();
        match self.repository.missing(&blobs)?.into_iter().min() {
            None => Ok(()),
            Some(object) => Err(RepositoryError::Incomplete {
                commit: base.clone(),
                object: object.to_string(),
                in_repository: self.repository.git_dir().to_owned(),
            }),
        }
    }

    fn lock(&self) -> Result<File, RepositoryError> {
        let path: PathBuf = self.repository.git_dir().join("nightgate.lock");
        let open = || {
            let file = File::options().create(true).append(true).open(&path)?;
            loop {
                match rustix::fs::flock(&file, FlockOperation::LockExclusive) {
                    Err(rustix::io::Errno::INTR) => {}
                    other => break other?,
                }
            }
            Ok(file)
        };
        open().map_err(RepositoryError::file("lock", &path))
    }
}

/// Transfers a commit from the user's repository and notes where its history is cut, if it is.
pub(crate) fn adopt(
    user: &UserRepository,
    to: &Repository,
    want: &CommitId,
    haves: &[CommitId],
) -> Result<(), RepositoryError> {
    let before = user.shallow_boundary()?;
    transfer(user.repository(), to, want, haves)?;
    // A fetch of the user's may have moved the boundary meanwhile; cutting at both places is right either way.
    let boundary = merge_shallow(&before, &user.shallow_boundary()?);
    if boundary.is_empty() {
        return Ok(());
    }
    let here = to.held(&boundary)?;
    write_shallow(to.git_dir(), &merge_shallow(&read_shallow(to.git_dir())?, &here))
}
