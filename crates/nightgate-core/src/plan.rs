//! The frozen plan: everything that defines success, fixed before an agent starts. Gathering the facts is the engine's.

use serde::{Deserialize, Serialize};

use crate::declaration::{DeclarationError, Refusal, Terms};
use crate::evidence::{CriteriaEntry, CriteriaKind, Exit};
use crate::strict_json::{self, JsonError};
use crate::{CommitId, Digest, TreeId};

/// A frozen plan together with its bytes. The digest is of exactly these bytes; nobody writes them again.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    bytes: Vec<u8>,
    digest: Digest,
    content: PlanContent,
}

/// What a frozen plan says. Holds ids, digests and outcomes; no duration, log or machine path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanContent {
    /// Version of this format; 1.
    pub schema_version: u64,
    /// The commit that the attempt starts from and the candidate is compared with.
    pub base: CommitId,
    /// The base's tree.
    pub base_tree: TreeId,
    /// Where the terms come from.
    pub declaration: DeclarationSource,
    /// What must hold.
    pub terms: Terms,
    /// What stood at and below each criteria path at base.
    pub criteria: Vec<CriteriaEntry>,
    /// The programs of setup and checks, by the name that the terms use, in its order, each once.
    pub tools: Vec<FrozenTool>,
    /// How each check ended at base; absent for those that were not run there.
    pub at_base: Vec<AtBase>,
}

/// Where a plan's terms come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclarationSource {
    /// What kind of text it was.
    pub kind: DeclarationKind,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// Which text a plan's terms were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclarationKind {
    /// The project's `nightgate.toml`, as the base commit holds it.
    Project,
    /// A `nightgate.toml` that base doesn't hold, from the working tree of a foreground run's owner.
    Uncommitted,
    /// A file that the caller named.
    File,
}

/// A program that the plan resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FrozenTool {
    /// The executable as the terms name it.
    pub executable: String,
    /// The digest of the program's file.
    pub digest: Digest,
}

/// How one check ended at base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AtBase {
    /// The check's name.
    pub check: String,
    /// How it ended.
    pub exit: Exit,
    /// Whether that is a pass by the check's own terms.
    pub passed: bool,
}

/// What freezing needs to know beyond the terms.
#[derive(Clone, Debug)]
pub struct FreezeFacts {
    /// The base commit.
    pub base: CommitId,
    /// The base's tree.
    pub base_tree: TreeId,
    /// Where the terms come from.
    pub declaration: DeclarationSource,
    /// The criteria baseline.
    pub criteria: Vec<CriteriaEntry>,
    /// The resolved tools.
    pub tools: Vec<FrozenTool>,
    /// The checks that were run at base.
    pub at_base: Vec<AtBase>,
}

/// Why plan bytes can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// They are no frozen plan.
    #[error("these bytes are no frozen plan: {0}")]
    Json(#[from] JsonError),
    /// Another version of the format.
    #[error("the plan is of version {0}, and this nightgate reads version 1: use a nightgate that reads it")]
    Version(u64),
    /// What they say can't have come from freezing.
    #[error("the plan contradicts itself: {0}")]
    Inconsistent(String),
    /// What they say of base isn't so.
    #[error("the plan is none of its base commit: {0}")]
    NotOfBase(String),
}

impl Plan {
    /// Freezes terms with the facts that were gathered for them. Refused where a check that has to fail at base passes
    /// there, or was not run.
    pub fn freeze(terms: Terms, facts: FreezeFacts) -> Result<Self, DeclarationError> {
        let refusals = refused_at_base(&terms, &facts.at_base);
        if !refusals.is_empty() {
            return Err(DeclarationError::Refused(refusals));
        }
        let content = PlanContent {
            schema_version: 1,
            base: facts.base,
            base_tree: facts.base_tree,
            declaration: facts.declaration,
            terms,
            criteria: facts.criteria,
            tools: facts.tools,
            at_base: facts.at_base,
        };
        let mut bytes = serde_json::to_vec_pretty(&content)
            .unwrap_or_else(|fault| unreachable!("a plan has only string keys: {fault}"));
        bytes.push(b'\n');
        Ok(Self { digest: Digest::of(&bytes), bytes, content })
    }

