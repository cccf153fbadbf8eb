//! `nightgate demo`: five real jobs in a repository made for it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use nightgate_core::declaration::PromptDelivery;
use nightgate_core::execution::Execution;
use nightgate_core::gate::Reason;
use nightgate_core::verdict::VerdictWord;
use nightgate_engine::{Agent, AgentChoice, DeclarationText, Engine, Observer, Report, RunRequest, Step};

use crate::error::{CommandError, Status};
use crate::output::{may_colour, print};
use crate::progress::Progress;
use crate::surroundings::surroundings;
use crate::verdict_text::{self, Colour};

/// Show five real jobs in a repository made for it: what the gate says, and why.
///
/// Makes a folder with a small git repository and a store of its own, and in it runs five jobs with scripted agents: separate
/// processes that really edit files. Needs git and sh, nothing else, and touches nothing of yours.
#[derive(Debug, Args)]
pub struct Demo {
    /// Where to make the folder; a temporary one where it isn't given
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

const FILES: &[(&str, &str)] = &[
    ("greet.sh", "#!/bin/sh\n# Greets the customer whose name is the first argument.\necho \"Hello!\"\n"),
    (
        "tests/greet_test.sh",
        "#!/bin/sh\nset -e\nanswer=$(sh greet.sh Ada)\nif [ \"$answer\" != \"Hello, Ada!\" ]; then\n  echo \"expected \
         'Hello, Ada!', got '$answer'\"\n  exit 1\nfi\n",
    ),
    (
        "nightgate.toml",
        "# What decides whether a job's work is done. See docs/declaration.md.\ncriteriaPaths = [\"tests\"]\n\n\
         [[commands]]\nname = \"tests\"\nexecutable = \"sh\"\nargs = [\"tests/greet_test.sh\"]\n",
    ),
];

const TASK: &str = "Greet the customer by name";

/// What a scripted agent really does to the workspace.
macro_rules! fix {
    () => {
        "sed -i 's/echo .*/echo \"Hello, $1!\"/' greet.sh\n"
    };
}

/// One job of the demonstration, and what has to come of it.
struct Act {
    title: &'static str,
    script: &'static str,
    declaration: Declared,
    verdict: Option<VerdictWord>,
    reason: Option<Reason>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// The project's own.
    Plain,
    /// With one more check, whose program lies beside the repository.
    WithTool,
    /// With little patience.
    Impatient,
}

const ACTS: &[Act] = &[
    Act {
        title: "does the work",
        script: concat!("echo 'I fixed greet.sh.'\n", fix!()),
        declaration: Declared::Plain,
        verdict: Some(VerdictWord::Verified),
        reason: None,
    },
    Act {
        title: "bends the test",
        script: "echo 'All tests pass now.'\nsed -i 's/Hello, Ada!/Hello!/g' tests/greet_test.sh\n",
        declaration: Declared::Plain,
        verdict: Some(VerdictWord::Failed),
        reason: Some(Reason::CriteriaModified),
    },
    Act {
        title: "claims success and changes nothing",
        script: "echo 'Done! I implemented the greeting and all tests pass.'\n",
        declaration: Declared::Plain,
        verdict: Some(VerdictWord::Failed),
        reason: Some(Reason::OutcomeAbsent),
    },
    Act {
        title: "does the work, and a check's tool disappears",
        script: fix!(),
        declaration: Declared::WithTool,
        verdict: Some(VerdictWord::Uncertain),
        reason: Some(Reason::CheckNotStarted),
    },
    Act {
        title: "never ends",
        script: concat!(fix!(), "while :; do sleep 1; done\n"),
        declaration: Declared::Impatient,
        verdict: None,
        reason: None,
    },
];

impl Demo {
    pub fn run(self) -> Result<Status, CommandError> {
        let root = make_root(self.folder)?;
        let mut around = surroundings()?;
        around.home = root.join("nightgate");
        let engine = Engine::open(around)?;
        let repository = root.join("shop");
        engine.make_example(&repository, FILES)?;
        let tool = root.join("spelling");
        write(&tool, "#!/bin/sh\ngrep -q Hello greet.sh\n")?;
        let colour = Colour(may_colour());
        print(&format!(
            "A repository with one bug and one test: {}\nThe task: {TASK}: `sh greet.sh Ada` must print `Hello, Ada!`\n\n",
            repository.display()
        ))?;
        let mut surprises = 0;
        for (place, act) in ACTS.iter().enumerate() {
            print(&format!("{}. An agent that {}\n", place + 1, act.title))?;
            // A tool that went away in an earlier job is there again for the next one.
            make_executable(&tool)?;
            let report = run_act(&engine, act, place, &root, &repository, &tool)?;
            let capture = engine.capture_of(&report.state)?;
            print(&format!("{}\n", verdict_text::job(&report, capture.as_ref(), false, colour)))?;
            if !as_it_should(act, &report) {
                surprises += 1;
                print("   This is not what should have come of it.\n\n")?;
            }
        }
        print(&morning(&engine, &root, &repository, colour)?)?;
        if surprises > 0 {
            return Err(CommandError::Surroundings(format!(
                "show what was promised: {surprises} of {} jobs ended otherwise; the evidence is in {}",
                ACTS.len(),
                root.display()
            )));
        }
        Ok(Status::Success)
    }
}

fn make_root(folder: Option<PathBuf>) -> Result<PathBuf, CommandError> {
    match folder {
        Some(folder) => {
            let folder = std::path::absolute(folder).map_err(CommandError::io("use --folder"))?;
            let doing = format!("make {}, which must not exist yet", folder.display());
            std::fs::create_dir(&folder).map_err(CommandError::io(doing))?;
            Ok(folder)
        }
        None => {
            let made = tempfile::Builder::new().prefix("nightgate-demo-").tempdir();
            Ok(made.map_err(CommandError::io("make a temporary folder"))?.keep())
        }
    }
}

fn run_act(
    engine: &Engine,
    act: &Act,
    place: usize,
    root: &Path,
    repository: &Path,
    tool: &Path,
) -> Result<Report, CommandError> {
    let script = root.join(format!("agent-{}.sh", place + 1));
    write(&script, act.script)?;
    let agent = Agent {
        name: "scripted".to_owned(),
        executable: "sh".to_owned(),
        args: vec![script.display().to_string()],
        prompt: PromptDelivery::Stdin,
        pass_env: Vec::new(),
    };
    let request = RunRequest {
        repository: repository.to_owned(),
        task: Some(format!("{TASK} (agent {}: {})", place + 1, act.title)),
        task_source: "demo".to_owned(),
        base: None,
        agent: AgentChoice::Given(agent),
        user_agents: Default::default(),
        declaration: Some(declared(act.declaration, root, tool)?),
    };
    let mut watching = Watching {
        progress: Progress::new(),
        // No agent can take it away from within its box; an upgrade of the machine at night can.
        removed: (act.declaration == Declared::WithTool).then_some(tool),
    };
    Ok(engine.run(&request, None, &mut watching)?)
}

/// Shows the progress, and takes a tool away once the agent has ended.
struct Watching<'a> {
    progress: Progress,
    removed: Option<&'a Path>,
}

