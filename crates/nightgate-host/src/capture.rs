//! What an attempt left, as facts: the files decide, read raw. What the facts mean is decided in `nightgate-core`.
//!
//! No git runs in the captured folder, and nothing of its repository is consulted, with two exceptions: the refs are
//! looked at as files for a note, and a user's own working tree is asked of which paths a commit would hold something
//! else than their bytes.

mod conversion;
mod elsewhere;
mod index;
mod links;
mod reading;
mod sniff;
mod submodule;
mod unreached;

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use nightgate_core::evidence::{Capture, CaptureProblem, CaptureProblemKind, CaptureSource, CriteriaEntry};
use nightgate_core::tree::{Change, EntryMode, Listing, changes};
use nightgate_core::{CommitId, Digest, RepoPath};

use crate::candidate::{CommitFault, JobRepository, NewCommit, Signature};
use crate::git::{Invocation, UserSettings};
use crate::hash::tree_id;
use crate::process::Cancel;
use crate::repository::{Repository, RepositoryError, UserRepository};
use crate::walk::{self, Folder, Limits};

pub(crate) use reading::has_cache_tag;
use reading::{Reading, Scope};

/// How often a folder is read at most until two readings agree.
const MOST_READINGS: usize = 3;

/// How often a candidate is tried at most, each time without the files that changed meanwhile.
const MOST_COMMITS: usize = 5;

/// What is to be captured.
#[derive(Debug)]
pub struct CaptureRequest<'a> {
    /// The root of the files; its own `.git` is left out.
    pub root: &'a Path,
    /// Whose files these are.
    pub source: FileSource<'a>,
    /// The commit that the candidate is compared with and built on.
    pub base: &'a CommitId,
    /// Everything in base's tree.
    pub base_listing: &'a Listing,
    /// The criteria paths of the plan.
    pub criteria: &'a [RepoPath],
    /// How much is read.
    pub limits: Limits,
    /// Ends the capture within an entry or a block, when a person interrupts.
    pub cancel: Option<&'a Cancel>,
    /// Where the candidate goes. It must be able to read base.
    pub job: &'a JobRepository,
    /// The candidate's author and time.
    pub author: &'a Signature,
    /// The candidate's message.
    pub message: &'a str,
}

/// Whose files are captured.
#[derive(Debug)]
pub enum FileSource<'a> {
    /// A workspace of ours, after the last process of the attempt was gone.
    Workspace,
    /// The user's own working tree. Git is asked there what a commit would hold; nothing is written, not even the index.
    Worktree {
        /// The repository of the tree.
        user: &'a UserRepository,
        /// The user's own configuration.
        settings: &'a UserSettings,
    },
}

