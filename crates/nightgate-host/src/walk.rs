//! Folders read raw, one component at a time, by file descriptor: nothing is followed, nothing is skipped silently.
//!
//! What the entries mean (members, caches, criteria) is not here.
//!
//! Each step opens one name relative to an open folder with `openat2(RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS |
//! NO_XDEV)`, or with `O_NOFOLLOW` and a comparison of devices where the kernel has no `openat2`. FIFOs, sockets and
//! devices are never opened: the type is taken from `lstat` first, and a file that became a FIFO in between can't block
//! because of `O_NONBLOCK`.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use nightgate_core::RepoPath;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::process::Cancel;

mod remove;
pub use remove::{RemoveError, remove_tree};

/// Gives the owner all rights on the folder at `path`, where they are missing. A link is not followed.
///
/// # Errors
/// The system's: also where nothing, or anything but a folder, stands there.
pub fn regain(path: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(path, flags, Mode::empty())?;
    if Status::from_stat(&rustix::fs::fstat(&descriptor)?).mode & 0o700 == 0o700 {
        return Ok(());
    }
    Ok(give_owner_all(&descriptor)?)
}

/// Gives the owner all rights on a folder that is open by path only.
fn give_owner_all(descriptor: &OwnedFd) -> Result<(), Errno> {
    let itself = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    rustix::fs::chmodat(rustix::fs::CWD, itself, Mode::RWXU, AtFlags::empty())
}

/// How much a walk allows itself. Beyond any of these, what was seen is kept and the rest is reported as not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Directory entries looked at.
    pub entries: u64,
    /// Folders inside folders.
    pub depth: usize,
    /// Bytes of one path; git itself can't check out longer ones than 4095.
    pub path_bytes: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Steps of comparing names with the patterns of `.gitignore` files.
    pub pattern_steps: u64,
    /// Wall time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 2_000_000,
            depth: 512,
            path_bytes: 4095,
            file_bytes: 4 << 30,
            total_bytes: 64 << 30,
            pattern_steps: 1 << 31,
            time: Duration::from_secs(600),
        }
    }
}

/// When reading ends, whatever is still to be read: at a time, or when a person interrupts.
#[derive(Clone, Copy, Debug)]
pub struct Until<'a> {
    deadline: Instant,
    cancel: Option<&'a Cancel>,
}

impl<'a> Until<'a> {
    /// This long from now, or until the flag is raised.
    pub fn after(time: Duration, cancel: Option<&'a Cancel>) -> Self {
        Self { deadline: Instant::now() + time, cancel }
    }

    /// Whether it may go on.
    ///
    /// # Errors
    /// [`Fault::Cancelled`] or [`Fault::OverBudget`].
    pub fn check(&self) -> Result<(), Fault> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(Fault::Cancelled);
        }
        if Instant::now() > self.deadline {
            return Err(Fault::OverBudget("could not be read within the time of the capture".to_owned()));
        }
        Ok(())
    }
}

/// Why something below a folder couldn't be read.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The system said no.
    #[error("could not be read: {0}")]
    System(#[from] io::Error),
    /// A mount, or another file system, stands there.
    #[error("is on another mount or device than the folder above it")]
    OtherDevice,
    /// It was not the same before and after it was read.
    #[error("changed while it was read")]
    Changed,
    /// More than the limits allow.
    #[error("{0}")]
    OverBudget(String),
    /// A person interrupted.
    #[error("was not read: it was interrupted")]
    Cancelled,
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::XDEV => Self::OtherDevice,
            other => Self::System(other.into()),
        }
    }
}

/// The type of an entry, by `lstat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device; the word says which.
    Special(&'static str),
}

/// What identifies one state of one file. Two equal stamps mean that nothing was written in between, as far as the
/// system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// When the file or what is known of it (names, rights) was last changed: seconds and nanoseconds since 1970. Unlike the
    /// time of the last modification, no program can set it.
    pub fn changed(&self) -> (i64, i64) {
        self.changed
    }

    /// True for two states of one file between which nothing wrote to it. Its names and rights may differ.
    pub fn is_unwritten_since(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}

