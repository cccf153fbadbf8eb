//! What a person asks for, and the form in which it is kept so that an interrupted job can go on.

use std::path::PathBuf;

use nightgate_core::declaration::{AgentDeclaration, Declaration, DeclarationError};
use nightgate_core::plan::{DeclarationKind, DeclarationSource};
use nightgate_core::{CommitId, Digest};
use serde::{Deserialize, Serialize};

use crate::agent::Agent;

/// The text of a declaration and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclarationText {
    /// What kind of place it came from.
    pub kind: DeclarationKind,
    /// Its name, for messages: a path, or `nightgate.toml at 1a2b3c`.
    pub origin: String,
    /// Whether it is TOML; otherwise JSON.
    pub toml: bool,
    /// The text itself. Bytes that aren't UTF-8 are refused where they are read.
    pub text: String,
}

impl DeclarationText {
    /// A declaration from a file's bytes: TOML where the name ends so, otherwise JSON.
    pub fn from_file(name: String, bytes: Vec<u8>) -> Result<Self, DeclarationError> {
        let toml = name.ends_with(".toml");
        let text = String::from_utf8(bytes).map_err(|_| DeclarationError::NotUtf8)?;
        Ok(Self { kind: DeclarationKind::File, origin: name, toml, text })
    }

    /// What it says.
    pub fn read(&self) -> Result<Declaration, DeclarationError> {
        if self.toml {
            Declaration::from_toml(self.text.as_bytes())
        } else {
            Declaration::from_json(self.text.as_bytes())
        }
    }

    /// The digest of its bytes: what a person approves.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    pub(crate) fn source(&self) -> DeclarationSource {
        DeclarationSource { kind: self.kind, digest: self.digest() }
    }
}

/// One job: an agent works, then the gate judges.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// A folder in the user's repository.
    pub repository: PathBuf,
    /// What is to be done; `None` where the declaration's ticket says it.
    pub task: Option<String>,
    /// Where the task came from: `cli`, a file's name, `stdin`.
    pub task_source: String,
    /// The commit to start from, by any name that git knows; `None` for the declaration's, or `HEAD`.
    pub base: Option<String>,
    /// Who works.
    pub agent: AgentChoice,
    /// Agents of the user's own configuration, by name.
    pub user_agents: std::collections::BTreeMap<String, AgentDeclaration>,
    /// A declaration that the caller named; `None` for the project's `nightgate.toml`.
    pub declaration: Option<DeclarationText>,
}

/// Who works.
#[derive(Clone, Debug)]
pub enum AgentChoice {
    /// An agent that the project or the user configured.
    Named(String),
    /// This one.
    Given(Agent),
}

/// The gate alone.
#[derive(Clone, Debug)]
pub struct VerifyRequest {
    /// A folder in the user's repository.
    pub repository: PathBuf,
    /// The plan or declaration.
    pub plan: PlanText,
    /// What is to be judged.
    pub subject: Subject,
    /// Run the checks at base too, where the plan is made now.
    pub base_checks: bool,
}

/// What `verify` judges by.
#[derive(Clone, Debug)]
pub enum PlanText {
    /// A frozen plan's bytes, with the digest that the caller expects.
    Frozen {
        /// The bytes.
        bytes: Vec<u8>,
        /// The digest that they must have; `None` where the store's approval must do.
        digest: Option<Digest>,
    },
    /// A declaration, frozen now.
    Declared {
        /// The text.
        text: DeclarationText,
        /// The base; `None` where the declaration says it.
        base: Option<String>,
    },
}

impl PlanText {
    /// True for bytes that mean to be a frozen plan, whether or not they are a usable one.
    pub fn is_frozen(bytes: &[u8]) -> bool {
        serde_json::from_slice::<serde_json::Value>(bytes).is_ok_and(|value| value.get("baseTree").is_some())
    }
}

/// What `verify` judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// This commit, by any name that git knows.
    Commit(String),
    /// The files of the working tree.
    Worktree,
}

/// What a job's `created` event points to: enough to go on after a crash or an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StoredRequest {
    pub(crate) schema_version: u64,
    /// The folder in the user's repository that the request was made from, as the bytes of its path.
    pub(crate) repository: Vec<u8>,
    pub(crate) base: CommitId,
    /// When the base was committed, in seconds since 1970.
    pub(crate) base_time: i64,
    pub(crate) task: Option<String>,
    pub(crate) task_source: Option<String>,
    pub(crate) agent: Option<Agent>,
    /// Absent where a frozen plan was given.
    pub(crate) declaration: Option<DeclarationText>,
}
