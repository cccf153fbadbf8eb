//! Gates, what they answer, and the reason codes of their findings. Composing answers to a verdict is `judge`'s.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Digest, RepoPath};

/// Which gate answered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Facts about ourselves: quiesced, capture whole, isolation reached, evidence kept, plan unchanged.
    Integrity,
    /// Only what may differ differs.
    Scope,
    /// What defines success is as it was, before the checks and after them.
    Criteria,
    /// What had to change did.
    Outcome,
    /// One declared check, by name.
    Check(String),
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integrity => f.write_str("integrity"),
            Self::Scope => f.write_str("scope"),
            Self::Criteria => f.write_str("criteria"),
            Self::Outcome => f.write_str("outcome"),
            Self::Check(name) => write!(f, "check {name}"),
        }
    }
}

/// What a gate's answer can do to the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Can refuse; its pass affirms nothing.
    Veto,
    /// Can refuse, and its pass affirms.
    Required,
    /// Is recorded and changes nothing.
    Advisory,
}

/// A gate's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Yes, from positive facts.
    Pass,
    /// No, from a fact that contradicts the plan.
    Fail,
    /// It can't be told.
    Unsure,
    /// Not asked, because an earlier gate had failed.
    Skipped,
    /// The plan doesn't ask it.
    NotAsked,
}

impl GateOutcome {
    /// The answer's stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unsure => "unsure",
            Self::Skipped => "skipped",
            Self::NotAsked => "not_asked",
        }
    }
}

/// A gate's whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GateResult {
    /// Which gate.
    pub gate: Gate,
    /// What it can do to the verdict.
    pub role: Role,
    /// What it answered.
    pub outcome: GateOutcome,
    /// Why. Every `fail` and `unsure` has at least one; of one code at most [`MOST_OF_A_CODE`], and one more that says how
    /// many there are beyond these.
    pub findings: Vec<Finding>,
}

/// How many findings of one code a gate's answer lists one by one.
pub const MOST_OF_A_CODE: usize = 100;

/// One thing that a gate found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finding {
    /// The reason code.
    pub code: Reason,
    /// Where; absent where it concerns the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// In words, for a person.
    pub text: String,
    /// The log or blob that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Digest>,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $class:ident;)*) => {
        /// Why a gate didn't pass. Codes are extended, never given a second meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Reason {
            $($(#[$doc])* #[serde(rename = $code)] $name,)*
        }

        impl Reason {
            /// Every reason, in the order of this table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The stable code.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The class of failure that it belongs to.
            pub fn class(self) -> FailureClass {
                match self {
                    $(Self::$name => FailureClass::$class,)*
                }
            }
        }
    };
}

/// What kind of failure a verdict is; what follows from it is one table (design, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Criteria or what steers the checks was changed.
    Tamper,
    /// A change outside what was allowed.
    Scope,
    /// The work isn't right.
    Implementation,
    /// It can't be told.
    Uncertain,
}

reasons! {
    /// A criteria file's content or membership was changed by the attempt.
    CriteriaModified = "criteria_modified", Tamper;
    /// A criteria file is gone.
    CriteriaDeleted = "criteria_deleted", Tamper;
    /// A criteria file is of another type.
    CriteriaTypeChanged = "criteria_type_changed", Tamper;
    /// A link stands where criteria were reached.
    CriteriaRedirected = "criteria_redirected", Tamper;
    /// Criteria changed while checks ran.
    CriteriaUnstable = "criteria_unstable", Uncertain;
    /// A file that steers the checks was changed.
    InfluenceChanged = "influence_changed", Tamper;
    /// A file that steers tools lies in a folder above the clean room.
    InfluenceAbove = "influence_above", Uncertain;
    /// A check said no.
    CheckFailed = "check_failed", Implementation;
    /// A signal that wasn't ours ended a check.
    CheckSignal = "check_signal", Implementation;
    /// A check's time was over.
    CheckTimeout = "check_timeout", Uncertain;
    /// A check could not be started, or its tool isn't there.
    CheckNotStarted = "check_not_started", Uncertain;
    /// A limit ended a check: one of ours, or the machine's memory.
    CheckKilled = "check_killed", Uncertain;
    /// A check was interrupted by a person.
    CheckCancelled = "check_cancelled", Uncertain;
    /// A check passes at base although it must fail there.
    NotDiscriminating = "not_discriminating", Uncertain;
    /// What had to change didn't.
    OutcomeAbsent = "outcome_absent", Implementation;
    /// Nothing affirmed success.
    NothingAffirmed = "nothing_affirmed", Uncertain;
    /// A check failed where files that it may need were ignored.
    NotSelfContained = "not_self_contained", Implementation;
    /// A link leads out of the candidate's tree, so that what the work rests on may not be in it.
    LinkOutside = "link_outside", Uncertain;
    /// A name or depth that a git tree can't hold.
    UnrepresentablePath = "unrepresentable_path", Uncertain;
    /// Files changed where they should have stood still.
    TreeUnstable = "tree_unstable", Uncertain;
    /// Processes of the attempt couldn't be ended.
    SurvivorsLeft = "survivors", Uncertain;
    /// A change outside the allowed paths.
    ScopeViolation = "scope_violation", Scope;
    /// A protected path was changed.
    ProtectedChanged = "protected_changed", Scope;
    /// A dependency file was changed.
    DependencyChanged = "dependency_changed", Scope;
    /// A bound on entries, bytes or time was passed.
    BudgetExhausted = "budget_exhausted", Uncertain;
    /// Output that the check's meaning rests on was cut.
    OutputTruncated = "output_truncated", Uncertain;
    /// Evidence is missing.
    EvidenceIncomplete = "evidence_incomplete", Uncertain;
    /// Less was enforced than the plan demands.
    SandboxDegraded = "sandbox_degraded", Uncertain;
    /// Our own verification failed to run.
    VerifierError = "verifier_error", Uncertain;
    /// A setup step failed.
    SetupFailed = "setup_failed", Uncertain;
    /// A product of setup can stand in for a file that the candidate changed or deleted.
    SetupStale = "setup_stale", Uncertain;
    /// A tool isn't the one of the plan.
    ToolChanged = "tool_changed", Uncertain;
    /// The plan's bytes aren't those that were approved.
    PlanChanged = "plan_changed", Uncertain;
    /// The declaration or plan can't be used.
    PlanRefused = "plan_refused", Uncertain;
    /// No person approved this plan.
    NotApproved = "not_approved", Uncertain;
    /// Evidence belongs to another plan, base or tree.
    StaleEvidence = "stale_evidence", Uncertain;
    /// The user's environment (repository, disk, permissions) stopped the verification.
    EnvironmentFault = "environment_fault", Uncertain;
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
