//! The declaration: what a person writes about a job, in JSON or TOML, and what it means once every default is fixed.
//!
//! Needs nothing but the text. Whether paths, tools and commits exist is `plan`'s and the engine's.

mod later;
mod lint;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evidence::{CheckRun, Exit};
use crate::isolation::IsolationLevel;
use crate::strict_json::{self, JsonError};
use crate::{Digest, RepoPath};

pub use later::LATER_KEYS;
pub use lint::{CannotFail, can_fail};

/// A declaration as it was written: absent keys are absent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct Declaration {
    pub schema_version: Option<u64>,
    pub ticket: Option<TicketDeclaration>,
    pub base: Option<String>,
    pub stages: Option<Vec<serde_json::Value>>,
    pub outcome_requirement: Option<OutcomeRequirement>,
    pub changed_paths: Option<Vec<RepoPath>>,
    pub protected_paths_unchanged: Option<Vec<RepoPath>>,
    pub dependency_files_unchanged: Option<Vec<RepoPath>>,
    pub criteria_paths: Option<Vec<RepoPath>>,
    pub criteria_may_grow: Option<Vec<RepoPath>>,
    pub allowed_paths: Option<Vec<RepoPath>>,
    pub influence: Option<serde_json::Value>,
    pub setup: Option<Vec<SetupDeclaration>>,
    pub commands: Option<Vec<CommandDeclaration>>,
    pub held_out: Option<Vec<serde_json::Value>>,
    pub reviewers: Option<Vec<serde_json::Value>>,
    pub verifiers: Option<Vec<serde_json::Value>>,
    pub pass_env: Option<Vec<String>>,
    pub recovery: Option<serde_json::Value>,
    pub ladder: Option<Vec<serde_json::Value>>,
    pub isolation: Option<IsolationDeclaration>,
    pub budget: Option<BudgetDeclaration>,
    pub tools: Option<ToolsDeclaration>,
    pub by_review_only: Option<bool>,
    pub strength: Option<serde_json::Value>,
    /// Agents by name; only in `nightgate.toml` and the user's configuration.
    pub agents: Option<BTreeMap<String, AgentDeclaration>>,
}

/// What a person asked, verbatim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct TicketDeclaration {
    pub text: String,
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub requirements: Vec<Requirement>,
}

/// One requirement of a ticket: a literal clause of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct Requirement {
    pub id: String,
    pub quote: String,
}

