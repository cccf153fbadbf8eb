//! Writes the files of a room, each anew, never through a link. Which files is not here.

use std::fs::File;
use std::io::{self, Write as _};
use std::time::SystemTime;

use nightgate_core::RepoPath;
use nightgate_core::tree::{Entry, EntryMode, Listing};
use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

use super::{RoomError, folders_of};
use crate::repository::BlobSink;
use crate::walk::{Fault, Folder, Kind};

/// The most bytes of a link's target (PATH_MAX).
const MOST_TARGET_BYTES: u64 = 4096;

/// Makes entries below one folder, with one time.
pub(super) struct Layer<'a> {
    root: &'a Folder,
    times: Timestamps,
    /// The folder of the last entry: neighbours mostly share it.
    last: Option<(RepoPath, Folder)>,
}

impl<'a> Layer<'a> {
    pub(super) fn new(root: &'a Folder, time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = Timespec {
            tv_sec: since.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: since.subsec_nanos().into(),
        };
        Self { root, times: Timestamps { last_access: time, last_modification: time }, last: None }
    }

    /// The folder in which `path` lies, made where it isn't there.
    fn parent(&mut self, path: &RepoPath) -> Result<&Folder, RoomError> {
        let Some(above) = path.ancestors().last() else { return Ok(self.root) };
        if self.last.as_ref().is_none_or(|(last, _)| *last != above) {
            let mut folder: Option<Folder> = None;
            for step in path.ancestors() {
                let inner = make_folder(folder.as_ref().unwrap_or(self.root), &step)?;
                folder = Some(inner);
            }
            self.last = folder.map(|folder| (above, folder));
        }
        Ok(self.last.as_ref().map_or(self.root, |(_, folder)| folder))
    }

    /// Makes an empty folder, or leaves the one that is there.
    pub(super) fn submodule(&mut self, path: &RepoPath) -> Result<(), RoomError> {
        make_folder(self.parent(path)?, path).map(drop)
    }

    fn file(&mut self, path: &RepoPath) -> Result<File, RoomError> {
        let parent = self.parent(path)?;
        clear(parent, path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(parent, path.file_name(), flags, Mode::RUSR | Mode::WUSR);
        opened.map(File::from).map_err(|errno| failed(path, errno))
    }

    /// Gives a written file its mode and time.
    fn finish(&self, path: &RepoPath, file: &File, mode: EntryMode) -> Result<(), RoomError> {
        let mode = if mode == EntryMode::Executable { 0o755 } else { 0o644 };
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
            .and_then(|()| rustix::fs::futimens(file, &self.times))
            .map_err(|errno| failed(path, errno))
    }

    fn link(&mut self, path: &RepoPath, target: &[u8]) -> Result<(), RoomError> {
        let times = self.times.clone();
        let parent = self.parent(path)?;
        clear(parent, path)?;
        rustix::fs::symlinkat(target, parent, path.file_name())
            .and_then(|()| rustix::fs::utimensat(parent, path.file_name(), &times, AtFlags::SYMLINK_NOFOLLOW))
            .map_err(|errno| failed(path, errno))
    }
}

fn failed(path: &RepoPath, errno: Errno) -> RoomError {
    RoomError::Lay { path: path.clone(), fault: errno.into() }
}

fn in_the_way(path: &RepoPath, kind: Kind) -> RoomError {
    let what = match kind {
        Kind::File => "a file",
        Kind::Folder => "a folder",
        Kind::Symlink => "a symbolic link",
        Kind::Special(word) => word,
    };
    RoomError::InTheWay { path: path.clone(), what }
}

/// Opens the folder at `path`, whose parent is `parent`, and makes it where nothing is there.
fn make_folder(parent: &Folder, path: &RepoPath) -> Result<Folder, RoomError> {
    let name = path.file_name();
    let lay = |fault| RoomError::Lay { path: path.clone(), fault };
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
        Ok(()) => {
            let folder = parent.folder(name).map_err(lay)?;
            // The umask must not matter.
            rustix::fs::fchmod(&folder, Mode::from_raw_mode(0o755)).map_err(|errno| failed(path, errno))?;
            Ok(folder)
        }
        Err(Errno::EXIST) => match parent.status(name).map_err(lay)?.kind {
            Kind::Folder => parent.folder(name).map_err(lay),
            other => Err(in_the_way(path, other)),
        },
        Err(errno) => Err(failed(path, errno)),
    }
}

