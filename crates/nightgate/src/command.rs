//! One file for each command; its help is its doc comment.

mod demo;
mod doctor;
mod list;
mod logs;
mod plan;
mod run;
mod show;
mod verify;

use clap::Subcommand;

use crate::error::Status;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show five real jobs in a repository made for it: what the gate says, and why
    Demo(demo::Demo),
    /// Show which isolation levels this machine reaches, and why not the others
    Doctor(doctor::Doctor),
    /// Run an agent on a task and judge what it leaves
    Run(run::Run),
    /// Judge a commit or the working tree by a plan, without running an agent
    Verify(verify::Verify),
    /// Freeze, show and approve plans
    Plan(plan::Plan),
    /// List jobs, the newest first
    List(list::List),
    /// Show one job: its verdict, gates and evidence
    Show(show::Show),
    /// Print what a job's agent and checks wrote
    Logs(logs::Logs),
}

impl Command {
    /// Carries out the command.
    pub fn run(self) -> Status {
        let done = match self {
            Self::Demo(demo) => demo.run(),
            Self::Doctor(doctor) => doctor.run(),
            Self::Run(run) => return run.run(),
            Self::Verify(verify) => return verify.run(),
            Self::Plan(plan) => plan.run(),
            Self::List(list) => list.run(),
            Self::Show(show) => show.run(),
            Self::Logs(logs) => logs.run(),
        };
        done.unwrap_or_else(|fault| fault.report())
    }
}
