//! Moves objects between repositories without letting either run anything of its own. Refs are not here.
//!
//! `pack-objects` piped into `index-pack`: no `upload-pack`, no remote, no hook, no fetch of what a partial clone lacks.

use std::io::{self, Write};
use std::path::Path;

use nightgate_core::CommitId;

use super::{Repository, RepositoryError};
use crate::git::GitError;

/// Brings what `want` reaches and none of `haves` do into `to`. The receiver must hold all that `haves` reach; those that
/// the source lacks are left out of account. When this returns `Ok`, the objects are on the disk, and nothing refers to
/// them yet.
pub(crate) fn transfer(
    from: &Repository,
    to: &Repository,
    want: &CommitId,
    haves: &[CommitId],
) -> Result<(), RepositoryError> {
    if from.format != to.format {
        return Err(RepositoryError::Formats { one: from.format, other: to.format });
    }
    if haves.contains(want) {
        return Ok(());
    }
    let known = from.held(haves)?;
    let mut revisions = format!("{want}\n");
    for have in &known {
        revisions.push_str(&format!("^{have}\n"));
    }
    let (reader, writer) =
        io::pipe().map_err(|source| GitError::Pipe { doing: "git pack-objects".to_owned(), source })?;
    let (packed, indexed) = std::thread::scope(|scope| {
        let packing = scope.spawn(|| {
            let command = from.command("pack-objects").long().stdout(writer);
            let command = command.args([
                "--revs",
                "--stdout",
                "--quiet",
                "--thin",
                "--window=0",
                "--delta-base-offset",
            ]);
            command.converse(&mut revisions.as_bytes(), &mut io::sink())
        });
        let command = to.command("index-pack").long().stdin(reader);
        let indexed = command.args(["--stdin", "--fix-thin"]).success();
        (packing.join(), indexed)
    });
    let packed = packed.map_err(|_| GitError::Pipe {
        doing: "git pack-objects".to_owned(),
        source: io::Error::other("its thread panicked"),
    })?;
    match (packed, indexed) {
        (Ok(_), Ok(_)) => Ok(()),
        // The packer dies of a broken pipe where the receiver gave up.
        (Ok(_) | Err(GitError::Signalled { .. }), Err(error)) => Err(error.into()),
        (Err(error), _) => match first_missing(from, want, &known) {
            Some(object) => Err(RepositoryError::Incomplete {
                commit: want.clone(),
                object,
                in_repository: from.git_dir.clone(),
            }),
            None => Err(error.into()),
        },
    }
}

/// An object that `want` reaches and that isn't there.
fn first_missing(from: &Repository, want: &CommitId, haves: &[CommitId]) -> Option<String> {
    let mut found = FirstMissing { line: Vec::new(), object: None };
    let command =
        from.command("rev-list").long().args(["--objects", "--missing=print", want.as_str(), "--not"]);
    let ended = command.args(haves.iter().map(CommitId::as_str)).converse(&mut io::empty(), &mut found);
    match ended {
        // A commit that is missing itself: git stops there.
        Err(GitError::Failed { stderr, .. }) if found.object.is_none() => {
            stderr.split_whitespace().find(|word| word.parse::<CommitId>().is_ok()).map(str::to_owned)
        }
        _ => found.object,
    }
}

struct FirstMissing {
    line: Vec<u8>,
    object: Option<String>,
}

impl Write for FirstMissing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            if let (None, [b'?', id @ ..]) = (&self.object, &self.line[..]) {
                self.object = Some(String::from_utf8_lossy(id).into_owned());
            }
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Repository {
    /// Those of these commits that this repository holds.
    pub(crate) fn held(&self, commits: &[CommitId]) -> Result<Vec<CommitId>, RepositoryError> {
        let ids: Vec<_> = commits.iter().map(super::ours::object_id).collect();
        let missing = self.missing(&ids.iter().collect::<Vec<_>>())?;
        Ok(commits
            .iter()
            .zip(&ids)
            .filter(|(_, id)| !missing.contains(*id))
            .map(|(commit, _)| commit.clone())
            .collect())
    }

    /// Makes a borrower of objects: everything in `lender` can be read through this repository from now on.
    pub(crate) fn borrow_from(&self, lender: &Path) -> Result<(), RepositoryError> {
        use std::os::unix::ffi::OsStrExt as _;
        let file = self.git_dir.join("objects/info/alternates");
        let mut line = super::ours::quoted(lender.join("objects").as_os_str().as_bytes());
        line.push(b'\n');
        std::fs::create_dir_all(self.git_dir.join("objects/info"))
            .and_then(|()| std::fs::write(&file, line))
            .map_err(RepositoryError::file("write", &file))
    }
}
