//! Freezes a plan: resolves the base, reads the criteria, finds the tools, runs the checks at base.

use std::path::PathBuf;

use nightgate_core::declaration::{Check, DeclarationError, Refusal, Terms};
use nightgate_core::evidence::{Above, CheckRun, Exit, Stream};
use nightgate_core::isolation::Enforcement;
use nightgate_core::plan::{AtBase, DeclarationSource, FreezeFacts, Plan};
use nightgate_core::tree::Listing;
use nightgate_core::{CommitId, JobId, TreeId};
use nightgate_host::base_store::BaseStore;
use nightgate_host::repository::{BaselineError, RepositoryError, UserRepository};
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::error::EngineError;
use crate::home::{JobFolder, make_folder};
use crate::program::{Programs, is_in_tree};
use crate::project::{settle, short};
use crate::request::DeclarationText;
use crate::room::{RoomRequest, Side};
use crate::step::{Observer, Step};

/// A plan that was frozen, with what of freezing is no part of it.
#[derive(Debug)]
pub struct Frozen {
    /// The plan.
    pub plan: Plan,
    /// What happened on the way.
    pub record: FreezeRecord,
    /// The programs as they were found, for the attempt that follows at once.
    pub(crate) programs: Programs,
}

/// What freezing saw beside what the plan keeps: durations, logs, what was enforced. Kept by the plan's digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FreezeRecord {
    /// The checks at base.
    pub checks: Vec<CheckRun>,
    /// What was enforced while they ran.
    pub capabilities: Vec<Enforcement>,
    /// Where each tool was found.
    pub tools: Vec<(String, String)>,
    /// What lay above the clean rooms while they ran; each verdict says so again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Above>,
}

/// Which checks are run at base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseChecks {
    /// All of them.
    All,
    /// Those that have to fail there.
    MustFail,
}

/// A base in Nightgate's own keeping.
pub(crate) struct Base {
    pub(crate) store: BaseStore,
    pub(crate) commit: CommitId,
    pub(crate) tree: TreeId,
    pub(crate) listing: Listing,
}

impl Engine {
    /// Brings the base into the project's store of bases.
    pub(crate) fn import_base(
        &self,
        user: &UserRepository,
        commit: &CommitId,
        observer: &mut dyn Observer,
    ) -> Result<Base, EngineError> {
        observer.step(&Step::Importing);
        let doing = || format!("import the base {}", short(commit));
        let project = user.project_id().map_err(|fault| EngineError::environment(doing(), fault))?;
        let folder = self.home.bases(&project);
        if let Some(above) = folder.parent() {
            make_folder(above)?;
        }
        let git = self.git()?;
        let import = || -> Result<Base, RepositoryError> {
            let store = BaseStore::open(git, &folder, user.object_format())?;
            store.import(user, commit)?;
            let tree = store.repository().tree(commit)?;
            let listing = store.repository().listing(&tree)?;
            Ok(Base { store, commit: commit.clone(), tree, listing })
        };
        import().map_err(|fault| EngineError::environment(doing(), fault))
    }

    /// Fixes everything that defines success.
    pub(crate) fn freeze_terms(
        &self,
        job: &JobId,
        terms: Terms,
        source: DeclarationSource,
        base: &Base,
        base_checks: BaseChecks,
        observer: &mut dyn Observer,
    ) -> Result<Frozen, EngineError> {
        let refused = |why: String| EngineError::environment("freeze the plan", why);
        let repository = base.store.repository();
        let criteria =
            repository.criteria_baseline(&base.commit, &terms.criteria_paths).map_err(refused_criteria)?;
        let folder = JobFolder::new(self.home.job(job));
        make_folder(&folder.logs())?;
        // Version files of the project choose a toolchain; they are read from base, never from a working tree.
        let files = self.version_files(base, &folder)?;
        let programs = Programs::find(self, &terms, &files);
        let chosen: Vec<&Check> = terms
            .commands
            .iter()
            .filter(|check| base_checks == BaseChecks::All || check.must_fail_on_base)
            .collect();
        let mut record = FreezeRecord {
            checks: Vec::new(),
            capabilities: Vec::new(),
            tools: programs.places(),
            above: Vec::new(),
        };
        if !chosen.is_empty() {
            for check in &chosen {
                observer.step(&Step::CheckAtBase(check.name.clone()));
            }
            let side = Side { tree: &base.tree, listing: &base.listing };
            let request = RoomRequest {
                job,
                repository,
                terms: &terms,
                programs: &programs,
                checks: chosen,
                base: side,
                candidate: side,
                logs: folder.logs(),
                log_prefix: "base",
            };
            let facts = self.run_in_rooms(&request, observer)?;
            if let Some(fault) = facts.room.fault {
                return Err(refused(fault));
            }
            if let Some(step) = facts.room.setup.iter().find(|step| !step.exit.is_success()) {
                return Err(refused(format!(
                    "setup step `{}` fails at base: {}: {}",
                    step.name,
                    step.exit.describe(),
                    self.last_words(&step.stdout, &step.stderr)
                )));
            }
            for run in &facts.checks {
                if let Some(why) = unusable_at_base(run, &terms) {
                    let words = self.last_words(&run.stdout, &run.stderr);
                    return Err(refused(format!("check `{}` at base: {why}{words}", run.name)));
                }
            }
            if !facts.room.above.is_empty() {
                observer.step(&Step::InfluenceAbove(facts.room.above.clone()));
            }
            record.above = facts.room.above;
            record.checks = facts.checks;
            record.capabilities = facts.enforcements;
        }
        let at_base = record.checks.iter().map(|run| at_base(run, &terms)).collect();
        let facts = FreezeFacts {
            base: base.commit.clone(),
            base_tree: base.tree.clone(),
            declaration: source,
            criteria,
            tools: programs.frozen(),
            at_base,
        };
        let plan = Plan::freeze(terms, facts)
            .map_err(|source| EngineError::Declaration { origin: "the declaration".to_owned(), source })?;
        self.keep_plan(&plan, &record)?;
        Ok(Frozen { plan, record, programs })
    }

