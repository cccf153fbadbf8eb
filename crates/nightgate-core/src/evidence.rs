//! Facts about one attempt, as the host observed them: exits, digests, counts. No opinions; what they mean is `judge`'s.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::isolation::{Enforcement, IsolationLevel};
use crate::tree::{Change, EntryMode};
use crate::{CommitId, Digest, RepoPath, TreeId};

/// Everything that a verdict on one candidate rests on. Self-contained: `judge` needs this and the plan, nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// Version of this format; 1.
    pub schema_version: u64,
    /// The plan that the evidence was gathered for, as the digest of its bytes at the end of gathering.
    pub plan: Digest,
    /// What was captured and how it differs from base.
    pub capture: Capture,
    /// What was really enforced while gathering.
    pub isolation: Isolation,
    /// The checks, in the plan's order; one entry for each command of the plan. Empty where none was started because an
    /// earlier gate had failed.
    pub checks: Vec<CheckRun>,
    /// The clean room; absent where no check was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<Room>,
    /// Tools whose digest at verification differs from the plan's, by the executable's name in the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_tools: Vec<String>,
    /// Faults of gathering itself (a log that couldn't be stored, a tool of ours that failed), in words. Any of them
    /// makes the evidence incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// Where the candidate's files came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureSource {
    /// A workspace of ours, after the last process of the attempt was gone.
    Workspace,
    /// A commit that the caller named.
    Commit,
    /// The user's own working tree, as it lay there.
    Worktree,
}

/// What an attempt left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Capture {
    /// Where the files came from.
    pub source: CaptureSource,
    /// The commit that the candidate is compared with and built on.
    pub base: CommitId,
    /// The candidate: one commit. Absent where none could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<CommitId>,
    /// The candidate's tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// Every path that differs from base, in path order.
    pub changes: Vec<Change>,
    /// What stood at and below the criteria paths, and at the folders above them where those were no folders.
    pub criteria: Vec<CriteriaEntry>,
    /// Links that lead out of the candidate's tree and didn't at base, in path order; the first of them where they are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside_links: Vec<OutsideLink>,
    /// What kept the capture from being whole or trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<CaptureProblem>,
    /// New files that the candidate's own `.gitignore` files kept out of it, caches not counted.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub ignored: LeftOut,
    /// Files of cache folders (`__pycache__`, `node_modules`, ...) that were kept out.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub caches: LeftOut,
    /// Things worth telling a person that decide nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// What was still running when the attempt's main process had ended; absent where there was no process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survivors: Option<Survivors>,
}

impl Capture {
    /// The paths of which the captured files don't show what a commit of them would hold.
    pub fn doubtful(&self) -> DoubtfulPaths<'_> {
        let doubtful = self.problems.iter().filter(|problem| problem.kind.hides_the_commit());
        DoubtfulPaths(doubtful.filter_map(|problem| problem.path.as_ref()).collect())
    }
}

/// Paths about which a working tree says something else than a commit of it would; nothing found there can be held
/// against the work.
#[derive(Debug)]
pub struct DoubtfulPaths<'a>(BTreeSet<&'a RepoPath>);

impl DoubtfulPaths<'_> {
    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True for these paths and for everything below one.
    pub fn concern(&self, path: &RepoPath) -> bool {
        !self.is_empty() && (self.0.contains(path) || path.ancestors().any(|above| self.0.contains(&above)))
    }
}

/// A symbolic link of the candidate that leads out of its tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutsideLink {
    /// Where it lies.
    pub path: RepoPath,
    /// Its target, in the text form of paths.
    pub target: String,
    /// How it leads out, itself or by way of other links.
    pub leads: WayOut,
}

/// How a link leads out of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WayOut {
    /// To an absolute path.
    Absolute,
    /// Above the root of the tree.
    Above,
    /// It wasn't followed to its end: the links are too many or too long.
    Unknown,
}

/// Files that were kept out of the candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeftOut {
    /// How many entries; a folder that was kept out whole counts as one and isn't entered.
    pub count: u64,
    /// The first of them, in path order, at most [`LeftOut::SAMPLE`].
    pub sample: Vec<RepoPath>,
}

impl LeftOut {
    /// How many paths are named.
    pub const SAMPLE: usize = 20;

    /// True where nothing was kept out.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Counts one more path and names it while there is room.
    pub fn add(&mut self, path: RepoPath) {
        self.count += 1;
        if self.sample.len() < Self::SAMPLE {
            self.sample.push(path);
        }
    }
}