/// Why there is no capture at all. Whatever concerns single files is a problem within a capture.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The user's working tree isn't there or can't be read.
    #[error("capture {}: {source}", root.display())]
    Root {
        /// Which.
        root: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A person interrupted. Capturing again is safe.
    #[error("capture the files: it was interrupted")]
    Cancelled,
    /// Our own repository, or git.
    #[error("capture into the job's repository: {0}")]
    Repository(#[from] RepositoryError),
}

/// Captures the files below a folder: reads everything twice, makes the candidate commit and reads it back.
///
/// What couldn't be read is among the problems and, where base has it, stays in the candidate as base has it, so that
/// ignorance never looks like a deletion; all else is captured. When this returns, the candidate is on the disk, at
/// `refs/captures/<id>` of the job's repository.
///
/// A workspace that is no folder any more, or can't be opened, gives a capture without a candidate; one whose owner only lost
/// their rights on it is opened again first, as no commit holds the mode of its root.
///
/// # Errors
/// Where a user's working tree can't be opened, git fails or a person interrupts; nothing is lost then, and capturing again is safe.
pub fn capture(request: &CaptureRequest<'_>) -> Result<Capture, CaptureError> {
    let opened = match request.source {
        FileSource::Workspace => walk::regain(request.root).and_then(|()| Folder::open(request.root)),
        FileSource::Worktree { .. } => Folder::open(request.root),
    };
    let root = match (opened, &request.source) {
        (Ok(root), _) => root,
        (Err(source), FileSource::Workspace) => return Ok(without_root(request, &source)),
        (Err(source), FileSource::Worktree { .. }) => {
            return Err(CaptureError::Root { root: request.root.to_owned(), source });
        }
    };
    let is_worktree = matches!(request.source, FileSource::Worktree { .. });
    let scope = Scope::new(
        request.base_listing,
        request.criteria,
        request.job.repository().object_format(),
        request.limits,
        request.cancel,
        is_worktree,
    );
    let mut reading = steady(|| Reading::take(&root, &scope));
    if request.cancel.is_some_and(Cancel::is_cancelled) {
        return Err(CaptureError::Cancelled);
    }
    let mut lost = HashSet::new();
    let (candidate, listing, changes) = make_candidate(request, &root, &mut reading, &mut lost)?;
    let mut capture = Capture {
        source: if is_worktree { CaptureSource::Worktree } else { CaptureSource::Workspace },
        base: request.base.clone(),
        candidate: candidate.clone(),
        tree: candidate.as_ref().map(|_| tree_id(request.job.repository().object_format(), &listing)),
        changes,
        criteria: observation(&reading, &listing, request),
        outside_links: Vec::new(),
        problems: Vec::new(),
        ignored: std::mem::take(&mut reading.ignored),
        caches: std::mem::take(&mut reading.caches),
        notes: std::mem::take(&mut reading.notes),
        survivors: None,
    };
    if let Some(candidate) = &candidate {
        reading.problems.extend(request.job.read_back(candidate, request.base, &listing)?);
        capture.outside_links = links::outside(request.job.repository(), request.base_listing, &listing)?;
    }
    match request.source {
        FileSource::Workspace if capture.changes.is_empty() => {
            capture.notes.extend(unreached::commits(&root, request.base));
        }
        FileSource::Workspace => {}
        FileSource::Worktree { user, settings } => {
            let doubts = doubts(user, settings, request.base_listing, &root, &capture.changes, &reading)?;
            reading.problems.extend(doubts);
        }
    }
    capture.problems = reading.problems;
    Ok(capture)
}

/// The capture of a workspace of which there is nothing to read.
fn without_root(request: &CaptureRequest<'_>, fault: &std::io::Error) -> Capture {
    let text = match request.root.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "the workspace was removed: there is nothing to capture".to_owned()
        }
        Ok(status) if status.is_symlink() => {
            "a symbolic link stands in the place of the workspace: what it leads to is not captured"
                .to_owned()
        }
        Ok(status) if !status.is_dir() => {
            "what stands in the place of the workspace is no folder: there is nothing to capture".to_owned()
        }
        Ok(_) | Err(_) => format!("the workspace can't be read: {fault}"),
    };
    Capture {
        source: CaptureSource::Workspace,
        base: request.base.clone(),
        candidate: None,
        tree: None,
        changes: Vec::new(),
        criteria: Vec::new(),
        outside_links: Vec::new(),
        problems: vec![CaptureProblem { kind: CaptureProblemKind::Unreadable, path: None, text }],
        ignored: Default::default(),
        caches: Default::default(),
        notes: Vec::new(),
        survivors: None,
    }
}

/// Of which paths a commit of this working tree would hold something else than what was read.
fn doubts(
    user: &UserRepository,
    settings: &UserSettings,
    base: &Listing,
    root: &Folder,
    changes: &[Change],
    reading: &Reading,
) -> Result<Vec<CaptureProblem>, RepositoryError> {
    let Some(top) = user.top() else { return Ok(Vec::new()) };
    let tree = WorkingTree { repository: user.repository(), top };
    let configuration = conversion::Configuration::read(&tree, settings)?;
    let index = index::Index::read(&tree)?;
    let mut problems = conversion::converted(&tree, &configuration, &index, changes, reading)?;
    problems.extend(elsewhere::ignored(&tree, &configuration, &index, changes)?);
    problems.extend(submodule::moved(root, top, base, &index, reading));
    Ok(problems)
}

/// The user's working tree, to ask git about.
struct WorkingTree<'a> {
    repository: &'a Repository,
    top: &'a Path,
}