/// An entry of a folder, by `lstat`.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// What it is.
    pub kind: Kind,
    /// Permission bits with setuid, setgid and sticky.
    pub mode: u32,
    /// Names of the same file.
    pub links: u64,
    /// Bytes.
    pub size: u64,
    /// Its state.
    pub stamp: Stamp,
}

impl Status {
    #[expect(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the widths and signs of these fields differ between architectures"
    )]
    fn from_stat(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode as _) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Symlink,
            FileType::Fifo => Kind::Special("FIFO"),
            FileType::Socket => Kind::Special("socket"),
            FileType::CharacterDevice => Kind::Special("character device"),
            FileType::BlockDevice => Kind::Special("block device"),
            FileType::Unknown => Kind::Special("file of unknown type"),
        };
        let stamp = Stamp {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (i64::from(stat.st_mtime), stat.st_mtime_nsec as i64),
            changed: (i64::from(stat.st_ctime), stat.st_ctime_nsec as i64),
        };
        Self {
            kind,
            mode: (stat.st_mode as u32) & 0o7777,
            links: stat.st_nlink as u64,
            size: stat.st_size as u64,
            stamp,
        }
    }

    /// True where the owner may execute it.
    pub fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    device: u64,
}

impl Folder {
    /// Opens the folder at which a walk starts. Links above it are followed, it itself must not be one. Where it is a
    /// mount of its own, that is the mount that the walk stays on.
    ///
    /// # Errors
    /// Where there is no such folder or it may not be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self::from_descriptor(rustix::fs::open(path, flags, Mode::empty())?)?)
    }

    fn from_descriptor(descriptor: OwnedFd) -> Result<Self, Errno> {
        let device = Status::from_stat(&rustix::fs::fstat(&descriptor)?).stamp.device;
        Ok(Self { descriptor, device })
    }

    /// The names in this folder in byte order, without `.` and `..`.
    ///
    /// # Errors
    /// [`Fault::OverBudget`] where there are more than `most`.
    pub fn names(&self, most: u64) -> Result<BTreeSet<Vec<u8>>, Fault> {
        self.list(most, None)
    }

    /// As [`Folder::names`], and only while `until` allows it.
    ///
    /// # Errors
    /// Also those of [`Until::check`].
    pub fn names_until(&self, most: u64, until: Until<'_>) -> Result<BTreeSet<Vec<u8>>, Fault> {
        self.list(most, Some(until))
    }

    fn list(&self, most: u64, until: Option<Until<'_>>) -> Result<BTreeSet<Vec<u8>>, Fault> {
        let mut names = BTreeSet::new();
        for entry in with_descriptors(|| Dir::read_from(&self.descriptor))? {
            if let Some(until) = &until {
                until.check()?;
            }
            let name = entry?.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() as u64 >= most {
                return Err(Fault::OverBudget("holds more entries than the capture may look at".to_owned()));
            }
            names.insert(name);
        }
        Ok(names)
    }

    /// What stands at `name`, not followed.
    ///
    /// # Errors
    /// The system's, also where nothing stands there.
    pub fn status(&self, name: &[u8]) -> Result<Status, Fault> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        Ok(Status::from_stat(&rustix::fs::statat(&self.descriptor, name, flags)?))
    }

    /// Opens the folder at `name`.
    ///
    /// # Errors
    /// [`Fault::OtherDevice`] for a mount; the system's for a link or anything else that isn't a readable folder.
    pub fn folder(&self, name: &[u8]) -> Result<Self, Fault> {
        let opened = self.open_beneath(name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let folder = Self::from_descriptor(opened)?;
        if folder.device != self.device {
            return Err(Fault::OtherDevice);
        }
        Ok(folder)
    }

    /// Opens the folder at `path`, one component after the other.
    ///
    /// # Errors
    /// As for [`Folder::folder`].
    pub fn descend(&self, path: &RepoPath) -> Result<Self, Fault> {
        let mut names = path.as_bytes().split(|&byte| byte == b'/');
        let first = self.folder(names.next().unwrap_or_default())?;
        names.try_fold(first, |folder, name| folder.folder(name))
    }

    /// Opens the regular file at `name` for reading.
    ///
    /// # Errors
    /// [`Fault::Changed`] where it is no regular file (any more); [`Fault::OtherDevice`] for a mount.
    pub fn file(&self, name: &[u8]) -> Result<OpenFile, Fault> {
        let opened = self.open_beneath(name, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let status = Status::from_stat(&rustix::fs::fstat(&opened)?);
        if status.kind != Kind::File {
            return Err(Fault::Changed);
        }
        if status.stamp.device != self.device {
            return Err(Fault::OtherDevice);
        }
        Ok(OpenFile { descriptor: opened, status })
    }

    /// The target of the link at `name`: its raw bytes.
    ///
    /// # Errors
    /// The system's, also where no link stands there.
    pub fn link(&self, name: &[u8]) -> Result<Vec<u8>, Fault> {
        Ok(rustix::fs::readlinkat(&self.descriptor, name, Vec::new())?.into_bytes())
    }

    fn open_beneath(&self, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        let opened =
            with_descriptors(|| rustix::fs::openat2(&self.descriptor, name, flags, Mode::empty(), resolve));
        match opened {
            // Before Linux 5.6, and under filters that don't know the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                with_descriptors(|| rustix::fs::openat(&self.descriptor, name, flags, Mode::empty()))
            }
            other => other,
        }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A regular file that was opened for reading.
#[derive(Debug)]
pub struct OpenFile {
    descriptor: OwnedFd,
    status: Status,
}

impl OpenFile {
    /// What it was when it was opened.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Reads the whole file in pieces. When this returns `Ok`, exactly `status().size` bytes were given, and neither
    /// size nor times of the file had changed when the last was read.
    ///
    /// # Errors
    /// [`Fault::Changed`] where they had; those of [`Until::check`] where it no longer allows it.
    pub fn read(&self, until: Until<'_>, mut take: impl FnMut(&[u8])) -> Result<(), Fault> {
        let mut buffer = vec![0; 128 * 1024];
        let mut total = 0;
        loop {
            let count = match rustix::io::read(&self.descriptor, &mut buffer) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            if count == 0 {
                break;
            }
            total += count as u64;
            if total > self.status.size {
                return Err(Fault::Changed);
            }
            take(&buffer[..count]);
            until.check()?;
        }
        let after = Status::from_stat(&rustix::fs::fstat(&self.descriptor)?);
        if total != self.status.size || after.stamp != self.status.stamp {
            return Err(Fault::Changed);
        }
        Ok(())
    }

    /// The open file, at its start.
    pub fn into_file(self) -> std::fs::File {
        self.descriptor.into()
    }

    /// Reads at most `most` bytes from the start; not checked for changes in between.
    ///
    /// # Errors
    /// The system's.
    pub fn head(&self, most: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = vec![0; most];
        let mut filled = 0;
        while filled < most {
            match rustix::io::pread(&self.descriptor, &mut bytes[filled..], filled as u64) {
                Err(Errno::INTR) => {}
                Ok(0) => break,
                other => filled += other?,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// Runs `open` once more with the soft limit of descriptors raised to the hard one where it failed for want of them: a
/// walk holds one descriptor for each level.
fn with_descriptors<T>(open: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    match open() {
        Err(Errno::MFILE) => {
            let limit = getrlimit(Resource::Nofile);
            if limit.current == limit.maximum {
                return Err(Errno::MFILE);
            }
            setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
            open()
        }
        Err(Errno::INTR) => open(),
        other => other,
    }
}
