//! Repositories inside a user's working tree: which commit of them a commit would name. Read as plain files; git is never
//! run in one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nightgate_core::evidence::{CaptureProblem, CaptureProblemKind};
use nightgate_core::tree::{Entry, EntryMode, Listing};
use nightgate_core::{ObjectId, RepoPath};

use super::doubt;
use super::index::Index;
use super::reading::Reading;
use crate::walk::{Folder, Kind};

/// The most bytes of a file of a repository that are read.
const MOST_BYTES: usize = 4 << 20;

/// The problems of folders at which a commit would name another commit than the capture does, or where that can't be
/// known.
pub(super) fn moved(
    root: &Folder,
    top: &Path,
    base: &Listing,
    index: &Index,
    reading: &Reading,
) -> Vec<CaptureProblem> {
    let at_base = base.iter().filter(|(_, entry)| entry.mode == EntryMode::Gitlink).map(|(path, _)| path);
    // A repository among tracked files is nothing to git.
    let nested = reading.nested.iter().filter(|path| !index.holds_any_below(path));
    let places: BTreeSet<&RepoPath> = at_base.chain(index.submodules()).chain(nested).collect();
    let problem = |path: &RepoPath| {
        // Where no folder is, its absence or another type is a change like any other.
        let folder = root.descend(path).ok()?;
        let head = || head(&folder, &top.join(OsStr::from_bytes(path.as_bytes())));
        let is_populated = folder.status(b".git").is_ok();
        Some(doubt(CaptureProblemKind::Submodule, path, &why(path, is_populated.then(head), index, reading)?))
    };
    places.into_iter().filter_map(problem).collect()
}

/// Why another commit than the captured one would be named; `head` is where the repository that lies here is, if one does and
/// if that is known.
fn why(path: &RepoPath, head: Option<Option<ObjectId>>, index: &Index, reading: &Reading) -> Option<String> {
    let submodule = |entry: &Entry| (entry.mode == EntryMode::Gitlink).then(|| entry.object.clone());
    let captured = reading.members.get(path).and_then(|member| submodule(&member.entry));
    let tracked = index.tracked(path).and_then(|tracked| submodule(&tracked.entry));
    let shown = |id: &Option<ObjectId>| id.as_ref().map_or("files".to_owned(), |id| format!("commit {id}"));
    match head {
        Some(None) => Some("a repository of its own, and at which commit it is can't be read".to_owned()),
        Some(head) if head == captured => None,
        Some(head) => {
            Some(format!("a repository of its own at {}, captured as {}", shown(&head), shown(&captured)))
        }
        None if tracked == captured => None,
        None => Some(format!(
            "a submodule that is not checked out; the index holds {}, captured as {}",
            shown(&tracked),
            shown(&captured)
        )),
    }
}

/// The commit at which the repository in `folder` is; `None` where that can't be read in the plain ways.
fn head(folder: &Folder, place: &Path) -> Option<ObjectId> {
    let git_dir = match folder.status(b".git").ok()?.kind {
        Kind::Folder => folder.folder(b".git").ok()?,
        Kind::File => {
            let content = content(folder, b".git")?;
            let aim = content.strip_prefix(b"gitdir: ")?.trim_ascii_end();
            Folder::open(&place.join(OsStr::from_bytes(aim))).ok()?
        }
        Kind::Symlink | Kind::Special(_) => return None,
    };
    let head = content(&git_dir, b"HEAD")?;
    let Some(name) = head.strip_prefix(b"ref: ") else { return id(&head) };
    let name = RepoPath::from_bytes(name.trim_ascii_end()).ok()?;
    // A linked working tree has its branches elsewhere.
    if git_dir.status(b"commondir").is_ok() {
        return None;
    }
    let loose = name.ancestors().last().and_then(|above| git_dir.descend(&above).ok());
    if let Some(loose) = loose.and_then(|above| content(&above, name.file_name())) {
        return id(&loose);
    }
    let packed = content(&git_dir, b"packed-refs")?;
    let line = packed.split(|&byte| byte == b'\n').find_map(|line| {
        let (id, of) = line.split_at_checked(line.iter().position(|&byte| byte == b' ')?)?;
        (of[1..] == *name.as_bytes()).then_some(id)
    });
    id(line?)
}

/// A regular file's first bytes.
fn content(folder: &Folder, name: &[u8]) -> Option<Vec<u8>> {
    let size = folder.status(name).ok().filter(|status| status.kind == Kind::File)?.size;
    folder.file(name).ok()?.head(usize::try_from(size).ok()?.min(MOST_BYTES)).ok()
}

fn id(text: &[u8]) -> Option<ObjectId> {
    std::str::from_utf8(text.trim_ascii_end()).ok()?.parse().ok()
}
