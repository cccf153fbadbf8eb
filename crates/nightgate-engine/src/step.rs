//! What the engine tells whoever watches it. Showing it is the command line's.

use std::time::Duration;

use nightgate_core::JobId;
use nightgate_core::evidence::Above;

/// What the engine is doing now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Capturing what an interrupted job left, before anything else.
    Recovering(JobId),
    /// An interrupted job, or a folder of it, was left as it is, for the next command. Whoever watches should be told.
    LeftForLater {
        /// The job.
        job: JobId,
        /// What failed and why; reads after "failed to".
        why: String,
    },
    /// A job was made.
    Started(JobId),
    /// Copying the base commit into Nightgate's own repository.
    Importing,
    /// Running a check at base.
    CheckAtBase(String),
    /// Something above the clean rooms steers tools, so that no verdict will be VERIFIED. The work goes on.
    InfluenceAbove(Vec<Above>),
    /// Laying out the agent's workspace.
    Workspace,
    /// The agent works.
    Agent(String),
    /// Reading what the agent left.
    Capturing,
    /// Laying out the clean room.
    CleanRoom,
    /// Running a setup step.
    Setup(String),
    /// Running a check on the candidate.
    Check(String),
    /// Judging and keeping the record.
    Judging,
}

/// Watches the engine work. Nothing that it does changes the work.
pub trait Observer {
    /// A new step began.
    fn step(&mut self, step: &Step);

    /// The running program still runs: since when, and how many bytes it has written.
    fn alive(&mut self, elapsed: Duration, output_bytes: u64);
}
