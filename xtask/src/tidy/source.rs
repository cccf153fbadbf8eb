//! What one Rust file must begin with, must not hold, and how long it may be. Its name is `name`.

use super::lexer::{self, Line};
use super::{Finding, name};

#[cfg(test)]
mod tests;

/// About this many lines, tests apart, fit into one head.
const LINES: usize = 600;

/// Ways of `std` that reach out of a function's arguments.
const OUTSIDE: [&str; 6] = ["fs", "process", "env", "net", "os", "thread"];

/// Names that read a clock wherever they come from.
const CLOCKS: [&str; 2] = ["SystemTime", "Instant"];

/// The faults and notices of one source file of a crate.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let lines = lexer::split(text);
    let is_test = is_test_file(path);
    let mut findings = name::check_source(path, &lines);
    if !is_test {
        findings.extend(check_header(path, text));
        findings.extend(check_length(path, &lines));
        if path.starts_with("crates/nightgate-core/") {
            findings.extend(check_purity(path, &lines));
        }
        if path.starts_with("crates/nightgate-store/") {
            findings.extend(check_starts_nothing(path, &lines));
        }
    }
    findings.extend(check_allow(path, &lines));
    findings.extend(check_comments(path, &lines));
    findings
}

/// The faults of a Rust file outside `src`, such as an integration test.
pub(super) fn check_marks(path: &str, text: &str) -> Vec<Finding> {
    let lines = lexer::split(text);
    let mut findings = check_allow(path, &lines);
    findings.extend(check_comments(path, &lines));
    findings
}

/// Whether the file holds only tests: `tests.rs`, or below a folder `tests`.
fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

fn check_header(path: &str, text: &str) -> Option<Finding> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    (!first.starts_with("//! ")).then(|| {
        let advice = "say in a `//!` line what it is for, and then what is not here";
        Finding::fault(path, 1, "the module has no header", advice)
    })
}

fn check_length(path: &str, lines: &[Line]) -> Option<Finding> {
    let end = lines.windows(2).position(|pair| {
        pair[0].code.trim() == "#[cfg(test)]"
            && pair[1].code.trim_start().starts_with("mod ")
            && pair[1].code.trim_end().ends_with('{')
    });
    let length = end.unwrap_or(lines.len());
    (length > LINES).then(|| {
        let what = format!("{length} lines without tests, more than {LINES}");
        Finding::notice(path, 1, what, "see whether it is two things")
    })
}

fn check_allow(path: &str, lines: &[Line]) -> Vec<Finding> {
    let forms = ["#[allow(", "#![allow("];
    each_line(lines)
        .filter(|(_, line)| {
            let packed: String = line.code.split_whitespace().collect();
            forms.iter().any(|form| packed.contains(form))
        })
        .map(|(number, _)| {
            let advice = "write `#[expect(.., reason = \"..\")]`, or repair what it hides";
            Finding::fault(path, number, "a lint is allowed", advice)
        })
        .collect()
}

fn check_comments(path: &str, lines: &[Line]) -> Vec<Finding> {
    // Written apart, so that this line isn't one of them.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
    each_line(lines)
        .filter_map(|(number, line)| {
            let mark = marks.iter().find(|mark| words(&line.comment).any(|word| word == **mark))?;
            Some(Finding::fault(path, number, format!("a {mark} in a comment"), "do it, or file it"))
        })
        .collect()
}

fn check_purity(path: &str, lines: &[Line]) -> Vec<Finding> {
    let mut findings =
        reaches(path, lines, &OUTSIDE, "core decides from its arguments; move it to host or store");
    for (number, line) in each_line(lines) {
        let mut fault =
            |what: String, advice: &str| findings.push(Finding::fault(path, number, what, advice));
        if let Some(clock) = CLOCKS.iter().find(|clock| words(&line.code).any(|word| word == **clock)) {
            fault(format!("core names the clock {clock}"), "take the time as an argument");
        }
        if words(&line.code).any(|word| word == "async" || word == "await") {
            fault("core is async".to_owned(), "decide with plain values; wait elsewhere");
        }
        if words(&line.code).any(|word| word == "rand" || word == "getrandom") {
            fault("core uses randomness".to_owned(), "take the bits as an argument");
        }
    }
    findings
}

fn check_starts_nothing(path: &str, lines: &[Line]) -> Vec<Finding> {
    reaches(path, lines, &["process"], "store remembers and starts nothing; move it to host")
}

/// The uses of `std::NAME` for each of `names`, also inside `use std::{..}` over several lines.
fn reaches(path: &str, lines: &[Line], names: &[&str], advice: &str) -> Vec<Finding> {
    let stream: Vec<(usize, &str)> = each_line(lines)
        .flat_map(|(number, line)| tokens(&line.code).map(move |token| (number, token)))
        .collect();
    let mut used = Vec::new();
    for (at, window) in stream.windows(3).enumerate() {
        match window {
            [(_, "std"), (_, "::"), (_, "{")] => used.extend(group_heads(&stream[at + 3..])),
            [(_, "std"), (_, "::"), head] => used.push(*head),
            _ => {}
        }
    }
    used.into_iter()
        .filter(|(_, head)| names.contains(head))
        .map(|(number, head)| Finding::fault(path, number, format!("std::{head} is used"), advice))
        .collect()
}

/// The first word of each path in a `use` group whose `{` was just read.
fn group_heads<'t>(stream: &[(usize, &'t str)]) -> Vec<(usize, &'t str)> {
    let mut heads = Vec::new();
    let mut depth = 1;
    let mut at_start = true;
    for (number, token) in stream {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ if at_start && depth == 1 => heads.push((*number, *token)),
            _ => {}
        }
        at_start = *token == ",";
        if depth == 0 {
            break;
        }
    }
    heads
}

fn each_line(lines: &[Line]) -> impl Iterator<Item = (usize, &Line)> {
    lines.iter().enumerate().map(|(index, line)| (index + 1, line))
}

/// The words of a text: letters, digits and underscores.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !is_word(character)).filter(|word| !word.is_empty())
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Words, `::` and single marks.
fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code.trim_start();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if is_word(first) {
            rest.find(|character: char| !is_word(character)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        rest = after.trim_start();
        Some(token)
    })
}
