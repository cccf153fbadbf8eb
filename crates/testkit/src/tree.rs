//! Whole folders: copy, walk, give away. Comparing them is `snapshot`.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, lchown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode};

/// Copies what lies in `from` into the folder `to`, which may exist: files with their mode, links as links, FIFOs as
/// new FIFOs. Times and owners are not kept. Top-level entries named in `without` stay behind.
pub(crate) fn copy(from: &Path, to: &Path, without: &[&str]) {
    make_folder(to);
    for name in names(from) {
        if without.iter().any(|skipped| name.as_os_str() == *skipped) {
            continue;
        }
        let (source, target) = (from.join(&name), to.join(&name));
        let metadata = fs::symlink_metadata(&source).expect("an entry that was listed can be read");
        if metadata.is_dir() {
            copy(&source, &target, &[]);
        } else if metadata.is_symlink() {
            let aim = fs::read_link(&source).expect("a link can be read");
            symlink(aim, &target).expect("a link can be made in a new folder");
        } else if metadata.file_type().is_fifo() {
            make_fifo(&target);
        } else {
            fs::copy(&source, &target)
                .unwrap_or_else(|error| panic!("failed to copy {}: {error}", source.display()));
        }
    }
}

/// Makes a folder, and its parents, that anybody may enter.
pub(crate) fn make_folder(path: &Path) {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(path)
        .unwrap_or_else(|error| panic!("failed to make the folder {}: {error}", path.display()));
}

/// Makes a FIFO that only its owner may use.
pub(crate) fn make_fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .unwrap_or_else(|error| panic!("failed to make the FIFO {}: {error}", path.display()));
}

/// Gives `path` and all below it to the user and group `uid`, following no link.
pub(crate) fn give(path: &Path, uid: u32) {
    lchown(path, Some(uid), Some(uid))
        .unwrap_or_else(|error| panic!("failed to give {} to {uid}: {error}", path.display()));
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        for name in names(path) {
            give(&path.join(name), uid);
        }
    }
}

/// The sorted names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("failed to list {}: {error}", folder.display()));
    let mut names: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder can be listed").file_name().into()).collect();
    names.sort();
    names
}

/// Removes whatever lies at `path`, if anything does: a link itself, never what it points to.
pub(crate) fn remove(path: &Path) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    let removed = if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.unwrap_or_else(|error| panic!("failed to remove {}: {error}", path.display()));
}

/// Whether anybody may enter `path` and all folders above it.
pub(crate) fn is_open_to_all(path: &Path) -> bool {
    path.ancestors()
        .filter(|ancestor| !ancestor.as_os_str().is_empty())
        .all(|ancestor| fs::metadata(ancestor).is_ok_and(|metadata| metadata.mode() & 0o001 != 0))
}
