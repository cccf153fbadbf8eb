//! Reads a file that a person named, whole: a declaration, a plan, a task, a configuration. What it says is not here.
//!
//! Whatever stands at the path, reading neither waits for anybody nor takes in more than a person could have written.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

/// The most bytes of one document: 4 MiB.
pub const MOST_BYTES: u64 = 4 << 20;

/// Why a document can't be read. Each text says what to do, and stands well after the file's name and a colon.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The system said no.
    #[error("{0}")]
    System(#[from] io::Error),
    /// No regular file, and no link to one.
    #[error("it is {0} and no regular file: write its content to a file, and name that")]
    NotAFile(&'static str),
    /// More than [`MOST_BYTES`].
    #[error(
        "it has more than 4 MiB, and no declaration, plan, task or configuration has: name the right file"
    )]
    TooLarge,
}

impl DocumentError {
    /// True where nothing stands at the path.
    pub fn is_absence(&self) -> bool {
        match self {
            Self::System(fault) => fault.kind() == io::ErrorKind::NotFound,
            Self::NotAFile(_) | Self::TooLarge => false,
        }
    }
}

/// The bytes of the regular file at `path`, through links, at most [`MOST_BYTES`] of them.
///
/// # Errors
/// [`DocumentError::NotAFile`] for a FIFO, a device, a socket or a folder, none of which is opened;
/// [`DocumentError::TooLarge`] past the limit; the system's otherwise.
pub fn read(path: &Path) -> Result<Vec<u8>, DocumentError> {
    refuse_others(&rustix::fs::stat(path).map_err(io::Error::from)?)?;
    // What became a FIFO or a device in between is opened without waiting, and seen by its descriptor.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?);
    let status = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    refuse_others(&status)?;
    if u64::try_from(status.st_size).unwrap_or_default() > MOST_BYTES {
        return Err(DocumentError::TooLarge);
    }
    read_stream(file)
}

/// The bytes of a stream up to its end, at most [`MOST_BYTES`] of them. Waits for whoever writes it.
///
/// # Errors
/// [`DocumentError::TooLarge`] past the limit; the system's otherwise.
pub fn read_stream(stream: impl io::Read) -> Result<Vec<u8>, DocumentError> {
    let mut bytes = Vec::new();
    stream.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES { Err(DocumentError::TooLarge) } else { Ok(bytes) }
}

fn refuse_others(status: &rustix::fs::Stat) -> Result<(), DocumentError> {
    let what = match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Fifo => "a FIFO or pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink | FileType::Unknown => "something unknown",
    };
    Err(DocumentError::NotAFile(what))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{DocumentError, MOST_BYTES, read, read_stream};

    #[test]
    fn a_regular_file_is_read_up_to_the_limit_and_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, vec![b'x'; MOST_BYTES as usize]).unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(read(&link).unwrap().len() as u64, MOST_BYTES);
        fs::write(&file, vec![b'x'; MOST_BYTES as usize + 1]).unwrap();
        assert!(matches!(read(&link), Err(DocumentError::TooLarge)));
        // One whose size says nothing.
        assert!(!read("/proc/self/status".as_ref()).unwrap().is_empty());
        assert!(read(&folder.path().join("absent")).unwrap_err().is_absence());
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        for path in [fifo.as_path(), "/dev/zero".as_ref(), folder.path()] {
            let fault = read(path).unwrap_err();
            assert!(matches!(fault, DocumentError::NotAFile(_)), "{}: {fault}", path.display());
            assert!(!fault.is_absence());
        }
    }

    #[test]
    fn an_endless_stream_is_given_up() {
        assert!(matches!(read_stream(std::io::repeat(0)), Err(DocumentError::TooLarge)));
    }
}
