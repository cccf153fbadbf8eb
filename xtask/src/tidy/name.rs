//! Names that say nothing, for modules and files; and the numbers of design notes. What is in a file is `source`.

use std::collections::BTreeMap;

use super::Finding;
use super::lexer::Line;

#[cfg(test)]
mod tests;

/// Names that could hold anything, and so will, as a part of a name too: `git_utils` says as little as `utils`. A
/// plural counts as well.
const EMPTY_PARTS: [&str; 8] =
    ["manager", "service", "helper", "util", "utility", "common", "misc", "processor"];

/// Names that say nothing alone, and something beside another word.
const EMPTY_ALONE: [&str; 8] = ["base", "wrapper", "imp", "type", "model", "context", "data", "info"];

/// The faults in the names of a source file, of the folders above it, and of the modules that it declares.
pub(super) fn check_source(path: &str, lines: &[Line]) -> Vec<Finding> {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let mut findings: Vec<Finding> = inside
        .split('/')
        .map(|part| part.strip_suffix(".rs").unwrap_or(part))
        .filter_map(|part| fault(path, 1, part))
        .collect();
    for (index, line) in lines.iter().enumerate() {
        let mut words = super::source::words(&line.code).skip_while(|word| *word != "mod").skip(1);
        // `mod name;` is seen by its file; a body is seen here.
        if line.code.trim_end().ends_with('{') {
            findings.extend(words.next().and_then(|name| fault(path, index + 1, name)));
        }
    }
    findings
}

fn fault(path: &str, line: usize, name: &str) -> Option<Finding> {
    let empty = is_one_of(name, &EMPTY_ALONE) || name.split('_').any(|part| is_one_of(part, &EMPTY_PARTS));
    empty.then(|| {
        let what = format!("the name `{name}` says nothing");
        Finding::fault(path, line, what, "name it after what it does or holds")
    })
}

fn is_one_of(word: &str, names: &[&str]) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let singular_of_ies = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    names.iter().any(|name| *name == word || *name == singular || singular_of_ies.as_deref() == Some(name))
}

/// The faults in the names of design notes: `NNNN-title.md`, each number once.
pub(super) fn check_designs(folder: &str, names: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for name in names {
        let path = format!("{folder}/{name}");
        let Some(number) = design_number(name) else {
            let what = "a design note without a number";
            findings.push(Finding::fault(&path, 1, what, "name it NNNN-title.md, with the next free number"));
            continue;
        };
        if let Some(other) = first.insert(number, name) {
            let what = format!("the number {number} is taken by {other}");
            findings.push(Finding::fault(&path, 1, what, "take the next free number"));
        }
    }
    findings
}

fn design_number(name: &str) -> Option<&str> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let numbered = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    let titled = title.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    (numbered && titled && !title.is_empty()).then_some(number)
}
