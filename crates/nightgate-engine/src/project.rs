//! Finds the declaration and the agent that a job asks for. What they mean is core's.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nightgate_core::declaration::{AgentDeclaration, Declaration, Terms, TicketDeclaration};
use nightgate_core::plan::DeclarationKind;
use nightgate_core::{CommitId, RepoPath};
use nightgate_host::document;
use nightgate_host::repository::UserRepository;
use serde::Deserialize;

use crate::Engine;
use crate::agent::Agent;
use crate::error::EngineError;
use crate::request::{AgentChoice, DeclarationText};

/// The project's own file.
const PROJECT_FILE: &str = "nightgate.toml";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UserConfiguration {
    #[serde(default)]
    agents: BTreeMap<String, AgentDeclaration>,
}

/// The agents of a user's configuration file.
pub fn agents_in(text: &str) -> Result<BTreeMap<String, AgentDeclaration>, toml::de::Error> {
    Ok(toml::from_str::<UserConfiguration>(text)?.agents)
}

/// The project's declaration: `nightgate.toml` as `base` holds it; where base has none, the one of the working tree, if the
/// user owns it.
pub(crate) fn project_declaration(
    user: &UserRepository,
    base: &CommitId,
) -> Result<DeclarationText, EngineError> {
    let doing = || format!("read {PROJECT_FILE} at {}", short(base));
    let path: RepoPath =
        PROJECT_FILE.parse().map_err(|fault| EngineError::environment(doing(), format!("{fault}")))?;
    let committed = user
        .repository()
        .read_file(base, &path, document::MOST_BYTES)
        .map_err(|fault| EngineError::environment(doing(), fault))?;
    if let Some(bytes) = committed {
        let origin = format!("{PROJECT_FILE} at {}", short(base));
        return text_of(DeclarationKind::Project, origin, bytes);
    }
    let none = || {
        EngineError::environment(
            "find a declaration",
            format!(
                "there is no {PROJECT_FILE} at {} and none in the working tree: write one (README.md, \"Your own \
                 repository\") and commit it, or name a file with --declaration",
                short(base)
            ),
        )
    };
    let file = user.top().ok_or_else(none)?.join(PROJECT_FILE);
    let Ok(metadata) = fs::symlink_metadata(&file) else { return Err(none()) };
    if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(EngineError::environment(
            format!("use {}", file.display()),
            "it is not committed, and it is no regular file of yours: commit it first",
        ));
    }
    let bytes = document::read(&file)
        .map_err(|fault| EngineError::environment(format!("read {}", file.display()), fault))?;
    text_of(DeclarationKind::Uncommitted, format!("{PROJECT_FILE} (uncommitted)"), bytes)
}

impl Engine {
    /// The project's declaration as `run` would use it.
    pub fn project_declaration(
        &self,
        folder: &Path,
        base: Option<&str>,
    ) -> Result<DeclarationText, EngineError> {
        let user = self.discover(folder)?;
        let base = self.resolve(&user, base.unwrap_or("HEAD"))?;
        project_declaration(&user, &base)
    }
}

fn text_of(kind: DeclarationKind, origin: String, bytes: Vec<u8>) -> Result<DeclarationText, EngineError> {
    let read = DeclarationText::from_file(PROJECT_FILE.to_owned(), bytes);
    let text = read.map_err(|source| EngineError::Declaration { origin: origin.clone(), source })?;
    Ok(DeclarationText { kind, origin, ..text })
}

/// What a declaration means for a job with this task.
pub(crate) fn settle(
    text: &DeclarationText,
    task: Option<(&str, &str)>,
) -> Result<(Terms, Option<String>), EngineError> {
    let refuse = |source| EngineError::Declaration { origin: text.origin.clone(), source };
    let mut declaration = text.read().map_err(refuse)?;
    match (task, &declaration.ticket) {
        (Some((task, _)), Some(ticket)) if ticket.text != task => {
            return Err(EngineError::environment(
                format!("use {}", text.origin),
                "it has a ticket of its own and a task was given too: leave one of them out",
            ));
        }
        (Some((task, source)), None) => {
            let (text, source) = (task.to_owned(), Some(source.to_owned()));
            declaration.ticket = Some(TicketDeclaration { text, source, requirements: Vec::new() });
        }
        (Some(_) | None, Some(_)) | (None, None) => {}
    }
    let base = declaration.base.clone();
    Ok((declaration.settle().map_err(refuse)?, base))
}

/// The agents that a declaration configures.
pub(crate) fn agents_of(text: &DeclarationText) -> BTreeMap<String, AgentDeclaration> {
    let declaration = text.read().unwrap_or_else(|_| Declaration::default());
    declaration.agents.unwrap_or_default()
}

/// The agent that was asked for: the project's of that name, else the user's.
pub(crate) fn choose_agent(
    choice: &AgentChoice,
    text: &DeclarationText,
    user: &BTreeMap<String, AgentDeclaration>,
) -> Result<Agent, EngineError> {
    let name = match choice {
        AgentChoice::Given(agent) => return Ok(agent.clone()),
        AgentChoice::Named(name) => name,
    };
    let project = agents_of(text);
    let Some(found) = project.get(name).or_else(|| user.get(name)) else {
        let mut known: Vec<&str> = project.keys().chain(user.keys()).map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        let known = if known.is_empty() { "none is configured".to_owned() } else { known.join(", ") };
        let why = format!(
            "configured agents: {known}. Add [agents.{name}] to nightgate.toml or to your own configuration, or use \
             --agent-command"
        );
        return Err(EngineError::NoAgent { name: name.clone(), why });
    };
    Ok(Agent {
        name: name.clone(),
        executable: found.executable.clone(),
        args: found.args.clone(),
        prompt: found.prompt,
        pass_env: found.pass_env.clone(),
    })
}

/// The first digits of a commit, for people.
pub(crate) fn short(commit: &CommitId) -> &str {
    &commit.as_str()[..12]
}
