//! Deletes folders of ours without following links or leaving the root. Deciding what may go is not here.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Fault, Folder, Kind};

/// Why a folder wasn't deleted, or not wholly.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// It is not strictly below the root that it must be below.
    #[error("refused to delete {}: it is not strictly below {}", path.display(), root.display())]
    Outside {
        /// What was to be deleted.
        path: PathBuf,
        /// Where it should have been.
        root: PathBuf,
    },
    /// Something on the way to it can't be relied on, or something in it couldn't be deleted.
    #[error("delete {}: {fault}", path.display())]
    Failed {
        /// Where.
        path: PathBuf,
        /// Why.
        fault: Fault,
    },
}

/// How many folders are held open inside each other; what is deeper is first moved up.
const HELD_OPEN: usize = 128;

/// Deletes `path` and everything in it. When this returns `Ok`, nothing stands at `path`; also where nothing stood there
/// before.
///
/// Never follows a link (a link at `path` itself is deleted as a link), never enters another mount or device, refuses
/// `must_be_below` itself and everything that doesn't lie strictly below it by its components. Folders and files that
/// their owner may not read are deleted too. A crash leaves a part; calling again finishes it.
///
/// # Errors
/// [`RemoveError::Outside`] before anything was touched. [`RemoveError::Failed`] names the first entry that resisted; all
/// others are deleted nevertheless.
pub fn remove_tree(path: &Path, must_be_below: &Path) -> Result<(), RemoveError> {
    let outside = || RemoveError::Outside { path: path.to_owned(), root: must_be_below.to_owned() };
    let below = path.strip_prefix(must_be_below).map_err(|_| outside())?;
    let mut names = Vec::new();
    for component in below.components() {
        let Component::Normal(name) = component else { return Err(outside()) };
        names.push(name.as_bytes());
    }
    let Some((last, folders)) = names.split_last() else { return Err(outside()) };
    let failed = |fault| RemoveError::Failed { path: path.to_owned(), fault };
    let mut parent = Folder::open(must_be_below).map_err(|error| failed(error.into()))?;
    for name in folders {
        parent = match parent.folder(name) {
            Err(fault) if is_absent(&fault) => return Ok(()),
            other => other.map_err(failed)?,
        };
    }
    let mut removal = Removal { first_fault: None, moved: 0 };
    removal.remove(&parent, last, path, 0, None);
    removal.first_fault.map_or(Ok(()), |(path, fault)| Err(RemoveError::Failed { path, fault }))
}

fn is_absent(fault: &Fault) -> bool {
    matches!(fault, Fault::System(error) if error.kind() == io::ErrorKind::NotFound)
}

struct Removal {
    first_fault: Option<(PathBuf, Fault)>,
    moved: u64,
}

impl Removal {
    fn note(&mut self, shown: &Path, fault: Fault) {
        if !is_absent(&fault) && self.first_fault.is_none() {
            self.first_fault = Some((shown.to_owned(), fault));
        }
    }

    /// Deletes what stands at `name` in `parent`. `top` is the outermost folder that is being deleted.
    fn remove(&mut self, parent: &Folder, name: &[u8], shown: &Path, depth: usize, top: Option<&Folder>) {
        let status = match parent.status(name) {
            Ok(status) => status,
            Err(fault) => return self.note(shown, fault),
        };
        if status.kind != Kind::Folder {
            if let Err(errno) = rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
                self.note(shown, errno.into());
            }
            return;
        }
        if let Some(top) = top.filter(|_| depth >= HELD_OPEN) {
            // It is deleted when `top` is read again.
            if let Err(errno) = open_up(parent, name).and_then(|()| self.move_up(parent, name, top)) {
                self.note(shown, errno.into());
            }
            return;
        }
        if status.mode & 0o700 != 0o700
            && let Err(errno) = open_up(parent, name)
        {
            return self.note(shown, errno.into());
        }
        let folder = match parent.folder(name) {
            Ok(folder) => folder,
            Err(fault) => return self.note(shown, fault),
        };
        self.empty(&folder, shown, depth, top);
        drop(folder);
        match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) => {}
            // What resisted has been noted already.
            Err(Errno::NOTEMPTY) if self.first_fault.is_some() => {}
            Err(errno) => self.note(shown, errno.into()),
        }
    }

    fn move_up(&mut self, parent: &Folder, name: &[u8], top: &Folder) -> Result<(), Errno> {
        loop {
            self.moved += 1;
            let free = format!(".nightgate-removing-{}", self.moved);
            match rustix::fs::renameat_with(parent, name, top, free, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                other => return other,
            }
        }
    }

    fn empty(&mut self, folder: &Folder, shown: &Path, depth: usize, top: Option<&Folder>) {
        loop {
            let moved_before = self.moved;
            let names = match folder.names(u64::MAX) {
                Ok(names) => names,
                Err(fault) => return self.note(shown, fault),
            };
            for name in &names {
                let shown = shown.join(std::ffi::OsStr::from_bytes(name));
                self.remove(folder, name, &shown, depth + 1, Some(top.unwrap_or(folder)));
            }
            if top.is_some() || self.moved == moved_before {
                return;
            }
        }
    }
}

/// Gives the owner all rights on a folder, without following a link that may have taken its place.
fn open_up(parent: &Folder, name: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let descriptor = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    super::give_owner_all(&descriptor)
}
