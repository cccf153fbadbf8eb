//! What setup made in a room, beside the files of the tree it ran on. Deciding what it can be taken for is core's.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};
use std::time::Instant;

use nightgate_core::RepoPath;
use nightgate_core::evidence::StandIn;
use nightgate_core::stand_in::{Sources, is_dependency_folder};
use nightgate_core::tree::{EntryMode, Listing};
use rustix::fs::AtFlags;

use super::{RoomError, folders_of};
use crate::capture::has_cache_tag;
use crate::walk::{Fault, Folder, Kind, Limits, Stamp};

/// Products that can stand in for files, with the state in which setup on base left them.
#[derive(Debug, Default)]
pub struct StandIns(Vec<(StandIn, Stamp)>);

impl StandIns {
    /// Looks for them in a room in which setup has run on `base`, before anything of the candidate is there: a folder that
    /// the candidate marks as a cache hides nothing. `seen` is the room's place as setup saw it.
    ///
    /// # Errors
    /// Where what setup made can't be listed whole.
    pub fn find(room: &Path, seen: &Path, base: &Listing, sources: &Sources<'_>) -> Result<Self, RoomError> {
        let mut found = Vec::new();
        if sources.is_empty() {
            return Ok(Self(found));
        }
        let enters = |folder: &RepoPath| sources.are_below(folder);
        walk(room, base, &enters, &mut |product| {
            if let Some(source) = sources.stood_in_for(product.path, product.dependencies)
                && !product.leads_inside(seen).map_err(|fault| unlisted(Some(product.path), fault))?
            {
                let stand_in = StandIn { product: product.path.clone(), source: source.clone() };
                found.push((stand_in, product.stamp));
            }
            Ok(())
        })?;
        Ok(Self(found))
    }

    /// Those that are still as setup on base left them: no step that ran again on the candidate, and no file of the
    /// candidate, has taken their place.
    pub fn left_in(&self, room: &Path) -> Result<Vec<StandIn>, RoomError> {
        let root = super::open(room)?;
        let mut left = Vec::new();
        for (stand_in, stamp) in &self.0 {
            let path = &stand_in.product;
            let now = stamp_at(&root, path).map_err(|fault| unlisted(Some(path), fault))?;
            // Laying out the candidate may have taken away another name of the same file.
            if now.is_some_and(|now| now.is_unwritten_since(stamp)) {
                left.push(stand_in.clone());
            }
        }
        Ok(left)
    }
}

/// The state of what stands at `path`; `None` where nothing does.
fn stamp_at(root: &Folder, path: &RepoPath) -> Result<Option<Stamp>, Fault> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let absent = |fault| match fault {
        Fault::System(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        other => Err(other),
    };
    let status = match path.ancestors().last() {
        None => root.status(path.file_name()),
        Some(above) => root.descend(&above).and_then(|folder| folder.status(path.file_name())),
    };
    status.map(|status| Some(status.stamp)).or_else(absent)
}

/// Removes the byte code of Python that setup left outside of folders of dependencies. It is a cache, so nothing honest misses
/// it; beside a source that the candidate deleted it would be imported in its place, and some kinds of it are never compared
/// with their source.
///
/// # Errors
/// Where what setup made can't be listed whole, or byte code can't be removed.
pub fn remove_byte_code(room: &Path, tracked: &Listing) -> Result<(), RoomError> {
    let folders = folders_of(tracked.keys());
    walk(room, tracked, &|folder| folders.contains(folder), &mut |product| {
        let name = product.path.file_name();
        if !name.ends_with(b".pyc") && !name.ends_with(b".pyo") {
            return Ok(());
        }
        let removed = rustix::fs::unlinkat(product.folder, name, AtFlags::empty());
        removed.map_err(|errno| RoomError::Lay { path: product.path.clone(), fault: errno.into() })
    })
}

/// One file, link or special file that the tree doesn't have.
struct Product<'a> {
    folder: &'a Folder,
    path: &'a RepoPath,
    kind: Kind,
    stamp: Stamp,
    /// The outermost folder of dependencies, or the submodule, that holds it.
    dependencies: Option<&'a RepoPath>,
}

