//! Records: a plan's bytes, the evidence and the verdict in one immutable document that a stranger can judge again.

use serde::{Deserialize, Serialize};

use crate::event::JobKind;
use crate::evidence::Evidence;
use crate::execution::Execution;
use crate::judge::judge;
use crate::plan::{Plan, PlanError};
use crate::strict_json::{self, JsonError};
use crate::verdict::Verdict;
use crate::{Digest, JobId};

/// A record, as it is stored. Its name is the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    schema_version: u64,
    job: JobId,
    kind: JobKind,
    frozen_at: FrozenAt,
    /// The plan's bytes, which are JSON text, as a string: so they come back byte for byte.
    plan: String,
    plan_digest: Digest,
    /// What happened to the agent's process; absent where there was none.
    execution: Option<Execution>,
    evidence: Evidence,
    verdict: Verdict,
}

/// When the plan was frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrozenAt {
    /// Before the attempt started, or by `plan freeze`.
    Freeze,
    /// Only when the gate was asked: whoever made the candidate may have known, or written, the declaration.
    Verify,
}

/// Why a record can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The bytes are no record.
    #[error("these bytes are no record: {0}")]
    Json(#[from] JsonError),
    /// Another version of the format.
    #[error(
        "the record is of version {0}, and this nightgate reads version 1: use a nightgate that reads it"
    )]
    Version(u64),
    /// Its plan can't be used.
    #[error("the record's plan: {0}")]
    Plan(#[from] PlanError),
    /// Its plan isn't the one that it names.
    #[error("the record names plan {named} and holds {held}: it was altered")]
    PlanDiffers {
        /// The digest that it names.
        named: Digest,
        /// The digest of what it holds.
        held: Digest,
    },
    /// Judging its evidence again gives another verdict.
    #[error(
        "the record says {written} and its evidence says {judged}: it was altered, or judged by other rules"
    )]
    VerdictDiffers {
        /// The verdict that it holds.
        written: &'static str,
        /// The verdict of its evidence.
        judged: &'static str,
    },
}

impl Record {
    /// Judges the evidence and writes both down. The only way to a record, so each holds the verdict of its evidence.
    pub fn judge(
        job: JobId,
        kind: JobKind,
        frozen_at: FrozenAt,
        plan: &Plan,
        execution: Option<Execution>,
        evidence: Evidence,
    ) -> Self {
        let verdict = judge(plan, &evidence);
        let text = String::from_utf8_lossy(plan.bytes()).into_owned();
        Self {
            schema_version: 1,
            job,
            kind,
            frozen_at,
            plan: text,
            plan_digest: plan.digest(),
            execution,
            evidence,
            verdict,
        }
    }

    /// The bytes that are stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .unwrap_or_else(|fault| unreachable!("a record has only string keys: {fault}"));
        bytes.push(b'\n');
        bytes
    }

    /// Reads a record and judges it again. A cut, altered or differently judged record is an error, never a verdict.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let record: Self = strict_json::read(bytes)?;
        if record.schema_version != 1 {
            return Err(RecordError::Version(record.schema_version));
        }
        let plan = record.plan()?;
        if plan.digest() != record.plan_digest {
            return Err(RecordError::PlanDiffers { named: record.plan_digest, held: plan.digest() });
        }
        let judged = judge(&plan, &record.evidence);
        if judged != record.verdict {
            let (written, judged) = (record.verdict.word().as_str(), judged.word().as_str());
            return Err(RecordError::VerdictDiffers { written, judged });
        }
        Ok(record)
    }

    /// The plan that was judged by.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        Plan::kept(self.plan.clone().into_bytes())
    }

    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The evidence.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// When the plan was frozen.
    pub fn frozen_at(&self) -> FrozenAt {
        self.frozen_at
    }

    /// The job.
    pub fn job(&self) -> &JobId {
        &self.job
    }

    /// What happened to the agent's process.
    pub fn execution(&self) -> Option<&Execution> {
        self.execution.as_ref()
    }
}

#[cfg(test)]
mod tests;