/// What stands at one path, seen without following anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriteriaKind {
    /// A regular file without its owner's execute bit.
    File,
    /// A regular file with its owner's execute bit.
    Executable,
    /// A symbolic link; the digest is of its target's bytes.
    Symlink,
    /// A submodule; the digest is of its commit id as text.
    Gitlink,
    /// A folder, reported only where it stands in the place of something else.
    Folder,
    /// A FIFO, socket or device; never opened.
    Special,
    /// Something that couldn't be read; the text of the problem is among the capture's problems.
    Unreadable,
}

impl From<EntryMode> for CriteriaKind {
    fn from(mode: EntryMode) -> Self {
        match mode {
            EntryMode::File => Self::File,
            EntryMode::Executable => Self::Executable,
            EntryMode::Symlink => Self::Symlink,
            EntryMode::Gitlink => Self::Gitlink,
        }
    }
}

/// One entry at or below a criteria path: in a plan the baseline, in evidence the observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CriteriaEntry {
    /// Where.
    pub path: RepoPath,
    /// Type and executable bit.
    pub kind: CriteriaKind,
    /// SHA-256 of the raw content; absent for folders, special files and what couldn't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// Why a capture isn't whole or can't be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureProblemKind {
    /// A file or folder that couldn't be read.
    Unreadable,
    /// A name, depth or type that a git tree can't hold.
    Unrepresentable,
    /// More entries, bytes or time than the capture allows itself.
    OverBudget,
    /// Two readings differed.
    Unstable,
    /// A mount or another device below the workspace.
    OtherDevice,
    /// The candidate commit, read back from git, is not what was captured.
    NotReadBack,
    /// Git converts this path on checkout, so the working tree doesn't show what a commit would hold.
    Converted,
    /// The user's own git ignores this new file by rules outside the tree: a commit might hold it or not.
    IgnoredElsewhere,
    /// A repository lies here, and the commit of it that a commit would name is another than the capture says.
    Submodule,
    /// Objects that the candidate needs are missing.
    MissingObject,
}

impl CaptureProblemKind {
    /// True where the files at the problem's path don't show what a commit of them would hold.
    pub fn hides_the_commit(self) -> bool {
        match self {
            Self::Converted | Self::IgnoredElsewhere | Self::Submodule => true,
            Self::Unreadable
            | Self::Unrepresentable
            | Self::OverBudget
            | Self::Unstable
            | Self::OtherDevice
            | Self::NotReadBack
            | Self::MissingObject => false,
        }
    }
}

/// One thing that kept a capture from being whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaptureProblem {
    /// What kind.
    pub kind: CaptureProblemKind,
    /// Where; absent where it concerns the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// In words, with the system's own error where there is one.
    pub text: String,
}

/// Something noticed that decides nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Note {
    /// A stable word: `special_file`, `nested_git`, `unreached_commits`, `survivors`, `hard_links`, ...
    pub code: String,
    /// Where; absent where it concerns the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// In words.
    pub text: String,
}

/// Processes that outlived the attempt's main process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Survivors {
    /// How many were found and killed.
    pub killed: u64,
    /// The names of some of them, as the kernel shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// How many could not be killed, or the reason why that can't be known.
    pub remaining: Remaining,
}

/// Whether the last process is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remaining {
    /// All are gone.
    #[default]
    None,
    /// So many could not be killed.
    Some(u64),
    /// It can't be known, for this reason.
    Unknown(String),
}

/// What was enforced, and what wasn't.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Isolation {
    /// The lowest level that any process of this verification ran under.
    pub level: IsolationLevel,
    /// Each capability that was wanted, with what was got.
    pub capabilities: Vec<Enforcement>,
}

/// The clean room of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Room {
    /// The tree that was found in the room, by reading every file raw, just before the first check. Absent where the
    /// room couldn't be made or read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// The setup steps, in the plan's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<SetupRun>,
    /// Products of setup at base that can stand in for files which the candidate changed or deleted: the first of them, at
    /// most [`StandIn::SAMPLE`]. Where there are any, no check is run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<StandIn>,
    /// What lay above the room, just before a check or just after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Above>,
    /// Why the room couldn't be made, where it couldn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// How many untracked files the checks left behind.
    #[serde(default)]
    pub untracked_after: u64,
}

