//! Raw contents of many blobs from one git. What they are for is not here.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use nightgate_core::ObjectId;

use super::{Repository, RepositoryError};

/// Takes blobs one after the other, in pieces.
pub(crate) trait BlobSink {
    /// The blob at this place of the list begins; it will have `size` bytes.
    fn begin(&mut self, place: usize, size: u64) -> io::Result<()>;
    /// Its next bytes.
    fn piece(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// It is whole.
    fn end(&mut self) -> io::Result<()>;
}

impl Repository {
    /// Gives each of these blobs to `sink`, in this order, raw.
    pub(crate) fn blobs(&self, ids: &[&ObjectId], sink: &mut dyn BlobSink) -> Result<(), RepositoryError> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut parser = Parser { ids, place: 0, step: Step::Header(Vec::new()), sink, fault: None };
        let command = self.command("cat-file").args(["--batch", "--buffer"]).long();
        let ended = command.converse(&mut Lines::new(ids), &mut parser);
        match parser.fault {
            Some(Wrong::Missing(object)) => {
                Err(RepositoryError::Missing { object, in_repository: self.git_dir.clone() })
            }
            Some(Wrong::NoBlob(object)) => {
                Err(RepositoryError::Malformed { object, what: "it should be a blob and isn't".to_owned() })
            }
            None => {
                ended?;
                if parser.place < ids.len() {
                    let object = ids[parser.place].to_string();
                    return Err(RepositoryError::Missing { object, in_repository: self.git_dir.clone() });
                }
                Ok(())
            }
        }
    }

    /// Those of these objects that the repository lacks.
    pub(crate) fn missing(&self, ids: &[&ObjectId]) -> Result<HashSet<ObjectId>, RepositoryError> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let mut answer = Vec::new();
        let command = self.command("cat-file").args(["--batch-check=%(objectname)", "--buffer"]);
        command.converse(&mut Lines::new(ids), &mut answer)?;
        let lines: Vec<_> = answer.split(|&byte| byte == b'\n').collect();
        let found = |(place, id): &(usize, &&ObjectId)| lines.get(*place) == Some(&id.as_str().as_bytes());
        Ok(ids.iter().enumerate().filter(|pair| !found(pair)).map(|(_, id)| (*id).clone()).collect())
    }
}

/// Ids as lines.
struct Lines<'a> {
    ids: std::slice::Iter<'a, &'a ObjectId>,
}

impl<'a> Lines<'a> {
    fn new(ids: &'a [&'a ObjectId]) -> Self {
        Self { ids: ids.iter() }
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(id) = self.ids.as_slice().first() {
            let line = id.as_str().as_bytes();
            let end = filled + line.len();
            if end + 1 > buffer.len() {
                break;
            }
            buffer[filled..end].copy_from_slice(line);
            buffer[end] = b'\n';
            filled = end + 1;
            self.ids.next();
        }
        Ok(filled)
    }
}

enum Step {
    /// The bytes of the header line so far.
    Header(Vec<u8>),
    /// So many bytes of the content, and then a line end, are still to come.
    Content(u64),
    LineEnd,
}

enum Wrong {
    Missing(String),
    NoBlob(String),
}

/// Reads the answers of `cat-file --batch`: `id SP type SP size LF content LF`, or `id SP missing LF`.
struct Parser<'a> {
    ids: &'a [&'a ObjectId],
    place: usize,
    step: Step,
    sink: &'a mut dyn BlobSink,
    fault: Option<Wrong>,
}

impl Parser<'_> {
    fn header(&mut self, line: &[u8]) -> io::Result<Step> {
        let asked = self.ids.get(self.place).map(|id| id.as_str()).unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let words: Vec<_> = line.split(' ').collect();
        let size = match words[..] {
            [id, "blob", size] if id == asked => size.parse().map_err(io::Error::other)?,
            [_, "missing"] => {
                self.fault = Some(Wrong::Missing(asked.to_owned()));
                return Err(io::ErrorKind::NotFound.into());
            }
            _ => {
                self.fault = Some(Wrong::NoBlob(asked.to_owned()));
                return Err(io::ErrorKind::InvalidData.into());
            }
        };
        self.sink.begin(self.place, size)?;
        Ok(if size == 0 { Step::LineEnd } else { Step::Content(size) })
    }

    /// Takes some bytes of `bytes` and says how many.
    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.step {
            Step::Header(line) => {
                let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
                    line.extend_from_slice(bytes);
                    return Ok(bytes.len());
                };
                line.extend_from_slice(&bytes[..end]);
                let line = std::mem::take(line);
                self.step = self.header(&line)?;
                Ok(end + 1)
            }
            Step::Content(left) => {
                let count = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= count as u64;
                let is_whole = *left == 0;
                self.sink.piece(&bytes[..count])?;
                if is_whole {
                    self.step = Step::LineEnd;
                }
                Ok(count)
            }
            Step::LineEnd => {
                self.sink.end()?;
                self.place += 1;
                self.step = Step::Header(Vec::new());
                Ok(1)
            }
        }
    }
}

impl Write for Parser<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < bytes.len() {
            taken += self.take(&bytes[taken..])?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
