//! Bounded logs of streams, on disk as they come: the head and the tail are kept. Reading a stream is not here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// How much of a stream is kept, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Kept from the beginning.
    pub head: u64,
    /// Kept from the end. On disk up to twice as much while the stream runs.
    pub tail: u64,
}

impl Default for Limits {
    /// 256 KiB of head and 1 MiB of tail.
    fn default() -> Self {
        Self { head: 256 << 10, tail: 1 << 20 }
    }
}

/// Where one stream's log lies: `NAME.head` and up to three `NAME.tail.OFFSET` in one folder. The offset of a tail
/// file is its place in the stream, so that the files alone say how much came and how much was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFiles {
    folder: PathBuf,
    name: String,
    limits: Limits,
}

/// What was kept of a stream, as one run of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Head, a line that says how many bytes were left out (only where some were), tail.
    pub bytes: Vec<u8>,
    /// How many bytes of the stream reached the disk, left out ones included.
    pub total: u64,
    /// Whether some were left out.
    pub truncated: bool,
}

impl LogFiles {
    /// Names a log; touches nothing.
    pub fn new(folder: impl Into<PathBuf>, name: impl Into<String>, limits: Limits) -> Self {
        Self { folder: folder.into(), name: name.into(), limits }
    }

    /// Begins the log.
    ///
    /// # Errors
    /// Where the head can't be made, also where it exists: two streams never share a log.
    pub fn create(&self) -> io::Result<LogWriter> {
        let head = create(&self.folder.join(format!("{}.head", self.name)))?;
        Ok(LogWriter { files: self.clone(), head, tail: None, previous: None, total: 0 })
    }

    /// Puts together what is on disk: of a finished log, of one that is being written, and of one whose writer was
    /// killed (all that it had written counts; nothing of it is buffered in memory).
    ///
    /// # Errors
    /// Where the log was never begun or can't be read.
    pub fn assemble(&self) -> io::Result<Assembled> {
        let mut bytes = Vec::new();
        let head = File::open(self.folder.join(format!("{}.head", self.name)))?;
        head.take(self.limits.head).read_to_end(&mut bytes)?;
        let (end, kept) = self.kept_tail()?;
        let head_end = bytes.len() as u64;
        let total = end.max(head_end);
        let wanted = self.limits.tail.min(total - head_end).min(kept.len() as u64);
        let left_out = total - head_end - wanted;
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[nightgate: {left_out} bytes left out]\n").as_bytes());
        }
        bytes.extend_from_slice(&kept[kept.len() - wanted as usize..]);
        Ok(Assembled { bytes, total, truncated: left_out > 0 })
    }

    /// The stream's end and the bytes before it that are on disk without a gap.
    fn kept_tail(&self) -> io::Result<(u64, Vec<u8>)> {
        let prefix = format!("{}.tail.", self.name);
        let mut parts: Vec<(u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            if let Some(offset) = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.parse().ok()) {
                parts.push((offset, self.folder.join(name)));
            }
        }
        parts.sort_unstable();
        let (mut end, mut kept) = (0_u64, Vec::new());
        for (offset, path) in parts {
            if offset != end {
                kept.clear();
            }
            let part = match File::open(path) {
                Ok(file) => file,
                // The writer is alive and has just rotated it away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            end = offset + part.take(self.limits.tail).read_to_end(&mut kept)? as u64;
        }
        Ok((end, kept))
    }
}

/// Writes a stream's log in constant memory. Each byte is with the kernel when [`LogWriter::write`] returns, so it
/// survives the death of this process, not that of the machine.
#[derive(Debug)]
pub struct LogWriter {
    files: LogFiles,
    head: File,
    tail: Option<Part>,
    previous: Option<PathBuf>,
    total: u64,
}

#[derive(Debug)]
struct Part {
    path: PathBuf,
    file: File,
    room: u64,
}

impl LogWriter {
    /// Appends bytes of any kind.
    ///
    /// # Errors
    /// Where the disk refuses. The log then ends before these bytes and must not be written any further.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.files.limits.head.saturating_sub(self.total);
        let (head, mut rest) = bytes.split_at(room.min(bytes.len() as u64) as usize);
        self.head.write_all(head)?;
        self.total += head.len() as u64;
        if self.files.limits.tail == 0 {
            self.total += rest.len() as u64;
            rest = &[];
        }
        while !rest.is_empty() {
            if self.tail.as_ref().is_none_or(|part| part.room == 0) {
                self.rotate()?;
            }
            let Some(part) = &mut self.tail else { break };
            let (now, later) = rest.split_at(part.room.min(rest.len() as u64) as usize);
            part.file.write_all(now)?;
            part.room -= now.len() as u64;
            self.total += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// How many bytes were taken so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether some of them are no longer kept.
    pub fn truncated(&self) -> bool {
        self.total > self.files.limits.head.saturating_add(self.files.limits.tail)
    }

    /// Begins the next tail file; the one before the last is deleted only once the new one exists.
    fn rotate(&mut self) -> io::Result<()> {
        let path = self.files.folder.join(format!("{}.tail.{:020}", self.files.name, self.total));
        let part = Part { file: create(&path)?, path, room: self.files.limits.tail };
        let full = self.tail.replace(part).map(|part| part.path);
        if let Some(oldest) = std::mem::replace(&mut self.previous, full) {
            fs::remove_file(oldest)?;
        }
        Ok(())
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests;
