//! One reading of a folder: what would be in a candidate, what would not, and what couldn't be read. Making the candidate
//! is not here.
//!
//! A reading goes through the folder twice: first what stands at, below and above the criteria, so that no flood of other
//! files can use up the budget before them, then the rest.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use nightgate_core::evidence::{CaptureProblem, CaptureProblemKind, CriteriaKind, LeftOut, Note};
use nightgate_core::tree::{Entry, EntryMode, Listing};
use nightgate_core::{Digest, RepoPath};
use sha2::{Digest as _, Sha256};

use super::sniff::Sniff;
use crate::hash::ObjectFormat;
use crate::ignored::{
    CACHE_TAG, Effort, Exhausted, MOST_PATTERN_BYTES, MOST_PATTERNS, PATTERN_FILE, Rules, is_cache_name,
};
use crate::process::Cancel;
use crate::walk::{Fault, Folder, Kind, Limits, Status, Until};

/// The most problems and notes that are told one by one.
const MOST_TOLD: usize = 200;

/// What readings of one folder have in common.
pub(super) struct Scope<'a> {
    base: &'a Listing,
    /// Folders that hold anything at base.
    tracked_folders: HashSet<RepoPath>,
    criteria: &'a [RepoPath],
    format: ObjectFormat,
    limits: Limits,
    cancel: Option<&'a Cancel>,
    sniffs: bool,
}

/// How a path lies to the criteria paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtOrBelow,
    Above,
    Apart,
}

/// Which half of a reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Criteria,
    Rest,
}

/// Whether new files of a folder are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    All,
    /// Only what base has; others are counted as ignored.
    NotIgnored,
    /// Only what base has; others are counted as caches.
    NotCached,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        base: &'a Listing,
        criteria: &'a [RepoPath],
        format: ObjectFormat,
        limits: Limits,
        cancel: Option<&'a Cancel>,
        sniffs: bool,
    ) -> Self {
        let tracked_folders = base.keys().flat_map(RepoPath::ancestors).collect();
        Self { base, tracked_folders, criteria, format, limits, cancel, sniffs }
    }

    fn relation(&self, path: &RepoPath) -> Relation {
        if self.criteria.iter().any(|criteria| path.is_at_or_below(criteria)) {
            Relation::AtOrBelow
        } else if self.criteria.iter().any(|criteria| criteria.is_at_or_below(path)) {
            Relation::Above
        } else {
            Relation::Apart
        }
    }
}

/// One file, link or submodule of the candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) entry: Entry,
    /// SHA-256 of the content, for files and links that have to do with criteria.
    pub(super) digest: Option<Digest>,
    /// Only where it was asked for.
    pub(super) sniff: Sniff,
}

/// What one reading found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reading {
    pub(super) members: BTreeMap<RepoPath, Member>,
    /// What stands where criteria are, or lead to, and can't be a member.
    pub(super) others: BTreeMap<RepoPath, CriteriaKind>,
    pub(super) problems: Vec<CaptureProblem>,
    pub(super) notes: Vec<Note>,
    pub(super) ignored: LeftOut,
    pub(super) caches: LeftOut,
    /// Folders with a repository of their own.
    pub(super) nested: BTreeSet<RepoPath>,
    /// Files that couldn't be read, and folders below which anything may be.
    pub(super) unknown: Vec<RepoPath>,
    /// True where the reading ended before its end.
    pub(super) cut: bool,
    /// True where folders were passed over because they hold too much.
    pub(super) flooded: bool,
    untold: u64,
}

