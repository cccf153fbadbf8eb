//! Folders that only their owner can read, and that are still there after a crash. What lies in them is not here.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// The folder that holds `path`; the current one for a bare name.
pub(crate) fn of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Makes `folder` and the folders above it where they are missing, each with mode 0700. Those that exist are left as they
/// are. What was made survives a crash once this returns.
pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = of(folder);
    if parent != folder {
        create_private(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(fault) if fault.kind() != io::ErrorKind::AlreadyExists || !folder.is_dir() => Err(fault),
        Ok(()) | Err(_) => sync(parent),
    }
}

/// Makes the entries of `folder` survive a crash.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// True where there is something at `path`, a dangling link included.
pub(crate) fn has(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(fault) => Err(fault),
    }
}
