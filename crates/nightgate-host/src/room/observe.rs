//! Reads a room back, raw. Deciding what a difference means is not here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use nightgate_core::tree::{Entry, EntryMode, Listing, changes};
use nightgate_core::{RepoPath, TreeId};

use super::{folders_of, tree_of};
use crate::hash::ObjectFormat;
use crate::walk::{Fault, Folder, Kind, Limits, Stamp, Until};

/// The longest that [`settle`] waits: more than the coarsest unit in which a file system counts, a second.
const LONGEST_SETTLING: Duration = Duration::from_millis(1100);

/// What was found in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The tree that the tracked files make; absent where one couldn't be read.
    pub tree: Option<TreeId>,
    /// The tracked files that are there, as they are. One that is gone, or is no file any more, is not in it.
    pub listing: Listing,
    /// In which state each of them was found.
    pub stamps: BTreeMap<RepoPath, Stamp>,
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
            stamps: BTreeMap::new(),
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

/// Tracked files that hold the same in two observations of one room, and that somebody wrote to, replaced or gave another
/// name or other rights in between: their stamps differ. No program can set the time of a change of a file by itself, so
/// what was rewritten and restored is found; what was only read is not among them.
pub fn touched(before: &Observation, after: &Observation) -> Vec<RepoPath> {
    let same = |path: &&RepoPath| before.listing.get(*path) == after.listing.get(*path);
    let stamps = |path: &&RepoPath| before.stamps.get(*path) != after.stamps.get(*path);
    after.listing.keys().filter(same).filter(stamps).cloned().collect()
}

/// Waits until the clock of the system has gone on since the last change that `seen` knows of. A write that comes later has
/// another stamp then, however coarsely the file system counts. Returns at once where that time is over, and after a second
/// where the clock was set back.
pub fn settle(seen: &Observation) {
    let Some(newest) = seen.stamps.values().map(Stamp::changed).max() else { return };
    // A file system that counts in whole seconds writes no nanoseconds anywhere.
    let whole_seconds = seen.stamps.values().all(|stamp| stamp.changed().1 == 0);
    let deadline = Instant::now() + LONGEST_SETTLING;
    while !has_passed(newest, whole_seconds) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// True where files that change now get a later time than `moment`.
fn has_passed(moment: (i64, i64), whole_seconds: bool) -> bool {
    // The clock that file systems use.
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    if whole_seconds { now.tv_sec > moment.0 } else { (now.tv_sec, now.tv_nsec) > moment }
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
            let status = match folder.status(&name) {
                Ok(status) => status,
                Err(fault) => {
                    self.unread(Some(&path), &fault);
                    continue;
                }
            };
            let kind = status.kind;
            match (self.tracked.get(&path), kind) {
                (Some(entry), Kind::Folder) if entry.mode == EntryMode::Gitlink => {
                    self.seen.listing.insert(path, entry.clone());
                    self.untracked_folder(folder, &name, 0);
                }
                (Some(_), Kind::File | Kind::Symlink) => match self.entry(folder, &name, kind) {
                    // Of a file that changes while it is read, the older stamp counts.
                    Ok(entry) => {
                        self.seen.stamps.insert(path.clone(), status.stamp);
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
