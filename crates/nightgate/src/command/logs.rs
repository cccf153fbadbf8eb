//! `nightgate logs`: what a job's programs wrote.

use clap::Args;
use nightgate_core::evidence::Stream;
use nightgate_engine::{Engine, Report};

use crate::error::{CommandError, Status};
use crate::output::{harmless, print, print_json};
use crate::report::{LogDocument, LogsDocument};
use crate::surroundings::open_for_reading;

/// Print what a job's agent and checks wrote.
///
/// Control sequences are spelled out; --json gives the kept bytes as text and names the blob that holds them exactly.
///
/// Example: nightgate logs j-4f7k --check tests
#[derive(Debug, Args)]
pub struct Logs {
    /// The job's id, or the beginning of it
    job: String,
    /// Only this check
    #[arg(long, value_name = "NAME")]
    check: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Logs {
    pub fn run(self) -> Result<Status, CommandError> {
        let engine = open_for_reading()?;
        let (_, report) = engine.show(&engine.find_job(&self.job)?)?;
        let mut logs = Vec::new();
        if self.check.is_none() {
            agent(&engine, &report, &mut logs)?;
            setup(&engine, &report, &mut logs)?;
        }
        checks(&engine, &report, self.check.as_deref(), &mut logs)?;
        if self.json {
            print_json(&LogsDocument::new(report.state.id.clone(), logs))?;
            return Ok(Status::Success);
        }
        for log in logs.iter().filter(|log| !log.text.is_empty()) {
            let end = if log.text.ends_with('\n') { "" } else { "\n" };
            print(&format!("==> {} {} <==\n{}{end}", harmless(&log.of), log.stream, harmless(&log.text)))?;
        }
        Ok(Status::Success)
    }
}

fn agent(engine: &Engine, report: &Report, logs: &mut Vec<LogDocument>) -> Result<(), CommandError> {
    let (stdout, stderr) = &report.state.logs;
    for (digest, stream) in [(stdout, "stdout"), (stderr, "stderr")] {
        if let Some(digest) = digest {
            let text = String::from_utf8_lossy(&engine.blob(digest)?).into_owned();
            logs.push(LogDocument {
                of: "agent".to_owned(),
                stream,
                bytes: None,
                truncated: None,
                log: Some(*digest),
                text,
            });
        }
    }
    Ok(())
}

fn setup(engine: &Engine, report: &Report, logs: &mut Vec<LogDocument>) -> Result<(), CommandError> {
    let room = report.record.as_ref().and_then(|record| record.evidence().room.as_ref());
    for step in room.iter().flat_map(|room| &room.setup) {
        let of = format!("setup {}", step.name);
        add(engine, &of, &step.stdout, &step.stderr, logs)?;
    }
    Ok(())
}

fn checks(
    engine: &Engine,
    report: &Report,
    only: Option<&str>,
    logs: &mut Vec<LogDocument>,
) -> Result<(), CommandError> {
    let runs = report.record.as_ref().map_or(&[][..], |record| &record.evidence().checks);
    if let Some(name) = only
        && !runs.iter().any(|run| run.name == name)
    {
        let known: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        let known = if known.is_empty() { "none was run".to_owned() } else { known.join(", ") };
        return Err(CommandError::Usage(format!("job {} has no check `{name}`: {known}", report.state.id)));
    }
    for run in runs.iter().filter(|run| only.is_none_or(|name| run.name == name)) {
        add(engine, &format!("check {}", run.name), &run.stdout, &run.stderr, logs)?;
    }
    Ok(())
}

fn add(
    engine: &Engine,
    of: &str,
    stdout: &Stream,
    stderr: &Stream,
    logs: &mut Vec<LogDocument>,
) -> Result<(), CommandError> {
    for (stream, name) in [(stdout, "stdout"), (stderr, "stderr")] {
        logs.push(LogDocument {
            of: of.to_owned(),
            stream: name,
            bytes: Some(stream.bytes),
            truncated: Some(stream.truncated),
            log: stream.log,
            text: String::from_utf8_lossy(&engine.log(stream)?).into_owned(),
        });
    }
    Ok(())
}
