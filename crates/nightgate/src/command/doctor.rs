//! `nightgate doctor`: what this machine can do.

use std::fmt::Write as _;

use clap::Args;
use nightgate_core::isolation::IsolationLevel;
use nightgate_engine::Ability;

use crate::error::{CommandError, Status};
use crate::output::{harmless, print, print_json};
use crate::report::DoctorDocument;
use crate::surroundings::{open_for_reading, surroundings};

/// Show which isolation levels this machine reaches, and why not the others.
///
/// Builds each kind of box around a small program that tries to break out of it, and removes it again.
///
/// Example: nightgate doctor
#[derive(Debug, Args)]
pub struct Doctor {
    /// Print one JSON document, with everything that was tried
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub fn run(self) -> Result<Status, CommandError> {
        let strongest = surroundings()?.strongest;
        let abilities = open_for_reading()?.abilities()?;
        if self.json {
            print_json(&DoctorDocument::new(&abilities, strongest))?;
        } else {
            print(&lines(&abilities))?;
        }
        Ok(Status::Success)
    }
}

fn lines(abilities: &[Ability]) -> String {
    let mut text = String::new();
    for ability in abilities {
        let word = if ability.why_not.is_none() { "yes" } else { "no" };
        let _ = writeln!(text, "{}  {word:<4} {}", ability.level.as_str(), ability.level.summary());
        for more in ability.why_not.as_deref().into_iter().chain(ability.hint) {
            let _ = writeln!(text, "         {}", harmless(more));
        }
    }
    let _ = writeln!(text, "I1  yes  {}", IsolationLevel::I1.summary());
    text
}