impl WorkingTree<'_> {
    /// A command in it; each setting is `key` and value, and goes before those of the repository.
    fn command(&self, settings: &[(&str, &OsStr)], verb: &str) -> Invocation {
        let mut options = vec![OsString::from("--work-tree=")];
        options[0].push(self.top);
        for (key, value) in settings {
            let mut setting = OsString::from(key);
            setting.push("=");
            setting.push(value);
            options.extend([OsString::from("-c"), setting]);
        }
        let options: Vec<_> = options.iter().map(OsString::as_os_str).collect();
        self.repository.git().in_repository(self.repository.git_dir(), &options, verb).directory(self.top)
    }
}

/// A problem of one path, with what to do about it.
fn doubt(kind: CaptureProblemKind, path: &RepoPath, why: &str) -> CaptureProblem {
    let text = format!("{path}: {why}; commit it and verify the commit with `--commit`");
    CaptureProblem { kind, path: Some(path.clone()), text }
}

/// Reads until two readings agree.
fn steady(mut read: impl FnMut() -> Reading) -> Reading {
    let mut last = read();
    for _ in 1..MOST_READINGS {
        // A reading that ran out of its budget can't be confirmed, and needs no confirmation to be doubted.
        if last.cut || last.flooded {
            return last;
        }
        let next = read();
        if next == last {
            return next;
        }
        last = next;
    }
    let text = format!("the files kept changing: no two of {MOST_READINGS} readings agreed");
    last.problems.push(CaptureProblem { kind: CaptureProblemKind::Unstable, path: None, text });
    last
}

/// The candidate's listing: what was read, and of base what could not be.
fn listing_of(reading: &Reading, base: &Listing, lost: &HashSet<RepoPath>) -> Listing {
    let members = reading.members.iter().filter(|(path, _)| !lost.contains(*path));
    let mut listing: Listing = members.map(|(path, member)| (path.clone(), member.entry.clone())).collect();
    let unknown: HashSet<_> = reading.unknown.iter().chain(lost).collect();
    for (path, entry) in base {
        let is_unknown = || {
            reading.cut || unknown.contains(path) || path.ancestors().any(|above| unknown.contains(&above))
        };
        if !listing.contains_key(path) && is_unknown() && fits(&listing, path) {
            listing.insert(path.clone(), entry.clone());
        }
    }
    listing
}

/// True where no other entry stands above or below `path`.
fn fits(listing: &Listing, path: &RepoPath) -> bool {
    let above = path.ancestors().any(|above| listing.contains_key(&above));
    // The lowest path that can stand below.
    let lowest = path.join(b"\x01").ok();
    let below = lowest.and_then(|lowest| listing.range((Bound::Included(lowest), Bound::Unbounded)).next());
    !above && !below.is_some_and(|(next, _)| next.is_at_or_below(path))
}

/// Makes the candidate. A file that changed between reading and writing is given up, not the whole.
fn make_candidate(
    request: &CaptureRequest<'_>,
    root: &Folder,
    reading: &mut Reading,
    lost: &mut HashSet<RepoPath>,
) -> Result<(Option<CommitId>, Listing, Vec<Change>), CaptureError> {
    loop {
        let listing = listing_of(reading, request.base_listing, lost);
        let changes = changes(request.base_listing, &listing);
        let made = request.job.commit(&NewCommit {
            base: request.base,
            base_listing: request.base_listing,
            changes: &changes,
            author: request.author,
            message: request.message,
            root,
            cancel: request.cancel,
        });
        match made {
            Ok(commit) => return Ok((Some(commit), listing, changes)),
            Err(CommitFault::Cancelled) => return Err(CaptureError::Cancelled),
            Err(CommitFault::Repository(error)) => return Err(error.into()),
            Err(CommitFault::Changed(path)) => {
                let text = format!("{path} changed after it was read");
                let kind = CaptureProblemKind::Unstable;
                reading.problems.push(CaptureProblem { kind, path: Some(path.clone()), text });
                lost.insert(path);
                if lost.len() >= MOST_COMMITS {
                    return Ok((None, listing, changes));
                }
            }
        }
    }
}