impl Reading {
    /// Reads everything below `root`.
    pub(super) fn take(root: &Folder, scope: &Scope<'_>) -> Self {
        let mut reader = Reader {
            scope,
            reading: Self::default(),
            entries_left: scope.limits.entries,
            bytes_left: scope.limits.total_bytes,
            effort: Effort::new(scope.limits.pattern_steps),
            until: Until::after(scope.limits.time, scope.cancel),
        };
        let whole = Place { path: None, rules: Rules::default(), keep: Keep::All, depth: 0 };
        if !scope.criteria.is_empty() {
            reader.folder(root, &whole, Pass::Criteria);
        }
        reader.folder(root, &whole, Pass::Rest);
        let mut reading = reader.reading;
        reading.ignored.sample.sort();
        reading.caches.sample.sort();
        if reading.untold > 0 {
            let text = format!("and {} more of these", reading.untold);
            reading.problems.push(CaptureProblem { kind: CaptureProblemKind::OverBudget, path: None, text });
        }
        reading
    }
}

/// A folder that is being read.
struct Place {
    /// `None` for the root.
    path: Option<RepoPath>,
    rules: Rules,
    keep: Keep,
    depth: usize,
}

impl Place {
    fn is_root(&self) -> bool {
        self.path.is_none()
    }

    fn bytes(&self) -> &[u8] {
        self.path.as_ref().map(RepoPath::as_bytes).unwrap_or_default()
    }
}

/// One entry of a folder.
struct Found<'a> {
    folder: &'a Folder,
    name: &'a [u8],
    path: RepoPath,
    status: Status,
    relation: Relation,
    pass: Pass,
}

struct Reader<'a> {
    scope: &'a Scope<'a>,
    reading: Reading,
    entries_left: u64,
    bytes_left: u64,
    effort: Effort,
    until: Until<'a>,
}

