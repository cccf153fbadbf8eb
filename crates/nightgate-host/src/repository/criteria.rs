//! The criteria as they are at a commit. Comparing them is not here.

use std::fmt;

use nightgate_core::evidence::CriteriaEntry;
use nightgate_core::tree::{Entry, EntryMode, Listing};
use nightgate_core::{CommitId, Digest, RepoPath};
use sha2::{Digest as _, Sha256};

use super::{BlobSink, Repository, RepositoryError};

/// Why there is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Paths that name nothing at the commit.
    #[error("{0}")]
    Uncommitted(Uncommitted),
    /// The repository.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// Criteria paths that name nothing at the commit. At least one.
#[derive(Debug, PartialEq, Eq)]
pub struct Uncommitted {
    /// The commit.
    pub commit: CommitId,
    /// Paths that aren't tracked there.
    pub untracked: Vec<RepoPath>,
    /// Those that look like patterns.
    pub globs: Vec<RepoPath>,
}

impl fmt::Display for Uncommitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |paths: &[RepoPath]| paths.iter().map(RepoPath::to_string).collect::<Vec<_>>().join(", ");
        let short = &self.commit.as_str()[..12];
        if !self.untracked.is_empty() {
            write!(f, "not tracked at {short}: {}; commit it first", list(&self.untracked))?;
        }
        if !self.globs.is_empty() {
            let separator = if self.untracked.is_empty() { "" } else { ". " };
            write!(f, "{separator}patterns aren't expanded: {}; name files or folders", list(&self.globs))?;
        }
        Ok(())
    }
}

impl Repository {
    /// Every entry at and below `paths` in `commit`, in path order, with the SHA-256 of its raw content.
    ///
    /// # Errors
    /// [`BaselineError::Uncommitted`] names every path that isn't tracked there.
    pub fn criteria_baseline(
        &self,
        commit: &CommitId,
        paths: &[RepoPath],
    ) -> Result<Vec<CriteriaEntry>, BaselineError> {
        let listing = self.listing(&self.tree(commit)?)?;
        let mut absent = Uncommitted { commit: commit.clone(), untracked: Vec::new(), globs: Vec::new() };
        let tracked = |path: &RepoPath| listing.keys().any(|entry| entry.is_at_or_below(path));
        for path in paths.iter().filter(|path| !tracked(path)) {
            let is_glob = path.as_bytes().iter().any(|byte| b"*?[".contains(byte));
            if is_glob { &mut absent.globs } else { &mut absent.untracked }.push(path.clone());
        }
        if !absent.untracked.is_empty() || !absent.globs.is_empty() {
            return Err(BaselineError::Uncommitted(absent));
        }
        Ok(self.criteria_entries(&listing, paths)?)
    }

    /// The criteria entries of a listing whose blobs are in this repository.
    pub(crate) fn criteria_entries(
        &self,
        listing: &Listing,
        paths: &[RepoPath],
    ) -> Result<Vec<CriteriaEntry>, RepositoryError> {
        let at_criteria = |path: &RepoPath| paths.iter().any(|criteria| path.is_at_or_below(criteria));
        let entries: Vec<_> = listing.iter().filter(|(path, _)| at_criteria(path)).collect();
        let is_blob = |entry: &Entry| entry.mode != EntryMode::Gitlink;
        let blobs: Vec<_> =
            entries.iter().filter(|(_, entry)| is_blob(entry)).map(|(_, entry)| &entry.object).collect();
        let mut digests = Digests { current: Sha256::new(), done: Vec::with_capacity(blobs.len()) };
        self.blobs(&blobs, &mut digests)?;
        let mut of_blobs = digests.done.into_iter();
        let digest = |entry: &Entry| {
            if is_blob(entry) { of_blobs.next() } else { Some(Digest::of(entry.object.as_str().as_bytes())) }
        };
        Ok(entries
            .into_iter()
            .map({
                let mut digest = digest;
                move |(path, entry)| CriteriaEntry {
                    path: path.clone(),
                    kind: entry.mode.into(),
                    digest: digest(entry),
                }
            })
            .collect())
    }
}

struct Digests {
    current: Sha256,
    done: Vec<Digest>,
}

impl BlobSink for Digests {
    fn begin(&mut self, _place: usize, _size: u64) -> std::io::Result<()> {
        self.current = Sha256::new();
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.current.update(bytes);
        Ok(())
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.done.push(Digest::from_raw(self.current.finalize_reset().into()));
        Ok(())
    }
}
