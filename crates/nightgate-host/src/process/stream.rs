//! One output stream of the target, from its pipe to its log. When to read is not decided here.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::ended::Output;
use crate::log::{LogFiles, LogWriter};

/// A pipe that is being read.
#[derive(Debug)]
pub(super) struct Capture {
    /// Nothing once the stream has been read to its end.
    pub(super) pipe: Option<OwnedFd>,
    log: LogWriter,
    files: LogFiles,
    pub(super) bytes: u64,
    broken: Option<String>,
}

impl Capture {
    /// Begins the log; the pipe comes later.
    pub(super) fn create(files: LogFiles) -> io::Result<Self> {
        Ok(Self { pipe: None, log: files.create()?, files, bytes: 0, broken: None })
    }

    /// Reads what is there, at most one buffer, without waiting; says how much it was. A log that can't be written
    /// any more is marked, and reading goes on: the target must not be blocked by our disk.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> usize {
        let Some(pipe) = &self.pipe else { return 0 };
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                self.bytes += count as u64;
                if self.broken.is_none()
                    && let Err(error) = self.log.write(&buffer[..count])
                {
                    self.broken = Some(format!("write the log: {error}"));
                }
                return count;
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => {
                self.pipe = None;
                self.broken.get_or_insert_with(|| format!("read the pipe: {}", io::Error::from(error)));
            }
        }
        0
    }

    /// What came in all.
    pub(super) fn finish(self) -> Output {
        Output {
            bytes: self.bytes,
            truncated: self.log.truncated(),
            closed: self.pipe.is_none(),
            broken: self.broken,
            files: self.files,
        }
    }
}
