//! What a git tree lists and how two trees differ. Reading or writing trees is not here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ObjectId, RepoPath};

/// The mode of a tree entry, written as git writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EntryMode {
    /// A file that its owner may not execute.
    #[serde(rename = "100644")]
    File,
    /// A file that its owner may execute.
    #[serde(rename = "100755")]
    Executable,
    /// A symbolic link; its blob is the link's target.
    #[serde(rename = "120000")]
    Symlink,
    /// A submodule; its object is a commit of another repository.
    #[serde(rename = "160000")]
    Gitlink,
}

impl EntryMode {
    /// The mode as git prints it: six octal digits.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Gitlink => "160000",
        }
    }

    /// Reads a mode as git prints it. The historical `100664` is a file; a tree (`040000`) is no entry of a listing.
    pub fn parse(text: &[u8]) -> Option<Self> {
        match text {
            b"100644" | b"100664" => Some(Self::File),
            b"100755" => Some(Self::Executable),
            b"120000" => Some(Self::Symlink),
            b"160000" => Some(Self::Gitlink),
            _ => None,
        }
    }
}

/// One entry of a recursive listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// Type and executable bit.
    pub mode: EntryMode,
    /// The blob, or the submodule's commit.
    pub object: ObjectId,
}

/// A recursive listing of a tree: files, links and submodules by path; folders are implied.
pub type Listing = BTreeMap<RepoPath, Entry>;

/// A path whose entry differs between base and candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// Where.
    pub path: RepoPath,
    /// The entry at base; absent where the path is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Entry>,
    /// The entry in the candidate; absent where the path was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Entry>,
}

/// Every path whose entry differs, in path order. A rename is a deletion and an addition.
pub fn changes(base: &Listing, candidate: &Listing) -> Vec<Change> {
    let gone_or_changed = base.iter().filter_map(|(path, before)| {
        let after = candidate.get(path);
        (after != Some(before)).then(|| Change {
            path: path.clone(),
            before: Some(before.clone()),
            after: after.cloned(),
        })
    });
    let added = candidate.iter().filter(|(path, _)| !base.contains_key(*path)).map(|(path, after)| Change {
        path: path.clone(),
        before: None,
        after: Some(after.clone()),
    });
    let mut all: Vec<_> = gone_or_changed.chain(added).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}
