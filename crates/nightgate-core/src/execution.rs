//! What happened to an agent's process. Says nothing about its work: an execution is never a verdict.

use serde::{Deserialize, Serialize};

use crate::evidence::Exit;

/// The outcome of one attempt's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Execution {
    /// The agent ran to its own end. Only such an attempt is judged.
    Executed,
    /// A limit ended it.
    TimedOut {
        /// Which.
        limit: Limit,
        /// The limit in seconds.
        seconds: u64,
    },
    /// A person ended it.
    Cancelled,
    /// It ended badly, or was lost with the process that watched over it.
    Crashed {
        /// In words: the exit status, the signal, or how it was lost.
        text: String,
    },
    /// Its account's quota was used up.
    RateLimited {
        /// When it is filled again, in milliseconds since 1970, where the agent said so.
        reset_ms: Option<u64>,
    },
    /// Its credential was refused.
    AuthFailed,
    /// It ended well by its own account, and its turn held nothing.
    EmptyTurn,
    /// It never ran.
    NotStarted {
        /// Why.
        text: String,
    },
}

/// A limit on an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Total time.
    Wall,
    /// Time without output.
    Silence,
}

impl Execution {
    /// True where the work may be judged.
    pub fn is_executed(&self) -> bool {
        matches!(self, Self::Executed)
    }

    /// The outcome's stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Executed => "executed",
            Self::TimedOut { .. } => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Crashed { .. } => "crashed",
            Self::RateLimited { .. } => "rate_limited",
            Self::AuthFailed => "auth_failed",
            Self::EmptyTurn => "empty_turn",
            Self::NotStarted { .. } => "not_started",
        }
    }

    /// One line for a person, without the outcome's word.
    pub fn detail(&self) -> String {
        match self {
            Self::TimedOut { limit: Limit::Wall, seconds } => format!("ran for more than {seconds} s"),
            Self::TimedOut { limit: Limit::Silence, seconds } => format!("silent for more than {seconds} s"),
            Self::Crashed { text } | Self::NotStarted { text } => text.clone(),
            Self::Executed
            | Self::Cancelled
            | Self::RateLimited { .. }
            | Self::AuthFailed
            | Self::EmptyTurn => String::new(),
        }
    }
}

impl Execution {
    /// The outcome of an agent that declares no events: only exit status 0 is its own end.
    ///
    /// `limit` is the limit that ended it, where `exit` says that one did.
    pub fn of_command(exit: &Exit, limit: Limit) -> Self {
        match exit {
            Exit::Exited { code: 0 } => Self::Executed,
            Exit::Exited { .. } | Exit::Signalled { .. } | Exit::Killed { .. } | Exit::Lost { .. } => {
                Self::Crashed { text: exit.describe() }
            }
            Exit::TimedOut { seconds } => Self::TimedOut { limit, seconds: *seconds },
            Exit::NotStarted { text } | Exit::NotRun { text } => Self::NotStarted { text: text.clone() },
            Exit::Cancelled => Self::Cancelled,
        }
    }
}
