//! Lock files: whether the process that works on something is still alive. Leases in the store are not here.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

/// An exclusive lock on a file. The kernel gives it up when the last holder of the open file is gone, however it ended;
/// so a lock that can be taken proves that its old holder is dead. The file itself stays.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock of `path`, which is made where it doesn't exist (0600). `None` where another process holds it.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(open(path, flags, Mode::RUSR | Mode::WUSR)?);
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// True while some process holds the lock of `path`. Makes nothing; a missing file is held by nobody.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FileLock;

    #[test]
    fn a_lock_is_held_until_its_holder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!FileLock::is_held(&path).unwrap());
        let lock = FileLock::try_take(&path).unwrap().unwrap();
        assert!(FileLock::is_held(&path).unwrap());
        assert!(FileLock::try_take(&path).unwrap().is_none());
        drop(lock);
        assert!(!FileLock::is_held(&path).unwrap());
        assert!(FileLock::try_take(&path).unwrap().is_some());
    }
}
