//! Runs an agent's process in its workspace and says what happened to it. What it did to the files is not looked at here.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nightgate_core::JobId;
use nightgate_core::declaration::{PromptDelivery, Terms};
use nightgate_core::execution::{Execution, Limit};
use nightgate_core::isolation::Enforcement;
use nightgate_host::env::{Environment, EnvironmentSpec, Role};
use nightgate_host::process::{self, Ended};
use serde::{Deserialize, Serialize};

use crate::confine::{Place, Purpose, Shown, named_files};
use crate::error::EngineError;
use crate::home::{JobFolder, make_folder};
use crate::program::{Programs, Run};
use crate::step::{Observer, Step};
use crate::{Engine, home};

/// How an agent is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Agent {
    /// Its name, for people.
    pub name: String,
    /// The program: a name to find, or an absolute path.
    pub executable: String,
    /// Its arguments; `{prompt}` and `{promptFile}` are replaced as `prompt` says.
    pub args: Vec<String>,
    /// How it gets its prompt.
    pub prompt: PromptDelivery,
    /// Names of variables that it gets from the user's environment, beside the plan's.
    pub pass_env: Vec<String>,
}

/// What an agent is started with.
pub(crate) struct AgentRun<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) terms: &'a Terms,
    pub(crate) prompt: &'a str,
    /// The plan's programs, which the agent may need too.
    pub(crate) programs: &'a Programs,
    pub(crate) folder: &'a JobFolder,
    /// Held until its last process is gone.
    pub(crate) hold: PathBuf,
    pub(crate) job: &'a JobId,
    /// Where the objects are that its workspace borrows.
    pub(crate) lender: PathBuf,
}

/// What became of an agent's process.
pub(crate) struct Attempt {
    pub(crate) execution: Execution,
    pub(crate) ended: Ended,
    pub(crate) withheld: Vec<String>,
    /// What its box was.
    pub(crate) enforcements: Vec<Enforcement>,
}

/// The longest prompt that fits in one argument (`MAX_ARG_STRLEN` of execve(2), with its terminating NUL).
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

impl Engine {
    /// Runs the agent until it ends, is over a limit or is interrupted. When this returns, its last process is gone, or
    /// `ended.stop` says that it isn't.
    pub(crate) fn run_agent(
        &self,
        run: AgentRun<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Attempt, EngineError> {
        let AgentRun { agent, terms, prompt, programs, folder, hold, job, lender } = run;
        observer.step(&Step::Agent(agent.name.clone()));
        make_folder(&folder.agent_home())?;
        make_folder(&folder.agent_tmp())?;
        let prompt_file = folder.prompt();
        fs::write(&prompt_file, prompt)
            .map_err(|source| EngineError::file("write the prompt", &prompt_file, source))?;
        let tool = self.find_agent(agent)?;
        let budget = terms.budget;
        let pass = [terms.pass_env.as_slice(), &agent.pass_env].concat();
        let mut path = tool.path.clone();
        path.extend(programs.folders());
        path.extend(self.around.inherited.search_path());
        let mut extra = programs.variables();
        extra.extend(tool.variables.clone());
        let outside = Place { tree: folder.workspace(), home: folder.agent_home(), tmp: folder.agent_tmp() };
        let mut read = [tool.roots.clone(), programs.roots()].concat();
        read.extend(named_files(&agent.args));
        read.push(prompt_file.clone());
        read.push(lender);
        let confined = self.confine(job, Purpose::Agent, outside, &Shown { read, ..Shown::default() })?;
        let spec = EnvironmentSpec {
            home: confined.inside.home.clone(),
            tmp: confined.inside.tmp.clone(),
            path,
            pass: &pass,
            extra,
        };
        let environment = Environment::build(Role::Agent, &self.around.inherited, &spec);
        let args = arguments(agent, prompt, &prompt_file)?;
        let stdin = match agent.prompt {
            PromptDelivery::Stdin => process::Stdin::File(prompt_file),
            PromptDelivery::File | PromptDelivery::Argument => process::Stdin::Null,
        };
        let run = Run {
            program: tool.program,
            args,
            cwd: confined.inside.tree.clone(),
            environment: &environment,
            stdin,
            wall: Duration::from_secs(budget.wall_seconds),
            silence: Some(Duration::from_secs(budget.silence_seconds)),
            logs: folder.logs(),
            log_name: home::AGENT_LOG.to_owned(),
            hold: Some(hold),
            sandbox: confined.sandbox,
        };
        let ended = self.supervise(run, observer)?;
        let (limit, seconds) = match ended.exit {
            process::Exit::TimedOut(process::Limit::Silence) => (Limit::Silence, budget.silence_seconds),
            _ => (Limit::Wall, budget.wall_seconds),
        };
        let execution = Execution::of_command(&crate::program::exit_of(&ended, seconds), limit);
        let withheld = environment.withheld().to_vec();
        Ok(Attempt { execution, ended, withheld, enforcements: confined.enforcements })
    }
}

/// The agent's arguments, with the prompt where it belongs.
fn arguments(agent: &Agent, prompt: &str, prompt_file: &Path) -> Result<Vec<OsString>, EngineError> {
    let (placeholder, value) = match agent.prompt {
        PromptDelivery::Stdin => return Ok(agent.args.iter().map(OsString::from).collect()),
        PromptDelivery::File => ("{promptFile}", prompt_file.as_os_str().to_owned()),
        PromptDelivery::Argument => {
            if prompt.len() > LONGEST_ARGUMENT || prompt.contains('\0') {
                return Err(EngineError::environment(
                    format!("give agent `{}` its prompt as an argument", agent.name),
                    "the prompt holds a NUL byte or more than 128 KiB, which no argument can: set `prompt` to `stdin` or \
                     `file` for this agent",
                ));
            }
            ("{prompt}", OsString::from(prompt))
        }
    };
    let mut args: Vec<OsString> = Vec::with_capacity(agent.args.len() + 1);
    let mut placed = false;
    for arg in &agent.args {
        let mut parts = arg.split(placeholder);
        let mut filled = OsString::from(parts.next().unwrap_or_default());
        for part in parts {
            placed = true;
            filled.push(&value);
            filled.push(part);
        }
        args.push(filled);
    }
    if !placed {
        args.push(value);
    }
    Ok(args)
}
