//! Approvals: a person's word on exact bytes. Asking for one is the engine's and the terminal's.

use serde::{Deserialize, Serialize};

use crate::Digest;

/// What was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovedThing {
    /// A declaration: a project's `nightgate.toml`, or a file of a person's. Plans made from these bytes are approved.
    Declaration,
    /// A frozen plan.
    Plan,
}

/// A record that a person approved exactly these bytes. Never part of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// The digest of the bytes.
    pub digest: Digest,
    /// What they are.
    pub of: ApprovedThing,
    /// Who: `user:1000`, ...
    pub by: String,
    /// How: `answered at the terminal`, `plan approve`, `named on the command line`.
    pub how: String,
    /// When, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
}