/// What the candidate's difference from base must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeRequirement {
    /// Something must differ; the default.
    #[default]
    RepositoryChangeRequired,
    /// Nothing may differ.
    RepositoryChangeForbidden,
    /// Either.
    Any,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct SetupDeclaration {
    pub name: String,
    pub executable: String,
    pub args: Option<Vec<String>>,
    pub timeout_seconds: Option<u64>,
    pub inputs: Option<Vec<RepoPath>>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct CommandDeclaration {
    pub name: String,
    pub executable: String,
    pub args: Option<Vec<String>>,
    pub timeout_seconds: Option<u64>,
    pub required: Option<bool>,
    pub expect: Option<ExpectDeclaration>,
    pub must_fail_on_base: Option<bool>,
    pub pre_existing: Option<bool>,
    pub repeat: Option<u64>,
    pub report: Option<serde_json::Value>,
    pub required_tests: Option<Vec<String>>,
    pub outputs: Option<Vec<RepoPath>>,
    pub canary: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct ExpectDeclaration {
    pub exit: Option<u8>,
    pub empty_output: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct IsolationDeclaration {
    pub minimum: Option<IsolationLevel>,
    pub network: Option<NetworkDeclaration>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct NetworkDeclaration {
    pub agent: Option<serde_json::Value>,
    pub setup: Option<serde_json::Value>,
    pub checks: Option<serde_json::Value>,
    pub reviewers: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct BudgetDeclaration {
    pub wall_seconds: Option<u64>,
    pub silence_seconds: Option<u64>,
    pub usd: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/declaration.md describes each")]
pub struct ToolsDeclaration {
    pub pinned: Option<bool>,
}

/// How an agent that a person configured is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the keys are the format's own; docs/agents.md describes each")]
pub struct AgentDeclaration {
    pub executable: String,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub prompt: PromptDelivery,
    #[serde(default)]
    pub pass_env: Vec<String>,
}

/// How an agent gets its prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptDelivery {
    /// On standard input, which is closed after it; the default.
    #[default]
    Stdin,
    /// In a file, whose path takes the place of `{promptFile}` in the arguments, or is added as the last one.
    File,
    /// As an argument, in the place of `{prompt}` in the arguments, or as the last one.
    Argument,
}

/// Why a declaration can't be used. Every reason is given, not only the first.
#[derive(Debug, thiserror::Error)]
pub enum DeclarationError {
    /// It isn't well-formed JSON of this format.
    #[error("the declaration is not usable JSON: {0}")]
    Json(#[from] JsonError),
    /// It isn't well-formed TOML of this format; the text shows the line.
    #[error("the declaration is not usable TOML:\n{0}")]
    Toml(#[from] toml::de::Error),
    /// It is not UTF-8.
    #[error("the declaration is not UTF-8 text")]
    NotUtf8,
    /// What it says can't be used.
    #[error("the declaration can't be used:{}", list(.0))]
    Refused(Vec<Refusal>),
}

/// One thing in a declaration that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key, from the top: `commands[0].executable`.
    pub key: String,
    /// What is wrong and what to write instead.
    pub text: String,
}

fn list(refusals: &[Refusal]) -> String {
    refusals.iter().map(|refusal| format!("\n  {}: {}", refusal.key, refusal.text)).collect()
}

impl Declaration {
    /// Reads JSON, strictly: unknown keys, duplicate keys and integers beyond 2^53 are refused.
    pub fn from_json(bytes: &[u8]) -> Result<Self, DeclarationError> {
        Ok(strict_json::read(bytes)?)
    }

    /// Reads a project's `nightgate.toml`, which has neither `ticket` nor `base`.
    pub fn from_toml(bytes: &[u8]) -> Result<Self, DeclarationError> {
        let text = std::str::from_utf8(bytes).map_err(|_| DeclarationError::NotUtf8)?;
        let declaration: Self = toml::from_str(text)?;
        let mut refusals = Vec::new();
        for (key, present) in [("ticket", declaration.ticket.is_some()), ("base", declaration.base.is_some())]
        {
            if present {
                let text = "belongs to a job and not to a project: remove it from nightgate.toml".to_owned();
                refusals.push(Refusal { key: key.to_owned(), text });
            }
        }
        if refusals.is_empty() { Ok(declaration) } else { Err(DeclarationError::Refused(refusals)) }
    }

    /// Fixes every default and checks everything that the text alone can show.
    pub fn settle(self) -> Result<Terms, DeclarationError> {
        let mut refusals = Vec::new();
        later::refuse(&self, &mut refusals);
        let terms = self.into_terms(&mut refusals);
        refusals.extend(terms.refusals());
        refusals.extend(terms.empty_checks());
        if refusals.is_empty() { Ok(terms) } else { Err(DeclarationError::Refused(refusals)) }
    }

    fn into_terms(self, refusals: &mut Vec<Refusal>) -> Terms {
        if self.criteria_paths.is_none() {
            refusals.push(Refusal {
                key: "criteriaPaths".to_owned(),
                text: "is missing: name the files and folders that define success (tests, fixtures, scripts), or \
                       write an empty list to say that there are none"
                    .to_owned(),
            });
        }
        let budget = self.budget;
        Terms {
            ticket: self.ticket,
            outcome_requirement: self.outcome_requirement.unwrap_or_default(),
            changed_paths: self.changed_paths.unwrap_or_default(),
            protected_paths_unchanged: self.protected_paths_unchanged.unwrap_or_default(),
            dependency_files_unchanged: self.dependency_files_unchanged.unwrap_or_default(),
            criteria_paths: self.criteria_paths.unwrap_or_default(),
            allowed_paths: self.allowed_paths,
            setup: self.setup.unwrap_or_default().into_iter().map(Setup::from).collect(),
            commands: self.commands.unwrap_or_default().into_iter().map(Check::from).collect(),
            pass_env: self.pass_env.unwrap_or_default(),
            tools_pinned: self.tools.and_then(|tools| tools.pinned).unwrap_or(false),
            isolation: Minimum {
                declared: self.isolation.as_ref().is_some_and(|isolation| isolation.minimum.is_some()),
                minimum: self.isolation.and_then(|isolation| isolation.minimum).unwrap_or(IsolationLevel::I1),
            },
            budget: Budget {
                wall_seconds: budget.as_ref().and_then(|budget| budget.wall_seconds).unwrap_or(7200),
                silence_seconds: budget.as_ref().and_then(|budget| budget.silence_seconds).unwrap_or(900),
            },
        }
    }
}

/// What a declaration means: every default fixed, nothing resolved yet. Part of a frozen plan as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Terms {
    /// What a person asked.
    pub ticket: Option<TicketDeclaration>,
    /// What the difference from base must be.
    pub outcome_requirement: OutcomeRequirement,
    /// Each must differ from base, itself or something below it.
    pub changed_paths: Vec<RepoPath>,
    /// Nothing at or below may differ.
    pub protected_paths_unchanged: Vec<RepoPath>,
    /// Nothing at or below may differ.
    pub dependency_files_unchanged: Vec<RepoPath>,
    /// What defines success; the same in the candidate as at base, before the checks and after.
    pub criteria_paths: Vec<RepoPath>,
    /// Where present, nothing outside may differ.
    pub allowed_paths: Option<Vec<RepoPath>>,
    /// Prepares each clean room, in order.
    pub setup: Vec<Setup>,
    /// The checks, in order.
    pub commands: Vec<Check>,
    /// Names of variables that agents, setup and checks get from the user's environment.
    pub pass_env: Vec<String>,
    /// Whether a tool of another digest makes the verdict UNCERTAIN.
    pub tools_pinned: bool,
    /// The lowest isolation level that will do.
    pub isolation: Minimum,
    /// Limits on an attempt.
    pub budget: Budget,
}

/// One step that prepares a clean room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Setup {
    /// Its name, unique among the setup steps.
    pub name: String,
    /// The program: a name to find, an absolute path, or a path of the tree that begins with `./`.
    pub executable: String,
    /// Its arguments; no shell reads them.
    pub args: Vec<String>,
    /// Its time limit.
    pub timeout_seconds: u64,
    /// Files that it reads: where the candidate changes one, it runs on the candidate's tree.
    pub inputs: Vec<RepoPath>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Check {
    /// Its name, unique among the checks.
    pub name: String,
    /// The program: a name to find, an absolute path, or a path of the tree that begins with `./`.
    pub executable: String,
    /// Its arguments; no shell reads them.
    pub args: Vec<String>,
    /// Its time limit.
    pub timeout_seconds: u64,
    /// Whether the verdict needs it; otherwise its result is only recorded.
    pub required: bool,
    /// The exit status that passes.
    pub expect_exit: u8,
    /// Whether standard output must be empty.
    pub expect_empty_output: bool,
    /// Whether it must fail at base.
    pub must_fail_on_base: bool,
    /// Whether it is known to fail at base, and so only recorded.
    pub pre_existing: bool,
    /// Tracked files that it may rewrite.
    pub outputs: Vec<RepoPath>,
}

impl Check {
    /// True where a run of this check is a pass by its own terms.
    pub fn passes(&self, run: &CheckRun) -> bool {
        run.exit == Exit::Exited { code: i32::from(self.expect_exit) }
            && !(self.expect_empty_output && run.stdout.bytes > 0)
    }

    /// True where the verdict needs this check's pass.
    pub fn is_binding(&self) -> bool {
        self.required && !self.pre_existing
    }
}

/// The lowest isolation level that will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Minimum {
    /// The level.
    pub minimum: IsolationLevel,
    /// True where a person wrote it.
    pub declared: bool,
}

/// Limits on an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// Total time in seconds.
    pub wall_seconds: u64,
    /// Time without output in seconds.
    pub silence_seconds: u64,
}

/// A command's time limit where none is declared, in seconds.
pub const DEFAULT_TIMEOUT_SECONDS: u64 = 600;

/// The longest time limit, in seconds: a week.
pub const LONGEST_TIMEOUT_SECONDS: u64 = 7 * 24 * 3600;

impl From<SetupDeclaration> for Setup {
    fn from(step: SetupDeclaration) -> Self {
        Self {
            name: step.name,
            executable: step.executable,
            args: step.args.unwrap_or_default(),
            timeout_seconds: step.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS),
            inputs: step.inputs.unwrap_or_default(),
        }
    }
}

impl From<CommandDeclaration> for Check {
    fn from(command: CommandDeclaration) -> Self {
        Self {
            name: command.name,
            executable: command.executable,
            args: command.args.unwrap_or_default(),
            timeout_seconds: command.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS),
            required: command.required.unwrap_or(true),
            expect_exit: command.expect.as_ref().and_then(|expect| expect.exit).unwrap_or(0),
            expect_empty_output: command.expect.and_then(|expect| expect.empty_output).unwrap_or(false),
            must_fail_on_base: command.must_fail_on_base.unwrap_or(false),
            pre_existing: command.pre_existing.unwrap_or(false),
            outputs: command.outputs.unwrap_or_default(),
        }
    }
}

impl Terms {
    /// The checks that can't fail. What is seen of that grows with each version, so that plans of another time aren't held to it.
    pub(crate) fn empty_checks(&self) -> Vec<Refusal> {
        let refused = |(at, check): (usize, &Check)| {
            let text = can_fail(check).err()?.to_string();
            Some(Refusal { key: format!("commands[{at}].executable"), text })
        };
        self.commands.iter().enumerate().filter_map(refused).collect()
    }

    /// Everything else in these terms that can't be used, whoever wrote them down.
    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let mut refuse = |key: String, text: String| refusals.push(Refusal { key, text });
        if !self.commands.iter().any(Check::is_binding) {
            refuse(
                "commands".to_owned(),
                "nothing could affirm success: declare at least one command that is required and not preExisting"
                    .to_owned(),
            );
        }
        for (at, check) in self.commands.iter().enumerate() {
            let key = format!("commands[{at}]");
            for (name, text) in
                program_faults(&check.name, &check.executable, &check.args, check.timeout_seconds)
            {
                refuse(format!("{key}.{name}"), text);
            }
            if check.expect_exit >= 126 {
                refuse(
                    format!("{key}.expect.exit"),
                    format!(
                        "{} means that a program was missing or killed, which never passes: write 0 to 125",
                        check.expect_exit
                    ),
                );
            }
            if check.must_fail_on_base && check.pre_existing {
                refuse(
                    format!("{key}.preExisting"),
                    "contradicts mustFailOnBase: keep one of the two".to_owned(),
                );
            }
            if self.commands[..at].iter().any(|earlier| earlier.name == check.name) {
                refuse(format!("{key}.name"), format!("`{}` stands twice: names are unique", check.name));
            }
        }
        for (at, step) in self.setup.iter().enumerate() {
            let key = format!("setup[{at}]");
            for (name, text) in program_faults(&step.name, &step.executable, &step.args, step.timeout_seconds)
            {
                refuse(format!("{key}.{name}"), text);
            }
            if self.setup[..at].iter().any(|earlier| earlier.name == step.name) {
                refuse(format!("{key}.name"), format!("`{}` stands twice: names are unique", step.name));
            }
        }
        for (key, seconds) in [
            ("budget.wallSeconds", self.budget.wall_seconds),
            ("budget.silenceSeconds", self.budget.silence_seconds),
        ] {
            if let Some(text) = limit_fault(seconds) {
                refuse(key.to_owned(), text);
            }
        }
        for (at, name) in self.pass_env.iter().enumerate() {
            if name.is_empty() || name.contains(['=', '\0']) {
                refuse(format!("passEnv[{at}]"), format!("`{name}` is no name of a variable"));
            }
        }
        if let Some(ticket) = &self.ticket {
            refuse_ticket(ticket, &mut refuse);
        }
        refusals
    }

    /// The digest of these terms, so that two declarations that mean the same can be seen to.
    pub fn digest(&self) -> Digest {
        let bytes = serde_json::to_vec(self)
            .unwrap_or_else(|fault| unreachable!("terms have only string keys: {fault}"));
        Digest::of(&bytes)
    }
}