impl Reader<'_> {
    fn folder(&mut self, folder: &Folder, place: &Place, pass: Pass) {
        let names = match folder.names_until(self.entries_left, self.until) {
            Ok(names) => names,
            Err(fault) => {
                self.reading.cut |= place.is_root();
                self.reading.flooded |= matches!(fault, Fault::OverBudget(_));
                return self.unreadable(place.path.as_ref(), &fault);
            }
        };
        self.entries_left -= names.len() as u64;
        let ruled;
        let place = if place.keep == Keep::All && names.contains(PATTERN_FILE) {
            ruled = Place { rules: self.rules(folder, place), path: place.path.clone(), ..*place };
            &ruled
        } else {
            place
        };
        for name in &names {
            if self.is_over() {
                return;
            }
            if place.is_root() && name == b".git" {
                continue;
            }
            let joined = match &place.path {
                None => RepoPath::from_bytes(name),
                Some(above) => above.join(name),
            };
            let Ok(path) = joined else { continue };
            let relation = self.scope.relation(&path);
            if (pass == Pass::Criteria) == (relation == Relation::Apart) && relation != Relation::Above {
                continue;
            }
            match folder.status(name) {
                Ok(status) => self.entry(place, Found { folder, name, path, status, relation, pass }),
                Err(fault) => self.unreadable(Some(&path), &fault),
            }
        }
    }

    fn is_over(&mut self) -> bool {
        if !self.reading.cut {
            match self.until.check() {
                Ok(()) => {}
                // Whoever raised the flag gets no capture at all.
                Err(Fault::Cancelled) => self.reading.cut = true,
                Err(_) => {
                    let seconds = self.scope.limits.time.as_secs();
                    self.cut(format!("the files could not be read within {seconds} s"));
                }
            }
        }
        self.reading.cut
    }

    /// Ends the reading: what wasn't seen yet is not known.
    fn cut(&mut self, why: String) {
        self.reading.cut = true;
        self.problem(CaptureProblemKind::OverBudget, None, why);
    }

    /// The rules in force in a folder that has a `.gitignore` file.
    fn rules(&mut self, folder: &Folder, place: &Place) -> Rules {
        let read = || -> Result<Option<Vec<u8>>, Fault> {
            // Git doesn't follow links here either.
            if folder.status(PATTERN_FILE)?.kind != Kind::File {
                return Ok(None);
            }
            let file = folder.file(PATTERN_FILE)?;
            let size = file.status().size;
            if size > MOST_PATTERN_BYTES {
                return Err(Fault::OverBudget(format!(
                    "has more than {MOST_PATTERN_BYTES} bytes of patterns"
                )));
            }
            file.head(size as usize).map(Some)
        };
        let too_many =
            || Fault::OverBudget(format!("would bring more than {MOST_PATTERNS} patterns into force"));
        let ruled = read().and_then(|content| match content {
            Some(content) => place.rules.with_file(place.bytes(), &content).ok_or_else(too_many),
            None => Ok(place.rules.clone()),
        });
        match ruled {
            Ok(rules) => rules,
            Err(fault) => {
                let path = match &place.path {
                    None => RepoPath::from_bytes(PATTERN_FILE),
                    Some(above) => above.join(PATTERN_FILE),
                };
                self.unreadable(path.ok().as_ref(), &fault);
                place.rules.clone()
            }
        }
    }

    fn entry(&mut self, place: &Place, found: Found<'_>) {
        if found.status.kind == Kind::Folder {
            return self.subfolder(place, found);
        }
        // A file above criteria was seen with them.
        if found.relation == Relation::Above && found.pass == Pass::Rest {
            return;
        }
        if found.name == b".git" {
            return self.nested(&found.path);
        }
        let is_file = found.status.kind == Kind::File;
        // What took the place of a folder of base counts like what base has.
        let is_tracked =
            self.scope.base.contains_key(&found.path) || self.scope.tracked_folders.contains(&found.path);
        if !is_tracked && self.is_left_out(place, &found, is_file, false) {
            return;
        }
        if !self.is_representable(&found) {
            return;
        }
        match found.status.kind {
            Kind::File => self.file(&found),
            Kind::Symlink => self.link(&found),
            Kind::Special(word) => {
                if found.relation != Relation::Apart {
                    self.reading.others.insert(found.path.clone(), CriteriaKind::Special);
                }
                self.note("special_file", &found.path, format!("a {word}, which no commit can hold"));
            }
            Kind::Folder => {}
        }
    }

    /// Whether something that base doesn't have stays out; counts it if so.
    fn is_left_out(&mut self, place: &Place, found: &Found<'_>, is_file: bool, is_tagged: bool) -> bool {
        let is_folder = found.status.kind == Kind::Folder;
        let left_out = match place.keep {
            Keep::NotIgnored => &mut self.reading.ignored,
            Keep::NotCached => &mut self.reading.caches,
            Keep::All if is_tagged || is_cache_name(found.name, is_file) => &mut self.reading.caches,
            Keep::All => match self.is_ignored(place, &found.path, is_folder) {
                Ok(true) => &mut self.reading.ignored,
                Ok(false) => return false,
                Err(Exhausted) => return true,
            },
        };
        // A folder above criteria is met twice.
        if !(is_folder && found.relation == Relation::Above && found.pass == Pass::Criteria) {
            left_out.add(found.path.clone());
        }
        true
    }

    /// Whether the rules keep a path out. Where that would take too many steps, the reading ends.
    fn is_ignored(&mut self, place: &Place, path: &RepoPath, is_folder: bool) -> Result<bool, Exhausted> {
        let answer = place.rules.ignore(path.as_bytes(), is_folder, &mut self.effort);
        if answer == Err(Exhausted) {
            self.cut(format!(
                "whether {path} is ignored could not be found out: the patterns take too many steps"
            ));
        }
        answer
    }

    fn is_representable(&mut self, found: &Found<'_>) -> bool {
        let text = if found.name.eq_ignore_ascii_case(b".git") {
            "git never holds a name that is `.git` in other letters".to_owned()
        } else if found.path.as_bytes().len() > self.scope.limits.path_bytes {
            format!("its path has more than {} bytes", self.scope.limits.path_bytes)
        } else {
            return true;
        };
        self.unknown(&found.path);
        self.problem(CaptureProblemKind::Unrepresentable, Some(&found.path), text);
        false
    }

    fn nested(&mut self, path: &RepoPath) {
        let text =
            "a repository of its own; the files around it are taken as ordinary files, its commits are not";
        self.note("nested_git", path, text.to_owned());
        self.reading.nested.extend(path.ancestors().last());
    }

    fn subfolder(&mut self, place: &Place, found: Found<'_>) {
        if found.name == b".git" {
            if found.pass == Pass::Rest || found.relation == Relation::AtOrBelow {
                self.nested(&found.path);
            }
            return;
        }
        let at_base = self.scope.base.get(&found.path).map(|entry| entry.mode);
        let is_gitlink = at_base == Some(EntryMode::Gitlink);
        let is_tracked = is_gitlink || self.scope.tracked_folders.contains(&found.path);
        let opened = found.folder.folder(found.name);
        let is_tagged = opened.as_ref().is_ok_and(has_cache_tag);
        let mut keep = place.keep;
        if !is_tracked {
            if self.is_left_out(place, &found, false, is_tagged) {
                return;
            }
        } else if keep == Keep::All {
            if is_tagged || is_cache_name(found.name, false) {
                keep = Keep::NotCached;
            } else if !is_gitlink {
                match self.is_ignored(place, &found.path, true) {
                    Ok(true) => keep = Keep::NotIgnored,
                    Ok(false) => {}
                    Err(Exhausted) => return,
                }
            }
        }
        if !self.is_representable(&found) {
            return;
        }
        let folder = match opened {
            Ok(folder) => folder,
            Err(fault) => return self.unreadable(Some(&found.path), &fault),
        };
        if place.depth + 1 > self.scope.limits.depth {
            let text = format!("it lies more than {} folders deep", self.scope.limits.depth);
            self.unknown(&found.path);
            return self.problem(CaptureProblemKind::Unrepresentable, Some(&found.path), text);
        }
        if at_base.is_some() && !is_gitlink && found.relation != Relation::Apart {
            self.reading.others.insert(found.path.clone(), CriteriaKind::Folder);
        }
        let inner = Place {
            path: Some(found.path.clone()),
            rules: place.rules.clone(),
            keep,
            depth: place.depth + 1,
        };
        if is_gitlink {
            self.submodule(&folder, &inner, &found);
        } else {
            self.folder(&folder, &inner, found.pass);
        }
    }

    /// A folder at which base names a commit of another repository. It stays that while nothing but another repository,
    /// or nothing at all, stands there; ordinary files in it take its place.
    fn submodule(&mut self, folder: &Folder, inner: &Place, found: &Found<'_>) {
        if folder.status(b".git").is_ok() {
            let text = "a submodule with a repository; the commit that base names is kept, whatever it holds";
            self.note("nested_git", &found.path, text.to_owned());
        } else {
            self.folder(folder, inner, found.pass);
            let is_below = |path: &RepoPath| path.is_at_or_below(&found.path);
            if self.reading.members.keys().any(is_below) || self.reading.unknown.iter().any(is_below) {
                return;
            }
        }
        // One above criteria is read twice, and what is decided must be decided by the whole.
        if found.relation == Relation::Above && found.pass == Pass::Criteria {
            return;
        }
        if let Some(entry) = self.scope.base.get(&found.path) {
            let member = Member { entry: entry.clone(), digest: None, sniff: Sniff::default() };
            self.reading.members.insert(found.path.clone(), member);
        }
    }

    fn file(&mut self, found: &Found<'_>) {
        match self.read_file(found) {
            Ok(member) => {
                if found.relation == Relation::AtOrBelow && found.status.links > 1 {
                    let text = format!("has {} names; another one may lie outside", found.status.links);
                    self.note("hard_links", &found.path, text);
                }
                if found.status.mode & 0o7000 != 0 {
                    let text = format!(
                        "has mode {:04o}; commits and clean rooms don't keep that",
                        found.status.mode
                    );
                    self.note("special_mode", &found.path, text);
                }
                self.reading.members.insert(found.path.clone(), member);
            }
            Err(fault) => {
                self.unreadable(Some(&found.path), &fault);
                // Its content isn't known, but that it is no folder any more is.
                if found.relation != Relation::Apart && self.scope.tracked_folders.contains(&found.path) {
                    self.reading.others.insert(found.path.clone(), CriteriaKind::File);
                }
            }
        }
    }

    fn read_file(&mut self, found: &Found<'_>) -> Result<Member, Fault> {
        let limits = &self.scope.limits;
        if found.status.size > limits.file_bytes {
            return Err(Fault::OverBudget(format!(
                "has {} bytes, more than {}",
                found.status.size, limits.file_bytes
            )));
        }
        let file = found.folder.file(found.name)?;
        let size = file.status().size;
        if size > self.bytes_left || size > limits.file_bytes {
            let text = format!("has {size} bytes, and {} may be read of all files", limits.total_bytes);
            return Err(Fault::OverBudget(text));
        }
        self.bytes_left -= size;
        let mut id = self.scope.format.blob(size);
        let mut digest = (found.relation != Relation::Apart).then(Sha256::new);
        let mut sniff = Sniff::default();
        file.read(self.until, |bytes| {
            id.update(bytes);
            if let Some(digest) = &mut digest {
                digest.update(bytes);
            }
            if self.scope.sniffs {
                sniff.update(bytes);
            }
        })?;
        let mode = if file.status().is_executable() { EntryMode::Executable } else { EntryMode::File };
        let digest = digest.map(|digest| Digest::from_raw(digest.finalize().into()));
        Ok(Member { entry: Entry { mode, object: id.finish() }, digest, sniff })
    }

    fn link(&mut self, found: &Found<'_>) {
        match found.folder.link(found.name) {
            Ok(target) => {
                let entry = Entry { mode: EntryMode::Symlink, object: self.scope.format.blob_id(&target) };
                let digest = (found.relation != Relation::Apart).then(|| Digest::of(&target));
                let member = Member { entry, digest, sniff: Sniff::default() };
                self.reading.members.insert(found.path.clone(), member);
            }
            Err(fault) => self.unreadable(Some(&found.path), &fault),
        }
    }

    /// Notes that something couldn't be read: a problem, and unknown for the candidate.
    fn unreadable(&mut self, path: Option<&RepoPath>, fault: &Fault) {
        let kind = match fault {
            Fault::System(_) => CaptureProblemKind::Unreadable,
            Fault::OtherDevice => CaptureProblemKind::OtherDevice,
            Fault::Changed => CaptureProblemKind::Unstable,
            Fault::OverBudget(_) => CaptureProblemKind::OverBudget,
            Fault::Cancelled => {
                self.reading.cut = true;
                return;
            }
        };
        if let Some(path) = path {
            self.unknown(path);
        }
        self.problem(kind, path, fault.to_string());
    }

    fn unknown(&mut self, path: &RepoPath) {
        self.reading.unknown.push(path.clone());
        if self.scope.relation(path) != Relation::Apart {
            self.reading.others.insert(path.clone(), CriteriaKind::Unreadable);
        }
    }

    fn problem(&mut self, kind: CaptureProblemKind, path: Option<&RepoPath>, what: String) {
        let text = match path {
            Some(path) => format!("{path}: {what}"),
            None => what,
        };
        let problem = CaptureProblem { kind, path: path.cloned(), text };
        if self.reading.problems.contains(&problem) {
            return;
        }
        if self.reading.problems.len() < MOST_TOLD {
            self.reading.problems.push(problem);
        } else {
            self.reading.untold += 1;
        }
    }

    fn note(&mut self, code: &str, path: &RepoPath, text: String) {
        let note = Note { code: code.to_owned(), path: Some(path.clone()), text };
        if self.reading.notes.len() < MOST_TOLD && !self.reading.notes.contains(&note) {
            self.reading.notes.push(note);
        }
    }
}

/// True for a folder that calls itself a cache.
pub(crate) fn has_cache_tag(folder: &Folder) -> bool {
    let (name, signature) = CACHE_TAG;
    let read = || -> Result<bool, Fault> {
        Ok(folder.status(name)?.kind == Kind::File && folder.file(name)?.head(signature.len())? == signature)
    };
    read().unwrap_or(false)
}
