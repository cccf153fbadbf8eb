//! `nightgate verify`: the gate alone.

use std::path::PathBuf;

use clap::Args;
use nightgate_core::Digest;
use nightgate_core::verdict::Verdict;
use nightgate_engine::{EngineError, PlanText, Subject, VerifyRequest};

use super::run::{declaration_in, delivered};
use crate::error::{CommandError, Status};
use crate::output::{may_colour, print, print_json, say};
use crate::progress::Progress;
use crate::report::JobDocument;
use crate::surroundings::{current_folder, open, read_named};
use crate::verdict_text::{self, Colour};

/// Judge a commit or the working tree by a plan, without running an agent.
///
/// FILE is a frozen plan, which needs --digest or an approval, or a declaration, which needs a base.
///
/// Exit status: 0 VERIFIED, 1 FAILED, 2 UNCERTAIN (also where the plan can't be used or the surroundings fail),
/// 64 arguments, 130 interrupted.
///
/// Example: nightgate verify declaration.json --base origin/main --commit HEAD
#[derive(Debug, Args)]
pub struct Verify {
    /// A frozen plan, or a declaration in JSON or TOML
    file: PathBuf,
    /// The commit that the work started from; for a declaration that doesn't say it
    #[arg(long, value_name = "COMMIT")]
    base: Option<String>,
    /// The digest that the frozen plan must have
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,
    /// Judge this commit; HEAD where neither this nor --worktree is given
    #[arg(long, value_name = "COMMIT", conflicts_with = "worktree")]
    commit: Option<String>,
    /// Judge the files of the working tree as they are
    #[arg(long)]
    worktree: bool,
    /// Run every check of a declaration at base too, not only those that must fail there
    #[arg(long)]
    base_checks: bool,
    /// A folder in the repository; the current one where it isn't given
    #[arg(long, value_name = "DIR")]
    repository: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub fn run(self) -> Status {
        let json = self.json;
        match self.work() {
            Ok(status) => status,
            Err(CommandError::Engine(fault)) if !matches!(fault, EngineError::Interrupted { .. }) => {
                answer_without_job(&fault, json)
            }
            Err(fault @ (CommandError::Io { .. } | CommandError::Surroundings(_))) => {
                let fault = EngineError::Environment { doing: "verify".to_owned(), why: fault.to_string() };
                answer_without_job(&fault, json)
            }
            Err(fault) => fault.report(),
        }
    }

    fn work(self) -> Result<Status, CommandError> {
        let plan = self.plan()?;
        let (engine, cancel) = open()?;
        let subject = match (self.commit, self.worktree) {
            (_, true) => Subject::Worktree,
            (Some(commit), false) => Subject::Commit(commit),
            (None, false) => Subject::Commit("HEAD".to_owned()),
        };
        let repository = match self.repository {
            Some(folder) => std::path::absolute(folder).map_err(CommandError::io("use --repository"))?,
            None => current_folder()?,
        };
        let request = VerifyRequest { repository, plan, subject, base_checks: self.base_checks };
        let mut progress = Progress::new();
        let report = engine.verify(&request, &mut progress);
        drop(progress);
        let report = report?;
        let Some(record) = &report.record else {
            return Err(CommandError::Surroundings("verify: it ended without a record".to_owned()));
        };
        let printed = if self.json {
            print_json(&JobDocument::of(&report, false, None))
        } else {
            print(&verdict_text::job(&report, None, false, Colour(may_colour())))
        };
        let status = if cancel.is_cancelled() { Status::Interrupted } else { record.verdict().word().into() };
        delivered(printed, status)
    }

    fn plan(&self) -> Result<PlanText, CommandError> {
        let bytes = read_named(&self.file)?;
        let refuse =
            |option: &str, why: &str| Err(CommandError::Usage(format!("{option} {why}: leave it out")));
        if PlanText::is_frozen(&bytes) {
            if self.base.is_some() {
                return refuse("--base", "doesn't go with a frozen plan, which holds its base");
            }
            if self.base_checks {
                return refuse(
                    "--base-checks",
                    "doesn't go with a frozen plan, which holds what was run at base",
                );
            }
            return Ok(PlanText::Frozen { bytes, digest: self.digest });
        }
        if let Some(wanted) = self.digest {
            // Whoever names a digest means exact bytes, whatever they turn out to be.
            let found = Digest::of(&bytes);
            if found != wanted {
                return Err(CommandError::Engine(EngineError::PlanChanged { found, wanted }));
            }
        }
        Ok(PlanText::Declared { text: declaration_in(&self.file, bytes)?, base: self.base.clone() })
    }
}

/// Answers UNCERTAIN where no job could be judged, with the reason.
pub fn answer_without_job(fault: &EngineError, json: bool) -> Status {
    let verdict = Verdict::unasked(fault.reason(), format!("failed to {fault}"));
    let status = verdict.word().into();
    let printed = if json {
        print_json(&JobDocument::without_job(&verdict))
    } else {
        print(&verdict_text::verdict_alone(&verdict, Colour(may_colour())))
    };
    if let Err(fault) = printed {
        say(&format!("nightgate: {fault}"));
    }
    status
}