/// Removes what is no folder at `path`.
fn clear(parent: &Folder, path: &RepoPath) -> Result<(), RoomError> {
    match rustix::fs::unlinkat(parent, path.file_name(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => Err(in_the_way(path, Kind::Folder)),
        Err(errno) => Err(failed(path, errno)),
    }
}

/// Removes what only `old` has, and the folders that are empty then.
pub(super) fn remove_old(root: &Folder, old: &Listing, new: &Listing) -> Result<(), RoomError> {
    let gone: Vec<_> = old.iter().filter(|(path, _)| !new.contains_key(*path)).collect();
    for (path, entry) in &gone {
        let flags = if entry.mode == EntryMode::Gitlink { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match unlink(root, path, flags) {
            // What setup put into a submodule's folder stays.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST) if entry.mode == EntryMode::Gitlink => {}
            Err(Errno::ISDIR) => return Err(in_the_way(path, Kind::Folder)),
            Err(errno) => return Err(failed(path, errno)),
        }
    }
    // The innermost first; those that hold anything resist.
    for folder in folders_of(gone.into_iter().map(|(path, _)| path)).into_iter().rev() {
        match unlink(root, &folder, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(errno) => return Err(failed(&folder, errno)),
        }
    }
    Ok(())
}

fn unlink(root: &Folder, path: &RepoPath, flags: AtFlags) -> Result<(), Errno> {
    let opened;
    let parent = match path.ancestors().last() {
        None => root,
        Some(above) => {
            opened = root.descend(&above).map_err(|fault| match fault {
                Fault::System(error) => Errno::from_io_error(&error).unwrap_or(Errno::IO),
                Fault::OtherDevice => Errno::XDEV,
                Fault::Changed | Fault::OverBudget(_) | Fault::Cancelled => Errno::IO,
            })?;
            &opened
        }
    };
    match rustix::fs::unlinkat(parent, path.file_name(), flags) {
        // Something else than the tree's own file stands there; laying it out says so where it matters.
        Err(Errno::LOOP) => Err(Errno::NOTDIR),
        other => other,
    }
}

/// Writes blobs as git gives them.
pub(super) struct Sink<'a, 'b> {
    layer: &'a mut Layer<'b>,
    files: &'a [(&'a RepoPath, &'a Entry)],
    current: Option<Current<'a>>,
    fault: Option<RoomError>,
}

struct Current<'a> {
    path: &'a RepoPath,
    mode: EntryMode,
    to: Destination,
}

enum Destination {
    File(File),
    Target(Vec<u8>),
}

impl<'a, 'b> Sink<'a, 'b> {
    pub(super) fn new(layer: &'a mut Layer<'b>, files: &'a [(&'a RepoPath, &'a Entry)]) -> Self {
        Self { layer, files, current: None, fault: None }
    }

    /// Why it ended early.
    pub(super) fn into_fault(self) -> Option<RoomError> {
        self.fault
    }

    fn note<T>(&mut self, result: Result<T, RoomError>) -> io::Result<T> {
        result.map_err(|error| {
            let text = error.to_string();
            self.fault = Some(error);
            io::Error::other(text)
        })
    }
}

impl BlobSink for Sink<'_, '_> {
    fn begin(&mut self, place: usize, size: u64) -> io::Result<()> {
        let Some((path, entry)) = self.files.get(place).copied() else {
            return Err(io::Error::other("more blobs than were asked for"));
        };
        let made = match entry.mode {
            EntryMode::Symlink if size > MOST_TARGET_BYTES => Err(failed(path, Errno::NAMETOOLONG)),
            EntryMode::Symlink => Ok(Destination::Target(Vec::new())),
            _ => self.layer.file(path).map(Destination::File),
        };
        let to = self.note(made)?;
        self.current = Some(Current { path, mode: entry.mode, to });
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let path = current.path;
        let written = match &mut current.to {
            Destination::Target(target) => {
                target.extend_from_slice(bytes);
                Ok(())
            }
            Destination::File(file) => file.write_all(bytes),
        };
        self.note(written.map_err(|error| RoomError::Lay { path: path.clone(), fault: error.into() }))
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(current) = self.current.take() else { return Ok(()) };
        let done = match &current.to {
            Destination::File(file) => self.layer.finish(current.path, file, current.mode),
            Destination::Target(target) => self.layer.link(current.path, target),
        };
        self.note(done)
    }
}
