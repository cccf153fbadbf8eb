//! Why the engine could not do what it was asked, with what to do next. Verdicts are no errors.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use nightgate_core::declaration::DeclarationError;
use nightgate_core::gate::Reason;
use nightgate_core::isolation::IsolationLevel;
use nightgate_core::plan::PlanError;
use nightgate_core::record::RecordError;
use nightgate_core::{Digest, JobId};
use nightgate_store::StoreError;

/// Why the engine stopped short. Each text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The declaration can't be used.
    #[error("use {origin}: {source}")]
    Declaration {
        /// Where it came from.
        origin: String,
        /// What is wrong with it.
        source: DeclarationError,
    },
    /// The plan's bytes can't be used.
    #[error("use the plan: {0}")]
    Plan(#[from] PlanError),
    /// The plan's bytes aren't those that were meant.
    #[error("use the plan: its digest is {found} and {wanted} was asked for: its bytes were changed")]
    PlanChanged {
        /// The digest of the bytes.
        found: Digest,
        /// The digest that was asked for.
        wanted: Digest,
    },
    /// Nobody approved these bytes.
    #[error("use {what} {digest}: no person approved it yet: read it, then `nightgate plan approve {how}`")]
    NotApproved {
        /// What it is.
        what: String,
        /// Its digest.
        digest: Digest,
        /// What to give to the command.
        how: String,
    },
    /// This machine gives less isolation than a person demands; nothing was started.
    #[error(
        "start the agent: isolation {} is all that can be had here, and isolation.minimum demands {}: `nightgate doctor` \
         shows why",
        reached.as_str(),
        minimum.as_str()
    )]
    Degraded {
        /// What can be had.
        reached: IsolationLevel,
        /// What was demanded.
        minimum: IsolationLevel,
    },
    /// There is no agent to start.
    #[error("find agent `{name}`: {why}")]
    NoAgent {
        /// Its name.
        name: String,
        /// Why it can't be started and what to do.
        why: String,
    },
    /// Something in the user's surroundings stops the work.
    #[error("{doing}: {why}")]
    Environment {
        /// What was being done.
        doing: String,
        /// Why it failed and what to do.
        why: String,
    },
    /// A file operation failed.
    #[error("{doing} {}: {source}", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The store refused.
    #[error(transparent)]
    Store(StoreError),
    /// A record in the store can't be used.
    #[error("read the record of job {job}: {source}")]
    Record {
        /// The job.
        job: JobId,
        /// What is wrong with it.
        source: RecordError,
    },
    /// Something stopped a job whose work is kept.
    #[error("{fault}; the work is kept, go on with: nightgate run --resume {job}")]
    Unfinished {
        /// What stopped it.
        fault: Box<EngineError>,
        /// The job.
        job: JobId,
    },
    /// A person interrupted.
    #[error("finish: it was interrupted{next}")]
    Interrupted {
        /// What to do now, after a semicolon; or nothing.
        next: String,
    },
}

impl EngineError {
    pub(crate) fn store(fault: StoreError) -> Self {
        Self::Store(fault)
    }

    pub(crate) fn environment(doing: impl Into<String>, why: impl Display) -> Self {
        Self::Environment { doing: doing.into(), why: why.to_string() }
    }

    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { doing, path: path.to_owned(), source }
    }

    /// The reason code under which a verdict that could not be reached is UNCERTAIN.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Declaration { .. } | Self::Plan(_) => Reason::PlanRefused,
            Self::PlanChanged { .. } => Reason::PlanChanged,
            Self::NotApproved { .. } => Reason::NotApproved,
            Self::Degraded { .. } => Reason::SandboxDegraded,
            Self::NoAgent { .. } | Self::Environment { .. } | Self::File { .. } => Reason::EnvironmentFault,
            Self::Store(_) | Self::Record { .. } => Reason::EvidenceIncomplete,
            Self::Unfinished { fault, .. } => fault.reason(),
            Self::Interrupted { .. } => Reason::CheckCancelled,
        }
    }
}

impl From<StoreError> for EngineError {
    fn from(fault: StoreError) -> Self {
        Self::Store(fault)
    }
}
