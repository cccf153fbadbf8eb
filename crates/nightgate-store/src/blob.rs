//! Blobs: files named by the digest of their bytes. What they mean, and which are still needed, is not here.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nightgate_core::Digest;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::folder;

/// Where blobs are written before they have a name. Never a blob's folder: those have two digits.
const INCOMING: &str = "incoming";

/// How much is copied at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A folder of blobs. Several processes may use the same one.
///
/// A blob's file is `ab/cdef...`, from the 64 digits of its SHA-256. It has its name only once it is whole and on the
/// medium. Unfinished ones lie in `incoming/` under a lock of their writer's; what a writer left there that died is
/// removed when the folder is opened for writing the next time.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    writable: bool,
}

/// Why a blob was not kept or not given. Each text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The medium, a quota or a limit is used up.
    #[error("{doing} {path:?}: there is no room: {source}: make room, then try again")]
    NoRoom {
        /// What was being done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// This user may not.
    #[error("{doing} {path:?}: {source}: see that this user may read and write there")]
    Denied {
        /// What was being done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another fault of the file system.
    #[error("{doing} {path:?}: {source}: see that the place and its medium are in order")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was to be kept is a link, a folder, a pipe or a device.
    #[error("keep {path:?} as a blob: it isn't a regular file")]
    NotAFile {
        /// It.
        path: PathBuf,
    },
    /// There is no such blob.
    #[error("read blob {digest}: it isn't here: it was never kept, or was removed")]
    Absent {
        /// The blob.
        digest: Digest,
    },
    /// The file under the blob's name has other bytes.
    #[error("read blob {digest}: its {length} bytes have the digest {found}: restore it from a copy")]
    Damaged {
        /// The blob.
        digest: Digest,
        /// The digest of what lies there.
        found: Digest,
        /// Its length.
        length: u64,
    },
    /// The blobs were opened for reading.
    #[error("keep a blob: the blobs were opened for reading only")]
    ReadOnly,
}

impl Blobs {
    /// Opens a folder of blobs for writing, makes it with mode 0700 where it is missing, and removes unfinished blobs
    /// that no living writer holds.
    ///
    /// Errors: [`NoRoom`](BlobError::NoRoom), [`Denied`](BlobError::Denied), [`Io`](BlobError::Io).
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, BlobError> {
        let root = folder.into();
        let incoming = root.join(INCOMING);
        folder::create_private(&incoming).map_err(fault("open the folder of blobs", &root))?;
        sweep(&incoming);
        Ok(Self { root, writable: true })
    }

    /// A folder of blobs for reading: it is neither made nor changed, and a missing one has no blobs.
    pub fn read_only(folder: impl Into<PathBuf>) -> Self {
        Self { root: folder.into(), writable: false }
    }

    /// Keeps `bytes`, with mode 0600, and gives their name. They survive a crash once this returns. Keeping the same
    /// bytes again is no fault, and mends a blob that was damaged.
    ///
    /// Errors: [`NoRoom`](BlobError::NoRoom), [`Denied`](BlobError::Denied), [`Io`](BlobError::Io),
    /// [`ReadOnly`](BlobError::ReadOnly). Nothing is left under the blob's name then that wasn't there before.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let mut file = self.incoming()?;
        file.write_all(bytes).map_err(fault("write to", file.path()))?;
        let digest = Digest::of(bytes);
        self.name(file, &digest)?;
        Ok(digest)
    }

    /// Keeps a copy of a regular file, in constant memory, and gives its name and length: those of the bytes that were
    /// copied, should the file change meanwhile. Guarantees as [`put`](Self::put).
    ///
    /// Errors: as [`put`](Self::put), and [`NotAFile`](BlobError::NotAFile).
    pub fn put_file(&self, path: impl AsRef<Path>) -> Result<(Digest, u64), BlobError> {
        let path = path.as_ref();
        // Before it is opened: opening a pipe would wait for its writer.
        if !fs::symlink_metadata(path).map_err(fault("look at", path))?.is_file() {
            return Err(BlobError::NotAFile { path: path.to_owned() });
        }
        let mut source = File::open(path).map_err(fault("open", path))?;
        let mut file = self.incoming()?;
        let mut hasher = Sha256::new();
        let mut length = 0;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let count = match source.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(interrupted) if interrupted.kind() == io::ErrorKind::Interrupted => continue,
                Err(other) => return Err(fault("read", path)(other)),
            };
            hasher.update(&chunk[..count]);
            file.write_all(&chunk[..count]).map_err(fault("write to", file.path()))?;
            length += count as u64;
        }
        let digest = Digest::from_raw(hasher.finalize().into());
        self.name(file, &digest)?;
        Ok((digest, length))
    }

    /// A blob's bytes, exactly those that its name promises.
    ///
    /// Errors: [`Absent`](BlobError::Absent), [`Damaged`](BlobError::Damaged) where the file was altered or cut,
    /// [`Denied`](BlobError::Denied), [`Io`](BlobError::Io).
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        let mut bytes = Vec::new();
        self.open_file(digest)?.read_to_end(&mut bytes).map_err(fault("read", &self.place(digest)))?;
        let found = Digest::of(&bytes);
        if found != *digest {
            return Err(BlobError::Damaged { digest: *digest, found, length: bytes.len() as u64 });
        }
        Ok(bytes)
    }

    /// A blob's file, to be read in pieces. Its bytes are *not* verified: only for what a person looks at.
    ///
    /// Errors: [`Absent`](BlobError::Absent), [`Denied`](BlobError::Denied), [`Io`](BlobError::Io).
    pub fn open_file(&self, digest: &Digest) -> Result<File, BlobError> {
        let place = self.place(digest);
        match File::open(&place) {
            Ok(file) => Ok(file),
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => {
                Err(BlobError::Absent { digest: *digest })
            }
            Err(other) => Err(fault("open", &place)(other)),
        }
    }

    /// True where a file has the blob's name. Says nothing about its bytes.
    ///
    /// Errors: [`Denied`](BlobError::Denied), [`Io`](BlobError::Io).
    pub fn contains(&self, digest: &Digest) -> Result<bool, BlobError> {
        let place = self.place(digest);
        folder::has(&place).map_err(fault("look for", &place))
    }

    fn place(&self, digest: &Digest) -> PathBuf {
        let hex = digest.hex();
        let (shard, rest) = hex.split_at(2);
        self.root.join(shard).join(rest)
    }

    /// A new file without a blob's name, locked. It is removed when the value is dropped.
    fn incoming(&self) -> Result<NamedTempFile, BlobError> {
        if !self.writable {
            return Err(BlobError::ReadOnly);
        }
        let incoming = self.root.join(INCOMING);
        loop {
            let file = NamedTempFile::new_in(&incoming).map_err(fault("make a file in", &incoming))?;
            match file.as_file().lock() {
                // A file system without locks: `sweep` can't have one either and leaves the file alone.
                Err(no_locks) if no_locks.kind() == io::ErrorKind::Unsupported => return Ok(file),
                locked => locked.map_err(fault("lock", file.path()))?,
            }
            // Between its making and its locking, somebody's sweep may have taken it for a dead writer's.
            if file.as_file().metadata().map_err(fault("look at", file.path()))?.nlink() > 0 {
                return Ok(file);
            }
        }
    }

    /// Gives a written file the name of its bytes.
    fn name(&self, file: NamedTempFile, digest: &Digest) -> Result<(), BlobError> {
        let place = self.place(digest);
        let shard = folder::of(&place);
        file.as_file().sync_all().map_err(fault("write to", file.path()))?;
        folder::create_private(shard).map_err(fault("make the folder", shard))?;
        file.persist(&place).map_err(|kept| fault("name", &place)(kept.error))?;
        folder::sync(shard).map_err(fault("write to", shard))?;
        // Also where the shard existed: who made it may not have got as far as this.
        folder::sync(&self.root).map_err(fault("write to", &self.root))
    }
}

/// Removes the files of dead writers. They harm nobody, so nothing here is an error.
fn sweep(incoming: &Path) {
    let Ok(entries) = fs::read_dir(incoming) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok() {
            // Its writer is dead, or has given it its name: then there is nothing at this path any more.
            let _ = fs::remove_file(&path);
        }
    }
}

fn fault(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BlobError {
    let path = path.to_owned();
    move |source| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            BlobError::NoRoom { doing, path, source }
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            BlobError::Denied { doing, path, source }
        }
        _ => BlobError::Io { doing, path, source },
    }
}

#[cfg(test)]
mod tests;