impl Product<'_> {
    /// True for a link to a place in the room: what it leads to is what lies there later, the candidate's own file or a
    /// product for itself.
    fn leads_inside(&self, room: &Path) -> Result<bool, Fault> {
        if self.kind != Kind::Symlink {
            return Ok(false);
        }
        let target = self.folder.link(self.path.file_name())?;
        let target = Path::new(OsStr::from_bytes(&target));
        let above = self.path.ancestors().count();
        Ok(match target.strip_prefix(room) {
            Ok(below) => stays_inside(0, below),
            Err(_) => stays_inside(above, target),
        })
    }
}

/// True where a relative path that begins `depth` folders below a root never leaves it.
fn stays_inside(depth: usize, path: &Path) -> bool {
    let step = |depth: usize, component| match component {
        Component::Normal(_) => Some(depth + 1),
        Component::CurDir => Some(depth),
        Component::ParentDir => depth.checked_sub(1),
        Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().try_fold(depth, step).is_some()
}

type Visit<'a> = &'a mut dyn FnMut(Product<'_>) -> Result<(), RoomError>;

/// Shows every product in the room, in no particular order. Of folders of dependencies and submodules only those are entered
/// that `enters` says, with all that is in them.
fn walk(
    room: &Path,
    tracked: &Listing,
    enters: &dyn Fn(&RepoPath) -> bool,
    visit: Visit<'_>,
) -> Result<(), RoomError> {
    let root = super::open(room)?;
    let limits = Limits::default();
    let deadline = Instant::now() + limits.time;
    let mut walker = Walker { tracked, enters, visit, limits, deadline, entries_left: limits.entries };
    walker.folder(&root, None, None, 0)
}

struct Walker<'a> {
    tracked: &'a Listing,
    enters: &'a dyn Fn(&RepoPath) -> bool,
    visit: Visit<'a>,
    limits: Limits,
    deadline: Instant,
    entries_left: u64,
}

impl Walker<'_> {
    fn folder(
        &mut self,
        folder: &Folder,
        at: Option<&RepoPath>,
        dependencies: Option<&RepoPath>,
        depth: usize,
    ) -> Result<(), RoomError> {
        let over = |what: &str| unlisted(at, Fault::OverBudget(what.to_owned()));
        if depth > self.limits.depth || Instant::now() > self.deadline {
            return Err(over("is too deep, or there is too much before it"));
        }
        let names = folder.names(self.entries_left).map_err(|fault| unlisted(at, fault))?;
        self.entries_left -= names.len() as u64;
        for name in names {
            let joined = match at {
                None => RepoPath::from_bytes(&name),
                Some(above) => above.join(&name),
            };
            let Ok(path) = joined else { continue };
            let status = folder.status(&name).map_err(|fault| unlisted(Some(&path), fault))?;
            let entry = self.tracked.get(&path);
            if status.kind != Kind::Folder {
                if entry.is_none() {
                    let (kind, stamp) = (status.kind, status.stamp);
                    (self.visit)(Product { folder, path: &path, kind, stamp, dependencies })?;
                }
                continue;
            }
            let inner = folder.folder(&name).map_err(|fault| unlisted(Some(&path), fault))?;
            let is_submodule = entry.is_some_and(|entry| entry.mode == EntryMode::Gitlink);
            let begins = dependencies.is_none() && (is_submodule || holds_dependencies(&inner, &name));
            if !begins {
                self.folder(&inner, Some(&path), dependencies, depth + 1)?;
            } else if (self.enters)(&path) {
                self.folder(&inner, Some(&path), Some(&path), depth + 1)?;
            }
        }
        Ok(())
    }
}

/// True for a folder that a package manager fills, by its name or by a mark in it: a cache, an environment of Python's.
fn holds_dependencies(folder: &Folder, name: &[u8]) -> bool {
    let is_environment = || folder.status(b"pyvenv.cfg").is_ok_and(|status| status.kind == Kind::File);
    is_dependency_folder(name) || has_cache_tag(folder) || is_environment()
}

fn unlisted(path: Option<&RepoPath>, fault: Fault) -> RoomError {
    let shown = path.map_or_else(|| "the room".to_owned(), RepoPath::to_string);
    RoomError::Unlisted { shown, fault }
}
