//! What of a user's repository must stay byte for byte the same, and how two such states differ. Objects and the refs
//! below `refs/nightgate/` are not here: they are where Nightgate may write.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::tree;

/// Paths of a git directory below which Nightgate may write.
const FREE: [&str; 3] = ["objects", "refs/nightgate", "logs/refs/nightgate"];

/// The state of a repository: each file of the working tree and of `.git` (HEAD, refs, packed refs, index,
/// configuration, hooks, reflogs, and whatever else lies there), and what `git status` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    entries: BTreeMap<PathBuf, Entry>,
    status: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Folder { mode: u32 },
    File { mode: u32, bytes: Vec<u8> },
    Link { aim: PathBuf },
    Special { mode: u32 },
}

impl Snapshot {
    /// Reads the repository whose working tree is `folder`, and whose git directory is `git_dir` below it (nothing:
    /// `folder` itself, which is bare); `status` is what git says about it.
    pub(crate) fn take(folder: &Path, git_dir: &Path, status: String) -> Self {
        let mut entries = BTreeMap::new();
        read(folder, git_dir, Path::new(""), &mut entries);
        Self { entries, status }
    }

    /// What is different in `later`, one line each; empty where nothing is.
    pub fn differences(&self, later: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for (path, before) in &self.entries {
            let path_text = path.display();
            match later.entries.get(path) {
                Some(after) if after == before => {}
                Some(after) => lines.push(format!("{path_text}: {}", change(before, after))),
                None => lines.push(format!("{path_text}: gone")),
            }
        }
        let added = later.entries.keys().filter(|path| !self.entries.contains_key(*path));
        lines.extend(added.map(|path| format!("{}: new", path.display())));
        if self.status != later.status {
            lines.push(format!("git status: was `{}`, is `{}`", self.status, later.status));
        }
        lines
    }

    /// Panics with the list of differences unless `later` is the same.
    #[track_caller]
    pub fn assert_same(&self, later: &Self) {
        let differences = self.differences(later);
        assert!(differences.is_empty(), "the user's repository has changed:\n{}", differences.join("\n"));
    }
}

fn read(root: &Path, git_dir: &Path, relative: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    for name in tree::names(&root.join(relative)) {
        let relative = relative.join(name);
        if FREE.iter().any(|free| relative == git_dir.join(free)) {
            continue;
        }
        let path = root.join(&relative);
        let metadata = fs::symlink_metadata(&path).expect("an entry that was listed can be read");
        let mode = metadata.mode();
        let entry = if metadata.is_dir() {
            read(root, git_dir, &relative, entries);
            Entry::Folder { mode }
        } else if metadata.is_symlink() {
            Entry::Link { aim: fs::read_link(&path).expect("a link can be read") }
        } else if metadata.is_file() {
            let bytes = fs::read(&path).expect("a file of the repository can be read");
            let packed = relative == git_dir.join("packed-refs");
            Entry::File { mode, bytes: if packed { without_own_refs(&bytes) } else { bytes } }
        } else {
            Entry::Special { mode }
        };
        entries.insert(relative, entry);
    }
}

/// Packed refs without the lines of `refs/nightgate/`.
fn without_own_refs(bytes: &[u8]) -> Vec<u8> {
    let own = b" refs/nightgate/";
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !line.windows(own.len()).any(|window| window == own))
        .flatten()
        .copied()
        .collect()
}

fn change(before: &Entry, after: &Entry) -> String {
    match (before, after) {
        (Entry::File { mode: m, bytes: b }, Entry::File { mode, bytes }) if m == mode => {
            let short = |bytes: &[u8]| {
                (bytes.len() <= 200)
                    .then(|| std::str::from_utf8(bytes).ok())
                    .flatten()
                    .map(|text| format!("{text:?}"))
            };
            match (short(b), short(bytes)) {
                (Some(old), Some(new)) => format!("was {old}, is {new}"),
                _ => {
                    let same = b.iter().zip(bytes).take_while(|(old, new)| old == new).count();
                    format!("was {} bytes, is {}, and differs from byte {same} on", b.len(), bytes.len())
                }
            }
        }
        _ => format!("was {}, is {}", kind(before), kind(after)),
    }
}

fn kind(entry: &Entry) -> String {
    match entry {
        Entry::Folder { mode } => format!("a folder of mode {mode:o}"),
        Entry::File { mode, bytes } => format!("a file of mode {mode:o} and {} bytes", bytes.len()),
        Entry::Link { aim } => format!("a link to {}", aim.display()),
        Entry::Special { mode } => format!("a special file of mode {mode:o}"),
    }
}