fn refuse_ticket(ticket: &TicketDeclaration, refuse: &mut impl FnMut(String, String)) {
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = folded(&ticket.text);
    if text.is_empty() {
        refuse("ticket.text".to_owned(), "is empty: say what is to be done".to_owned());
    }
    for (at, requirement) in ticket.requirements.iter().enumerate() {
        let quote = folded(&requirement.quote);
        if quote.is_empty() || !text.contains(&quote) {
            refuse(
                format!("ticket.requirements[{at}].quote"),
                format!("is not a literal clause of the ticket's text: `{}`", requirement.quote),
            );
        }
        if requirement.id == "R0" {
            refuse(
                format!("ticket.requirements[{at}].id"),
                "`R0` is always there and can't be redefined".to_owned(),
            );
        }
        if ticket.requirements[..at].iter().any(|earlier| earlier.id == requirement.id) {
            refuse(format!("ticket.requirements[{at}].id"), format!("`{}` stands twice", requirement.id));
        }
    }
}

/// Faults of one program's declaration, by key.
fn program_faults(
    name: &str,
    executable: &str,
    args: &[String],
    seconds: u64,
) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    if name.is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
        faults.push(("name", "must be 1 to 100 printable characters".to_owned()));
    }
    if executable.is_empty() {
        faults.push(("executable", "is empty: name a program".to_owned()));
    } else if executable.contains('\0') || args.iter().any(|arg| arg.contains('\0')) {
        faults.push(("args", "hold a NUL byte, which no program can be given".to_owned()));
    } else if executable.contains(char::is_whitespace) && args.is_empty() {
        faults.push((
            "executable",
            format!("`{executable}` holds spaces and there are no args: no shell reads it, so write the program alone \
                     and its arguments in `args`"),
        ));
    } else if !executable.starts_with('/') && executable.contains('/') {
        let inside = executable.strip_prefix("./").unwrap_or(executable);
        if let Err(fault) = inside.parse::<RepoPath>() {
            faults.push(("executable", fault.to_string()));
        }
    }
    if let Some(text) = limit_fault(seconds) {
        faults.push(("timeoutSeconds", text));
    }
    faults
}

fn limit_fault(seconds: u64) -> Option<String> {
    (seconds == 0 || seconds > LONGEST_TIMEOUT_SECONDS)
        .then(|| format!("{seconds} s is no usable limit: write 1 to {LONGEST_TIMEOUT_SECONDS}"))
}

#[cfg(test)]
mod tests;
