//! Reads a room back, raw. Deciding what a difference means is not here.

use std::path::Path;

use nightgate_core::tree::{Entry, EntryMode, Listing, changes};
use nightgate_core::{RepoPath, TreeId};

use super::{folders_of, tree_of};
use crate::hash::ObjectFormat;
use crate::walk::{Fault, Folder, Kind, Limits, Until};

/// What was found in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The tree that the tracked files make; absent where one couldn't be read.
    pub tree: Option<TreeId>,
    /// The tracked files that are there, as they are. One that is gone, or is no file any more, is not in it.
    pub listing: Listing,
    /// Files, links and special files that the tree doesn't have. An approximation where a folder of them can't be read.
    pub untracked: u64,
    /// What couldn't be read of the tracked files, in words.
    pub problems: Vec<String>,
    /// Where those are: what is at or below these is not known. Empty beside problems where nothing at all is known.
    pub unread: Vec<RepoPath>,
}

/// Reads every file of `tracked` that stands in `room`, and counts the others. Never opens a special file, never follows a
/// link, never fails: what couldn't be read is in the answer.
pub fn observe(room: &Path, tracked: &Listing, format: ObjectFormat) -> Observation {
    let limits = Limits::default();
    let mut observer = Observer {
        tracked,
        folders: folders_of(tracked.keys()),
        format,
        limits,
        until: Until::after(limits.time, None),
        seen: Observation {
            tree: None,
            listing: Listing::new(),
            untracked: 0,
            problems: Vec::new(),
            unread: Vec::new(),
        },
    };
    match Folder::open(room) {
        Ok(root) => observer.folder(&root, None),
        Err(error) => observer.unread(None, &error.into()),
    }
    let mut seen = observer.seen;
    if seen.problems.is_empty() {
        seen.tree = Some(tree_of(format, &seen.listing));
    }
    seen
}

/// Tracked files that differ between two observations of one room. What one of them couldn't read is not among them: see
/// its problems.
pub fn drift(before: &Observation, after: &Observation) -> Vec<RepoPath> {
    let is_blind = |seen: &Observation| !seen.problems.is_empty() && seen.unread.is_empty();
    if is_blind(before) || is_blind(after) {
        return Vec::new();
    }
    let unread: Vec<_> = before.unread.iter().chain(&after.unread).collect();
    changes(&before.listing, &after.listing)
        .into_iter()
        .map(|change| change.path)
        .filter(|path| !unread.iter().any(|folder| path.is_at_or_below(folder)))
        .collect()
}

struct Observer<'a> {
    tracked: &'a Listing,
    folders: std::collections::BTreeSet<RepoPath>,
    format: ObjectFormat,
    limits: Limits,
    until: Until<'static>,
    seen: Observation,
}

impl Observer<'_> {
    /// Reads a folder that holds tracked files.
    fn folder(&mut self, folder: &Folder, at: Option<&RepoPath>) {
        let names = match folder.names(u64::MAX) {
            Ok(names) => names,
            Err(fault) => return self.unread(at, &fault),
        };
        for name in names {
            let joined = match at {
                None => RepoPath::from_bytes(&name),
                Some(above) => above.join(&name),
            };
            let Ok(path) = joined else { continue };
            let kind = match folder.status(&name) {
                Ok(status) => status.kind,
                Err(fault) => {
                    self.unread(Some(&path), &fault);
                    continue;
                }
            };
            match (self.tracked.get(&path), kind) {
                (Some(entry), Kind::Folder) if entry.mode == EntryMode::Gitlink => {
                    self.seen.listing.insert(path, entry.clone());
                    self.untracked_folder(folder, &name, 0);
                }
                (Some(_), Kind::File | Kind::Symlink) => match self.entry(folder, &name, kind) {
                    Ok(entry) => {
                        self.seen.listing.insert(path, entry);
                    }
                    Err(fault) => self.unread(Some(&path), &fault),
                },
                (None, Kind::Folder) if self.folders.contains(&path) => match folder.folder(&name) {
                    Ok(inner) => self.folder(&inner, Some(&path)),
                    Err(fault) => self.unread(Some(&path), &fault),
                },
                (_, Kind::Folder) => self.untracked_folder(folder, &name, 0),
                (Some(_), Kind::Special(_)) => {}
                (None, _) => self.seen.untracked += 1,
            }
        }
    }

    fn entry(&self, folder: &Folder, name: &[u8], kind: Kind) -> Result<Entry, Fault> {
        if kind == Kind::Symlink {
            let target = folder.link(name)?;
            return Ok(Entry { mode: EntryMode::Symlink, object: self.format.blob_id(&target) });
        }
        let file = folder.file(name)?;
        let size = file.status().size;
        if size > self.limits.file_bytes {
            return Err(Fault::OverBudget(format!("has {size} bytes, more than {}", self.limits.file_bytes)));
        }
        let mut hasher = self.format.blob(size);
        file.read(self.until, |bytes| hasher.update(bytes))?;
        let mode = if file.status().is_executable() { EntryMode::Executable } else { EntryMode::File };
        Ok(Entry { mode, object: hasher.finish() })
    }

    /// Counts what is in a folder without opening files. One that can't be read, or is too deep, counts as one.
    fn untracked_folder(&mut self, parent: &Folder, name: &[u8], depth: usize) {
        let opened = if depth < self.limits.depth && self.until.check().is_ok() {
            parent
                .folder(name)
                .and_then(|folder| folder.names(self.limits.entries).map(|names| (folder, names)))
        } else {
            Err(Fault::Changed)
        };
        let Ok((folder, names)) = opened else {
            self.seen.untracked += 1;
            return;
        };
        for name in names {
            match folder.status(&name).map(|status| status.kind) {
                Ok(Kind::Folder) => self.untracked_folder(&folder, &name, depth + 1),
                _ => self.seen.untracked += 1,
            }
        }
    }

    fn unread(&mut self, path: Option<&RepoPath>, fault: &Fault) {
        let shown = path.map_or_else(|| "the room".to_owned(), RepoPath::to_string);
        self.seen.problems.push(format!("{shown}: {fault}"));
        self.seen.unread.extend(path.cloned());
    }
}