    /// Reads a frozen plan that is to be judged by from its bytes, which stay as they are. What freezing refuses is
    /// refused here too.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, PlanError> {
        let plan = Self::kept(bytes)?;
        for check in &plan.content.terms.commands {
            if let Err(cannot_fail) = crate::declaration::can_fail(check) {
                return Err(PlanError::Inconsistent(format!("check `{}`: {cannot_fail}", check.name)));
            }
        }
        Ok(plan)
    }

    /// Reads a plan that was accepted when it was frozen or taken over. Which checks are refused may have changed since;
    /// what was judged by them stays readable.
    pub fn kept(bytes: Vec<u8>) -> Result<Self, PlanError> {
        let content: PlanContent = strict_json::read(&bytes)?;
        if content.schema_version != 1 {
            return Err(PlanError::Version(content.schema_version));
        }
        if let Some(fault) = content.inconsistency() {
            return Err(PlanError::Inconsistent(fault));
        }
        Ok(Self { digest: Digest::of(&bytes), bytes, content })
    }

    /// The digest of the plan's bytes: its name.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The stored bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the plan says.
    pub fn content(&self) -> &PlanContent {
        &self.content
    }

    /// How a check ended at base.
    pub fn at_base(&self, check: &str) -> Option<&AtBase> {
        self.content.at_base.iter().find(|outcome| outcome.check == check)
    }
}

impl PlanContent {
    /// A hand-made plan must not judge more kindly than a frozen one: whatever freezing refuses is refused here, and what
    /// the parts say of each other must fit.
    fn inconsistency(&self) -> Option<String> {
        let refusals = [self.terms.refusals(), refused_at_base(&self.terms, &self.at_base)].concat();
        if let Some(Refusal { key, text }) = refusals.first() {
            return Some(format!("{key}: {text}"));
        }
        self.criteria_fault().or_else(|| self.at_base_fault())
    }

    /// The baseline is what stood at and below the criteria paths, and nothing else.
    fn criteria_fault(&self) -> Option<String> {
        let paths = &self.terms.criteria_paths;
        if let Some(path) =
            paths.iter().find(|path| !self.criteria.iter().any(|entry| entry.path.is_at_or_below(path)))
        {
            return Some(format!("criteria path {path} has no baseline"));
        }
        for (at, entry) in self.criteria.iter().enumerate() {
            let path = &entry.path;
            if !paths.iter().any(|folder| path.is_at_or_below(folder)) {
                return Some(format!("{path} has a baseline and lies at or below no criteria path"));
            }
            if at > 0 && self.criteria[at - 1].path >= *path {
                return Some(format!("the baseline of {path} stands twice, or not in its place"));
            }
            let is_tracked = match entry.kind {
                CriteriaKind::File
                | CriteriaKind::Executable
                | CriteriaKind::Symlink
                | CriteriaKind::Gitlink => true,
                CriteriaKind::Folder | CriteriaKind::Special | CriteriaKind::Unreadable => false,
            };
            if !is_tracked || entry.digest.is_none() {
                return Some(format!("the baseline of {path} is nothing that a commit holds"));
            }
        }
        None
    }

    /// Each outcome at base is that of one of the checks, by the check's own terms.
    fn at_base_fault(&self) -> Option<String> {
        for (at, outcome) in self.at_base.iter().enumerate() {
            let name = &outcome.check;
            let Some(check) = self.terms.commands.iter().find(|check| check.name == *name) else {
                return Some(format!("`{name}` was run at base and is no check"));
            };
            if self.at_base[..at].iter().any(|earlier| earlier.check == *name) {
                return Some(format!("check `{name}` has two outcomes at base"));
            }
            if matches!(outcome.exit, Exit::Killed { .. } | Exit::Lost { .. } | Exit::NotRun { .. }) {
                return Some(format!("check `{name}` at base: {} is no outcome", outcome.exit.describe()));
            }
            // With `emptyOutput` the exit status alone doesn't say.
            let may_pass = outcome.exit == Exit::Exited { code: i32::from(check.expect_exit) };
            if outcome.passed != may_pass && (outcome.passed || !check.expect_empty_output) {
                let exit = outcome.exit.describe();
                return Some(format!("check `{name}` at base: {exit} is told as what it isn't"));
            }
        }
        None
    }
}

/// The checks that have to fail at base, and don't.
fn refused_at_base(terms: &Terms, at_base: &[AtBase]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (at, check) in terms.commands.iter().enumerate().filter(|(_, check)| check.must_fail_on_base) {
        let outcome = at_base.iter().find(|outcome| outcome.check == check.name);
        let text = match outcome.map(|outcome| (&outcome.exit, outcome.passed)) {
            Some((Exit::Exited { .. }, false)) => continue,
            Some((Exit::Exited { .. }, true)) => {
                "must fail at base, and passes there: it can't show that the work was done".to_owned()
            }
            Some((exit, _)) => {
                format!("must fail at base by saying no, and it ended otherwise there: {}", exit.describe())
            }
            None => "must fail at base, and was not run there".to_owned(),
        };
        refusals.push(Refusal { key: format!("commands[{at}].mustFailOnBase"), text });
    }
    refusals
}

#[cfg(test)]
mod tests;
