//! `nightgate show`: one job.

use clap::Args;

use crate::error::{CommandError, Status};
use crate::output::{may_colour, print, print_bytes, print_json};
use crate::report::JobDocument;
use crate::surroundings::open_for_reading;
use crate::verdict_text::{self, Colour};

/// Show one job: its verdict, gates and evidence.
///
/// The verdict is computed again from the record, and a record that says otherwise is refused.
///
/// Example: nightgate show j-4f7k
#[derive(Debug, Args)]
pub struct Show {
    /// The job's id, or the beginning of it
    job: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print the record's own bytes: plan, evidence and verdict, for whoever wants to judge again
    #[arg(long, conflicts_with = "json")]
    record: bool,
}

impl Show {
    pub fn run(self) -> Result<Status, CommandError> {
        let engine = open_for_reading()?;
        let (view, report) = engine.show(&engine.find_job(&self.job)?)?;
        if self.record {
            let Some(digest) = &report.state.record else {
                let text = format!("job {} has no record: it was not judged", report.state.id);
                return Err(CommandError::Surroundings(format!("show the record: {text}")));
            };
            print_bytes(&engine.blob(digest)?)?;
            return Ok(Status::Success);
        }
        let interrupted = view.is_interrupted();
        let capture = engine.capture_of(&report.state)?;
        if self.json {
            print_json(&JobDocument::of(&report, interrupted, capture.as_ref()))?;
        } else {
            print(&verdict_text::job(&report, capture.as_ref(), interrupted, Colour(may_colour())))?;
        }
        Ok(Status::Success)
    }
}
