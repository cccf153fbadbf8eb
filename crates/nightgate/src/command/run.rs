//! `nightgate run`: one job in the foreground.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Args;
use nightgate_core::declaration::PromptDelivery;
use nightgate_engine::{
    Agent, AgentChoice, DeclarationText, DocumentError, EngineError, Report, RunRequest, read_document,
    read_document_stream,
};

use super::verify::answer_without_job;
use crate::error::{CommandError, Status};
use crate::output::{may_colour, print, print_json, say};
use crate::progress::Progress;
use crate::report::JobDocument;
use crate::surroundings::{current_folder, open, read_named, user_agents};
use crate::verdict_text::{self, Colour};

/// Run an agent on a task and judge what it leaves.
///
/// The agent works in a workspace of its own, made from the base commit. When its last process is gone, what it left is
/// captured, kept at refs/nightgate/JOB/candidate, and judged in a clean room by the declared checks. Nothing else in your
/// repository changes.
///
/// Exit status: 0 VERIFIED, 1 FAILED, 2 UNCERTAIN, 3 the agent was not executed, 4 a person has to approve something,
/// 64 arguments, 130 interrupted.
///
/// Example: nightgate run "Fix the parser" --agent-command 'my-agent --auto'
#[derive(Debug, Args)]
pub struct Run {
    /// What is to be done; from standard input where neither this nor --task-file is given
    task: Option<String>,
    /// Read the task from this file
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    task_file: Option<PathBuf>,
    /// The agent's name in nightgate.toml or in your own configuration
    #[arg(long, value_name = "NAME", conflicts_with = "agent_command")]
    agent: Option<String>,
    /// The agent's program and arguments, in quotes: split as a shell splits words, no shell is started. Arguments that
    /// don't begin with `-` may follow without quotes. The prompt comes on standard input, or where `{prompt}` or
    /// `{promptFile}` stands
    #[arg(long, value_name = "COMMAND", num_args = 1..)]
    agent_command: Vec<String>,
    /// The declaration to use in the place of nightgate.toml, in JSON or TOML
    #[arg(long, value_name = "FILE")]
    declaration: Option<PathBuf>,
    /// The commit to start from; the declaration's base or HEAD where it isn't given
    #[arg(long, value_name = "COMMIT")]
    base: Option<String>,
    /// Go on with a job that waited for an approval, was interrupted while it verified, or whose work could not be kept
    #[arg(long, value_name = "JOB", conflicts_with_all = ["task", "task_file", "agent", "agent_command", "declaration", "base"])]
    resume: Option<String>,
    /// A folder in the repository; the current one where it isn't given
    #[arg(long, value_name = "DIR")]
    repository: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Run {
    pub fn run(self) -> Status {
        let json = self.json;
        match self.work() {
            Ok(status) => status,
            Err(CommandError::Engine(fault @ EngineError::NoAgent { .. })) => {
                answer_without_agent(&fault, json)
            }
            Err(CommandError::Engine(fault)) if !matches!(fault, EngineError::Interrupted { .. }) => {
                answer_without_job(&fault, json)
            }
            // 1 would say FAILED.
            Err(fault @ (CommandError::Io { .. } | CommandError::Surroundings(_))) => {
                let fault = EngineError::Environment { doing: "run".to_owned(), why: fault.to_string() };
                answer_without_job(&fault, json)
            }
            Err(fault) => fault.report(),
        }
    }

    fn work(self) -> Result<Status, CommandError> {
        let json = self.json;
        let resumed = self.resume.clone();
        let request = if resumed.is_none() { Some(self.request()?) } else { None };
        let (engine, cancel) = open()?;
        let is_asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let mut ask = |text: &DeclarationText| ask_for_approval(text);
        let ask: nightgate_engine::Ask<'_> = if is_asked { Some(&mut ask) } else { None };
        let mut progress = Progress::new();
        let report = match (&request, &resumed) {
            (Some(request), _) => engine.run(request, ask, &mut progress),
            (None, Some(job)) => {
                let job = engine.find_job(job)?;
                engine.resume(&job, ask, &mut progress)
            }
            (None, None) => return Err(CommandError::Usage("there is nothing to run".to_owned())),
        };
        drop(progress);
        let report = report?;
        let capture = engine.capture_of(&report.state)?;
        let printed = if json {
            print_json(&JobDocument::of(&report, false, capture.as_ref()))
        } else {
            print(&verdict_text::job(&report, capture.as_ref(), false, Colour(may_colour())))
        };
        let status = if cancel.is_cancelled() { Status::Interrupted } else { status_of(&report) };
        delivered(printed, status)
    }

    fn request(self) -> Result<RunRequest, CommandError> {
        let here = current_folder()?;
        let declaration = self.declaration.map(read_declaration).transpose()?;
        let agent = match (self.agent, self.agent_command) {
            (Some(name), _) => AgentChoice::Named(name),
            (None, words) if !words.is_empty() => AgentChoice::Given(agent_of(words.clone(), &here)?),
            (None, _) => {
                return Err(CommandError::Usage(
                    "no agent: name one with --agent, or give a program with --agent-command".to_owned(),
                ));
            }
        };
        let declares_task = declaration
            .as_ref()
            .is_some_and(|text| text.read().is_ok_and(|declaration| declaration.ticket.is_some()));
        let (task, task_source) = match (self.task, self.task_file) {
            (Some(task), _) => (Some(task), "cli".to_owned()),
            (None, Some(file)) => {
                let name = file.display().to_string();
                let bytes = read_document(&file).map_err(|fault| {
                    CommandError::Usage(format!("the task file {name} can't be read: {fault}"))
                })?;
                (Some(text_of(bytes, &name)?), name)
            }
            (None, None) if declares_task => (None, "declaration".to_owned()),
            (None, None) => (Some(task_from_stdin()?), "stdin".to_owned()),
        };
        if task.as_ref().is_some_and(|task| task.trim().is_empty()) {
            return Err(CommandError::Usage(
                "the task is empty: say what is to be done, before --agent-command (which takes the words after it), with \
                 --task-file or on standard input"
                    .to_owned(),
            ));
        }
        Ok(RunRequest {
            repository: match self.repository {
                Some(folder) => std::path::absolute(folder).map_err(CommandError::io("use --repository"))?,
                None => here,
            },
            task,
            task_source,
            base: self.base,
            agent,
            user_agents: user_agents()?,
            declaration,
        })
    }
}

/// Answers that the agent was not executed, where there was none to start: no job, no verdict.
fn answer_without_agent(fault: &EngineError, json: bool) -> Status {
    let text = format!("failed to {fault}");
    say(&format!("nightgate: {text}"));
    if json && let Err(fault) = print_json(&JobDocument::without_agent(text)) {
        say(&format!("nightgate: {fault}"));
    }
    Status::NotExecuted
}

/// The exit status of a job as it stands.
fn status_of(report: &Report) -> Status {
    use nightgate_core::job::Phase;
    match (&report.record, &report.state.phase) {
        (Some(record), _) => record.verdict().word().into(),
        (None, Phase::Waiting { .. }) => Status::WaitsForPerson,
        (None, _) => Status::NotExecuted,
    }
}

/// The status, if the answer could be printed: a verdict that nobody got is none.
pub fn delivered(printed: Result<(), CommandError>, status: Status) -> Result<Status, CommandError> {
    match printed {
        Ok(()) => Ok(status),
        Err(fault) => {
            let _failure = fault.report();
            Ok(if status == Status::Success { Status::Uncertain } else { status })
        }
    }
}

/// Reads a declaration from a file that the command line names.
pub fn read_declaration(file: PathBuf) -> Result<DeclarationText, CommandError> {
    let bytes = read_named(&file)?;
    declaration_in(&file, bytes)
}

/// The declaration in the bytes of a file that the command line names.
pub fn declaration_in(file: &std::path::Path, bytes: Vec<u8>) -> Result<DeclarationText, CommandError> {
    let name = file.display().to_string();
    DeclarationText::from_file(name.clone(), bytes)
        .map_err(|source| CommandError::Engine(EngineError::Declaration { origin: name, source }))
}

fn agent_of(words: Vec<String>, here: &std::path::Path) -> Result<Agent, CommandError> {
    let mut words = match <[String; 1]>::try_from(words) {
        Ok([line]) => shlex::split(&line).ok_or_else(|| {
            CommandError::Usage(format!("--agent-command `{line}` has a quote that is not closed"))
        })?,
        Err(words) => words,
    };
    if words.is_empty() {
        return Err(CommandError::Usage("--agent-command is empty: name a program".to_owned()));
    }
    let program = words.remove(0);
    let name = program.rsplit('/').next().unwrap_or(&program).to_owned();
    // A path means the caller's folder; the agent itself starts in its workspace.
    let executable = if program.contains('/') { here.join(&program).display().to_string() } else { program };
    let holds = |placeholder: &str| words.iter().any(|word| word.contains(placeholder));
    let prompt = match (holds("{promptFile}"), holds("{prompt}")) {
        (true, _) => PromptDelivery::File,
        (false, true) => PromptDelivery::Argument,
        (false, false) => PromptDelivery::Stdin,
    };
    Ok(Agent { name, executable, args: words, prompt, pass_env: Vec::new() })
}

fn text_of(bytes: Vec<u8>, from: &str) -> Result<String, CommandError> {
    String::from_utf8(bytes)
        .map_err(|_| CommandError::Usage(format!("the task from {from} is not UTF-8 text")))
}

fn task_from_stdin() -> Result<String, CommandError> {
    if std::io::stdin().is_terminal() {
        return Err(CommandError::Usage(
            "no task: say what is to be done, in quotes, before --agent-command (which takes the words after it), with \
             --task-file or on standard input"
                .to_owned(),
        ));
    }
    let bytes = read_document_stream(std::io::stdin().lock()).map_err(|fault| match fault {
        DocumentError::System(source) => CommandError::io("read the task from standard input")(source),
        DocumentError::NotAFile(_) | DocumentError::TooLarge => {
            CommandError::Usage(format!("the task on standard input can't be read: {fault}"))
        }
    })?;
    text_of(bytes, "standard input")
}

/// Shows a declaration to the person at the terminal and asks. Anything but a clear yes is a no.
fn ask_for_approval(text: &DeclarationText) -> bool {
    say(&format!("{} decides what is checked, and you have not approved it yet:\n", text.origin));
    say(&text.text);
    let _shown =
        write!(std::io::stderr().lock(), "\nUse it from now on, as long as it stays the same? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
