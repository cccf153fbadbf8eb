//! Clean rooms: exactly a tree's files, laid out fresh, and read back raw. Running anything in them is not here.
//!
//! How files get there is behind [`materialise`] and [`lay_candidate`] alone (a copy of every blob today), so that
//! another way, such as an overlay over a shared base, changes nothing else.

mod lay;
mod observe;
mod product;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nightgate_core::tree::{EntryMode, Listing};
use nightgate_core::{ObjectId, RepoPath, TreeId};

use crate::hash::ObjectFormat;
use crate::repository::{Repository, RepositoryError};
use crate::walk::{Fault, Folder};

use lay::Layer;
pub use observe::{Observation, drift, observe, settle, touched};
pub use product::{StandIns, remove_byte_code};

/// Why a room couldn't be laid out. What is there then must be thrown away.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// Something is there already.
    #[error("{} is there already: a clean room must be fresh", room.display())]
    Exists {
        /// Where.
        room: PathBuf,
    },
    /// The folder couldn't be made or opened.
    #[error("make the clean room {}: {source}", room.display())]
    Folder {
        /// Where.
        room: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The trees couldn't be read from git.
    #[error("read the files of the clean room: {0}")]
    Repository(#[from] RepositoryError),
    /// A file couldn't be written.
    #[error("lay out {path}: {fault}")]
    Lay {
        /// Which.
        path: RepoPath,
        /// Why.
        fault: Fault,
    },
    /// Setup left something where the candidate has a file or a folder.
    #[error("lay out {path}: setup left {what} there; setup must not make what the repository tracks")]
    InTheWay {
        /// Where.
        path: RepoPath,
        /// What it is.
        what: &'static str,
    },
    /// What setup made couldn't be listed whole.
    #[error("list what setup made: {shown}: {fault}")]
    Unlisted {
        /// Where.
        shown: String,
        /// Why.
        fault: Fault,
    },
    /// What was laid out reads back as something else.
    #[error("the clean room reads back as tree {found}, not as {wanted}: {detail}")]
    Different {
        /// The tree that was to be laid out.
        wanted: TreeId,
        /// What was found.
        found: String,
        /// The first difference, in words.
        detail: String,
    },
}

/// How much older than their room the files of a fresh room look. Whatever is built in the room is then newer than its
/// source, and what [`lay_candidate`] writes has another time than what stood there before, also for tools that count in
/// whole seconds.
const LOOKS_OLDER_BY: Duration = Duration::from_secs(2);

/// Lays a tree out in the fresh folder `room`, which must not exist; the folder above must. Every file is its raw blob,
/// readable by all and writable by its owner, executable or not as the tree says, never setuid; links are links with the
/// tree's target; submodules are empty folders. All files have the same time.
///
/// Returns what was laid out. A crash leaves a folder that must be deleted.
///
/// # Errors
/// [`RoomError::Exists`] where anything is at `room`.
pub fn materialise(repository: &Repository, tree: &TreeId, room: &Path) -> Result<Listing, RoomError> {
    let listing = repository.listing(tree)?;
    if let Err(source) = std::fs::create_dir(room) {
        let room = room.to_owned();
        return Err(match source.kind() {
            io::ErrorKind::AlreadyExists => RoomError::Exists { room },
            _ => RoomError::Folder { room, source },
        });
    }
    let root = open(room)?;
    lay_all(repository, &listing, &root, SystemTime::now() - LOOKS_OLDER_BY)?;
    Ok(listing)
}

/// Puts the files of `to` in the place of those of `from` in a room in which setup ran on `from`: every file of `to` is
/// written anew, whether it differs or not, with a time later than anything that was made before; what only `from` has is
/// removed; untracked files that setup made stay. Reads all of it back.
///
/// Returns what was read back.
///
/// # Errors
/// [`RoomError::InTheWay`] where setup made a folder in a file's place or the other way round;
/// [`RoomError::Different`] where the tracked files don't read back as `to`.
pub fn lay_candidate(
    repository: &Repository,
    from: &TreeId,
    to: &TreeId,
    room: &Path,
) -> Result<Observation, RoomError> {
    let old = repository.listing(from)?;
    let new = repository.listing(to)?;
    let root = open(room)?;
    lay::remove_old(&root, &old, &new)?;
    lay_all(repository, &new, &root, SystemTime::now())?;
    let seen = observe(room, &new, repository.object_format());
    match &seen.tree {
        Some(tree) if tree == to => Ok(seen),
        found => {
            let differs = nightgate_core::tree::changes(&new, &seen.listing);
            let first = differs.first().map(|change| format!("{} differs", change.path));
            let detail = seen.problems.first().cloned().or(first).unwrap_or_default();
            let found = found.as_ref().map_or_else(|| "none".to_owned(), TreeId::to_string);
            Err(RoomError::Different { wanted: to.clone(), found, detail })
        }
    }
}

fn open(room: &Path) -> Result<Folder, RoomError> {
    Folder::open(room).map_err(|source| RoomError::Folder { room: room.to_owned(), source })
}

fn lay_all(
    repository: &Repository,
    listing: &Listing,
    root: &Folder,
    time: SystemTime,
) -> Result<(), RoomError> {
    let mut layer = Layer::new(root, time);
    for (path, entry) in listing {
        if entry.mode == EntryMode::Gitlink {
            layer.submodule(path)?;
        }
    }
    let files: Vec<_> = listing.iter().filter(|(_, entry)| entry.mode != EntryMode::Gitlink).collect();
    let ids: Vec<&ObjectId> = files.iter().map(|(_, entry)| &entry.object).collect();
    let mut sink = lay::Sink::new(&mut layer, &files);
    let ended = repository.blobs(&ids, &mut sink);
    match sink.into_fault() {
        Some(error) => Err(error),
        None => Ok(ended?),
    }
}

/// The format's tree id of what was read, for callers that have a listing.
fn tree_of(format: ObjectFormat, listing: &Listing) -> TreeId {
    crate::hash::tree_id(format, listing)
}

/// The folders above these paths.
fn folders_of<'a>(paths: impl Iterator<Item = &'a RepoPath>) -> BTreeSet<RepoPath> {
    paths.flat_map(|path| path.ancestors().collect::<Vec<_>>()).collect()
}
