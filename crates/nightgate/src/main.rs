//! Speaks: the `nightgate` program. The only owner of arguments, environment, terminal and exit statuses.
//!
//! No logic: what is asked is handed to the engine, what the engine answers is printed.

mod command;
mod error;
#[cfg(test)]
mod example_tests;
mod output;
mod progress;
mod report;
mod surroundings;
mod verdict_text;

use std::process::ExitCode;

use clap::Parser;

use crate::error::Status;

/// Run coding agents unattended and judge their work from evidence.
///
/// Nightgate runs an agent on a task in a workspace of its own, captures what it left, and answers VERIFIED, FAILED or
/// UNCERTAIN from checks that it runs itself. The agent's own word decides nothing.
#[derive(Debug, Parser)]
#[command(name = "nightgate", version, max_term_width = 100, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: command::Command,
}

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    if words.nth(1).is_some_and(|word| word == surroundings::BOX_ARGUMENT) {
        return nightgate_engine::helper_main();
    }
    let status = std::panic::catch_unwind(|| match Arguments::try_parse() {
        Ok(arguments) => arguments.command.run(),
        Err(refusal) => error::refused_arguments(&refusal),
    });
    status.unwrap_or(Status::Bug).into()
}
