//! Whether a check could ever say no, as far as its text shows. Running it at base, which shows more, is not here.

mod answer;
mod outcome;
mod parse;
mod program;
mod script;
mod shell;
mod status;
mod word;

#[cfg(test)]
mod tests;

use super::Check;
use answer::{Loss, Way};
use outcome::Outcome;
use status::Statuses;

/// A check that can't fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this check can't fail ({why}), so its success would prove nothing: {instead}")]
pub struct CannotFail {
    why: String,
    instead: String,
}

/// Refuses a check that passes whatever the work is: `true`, `exit 0`, a shell string in which the status of every command
/// that could say no is thrown away (`|| true`, `; echo done`, `| tee log`).
///
/// A check is only refused where its text is understood and no way through it leads to a status that doesn't pass. What
/// isn't understood is accepted.
pub fn can_fail(check: &Check) -> Result<(), CannotFail> {
    let words: Vec<&str> =
        std::iter::once(check.executable.as_str()).chain(check.args.iter().map(String::as_str)).collect();
    let passing = Statuses::only(check.expect_exit);
    let always_passes = |outcome: &Outcome| {
        outcome.answer.statuses.is_within(passing) && !(check.expect_empty_output && outcome.prints)
    };
    // Preparing, cleaning up and showing what others made are taken to succeed where something decides about the work.
    let Ok(outcome) = outcome::walk(&words, false) else { return Ok(()) };
    if !always_passes(&outcome) {
        return Ok(());
    }
    if !outcome.is_open && !outcome::walk(&words, true).is_ok_and(|outcome| always_passes(&outcome)) {
        return Ok(());
    }
    Err(explain(check, outcome.loss))
}

fn explain(check: &Check, loss: Option<Loss>) -> CannotFail {
    let Some(Loss { command, way }) = loss else {
        let why = match (check.args.is_empty(), check.expect_exit) {
            (true, 0) => format!("`{}` succeeds whatever happens", check.executable),
            (false, 0) => "nothing in it could say no".to_owned(),
            (_, status) => format!("it ends with status {status} whatever happens"),
        };
        return CannotFail { why, instead: "declare the program whose exit status decides".to_owned() };
    };
    let (why, instead) = match way {
        Way::Overwritten { by, errexit: false } => (
            format!("the status of `{command}` is lost, as `{by}` comes after it"),
            "join them with `&&`, or begin with `set -e;`",
        ),
        Way::Overwritten { by, errexit: true } => (
            format!(
                "the status of `{command}` is lost, as `{by}` comes after it, and `set -e` doesn't hold left of `&&` and \
                 `||`, behind `!` or in a condition"
            ),
            "let the command that decides stand alone",
        ),
        Way::Excused { by } => (
            format!("`|| {by}` turns every failure of `{command}` into success"),
            "leave that out, or end it with `exit 1`",
        ),
        Way::Piped => (
            format!("the exit status of `{command}` is lost before `|`"),
            "run it with bash and begin with `set -o pipefail;`, or leave out the pipe",
        ),
        Way::Background => (
            format!("`{command}` is put in the background and nobody asks how it ended"),
            "leave out `&`, or end with `wait $!`",
        ),
        Way::Condition => (
            format!("whatever `{command}` says as a condition, both ways end with success"),
            "end with `exit 1` where it said no",
        ),
        Way::Substituted => (
            format!("the status of `{command}` is lost, as only its output is used"),
            "keep its output in a variable first, and join the two with `&&`",
        ),
        Way::Trapped => (
            format!("a trap ends the script with success whatever `{command}` says"),
            "leave `exit` out of the trap",
        ),
    };
    CannotFail { why, instead: instead.to_owned() }
}
