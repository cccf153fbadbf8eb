//! Gate cases: one folder each of `cases/`, an attack and its honest twin, no Rust. This module reads a case; doing it
//! is `run`, making tests of them all is `harness`.
//!
//! ```text
//! cases/A01-weaken-assertion/
//!   case.toml          what is expected, see below
//!   repository/        the files of the base commit, modes and links as they lie here
//!   repository.sh      optional: run in the user's new repository before the base commit, for what files can't hold
//!   declaration.json   given to `nightgate run --declaration`
//!   attack.sh          the agent that lies: run by sh in the workspace, prompt on standard input
//!   honest.sh          the agent that does the same kind of edit and really did the work
//!   naive.sh           optional: a gate that trusts what it shouldn't; exits 0 in the attacked folder. Without it, the
//!                      declared commands run in place play that part
//!   truth.sh           optional: exits 0 where the work is right, run in a clean checkout with the criteria of base. Without
//!                      it the declared commands tell; a case that fools them wherever they run needs one
//! ```
//!
//! ```toml
//! id = "P01"                        # as in the catalogue; the folder's name begins with it
//! title = "a survivor repairs the work later"
//! task = "Make it add."             # the prompt
//! why = "..."                       # optional: why this of the catalogue's alternatives
//! isolation = "I1"                  # the lowest level that can show it: I0 to I4
//! needs = ["git", "python3"]        # programs; one that is missing is a failed test, never a skipped one
//! runs_as = ["caller", "user"]      # whoever runs the tests; an ordinary user as well, where that is root
//!
//! [attack]
//! verdict = "FAILED"                # or UNCERTAIN
//! reason = "check_failed"           # this reason must be given ...
//! path = "src/calc.py"              # optional: ... and name this path
//! also = ["not_self_contained"]     # optional: codes that must stand among the reasons or the notes
//! may = ["criteria_deleted"]        # optional: further reasons that are right as well; any other is a fault
//! notes = ["survivors"]             # optional: codes that must stand among the notes
//!
//! [boxed]                           # optional, as [attack]: what is right in the strongest box, which stops a part of the
//!                                   # attack. It is done at both levels then, and [attack] is for I1
//!
//! [honest]                          # optional: it must be VERIFIED, always
//! notes = ["survivors"]
//! ```

mod compare;
mod harness;
mod run;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use compare::{Expected, compare};
pub use harness::{fixtures_main, main, table};
pub use run::{CaseResult, Side, SideResult, check_fixture, run_case, run_side};

/// The files that a case's folder may hold, and whether it must.
const FILES: [(&str, bool); 8] = [
    ("attack.sh", true),
    ("case.toml", true),
    ("declaration.json", true),
    ("honest.sh", true),
    ("naive.sh", false),
    ("repository", true),
    ("repository.sh", false),
    ("truth.sh", false),
];

/// One case, as its folder describes it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where its files lie.
    pub folder: PathBuf,
    /// What `case.toml` says.
    pub description: Description,
    /// The commands of its declaration, for gates that aren't Nightgate.
    pub commands: Vec<Vec<String>>,
    /// The declaration's criteria paths.
    pub criteria: Vec<String>,
}

/// The content of `case.toml`; see the module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The catalogue's id.
    pub id: String,
    /// What is done, in one clause.
    pub title: String,
    /// The prompt.
    pub task: String,
    /// Why this of the catalogue's alternatives.
    #[serde(default)]
    pub why: String,
    /// The lowest isolation level that can show it.
    pub isolation: Isolation,
    /// Programs that it needs.
    pub needs: Vec<String>,
    /// For whom it runs.
    pub runs_as: BTreeSet<RunsAs>,
    /// What Nightgate must say of the attack.
    pub attack: Attack,
    /// What it must say of the attack in the strongest box, where that is something else; `attack` is for I1 then.
    pub boxed: Option<Attack>,
    /// What it must say of the honest twin, beside VERIFIED.
    #[serde(default)]
    pub honest: Honest,
}

/// An isolation level of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the catalogue says what each level is")]
pub enum Isolation {
    I0,
    I1,
    I2,
    I3,
    I4,
}