/// What stands at and below the criteria paths, and above them where that is no folder.
fn observation(reading: &Reading, listing: &Listing, request: &CaptureRequest<'_>) -> Vec<CriteriaEntry> {
    let at_criteria = |path: &RepoPath| request.criteria.iter().any(|criteria| path.is_at_or_below(criteria));
    let above_criteria =
        |path: &RepoPath| request.criteria.iter().any(|criteria| criteria.is_at_or_below(path));
    let mut seen: BTreeMap<RepoPath, CriteriaEntry> = BTreeMap::new();
    for (path, member) in &reading.members {
        if at_criteria(path) || above_criteria(path) {
            let digest = match member.entry.mode {
                EntryMode::Gitlink => Some(Digest::of(member.entry.object.as_str().as_bytes())),
                EntryMode::File | EntryMode::Executable | EntryMode::Symlink => member.digest,
            };
            let entry = CriteriaEntry { path: path.clone(), kind: member.entry.mode.into(), digest };
            seen.insert(path.clone(), entry);
        }
    }
    for (path, kind) in &reading.others {
        let entry = CriteriaEntry { path: path.clone(), kind: *kind, digest: None };
        seen.entry(path.clone()).or_insert(entry);
    }
    if reading.cut {
        use nightgate_core::evidence::CriteriaKind;
        let unseen =
            request.base_listing.keys().filter(|path| at_criteria(path) && listing.contains_key(*path));
        for path in unseen {
            let entry = CriteriaEntry { path: path.clone(), kind: CriteriaKind::Unreadable, digest: None };
            seen.entry(path.clone()).or_insert(entry);
        }
    }
    seen.into_values().collect()
}

/// Captures a commit that the caller named, as it is: it is the candidate itself. The job's repository must hold it (see
/// [`JobRepository::adopt`]).
///
/// # Errors
/// Where git fails. Objects that are missing, and a tree that can't be used, are problems within the capture.
pub fn capture_commit(
    job: &JobRepository,
    base: &CommitId,
    base_listing: &Listing,
    commit: &CommitId,
    criteria: &[RepoPath],
) -> Result<Capture, CaptureError> {
    let repository = job.repository();
    let mut capture = Capture {
        source: CaptureSource::Commit,
        base: base.clone(),
        candidate: None,
        tree: None,
        changes: Vec::new(),
        criteria: Vec::new(),
        outside_links: Vec::new(),
        problems: Vec::new(),
        ignored: Default::default(),
        caches: Default::default(),
        notes: Vec::new(),
        survivors: None,
    };
    let read = || {
        let tree = repository.tree(commit)?;
        let listing = repository.listing(&tree)?;
        let entries = repository.criteria_entries(&listing, criteria)?;
        Ok((tree, listing, entries))
    };
    let (kind, text) = match read() {
        Ok((tree, listing, mut entries)) => {
            capture.changes = changes(base_listing, &listing);
            let above = listing.iter().filter(|(path, _)| {
                criteria.iter().any(|criteria| criteria != *path && criteria.is_at_or_below(path))
            });
            let above: Listing = above.map(|(path, entry)| (path.clone(), entry.clone())).collect();
            let paths: Vec<_> = above.keys().cloned().collect();
            entries.extend(repository.criteria_entries(&above, &paths)?);
            entries.sort_by(|one, other| one.path.cmp(&other.path));
            capture.criteria = entries;
            capture.candidate = Some(commit.clone());
            let exact = tree_id(repository.object_format(), &listing) == tree;
            capture.tree = Some(tree);
            let blobs: Vec<_> = listing
                .values()
                .filter(|entry| entry.mode != EntryMode::Gitlink)
                .map(|entry| &entry.object)
                .collect();
            match repository.missing(&blobs)?.into_iter().min() {
                Some(id) => {
                    (CaptureProblemKind::MissingObject, format!("object {id} of the commit is missing"))
                }
                None if !exact => {
                    let text = "the commit's tree is not the one that its files make".to_owned();
                    (CaptureProblemKind::Unrepresentable, text)
                }
                None => {
                    capture.outside_links = links::outside(repository, base_listing, &listing)?;
                    return Ok(capture);
                }
            }
        }
        Err(error @ RepositoryError::Missing { .. }) => {
            (CaptureProblemKind::MissingObject, error.to_string())
        }
        Err(error @ RepositoryError::Malformed { .. }) => {
            (CaptureProblemKind::Unrepresentable, error.to_string())
        }
        Err(error) => return Err(error.into()),
    };
    capture.problems.push(CaptureProblem { kind, path: None, text });
    Ok(capture)
}

#[cfg(test)]
mod tests;