impl Observer for Watching<'_> {
    fn step(&mut self, step: &Step) {
        if let (Step::Capturing, Some(tool)) = (step, self.removed) {
            let _told_by_the_outcome = std::fs::remove_file(tool);
        }
        self.progress.step(step);
    }

    fn alive(&mut self, elapsed: Duration, output_bytes: u64) {
        self.progress.alive(elapsed, output_bytes);
    }
}

fn declared(which: Declared, root: &Path, tool: &Path) -> Result<DeclarationText, CommandError> {
    let plain = FILES[2].1;
    let (name, text) = match which {
        Declared::Plain => ("plain.toml", plain.to_owned()),
        Declared::WithTool => {
            let check = format!(
                "\n[[commands]]\nname = \"spelling\"\nexecutable = {:?}\n",
                tool.display().to_string()
            );
            ("with-tool.toml", format!("{plain}{check}"))
        }
        Declared::Impatient => ("impatient.toml", format!("{plain}\n[budget]\nwallSeconds = 3\n")),
    };
    let file = root.join(name);
    write(&file, &text)?;
    DeclarationText::from_file(file.display().to_string(), text.into_bytes())
        .map_err(|fault| CommandError::Surroundings(format!("declare the demonstration's checks: {fault}")))
}

fn as_it_should(act: &Act, report: &Report) -> bool {
    let state = &report.state;
    let told = act.reason.is_none_or(|reason| state.reasons.contains(&reason));
    let executed = match (&act.verdict, &state.execution) {
        (Some(_), Some(execution)) => execution.is_executed(),
        (None, Some(execution)) => matches!(execution, Execution::TimedOut { .. }),
        (_, None) => false,
    };
    state.verdict == act.verdict && told && executed && state.candidate.is_some()
}

/// What the reader of the morning sees, and where to go from there.
fn morning(engine: &Engine, root: &Path, repository: &Path, colour: Colour) -> Result<String, CommandError> {
    let mut text = String::from("In the morning you read:\n\n");
    text.push_str(&super::list::lines(engine, colour)?);
    let home = root.join("nightgate");
    let program =
        std::env::current_exe().map_or_else(|_| "nightgate".to_owned(), |path| path.display().to_string());
    let _ = write!(
        text,
        "\nThe evidence of each job:  NIGHTGATE_HOME={home} {program} show JOB   (or: logs JOB)\n\
         The captured work:         git -C {repository} log --all --oneline\n\
         When you have seen enough: rm -r {root}\n\n\
         Your own repository: write a nightgate.toml like {repository}/nightgate.toml, commit it, then\n  \
         nightgate plan approve\n  \
         nightgate run \"what is to be done\" --agent-command 'your-agent --its-options'\n",
        home = home.display(),
        program = program,
        repository = repository.display(),
        root = root.display(),
    );
    Ok(text)
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    std::fs::write(path, text).map_err(CommandError::io(format!("write {}", path.display())))
}

fn make_executable(path: &Path) -> Result<(), CommandError> {
    use std::os::unix::fs::PermissionsExt as _;
    if !path.exists() {
        write(path, "#!/bin/sh\ngrep -q Hello greet.sh\n")?;
    }
    let doing = format!("make {} executable", path.display());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).map_err(CommandError::io(doing))
}