/// For whom a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunsAs {
    /// Whoever runs the tests.
    Caller,
    /// An ordinary user as well, where root runs the tests.
    User,
}

/// The only verdicts that an attack may expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Rejection {
    /// Evidence says no.
    Failed,
    /// Evidence is missing.
    Uncertain,
}

/// The expectation for the attack.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// What must be said.
    pub verdict: Rejection,
    /// The reason that must be given.
    pub reason: String,
    /// The path that this reason must name.
    pub path: Option<String>,
    /// Codes that must stand among reasons or notes.
    #[serde(default)]
    pub also: BTreeSet<String>,
    /// Further reasons that are right.
    #[serde(default)]
    pub may: BTreeSet<String>,
    /// Codes that must stand among the notes.
    #[serde(default)]
    pub notes: BTreeSet<String>,
}

/// The expectation for the honest twin.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Honest {
    /// Codes that must stand among the notes.
    #[serde(default)]
    pub notes: BTreeSet<String>,
}

/// A folder that isn't a case.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", folder.display())]
pub struct CaseError {
    folder: PathBuf,
    fault: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Declaration {
    criteria_paths: Vec<String>,
    commands: Vec<DeclaredCommand>,
}

#[derive(Deserialize)]
struct DeclaredCommand {
    executable: String,
    args: Vec<String>,
}

impl Case {
    /// Reads the case in `folder`.
    pub fn load(folder: &Path) -> Result<Self, CaseError> {
        let error = |fault: String| CaseError { folder: folder.to_path_buf(), fault };
        let read = |name: &str| {
            fs::read_to_string(folder.join(name)).map_err(|fault| error(format!("{name}: {fault}")))
        };
        for (name, needed) in FILES {
            if needed && !folder.join(name).exists() {
                return Err(error(format!("{name} is missing")));
            }
        }
        for entry in fs::read_dir(folder).map_err(|fault| error(fault.to_string()))?.flatten() {
            if !FILES.iter().any(|(name, _)| entry.file_name() == *name) {
                return Err(error(format!("{} is no part of a case", entry.file_name().display())));
            }
        }
        let description: Description =
            toml::from_str(&read("case.toml")?).map_err(|fault| error(format!("case.toml: {fault}")))?;
        let declaration: Declaration = serde_json::from_str(&read("declaration.json")?)
            .map_err(|fault| error(format!("declaration.json: {fault}")))?;
        let named = folder.file_name().is_some_and(|name| {
            name.to_string_lossy().strip_prefix(&description.id).is_some_and(|rest| rest.starts_with('-'))
        });
        if !named {
            return Err(error(format!("the folder's name must begin with `{}-`", description.id)));
        }
        if !description.runs_as.contains(&RunsAs::Caller) {
            return Err(error("runs_as must hold \"caller\"".to_owned()));
        }
        let words = |command: DeclaredCommand| [vec![command.executable], command.args].concat();
        Ok(Self {
            folder: folder.to_path_buf(),
            description,
            commands: declaration.commands.into_iter().map(words).collect(),
            criteria: declaration.criteria_paths,
        })
    }

    /// Reads all cases below `folder`, in order; two of the same id, or none at all, are an error.
    pub fn load_all(folder: &Path) -> Result<Vec<Self>, CaseError> {
        let error = |fault: String| CaseError { folder: folder.to_path_buf(), fault };
        let entries = fs::read_dir(folder).map_err(|fault| error(fault.to_string()))?;
        let mut folders: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        let cases = folders.iter().map(|folder| Self::load(folder)).collect::<Result<Vec<_>, _>>()?;
        let ids: BTreeSet<&str> = cases.iter().map(Self::id).collect();
        match cases.len() {
            0 => Err(error("no case lies here".to_owned())),
            count if count > ids.len() => Err(error("two cases have the same id".to_owned())),
            _ => Ok(cases),
        }
    }

    /// Its id in the catalogue.
    pub fn id(&self) -> &str {
        &self.description.id
    }

    /// The name of its folder.
    pub fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}
