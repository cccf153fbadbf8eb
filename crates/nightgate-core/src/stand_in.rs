//! Which products of setup can stand in for files that the candidate changed or deleted. Listing products is the host's.
//!
//! Setup runs at base. What it builds of the project there (`foo.o` beside `foo.c`, `out/Foo.class`, `dist/foo.js`) may be
//! what a check finds in the place of a file that the candidate has changed or doesn't have any more.

use std::collections::BTreeMap;

use crate::RepoPath;
use crate::tree::{Change, EntryMode};

/// Folders that package managers fill, by name. What lies in them comes from elsewhere and is no product of the project.
const DEPENDENCY_FOLDERS: [&[u8]; 20] = [
    b".bundle",
    b".cargo",
    b".eggs",
    b".gradle",
    b".m2",
    b".npm",
    b".nox",
    b".pnpm-store",
    b".tox",
    b".venv",
    b".yarn",
    b"Pods",
    b"bower_components",
    b"deps",
    b"dist-packages",
    b"jspm_packages",
    b"node_modules",
    b"site-packages",
    b"vendor",
    b"venv",
];

/// True for the name of a folder that a package manager fills.
pub fn is_dependency_folder(name: &[u8]) -> bool {
    DEPENDENCY_FOLDERS.contains(&name)
}

/// The files of base that the candidate changed, retyped or deleted, by what their products are called.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    by_stem: BTreeMap<&'a [u8], Vec<&'a RepoPath>>,
}

impl<'a> Sources<'a> {
    /// Those among `changes`. A new file has no product of base, and a bare change of the executable bit makes none stale.
    pub fn of(changes: &'a [Change]) -> Self {
        let mut by_stem: BTreeMap<&[u8], Vec<&RepoPath>> = BTreeMap::new();
        for change in changes.iter().filter(|change| is_stale_at_base(change)) {
            by_stem.entry(stem(change.path.file_name())).or_default().push(&change.path);
        }
        Self { by_stem }
    }

    /// True where no product of base can be stale.
    pub fn is_empty(&self) -> bool {
        self.by_stem.is_empty()
    }

    /// True where one of them lies at or below `folder`.
    pub fn are_below(&self, folder: &RepoPath) -> bool {
        self.by_stem.values().flatten().any(|source| source.is_at_or_below(folder))
    }

    /// The file that `product` can stand in for: one with the same name up to the first dot, or the submodule that it lies
    /// in. `dependencies` is the outermost folder of dependencies, or the submodule, that holds the product; what lies there
    /// stands in for that and for files of it alone.
    pub fn stood_in_for(&self, product: &RepoPath, dependencies: Option<&RepoPath>) -> Option<&'a RepoPath> {
        let fits = |source: &&RepoPath| dependencies.is_none_or(|folder| source.is_at_or_below(folder));
        let named =
            |stem: &[u8]| self.by_stem.get(stem).into_iter().flatten().copied().find(|source| fits(source));
        let around = || {
            let folder = dependencies?;
            self.by_stem.get(stem(folder.file_name()))?.iter().copied().find(|source| *source == folder)
        };
        stems_of_product(product.file_name()).find_map(named).or_else(around)
    }
}

fn is_stale_at_base(change: &Change) -> bool {
    let is_file = |mode| match mode {
        EntryMode::File | EntryMode::Executable => true,
        EntryMode::Symlink | EntryMode::Gitlink => false,
    };
    match (&change.before, &change.after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(before), Some(after)) => {
            before.object != after.object || is_file(before.mode) != is_file(after.mode)
        }
    }
}

/// A name up to its first dot; dots that it begins with belong to it.
fn stem(name: &[u8]) -> &[u8] {
    let begin = name.iter().position(|&byte| byte != b'.').unwrap_or(name.len());
    let end = name[begin..].iter().position(|&byte| byte == b'.').map_or(name.len(), |at| begin + at);
    &name[..end]
}

/// The names that the source of a product of this name can have: `Foo$Inner.class` is of `Foo`, `FooKt.class` also.
fn stems_of_product(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = stem(name);
    let outer = whole.split(|&byte| byte == b'$').next().filter(|outer| !outer.is_empty());
    let is_class = name.ends_with(b".class");
    let outer = outer.filter(|_| is_class);
    let kotlin = outer.and_then(|outer| outer.strip_suffix(b"Kt"));
    [Some(whole), outer, kotlin].into_iter().flatten()
}

#[cfg(test)]
mod tests;
