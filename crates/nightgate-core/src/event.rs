//! Events: the only truth about a job. Deriving the state from them is `job`'s; keeping them is the store's.

use serde::{Deserialize, Serialize};

use crate::execution::Execution;
use crate::gate::Reason;
use crate::strict_json::{self, JsonError};
use crate::verdict::VerdictWord;
use crate::{CommitId, Digest, JobId, ProjectId};

/// One thing that happened to a job. Written before it is acted on; never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Event {
    /// The job.
    pub job: JobId,
    /// Its place in the job's log, from 1 without gaps.
    pub sequence: u64,
    /// The digest of the previous event's stored bytes; absent for the first.
    pub previous: Option<Digest>,
    /// When, in milliseconds since 1970 (UTC), by the writer's clock. Decides nothing.
    pub at_ms: u64,
    /// The fence of the lease under which it was written.
    pub fence: u64,
    /// Who wrote it.
    pub actor: Actor,
    /// What happened.
    pub body: EventBody,
}

/// An identity and what it acted as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Actor {
    /// Who: `user:1000`, ...
    pub identity: String,
    /// As what.
    pub scope: Scope,
}

/// What an identity acts as. An execution identity can't write a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Asks for jobs and cancels them.
    Submit,
    /// Runs agents and records what became of their processes.
    Execute,
    /// Gathers evidence and judges.
    Verify,
    /// Approves, accepts, drops.
    Review,
}

/// Why a job exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// An agent works, then the gate judges.
    Run,
    /// The gate alone, on files that are already there.
    Verify,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum EventBody {
    /// A person asked for it.
    Created {
        /// Why the job exists.
        kind: JobKind,
        /// Whose project.
        project: ProjectId,
        /// Where the user's repository was, for display.
        repository: String,
        /// One line for lists.
        title: String,
        /// What it is asked to do and with what, as a blob that is enough to start it again.
        request: Digest,
    },
    /// Everything that defines success was fixed.
    Frozen {
        /// The digest of the plan's stored bytes.
        plan: Digest,
        /// The commit it starts from.
        base: CommitId,
    },
    /// It waits for a person to approve a configuration or plan.
    AwaitedApproval {
        /// The digest of the bytes to approve.
        digest: Digest,
        /// What they are, in words.
        of: String,
    },
    /// The mutation window opened: from here on an agent may change the workspace.
    Authorized {
        /// The plan.
        plan: Digest,
        /// Who approved it, and how.
        approved_by: String,
    },
    /// An agent is about to start.
    AttemptStarted {
        /// From 1.
        attempt: u32,
        /// The agent's name.
        agent: String,
    },
    /// The agent's last process is gone: the mutation window closed.
    AttemptEnded {
        /// From 1.
        attempt: u32,
        /// What happened to the process.
        execution: Execution,
        /// The digest of its log: standard output.
        stdout: Option<Digest>,
        /// The digest of its log: standard error.
        stderr: Option<Digest>,
    },
    /// What is to be judged was captured.
    Captured {
        /// The candidate; absent where none could be made.
        candidate: Option<CommitId>,
        /// The ref that keeps it in the user's repository.
        reference: Option<String>,
        /// The digest of the capture's facts.
        capture: Digest,
    },
    /// The evidence was judged and the record kept.
    Judged {
        /// The digest of the record.
        record: Digest,
        /// The verdict.
        verdict: VerdictWord,
        /// Its reasons, without repetition.
        reasons: Vec<Reason>,
    },
    /// It ended without a verdict, for a reason that is no execution's: the plan was refused, the environment failed.
    Stopped {
        /// In words.
        why: String,
    },
    /// A person ended it.
    Cancelled {
        /// In words.
        why: String,
    },
}

impl EventBody {
    /// The scope that may write such an event.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Created { .. } | Self::Cancelled { .. } => Scope::Submit,
            Self::Authorized { .. } => Scope::Review,
            Self::AttemptStarted { .. } | Self::AttemptEnded { .. } => Scope::Execute,
            Self::Frozen { .. }
            | Self::AwaitedApproval { .. }
            | Self::Captured { .. }
            | Self::Judged { .. }
            | Self::Stopped { .. } => Scope::Verify,
        }
    }

    /// The event's stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Frozen { .. } => "frozen",
            Self::AwaitedApproval { .. } => "awaited_approval",
            Self::Authorized { .. } => "authorized",
            Self::AttemptStarted { .. } => "attempt_started",
            Self::AttemptEnded { .. } => "attempt_ended",
            Self::Captured { .. } => "captured",
            Self::Judged { .. } => "judged",
            Self::Stopped { .. } => "stopped",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

impl Event {
    /// The bytes that are stored and hashed. Nobody writes an event in another form.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self)
            .unwrap_or_else(|fault| unreachable!("an event has only string keys: {fault}"))
    }

    /// Reads stored bytes, strictly.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JsonError> {
        strict_json::read(bytes)
    }
}
