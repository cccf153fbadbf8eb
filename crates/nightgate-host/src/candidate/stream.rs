//! One commit as a stream for `git fast-import` (git-fast-import(1)). Running it is not here.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, Read};

use nightgate_core::tree::{Entry, EntryMode};
use nightgate_core::{ObjectId, RepoPath};

use super::{NewCommit, Signature};
use crate::hash::{ObjectFormat, ObjectHasher};
use crate::repository::c_quoted;
use crate::walk::{Fault, Folder};

enum Part<'a> {
    /// A blob that must be written.
    Blob { path: &'a RepoPath, entry: &'a Entry },
    /// The commit and everything after it.
    Rest(Vec<u8>),
}

/// The stream; contents are read from the folder only when git wants them, and compared with their ids.
pub(super) struct Stream<'a> {
    root: &'a Folder,
    format: ObjectFormat,
    parts: VecDeque<Part<'a>>,
    ready: VecDeque<u8>,
    content: Option<Content<'a>>,
    changed: Option<RepoPath>,
}

/// A file that is being given.
struct Content<'a> {
    path: &'a RepoPath,
    expected: &'a ObjectId,
    file: File,
    left: u64,
    hasher: ObjectHasher,
}

impl<'a> Stream<'a> {
    pub(super) fn new(new: &NewCommit<'a>, reference: &str, format: ObjectFormat) -> Self {
        let mut known: HashSet<_> = new.base_listing.values().map(|entry| &entry.object).collect();
        let mut parts = VecDeque::new();
        for change in new.changes {
            let Some(entry) = change.after.as_ref().filter(|entry| entry.mode != EntryMode::Gitlink) else {
                continue;
            };
            if known.insert(&entry.object) {
                parts.push_back(Part::Blob { path: &change.path, entry });
            }
        }
        parts.push_back(Part::Rest(commit(new, reference)));
        Self { root: new.root, format, parts, ready: VecDeque::new(), content: None, changed: None }
    }

    /// The file that made this end early because it was not what the capture had read.
    pub(super) fn changed(&self) -> Option<RepoPath> {
        self.changed.clone()
    }

    fn fail(&mut self, path: &RepoPath) -> io::Error {
        self.changed = Some(path.clone());
        io::Error::other(format!("{path} changed after it was read"))
    }

    /// Makes the next part ready; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        match self.parts.pop_front() {
            None => return Ok(false),
            Some(Part::Rest(bytes)) => self.ready.extend(bytes),
            Some(Part::Blob { path, entry }) => match self.open(path, entry) {
                Ok(()) => {}
                Err(_) => return Err(self.fail(path)),
            },
        }
        Ok(true)
    }

    fn open(&mut self, path: &'a RepoPath, entry: &'a Entry) -> Result<(), Fault> {
        let opened;
        let (parent, name) = match path.ancestors().last() {
            None => (self.root, path.as_bytes()),
            Some(folder) => {
                opened = self.root.descend(&folder)?;
                (&opened, path.file_name())
            }
        };
        if entry.mode == EntryMode::Symlink {
            let target = parent.link(name)?;
            if self.format.blob_id(&target) != entry.object {
                return Err(Fault::Changed);
            }
            self.ready.extend(format!("blob\ndata {}\n", target.len()).bytes());
            self.ready.extend(target);
            self.ready.push_back(b'\n');
            return Ok(());
        }
        let file = parent.file(name)?;
        let size = file.status().size;
        self.ready.extend(format!("blob\ndata {size}\n").bytes());
        let hasher = self.format.blob(size);
        self.content =
            Some(Content { path, expected: &entry.object, file: file.into_file(), left: size, hasher });
        Ok(())
    }

    /// Gives the next bytes of the file that is being given.
    fn give(&mut self, mut content: Content<'a>, buffer: &mut [u8]) -> io::Result<usize> {
        if content.left == 0 {
            self.ready.push_back(b'\n');
            return match content.hasher.finish() == *content.expected {
                true => Ok(0),
                false => Err(self.fail(content.path)),
            };
        }
        let most = buffer.len().min(usize::try_from(content.left).unwrap_or(usize::MAX));
        let count = match content.file.read(&mut buffer[..most]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(_) | Ok(0) => return Err(self.fail(content.path)),
            Ok(count) => count,
        };
        content.hasher.update(&buffer[..count]);
        content.left -= count as u64;
        self.content = Some(content);
        Ok(count)
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.ready.is_empty() {
                return self.ready.read(buffer);
            }
            if let Some(content) = self.content.take() {
                let count = self.give(content, buffer)?;
                if count > 0 {
                    return Ok(count);
                }
            } else if !self.advance()? {
                return Ok(0);
            }
        }
    }
}

/// The commit with its changes, and the question for its id.
fn commit(new: &NewCommit<'_>, reference: &str) -> Vec<u8> {
    let committer =
        Signature { name: "Nightgate".to_owned(), email: "nightgate@localhost".to_owned(), ..*new.author };
    let mut text = format!("commit {reference}\nmark :1\n").into_bytes();
    for (role, signature) in [("author", new.author), ("committer", &committer)] {
        let (name, email, time) = (plain(&signature.name), plain(&signature.email), signature.time.max(0));
        text.extend(format!("{role} {name} <{email}> {time} +0000\n").bytes());
    }
    text.extend(format!("data {}\n{}\nfrom {}\n", new.message.len(), new.message, new.base).bytes());
    // All deletions first: a new file may stand where a folder was, and the other way round.
    for change in new.changes.iter().filter(|change| change.before.is_some()) {
        text.extend(b"D ");
        text.extend(c_quoted(change.path.as_bytes()));
        text.push(b'\n');
    }
    for change in new.changes {
        let Some(after) = &change.after else { continue };
        text.extend(format!("M {} {} ", after.mode.as_str(), after.object).bytes());
        text.extend(c_quoted(change.path.as_bytes()));
        text.push(b'\n');
    }
    text.extend(b"\nget-mark :1\ndone\n");
    text
}

/// A name or an address without what would end it.
fn plain(text: &str) -> String {
    let kept: String =
        text.chars().filter(|character| !character.is_control() && !"<>".contains(*character)).collect();
    match kept.trim() {
        "" => "agent".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}
