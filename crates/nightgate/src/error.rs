//! Exit statuses, and errors as a person reads them.

use std::process::ExitCode;

use nightgate_core::verdict::VerdictWord;
use nightgate_engine::EngineError;

use crate::output;

/// How the program ends (design, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done; for a verdict: VERIFIED.
    Success,
    /// The command failed; for a verdict: FAILED.
    Failure,
    /// For a verdict only: UNCERTAIN.
    Uncertain,
    /// The agent was not executed.
    NotExecuted,
    /// A person has to approve something first.
    WaitsForPerson,
    /// The arguments can't be used.
    Usage,
    /// A fault in this program.
    Bug,
    /// A person interrupted.
    Interrupted,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Success => 0,
            Status::Failure => 1,
            Status::Uncertain => 2,
            Status::NotExecuted => 3,
            Status::WaitsForPerson => 4,
            Status::Usage => 64,
            Status::Bug => 70,
            Status::Interrupted => 130,
        })
    }
}

impl From<VerdictWord> for Status {
    fn from(word: VerdictWord) -> Self {
        match word {
            VerdictWord::Verified => Self::Success,
            VerdictWord::Failed => Self::Failure,
            VerdictWord::Uncertain => Self::Uncertain,
        }
    }
}

/// Why a command ends early.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The engine could not.
    #[error("failed to {0}")]
    Engine(#[from] EngineError),
    /// Words or files given on the command line can't be used.
    #[error("{0}")]
    Usage(String),
    /// A file or stream that the command line names, or this process has, can't be used.
    #[error("failed to {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Something else in the surroundings.
    #[error("failed to {0}")]
    Surroundings(String),
}

impl CommandError {
    /// For `map_err` on a file operation.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// Prints the error and gives the status of a command that answers no verdict.
    pub fn report(&self) -> Status {
        output::say(&format!("nightgate: {self}"));
        match self {
            Self::Usage(_) => Status::Usage,
            Self::Engine(EngineError::Interrupted { .. }) => Status::Interrupted,
            Self::Engine(EngineError::NotApproved { .. }) => Status::WaitsForPerson,
            Self::Engine(_) | Self::Io { .. } | Self::Surroundings(_) => Status::Failure,
        }
    }
}

/// Prints what the argument parser says. Help and version go to standard output and are a success.
pub fn refused_arguments(refusal: &clap::Error) -> Status {
    let text = refusal.render();
    if refusal.use_stderr() {
        output::say(text.to_string().trim_end());
        return Status::Usage;
    }
    match output::print(&text.to_string()) {
        Ok(()) => Status::Success,
        Err(_) => Status::Failure,
    }
}
