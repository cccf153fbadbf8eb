//! `nightgate list`: all jobs.

use std::fmt::Write as _;

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use nightgate_engine::{Engine, JobView};

use crate::error::{CommandError, Status};
use crate::output::{harmless, may_colour, print, print_json};
use crate::report::{DamagedLine, JobLine, ListDocument};
use crate::surroundings::open_for_reading;
use crate::verdict_text::Colour;

/// List jobs, the newest first.
///
/// Example: nightgate list
#[derive(Debug, Args)]
pub struct List {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn run(self) -> Result<Status, CommandError> {
        let engine = open_for_reading()?;
        if self.json {
            let (mut jobs, mut damaged) = (Vec::new(), Vec::new());
            for job in engine.jobs()? {
                match job {
                    Ok(view) => jobs.push(JobLine::of(&view)),
                    Err(fault) => {
                        damaged.push(DamagedLine { job: fault.job.clone(), why: fault.to_string() })
                    }
                }
            }
            print_json(&ListDocument::new(jobs, damaged))?;
        } else {
            print(&lines(&engine, Colour(may_colour()))?)?;
        }
        Ok(Status::Success)
    }
}

/// The list as a person reads it.
pub fn lines(engine: &Engine, colour: Colour) -> Result<String, CommandError> {
    let jobs = engine.jobs()?;
    if jobs.is_empty() {
        return Ok("no jobs yet: `nightgate run` makes one, `nightgate demo` shows five\n".to_owned());
    }
    let mut text = String::new();
    for job in jobs {
        match job {
            Ok(view) => line(&mut text, &view, colour),
            Err(fault) => {
                let _ = writeln!(text, "{}  damaged    {}", harmless(&fault.job), harmless(&fault.why));
            }
        }
    }
    Ok(text)
}

fn line(text: &mut String, view: &JobView, colour: Colour) {
    let state = &view.state;
    let word = state.verdict.map_or_else(
        || format!("{:<9}", "-"),
        |word| {
            let padding = " ".repeat(9 - word.as_str().len());
            format!("{}{padding}", colour.verdict(word))
        },
    );
    let mut standing = state.phase.word().to_owned();
    if view.is_interrupted() {
        standing.push_str(" (interrupted)");
    }
    let why = match (&state.execution, state.reasons.first()) {
        (_, Some(reason)) => format!("  {reason}"),
        (Some(execution), None) if !execution.is_executed() => format!("  {}", execution.word()),
        (Some(_) | None, None) => String::new(),
    };
    let time = moment(state.created_ms);
    let _ = writeln!(text, "{}  {time}  {word}  {standing}{why}  {}", state.id, harmless(&state.title));
}

/// A moment in the reader's own time zone.
fn moment(milliseconds: u64) -> String {
    let timestamp = i64::try_from(milliseconds).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    timestamp.map_or_else(
        || "-".to_owned(),
        |timestamp| timestamp.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