    /// Keeps a plan's bytes and the record of its freezing.
    fn keep_plan(&self, plan: &Plan, record: &FreezeRecord) -> Result<(), EngineError> {
        let keep = |bytes: &[u8]| {
            self.blobs.put(bytes).map_err(|fault| EngineError::environment("keep the plan", fault))
        };
        keep(plan.bytes())?;
        let bytes =
            serde_json::to_vec(record).map_err(|fault| EngineError::environment("keep the plan", fault))?;
        let record = keep(&bytes)?;
        Ok(self.store.keep_freeze(&plan.digest(), &record)?)
    }

    /// Freezes a declaration for a person who wants the plan alone.
    pub fn freeze(
        &self,
        repository: &std::path::Path,
        text: &DeclarationText,
        base: Option<&str>,
        observer: &mut dyn Observer,
    ) -> Result<Frozen, EngineError> {
        self.recover(observer)?;
        let user = self.discover(repository)?;
        let (terms, declared) = settle(text, None)?;
        let commit = self.resolve(&user, base.or(declared.as_deref()).unwrap_or("HEAD"))?;
        let base = self.import_base(&user, &commit, observer)?;
        let job = self.new_job_id()?;
        let _ours = self.try_lock(&job)?;
        let frozen = self.freeze_terms(&job, terms, text.source(), &base, BaseChecks::All, observer);
        self.remove_folder_of(&job)?;
        frozen
    }

    /// A folder with the files of base that choose a toolchain, and nothing else.
    pub(crate) fn version_files(&self, base: &Base, folder: &JobFolder) -> Result<PathBuf, EngineError> {
        const FILES: &[&str] =
            &["rust-toolchain.toml", "rust-toolchain", ".python-version", ".nvmrc", ".node-version"];
        let into = folder.root().join("versions");
        make_folder(&into)?;
        for name in FILES {
            let Ok(path) = name.parse() else { continue };
            if !base.listing.contains_key(&path) {
                continue;
            }
            // One that can't be read chooses nothing; the check itself will say what it misses.
            if let Ok(Some(bytes)) = base.store.repository().read_file(&base.commit, &path, 64 * 1024) {
                let file = into.join(name);
                std::fs::write(&file, bytes).map_err(|source| EngineError::file("write", &file, source))?;
            }
        }
        Ok(into)
    }

    /// The end of what a program wrote, for a message.
    fn last_words(&self, stdout: &Stream, stderr: &Stream) -> String {
        self.last_lines(stdout, stderr).iter().map(|line| format!("\n    {line}")).collect()
    }

    /// The last lines of standard error, or of standard output where there are none. A log that can't be read has none.
    pub(crate) fn last_lines(&self, stdout: &Stream, stderr: &Stream) -> Vec<String> {
        const LINES: usize = 5;
        const LONGEST: usize = 200;
        let log = stderr.log.as_ref().or(stdout.log.as_ref());
        let Some(bytes) = log.and_then(|digest| self.blobs.get(digest).ok()) else { return Vec::new() };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<String> = text
            .trim_end()
            .lines()
            .rev()
            .take(LINES)
            .map(|line| line.chars().take(LONGEST).collect())
            .collect();
        lines.reverse();
        lines
    }
}

fn refused_criteria(fault: BaselineError) -> EngineError {
    match fault {
        BaselineError::Uncommitted(uncommitted) => {
            let refusal = Refusal { key: "criteriaPaths".to_owned(), text: uncommitted.to_string() };
            let source = DeclarationError::Refused(vec![refusal]);
            EngineError::Declaration { origin: "the declaration".to_owned(), source }
        }
        BaselineError::Repository(fault) => EngineError::environment("read the criteria", fault),
    }
}

/// Why a check's outcome at base makes the plan unusable. That it says no is allowed, and that its program is a file
/// which the job has yet to make: either may be the very job.
fn unusable_at_base(run: &CheckRun, terms: &Terms) -> Option<String> {
    let in_tree = terms.commands.iter().any(|check| check.name == run.name && is_in_tree(&check.executable));
    match &run.exit {
        Exit::NotStarted { .. } if in_tree => None,
        Exit::NotStarted { .. } | Exit::Lost { .. } | Exit::NotRun { .. } | Exit::Killed { .. } => {
            Some(run.exit.describe())
        }
        Exit::Exited { .. } | Exit::Signalled { .. } | Exit::TimedOut { .. } | Exit::Cancelled => None,
    }
}

fn at_base(run: &CheckRun, terms: &Terms) -> AtBase {
    let check = terms.commands.iter().find(|check| check.name == run.name);
    AtBase {
        check: run.name.clone(),
        exit: run.exit.clone(),
        passed: check.is_some_and(|check| check.passes(run)),
    }
}
