//! `nightgate plan`: freezes, shows and approves plans.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use nightgate_core::Digest;
use nightgate_core::approval::ApprovedThing;
use nightgate_core::plan::Plan as FrozenPlan;
use nightgate_engine::PlanText;

use super::run::{declaration_in, read_declaration};
use crate::error::{CommandError, Status};
use crate::output::{harmless, print, print_bytes, say};
use crate::progress::Progress;
use crate::surroundings::{current_folder, open, open_for_reading, read_named};

/// Freeze, show and approve plans.
#[derive(Debug, Args)]
pub struct Plan {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Freeze a declaration: fix its base, criteria and tools, and run its checks at base
    ///
    /// Prints the plan's bytes; its digest goes to standard error.
    ///
    /// Example: nightgate plan freeze declaration.json --base main --out plan.json
    Freeze {
        /// A declaration in JSON or TOML
        file: PathBuf,
        /// The base commit; the declaration's, or HEAD, where it isn't given
        #[arg(long, value_name = "COMMIT")]
        base: Option<String>,
        /// Write the plan to this file, which must not exist
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Show what a plan demands
    Show {
        /// A frozen plan's file, or the digest of one that was frozen here
        plan: String,
        /// Print the plan's own bytes
        #[arg(long)]
        json: bool,
    },
    /// Say that you read these bytes and that they may be used
    ///
    /// Without FILE: nightgate.toml as the base commit holds it.
    ///
    /// Example: nightgate plan approve plan.json
    Approve {
        /// A frozen plan, or a declaration
        file: Option<PathBuf>,
        /// The commit whose nightgate.toml is meant; HEAD where it isn't given
        #[arg(long, value_name = "COMMIT", conflicts_with = "file")]
        base: Option<String>,
    },
}

impl Plan {
    pub fn run(self) -> Result<Status, CommandError> {
        match self.command {
            Command::Freeze { file, base, out } => freeze(file, base.as_deref(), out),
            Command::Show { plan, json } => show(&plan, json),
            Command::Approve { file, base } => approve(file, base.as_deref()),
        }
    }
}

fn freeze(file: PathBuf, base: Option<&str>, out: Option<PathBuf>) -> Result<Status, CommandError> {
    let text = read_declaration(file)?;
    let (engine, _) = open()?;
    let mut progress = Progress::new();
    let frozen = engine.freeze(&current_folder()?, &text, base, &mut progress);
    drop(progress);
    let frozen = frozen?;
    match &out {
        Some(path) => write_new(path, frozen.plan.bytes())?,
        None => print_bytes(frozen.plan.bytes())?,
    }
    say(&format!("plan {}", frozen.plan.digest()));
    for outcome in frozen.plan.content().at_base.iter().filter(|outcome| !outcome.passed) {
        say(&format!("at base, check `{}` fails already: {}", outcome.check, outcome.exit.describe()));
    }
    Ok(Status::Success)
}

/// Writes a file whole or not at all, and never over another.
fn write_new(path: &std::path::Path, bytes: &[u8]) -> Result<(), CommandError> {
    use std::io::Write as _;
    let doing = || format!("write {}", path.display());
    let mut file = std::fs::File::create_new(path).map_err(CommandError::io(doing()))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|source| {
        let _half_a_plan_is_none = std::fs::remove_file(path);
        CommandError::Io { doing: doing(), source }
    })
}

fn show(name: &str, json: bool) -> Result<Status, CommandError> {
    let plan = match name.parse::<Digest>() {
        Ok(digest) => open_for_reading()?.plan(&digest)?,
        Err(_) => {
            let bytes = read_named(name.as_ref())?;
            FrozenPlan::from_bytes(bytes).map_err(nightgate_engine::EngineError::from)?
        }
    };
    if json {
        print_bytes(plan.bytes())?;
        return Ok(Status::Success);
    }
    let approval = open_for_reading()?.approval(&plan.digest())?;
    print(&text_of(&plan, approval.as_ref()))?;
    Ok(Status::Success)
}

