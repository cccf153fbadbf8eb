//! Which files of a user's working tree git would convert, so that they don't show what a commit would hold.
//!
//! Follows gitattributes(5), "Effects": `filter`, `ident`, `working-tree-encoding`, `text` and `eol`. A file whose bytes
//! are base's blob, or what a commit would hold anyway, is no problem.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;

use nightgate_core::RepoPath;
use nightgate_core::evidence::{CaptureProblem, CaptureProblemKind};
use nightgate_core::tree::{Change, Entry, EntryMode};

use super::index::{Index, Tracked};
use super::reading::Reading;
use super::sniff::Sniff;
use super::{WorkingTree, doubt};
use crate::git::{GitError, UserSettings};
use crate::repository::RepositoryError;

const ATTRIBUTES: [&str; 6] = ["text", "crlf", "eol", "filter", "ident", "working-tree-encoding"];

/// What of the repository's own configuration matters here. A value that is set there beats the user's.
#[derive(Default)]
pub(super) struct Configuration {
    autocrlf: bool,
    attributes_file: Option<OsString>,
    /// The file with the user's own patterns of ignored files.
    pub(super) excludes_file: Option<OsString>,
    file_mode_is_noise: bool,
    links_are_files: bool,
}

/// The problems of those files that git would convert, and of those that this working tree can't show as git holds them.
pub(super) fn converted(
    tree: &WorkingTree<'_>,
    configuration: &Configuration,
    index: &Index,
    changes: &[Change],
    reading: &Reading,
) -> Result<Vec<CaptureProblem>, RepositoryError> {
    let mut problems = Vec::new();
    let problem = |path: &RepoPath, why: &str| doubt(CaptureProblemKind::Converted, path, why);
    for (path, member) in &reading.members {
        if let Some(why) = configuration.distorts(&member.entry, index.tracked(path)) {
            problems.push(problem(path, why));
        }
    }
    // Something that couldn't be read has a problem of its own.
    let is_there =
        |path: &RepoPath| reading.cut || reading.members.contains_key(path) || reading.unknown.contains(path);
    for path in index.unwatched().filter(|path| !is_there(path)) {
        problems.push(problem(
            path,
            "it is not there, and git is told not to look (a sparse checkout does that)",
        ));
    }
    let is_file = |change: &&Change| {
        change
            .after
            .as_ref()
            .is_some_and(|after| matches!(after.mode, EntryMode::File | EntryMode::Executable))
    };
    let new_content = |change: &&Change| {
        let id = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.object.clone());
        id(&change.before) != id(&change.after)
    };
    let files: Vec<_> =
        changes.iter().filter(is_file).filter(new_content).map(|change| &change.path).collect();
    for (path, attributes) in ask(tree, configuration, &files)? {
        let sniff = reading.members.get(&path).map(|member| member.sniff).unwrap_or_default();
        if let Some(why) = conversion(&attributes, sniff, configuration.autocrlf) {
            problems.push(problem(&path, &why));
        }
    }
    Ok(problems)
}

impl Configuration {
    pub(super) fn read(tree: &WorkingTree<'_>, settings: &UserSettings) -> Result<Self, RepositoryError> {
        let pattern = "^core\\.(autocrlf|filemode|symlinks)$";
        let repository = tree.repository;
        let output =
            repository.command("config").args(["-z", "--includes", "--get-regexp", pattern]).run()?;
        let mut values = BTreeMap::new();
        // `key LF value NUL`; a key without a value has no LF and means true.
        for record in output.stdout.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
            let (key, value) = match record.iter().position(|&byte| byte == b'\n') {
                Some(end) => (&record[..end], &record[end + 1..]),
                None => (record, b"true".as_slice()),
            };
            values.insert(key.to_vec(), OsString::from_vec(value.to_vec()));
        }
        let value = |key: &str| values.get(key.as_bytes()).cloned();
        let is = |key: &str, wanted: bool| value(key).is_some_and(|value| as_bool(&value) == Some(wanted));
        let place = |key: &str| -> Result<Option<OsString>, GitError> {
            let command = repository.command("config").variable("HOME", settings.home.as_deref());
            let output = command.args(["-z", "--includes", "--type=path", "--get", key]).run()?;
            let value = output.stdout.strip_suffix(b"\0").filter(|_| output.code == 0);
            Ok(value.map(|value| OsString::from_vec(value.to_vec())))
        };
        let autocrlf = value("core.autocrlf").or_else(|| settings.autocrlf.clone());
        Ok(Self {
            autocrlf: autocrlf.is_some_and(|value| as_bool(&value) != Some(false)),
            attributes_file: place("core.attributesFile")?.or_else(|| settings.attributes_file.clone()),
            excludes_file: place("core.excludesFile")?.or_else(|| settings.excludes_file.clone()),
            file_mode_is_noise: is("core.filemode", false),
            links_are_files: is("core.symlinks", false),
        })
    }

    /// Why a commit would hold something else than the file that lies here, whatever is in it.
    fn distorts(&self, found: &Entry, tracked: Option<&Tracked>) -> Option<&'static str> {
        if tracked.is_some_and(|tracked| tracked.is_unwatched && tracked.entry != *found) {
            return Some("git is told to take it as unchanged (`assume-unchanged` or `skip-worktree`)");
        }
        let is_file = |mode: EntryMode| matches!(mode, EntryMode::File | EntryMode::Executable);
        if !is_file(found.mode) {
            return None;
        }
        let held = tracked.map(|tracked| tracked.entry.mode);
        if self.links_are_files && held == Some(EntryMode::Symlink) {
            return Some("it is a file in place of a link, and `core.symlinks` is off");
        }
        // Git then takes the bit from its index, and for a new file there is none.
        let would_hold = held.filter(|mode| is_file(*mode)).unwrap_or(EntryMode::File);
        (self.file_mode_is_noise && found.mode != would_hold)
            .then_some("its executable bit is not the one that git holds, and `core.fileMode` is off")
    }
}