/// Something in a folder above the clean room that a tool finds by looking upwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Above {
    /// Where it lies on the machine.
    pub path: String,
    /// Which tool looks for it.
    pub tool: String,
}

/// A product of setup that can be taken for a file which the candidate changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StandIn {
    /// What setup made at base and left as it was.
    pub product: RepoPath,
    /// The file of base that the candidate has otherwise, or not any more.
    pub source: RepoPath,
}

impl StandIn {
    /// How many are named.
    pub const SAMPLE: usize = 20;
}

/// How one program ended. A check that *said no*, one that *could not find out* and one that was *not run* differ here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Exit {
    /// It ended by itself with this status.
    Exited {
        /// 0 to 255.
        code: i32,
    },
    /// A signal ended it that was not ours.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// A limit ended it: one of ours, or the machine's memory.
    Killed {
        /// Which limit, in words.
        limit: String,
    },
    /// Its time was over.
    TimedOut {
        /// The limit in seconds.
        seconds: u64,
    },
    /// It could not be started.
    NotStarted {
        /// The system's reason.
        text: String,
    },
    /// A person interrupted.
    Cancelled,
    /// It was lost: no status is known.
    Lost {
        /// Why.
        text: String,
    },
    /// It was not run.
    NotRun {
        /// Why.
        text: String,
    },
}

/// What a stream of a process amounted to. The log itself is kept by digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stream {
    /// All bytes that were written, kept or not.
    pub bytes: u64,
    /// The kept log; absent where nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Digest>,
    /// True where the log keeps only the head and the tail.
    #[serde(default)]
    pub truncated: bool,
}

/// One run of one check in the clean room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckRun {
    /// The check's name in the plan.
    pub name: String,
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// True where the check's program is a file of the tree that base had and the candidate lacks.
    #[serde(default)]
    pub program_removed: bool,
    /// Tracked files that were different after it from what they were before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<RepoPath>,
    /// Criteria files that hold the same before and after it, and were written, replaced, renamed or given other rights in
    /// between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<RepoPath>,
    /// What couldn't be read of the room after it; any of them means that drift isn't known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// What it left running.
    #[serde(default)]
    pub survivors: Survivors,
}

/// One run of one setup step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetupRun {
    /// The step's name in the plan.
    pub name: String,
    /// Which tree it ran on.
    pub on: SetupTree,
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
}

/// The tree under a setup step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetupTree {
    /// The base tree: nothing that the attempt wrote was there.
    Base,
    /// The candidate's, because an input of the step had changed.
    Candidate,
}

impl Exit {
    /// True where the program ran, however it ended.
    pub fn was_started(&self) -> bool {
        match self {
            Self::Exited { .. } | Self::Signalled { .. } | Self::Killed { .. } | Self::TimedOut { .. } => {
                true
            }
            Self::Cancelled | Self::Lost { .. } => true,
            Self::NotStarted { .. } | Self::NotRun { .. } => false,
        }
    }

    /// True for exit status 0 and nothing else.
    pub fn is_success(&self) -> bool {
        *self == Self::Exited { code: 0 }
    }

    /// The same end, where nobody says who sent a SIGKILL: it may have been the kernel, for want of memory. `killed_any` is
    /// whether the kernel killed anything for that reason while the program ran, `None` where that can't be known. A shell
    /// tells its child's SIGKILL as status 137.
    #[must_use]
    pub fn or_out_of_memory(self, killed_any: Option<bool>) -> Self {
        let is_kill = matches!(self, Self::Signalled { signal: 9 } | Self::Exited { code: 137 });
        let limit = match killed_any {
            Some(true) => "the kernel killed for want of memory while it ran, and SIGKILL ended it",
            None => "SIGKILL ended it, and whether the kernel sent it for want of memory can't be known",
            Some(false) => return self,
        };
        if is_kill { Self::Killed { limit: limit.to_owned() } } else { self }
    }

    /// One line for a person.
    pub fn describe(&self) -> String {
        match self {
            Self::Exited { code } => format!("exit {code}"),
            Self::Signalled { signal } => format!("ended by signal {signal}"),
            Self::Killed { limit } => format!("ended by a limit: {limit}"),
            Self::TimedOut { seconds } => format!("not finished after {seconds} s"),
            Self::NotStarted { text } => format!("could not be started: {text}"),
            Self::Cancelled => "interrupted".to_owned(),
            Self::Lost { text } => format!("lost: {text}"),
            Self::NotRun { text } => format!("not run: {text}"),
        }
    }
}
