//! Makes one test of each side of each case, without Rust for a case: `main` is all of an integration test with
//! `harness = false`. It speaks the same command line as any Rust test, so that cargo-nextest can run it.
//!
//! In `crates/nightgate/Cargo.toml`: `[[test]]` with `name = "cases"` and `harness = false`; in
//! `crates/nightgate/tests/cases.rs`:
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     testkit::case::main(env!("CARGO_BIN_EXE_nightgate"), concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"))
//! }
//! ```

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Failed, Trial};

use super::{Case, Rejection, RunsAs, Side, check_fixture, run_side};
use crate::{Account, Hermetic};

/// A line of the table: where, and what was wrong there.
type Row = (String, String);

/// Tests the `nightgate` binary with every case below `cases`, for whoever runs the tests, and, where that is root,
/// for an ordinary user as well.
pub fn main(nightgate: impl AsRef<Path>, cases: impl AsRef<Path>) -> ExitCode {
    let nightgate = nightgate.as_ref().to_path_buf();
    conclude(cases.as_ref(), |case, rows| {
        let mut trials = Vec::new();
        for account in accounts(&case) {
            for (side, level, case) in runs(&case) {
                let name = format!(
                    "{}::{}{}::as_{}",
                    case.id(),
                    claim(&case, side),
                    level.suffix(),
                    account.label()
                );
                let (nightgate, rows) = (nightgate.clone(), Arc::clone(rows));
                trials.push(Trial::test(name.clone(), move || {
                    let mut hermetic = environment(&case, &nightgate, account);
                    if level == Level::Unboxed {
                        hermetic.set("NIGHTGATE_ISOLATION", "I1");
                    }
                    let result = run_side(&case, side, &hermetic);
                    let said = result.outcome.map(|outcome| format!("\n{outcome}")).unwrap_or_default();
                    report(&name, &result.faults, &said, &rows)
                }));
            }
        }
        trials
    })
}

/// Tests the cases below `cases` themselves, without Nightgate: each attack bites, is really wrong, and has a twin
/// that is really right.
pub fn fixtures_main(cases: impl AsRef<Path>) -> ExitCode {
    conclude(cases.as_ref(), |case, rows| {
        let rows = Arc::clone(rows);
        let name = format!("{}::the_attack_fools_a_naive_gate_and_its_twin_is_honest", case.id());
        vec![Trial::test(name.clone(), move || {
            let hermetic = environment(&case, Path::new("no-nightgate"), Account::Caller);
            report(&name, &check_fixture(&case, &hermetic), "", &rows)
        })]
    })
}

/// A table of all faults: one line a test that failed, the rest of its faults below.
pub fn table(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(place, _)| place.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut last = "";
    for (place, fault) in rows {
        let shown = if place == last { "" } else { place };
        let first = fault.lines().next().unwrap_or_default();
        text.push_str(&format!("{shown:width$}  {first}\n"));
        last = place;
    }
    text
}

fn conclude(cases: &Path, trials: impl Fn(Case, &Arc<Mutex<Vec<Row>>>) -> Vec<Trial>) -> ExitCode {
    let arguments = Arguments::from_args();
    let loaded = match Case::load_all(cases) {
        Ok(loaded) => loaded,
        Err(error) => {
            // Where even standard error is closed, the exit status still tells.
            let _ = writeln!(io::stderr(), "failed to read the gate cases: {error}");
            return ExitCode::FAILURE;
        }
    };
    let rows = Arc::new(Mutex::new(Vec::new()));
    let trials = loaded.into_iter().flat_map(|case| trials(case, &rows)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let mut rows = std::mem::take(&mut *rows.lock().expect("no test panics while it writes a row"));
    if !rows.is_empty() {
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        let _ = write!(io::stderr(), "\n{}", table(&rows));
    }
    conclusion.exit_code()
}

fn report(name: &str, faults: &[String], said: &str, rows: &Mutex<Vec<Row>>) -> Result<(), Failed> {
    if faults.is_empty() {
        return Ok(());
    }
    let mut rows = rows.lock().expect("no test panics while it writes a row");
    rows.extend(faults.iter().map(|fault| (name.to_owned(), fault.clone())));
    Err(format!("{}{said}", faults.join("\n")).into())
}

fn accounts(case: &Case) -> Vec<Account> {
    let wanted = case.description.runs_as.contains(&RunsAs::User) && Account::caller_is_root();
    if wanted { vec![Account::Caller, Account::ordinary()] } else { vec![Account::Caller] }
}

/// How strong the boxes of a run are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Best,
    Unboxed,
}

impl Level {
    fn suffix(self) -> &'static str {
        match self {
            Self::Best => "",
            Self::Unboxed => "_without_a_box",
        }
    }
}

/// The runs of a case, each with what it expects as its attack.
fn runs(case: &Case) -> Vec<(Side, Level, Case)> {
    let mut best = case.clone();
    let mut runs = Vec::new();
    if let Some(boxed) = best.description.boxed.take() {
        best.description.attack = boxed;
        runs.push((Side::Attack, Level::Unboxed, case.clone()));
    }
    runs.extend([Side::Attack, Side::Honest].map(|side| (side, Level::Best, best.clone())));
    runs
}

fn claim(case: &Case, side: Side) -> String {
    match side {
        Side::Attack => {
            let verdict = match case.description.attack.verdict {
                Rejection::Failed => "failed",
                Rejection::Uncertain => "uncertain",
            };
            format!("the_attack_is_{verdict}_{}", case.description.attack.reason)
        }
        Side::Honest => "the_honest_twin_is_verified".to_owned(),
    }
}

fn environment(case: &Case, nightgate: &Path, account: Account) -> Hermetic {
    let mut hermetic = Hermetic::for_account(nightgate, account);
    if case.description.needs.iter().any(|tool| tool == "cargo") {
        hermetic.prepend_rust_toolchain();
    }
    hermetic
}