/// git-config(1), "Values", boolean. `None` for anything else, like `input`.
fn as_bool(value: &OsStr) -> Option<bool> {
    match value.to_string_lossy().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "" => Some(false),
        _ => None,
    }
}

type Attributes = BTreeMap<&'static str, Vec<u8>>;

/// The attributes of these files in the working tree.
fn ask(
    tree: &WorkingTree<'_>,
    configuration: &Configuration,
    files: &[&RepoPath],
) -> Result<BTreeMap<RepoPath, Attributes>, RepositoryError> {
    if files.is_empty() {
        return Ok(BTreeMap::new());
    }
    let file = configuration.attributes_file.as_deref();
    let settings: Vec<_> = file.map(|file| ("core.attributesFile", file)).into_iter().collect();
    let input = files.iter().flat_map(|path| [path.as_bytes(), b"\0"]).collect::<Vec<_>>().concat();
    let mut answer = Vec::new();
    let command = tree.command(&settings, "check-attr").args(["-z", "--stdin"]).args(ATTRIBUTES);
    command.converse(&mut &input[..], &mut answer)?;
    let mut found: BTreeMap<RepoPath, Attributes> = BTreeMap::new();
    let fields: Vec<_> = answer.split(|&byte| byte == 0).collect();
    for field in fields.chunks_exact(3) {
        let path = RepoPath::from_bytes(field[0]).ok();
        let name = ATTRIBUTES.into_iter().find(|name| name.as_bytes() == field[1]);
        let (Some(path), Some(name)) = (path, name) else {
            let what = "a path or an attribute that wasn't asked for".to_owned();
            return Err(GitError::Answer { doing: "git check-attr".to_owned(), what }.into());
        };
        found.entry(path).or_default().insert(name, field[2].to_vec());
    }
    match files.iter().find(|path| !found.contains_key(**path)) {
        None => Ok(found),
        Some(path) => {
            let what = format!("nothing about {path}");
            Err(GitError::Answer { doing: "git check-attr".to_owned(), what }.into())
        }
    }
}

/// Why a commit of this file would hold other bytes, if it would.
fn conversion(attributes: &Attributes, sniff: Sniff, autocrlf: bool) -> Option<String> {
    let value = |name| attributes.get(name).map(Vec::as_slice).unwrap_or(b"unspecified");
    let is_off = |value: &[u8]| matches!(value, b"unspecified" | b"unset");
    let shown = |name| String::from_utf8_lossy(value(name)).into_owned();
    if !is_off(value("filter")) {
        return Some(format!("git runs the filter `{}` on it", shown("filter")));
    }
    let encoding = value("working-tree-encoding");
    if !is_off(encoding) && !encoding.eq_ignore_ascii_case(b"utf-8") {
        return Some(format!("git converts it from {}", shown("working-tree-encoding")));
    }
    if value("ident") == b"set" {
        return Some("git rewrites `$Id$` in it".to_owned());
    }
    // `crlf` is the old name of `text`.
    let text = if value("text") == b"unspecified" { value("crlf") } else { value("text") };
    let converts = match text {
        b"unset" => false,
        b"auto" => !sniff.nul,
        b"unspecified" if is_off(value("eol")) => autocrlf && !sniff.nul,
        _ => true,
    };
    (converts && sniff.crlf).then(|| "git converts its line ends".to_owned())
}

#[cfg(test)]
mod tests;