fn text_of(plan: &FrozenPlan, approval: Option<&nightgate_core::approval::Approval>) -> String {
    let content = plan.content();
    let terms = &content.terms;
    let list = |paths: &[nightgate_core::RepoPath]| match paths {
        [] => "-".to_owned(),
        paths => paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    };
    let approved = approval.map_or_else(
        || "no: nightgate plan approve FILE".to_owned(),
        |approval| format!("by {} ({})", approval.by, approval.how),
    );
    let mut lines = vec![
        format!("plan        {}", plan.digest()),
        format!("approved    {approved}"),
        format!("base        {}", content.base),
        format!("task        {}", terms.ticket.as_ref().map_or("-", |ticket| ticket.text.trim())),
        format!("changed     {}", list(&terms.changed_paths)),
        format!("allowed     {}", terms.allowed_paths.as_deref().map_or_else(|| "anything".to_owned(), list)),
        format!("protected   {}", list(&terms.protected_paths_unchanged)),
        format!("dependency  {}", list(&terms.dependency_files_unchanged)),
        format!("criteria    {}", list(&terms.criteria_paths)),
    ];
    lines.extend(content.criteria.iter().map(|entry| format!("            {}", entry.path)));
    for step in &terms.setup {
        lines.push(format!("setup       {}: {} {}", step.name, step.executable, step.args.join(" ")));
    }
    for check in &terms.commands {
        let role = if check.is_binding() { "required" } else { "advisory" };
        let at_base = plan.at_base(&check.name).map_or_else(
            || "not run at base".to_owned(),
            |outcome| {
                format!(
                    "{} at base ({})",
                    if outcome.passed { "passes" } else { "fails" },
                    outcome.exit.describe()
                )
            },
        );
        lines.push(format!("check       {}: {} {}", check.name, check.executable, check.args.join(" ")));
        lines.push(format!("            {role}, {} s, {at_base}", check.timeout_seconds));
    }
    let minimum = terms.isolation.minimum.as_str();
    lines.push(format!(
        "limits      {} s in all, {} s of silence, isolation at least {minimum}",
        terms.budget.wall_seconds, terms.budget.silence_seconds
    ));
    let mut text = harmless(&lines.join("\n"));
    text.push('\n');
    text
}

fn approve(file: Option<PathBuf>, base: Option<&str>) -> Result<Status, CommandError> {
    let (engine, _) = open()?;
    engine.recover(&mut Progress::new())?;
    let (digest, of, what) = match file {
        Some(file) => {
            let name = file.display().to_string();
            let bytes = read_named(&file)?;
            if PlanText::is_frozen(&bytes) {
                let plan = FrozenPlan::from_bytes(bytes).map_err(nightgate_engine::EngineError::from)?;
                (plan.digest(), ApprovedThing::Plan, name)
            } else {
                let text = declaration_in(&file, bytes)?;
                check(&text)?;
                (text.digest(), ApprovedThing::Declaration, name)
            }
        }
        None => {
            let text = engine.project_declaration(&current_folder()?, base)?;
            check(&text)?;
            (text.digest(), ApprovedThing::Declaration, text.origin)
        }
    };
    let approval = engine.approve(digest, of, "plan approve")?;
    print(&format!("{digest}  {}  approved by {} ({})\n", harmless(&what), approval.by, approval.how))?;
    Ok(Status::Success)
}

/// Nobody is led to approve what can't be used.
fn check(text: &nightgate_engine::DeclarationText) -> Result<(), CommandError> {
    let refuse = |source| {
        CommandError::Engine(nightgate_engine::EngineError::Declaration {
            origin: text.origin.clone(),
            source,
        })
    };
    text.read().map_err(refuse)?.settle().map_err(refuse)?;
    Ok(())
}
