//! ARCHITECTURE.md stays short and true: what it names in backticks exists. Whether it says the right thing about it
//! is for a reader.

use std::collections::BTreeSet;

use super::{Finding, lexer};

#[cfg(test)]
mod tests;

/// More than this is not read before a change.
const LINES: usize = 250;

/// Words before the name of a thing that the text may mention.
const KEYWORDS: [&str; 8] = ["struct", "enum", "trait", "type", "union", "fn", "const", "static"];

/// All names that are defined in these sources: types, functions, constants and variants.
pub(super) fn definitions<'s>(sources: impl IntoIterator<Item = &'s str>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in sources {
        for line in lexer::split(source) {
            let words: Vec<&str> = super::source::words(&line.code).collect();
            for pair in words.windows(2) {
                if KEYWORDS.contains(&pair[0]) {
                    names.insert(pair[1].to_owned());
                }
            }
            // A line that begins with a capital is a variant, as rustfmt writes them.
            if line.code.trim_start().starts_with(|first: char| first.is_ascii_uppercase()) {
                names.extend(words.first().map(|word| (*word).to_owned()));
            }
        }
    }
    names
}

/// The faults of the text: its length, and each path, type or function in backticks that doesn't exist.
pub(super) fn check(
    path: &str,
    text: &str,
    definitions: &BTreeSet<String>,
    exists: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let length = text.lines().count();
    if length > LINES {
        let what = format!("{length} lines, more than {LINES}");
        findings.push(Finding::fault(
            path,
            LINES + 1,
            what,
            "delete what a reader of the code would find anyway",
        ));
    }
    for (number, mention) in mentions(text) {
        if let Some(place) = as_path(mention) {
            if !exists(place) {
                let what = format!("`{mention}` doesn't exist");
                findings.push(Finding::fault(
                    path,
                    number,
                    what,
                    "name the file or folder that is meant now",
                ));
            }
        } else if let Some(missing) = names(mention).into_iter().find(|name| !definitions.contains(*name)) {
            let what = format!("`{mention}`: nothing is called {missing}");
            findings.push(Finding::fault(path, number, what, "name the type or function that is meant now"));
        }
    }
    findings
}

/// What stands in backticks, with its line; fenced blocks are left out.
fn mentions(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(line.split('`').skip(1).step_by(2).map(|mention| (index + 1, mention)));
        }
    }
    found
}

/// A mention that is a path of this repository: with a `/` or a file's ending, and without anything that a path here
/// doesn't have. Refs, absolute paths and patterns are none.
fn as_path(mention: &str) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    let ending = [".rs", ".md", ".toml", ".sh"].iter().any(|ending| mention.ends_with(ending));
    let elsewhere = ["refs/", "/", "~", ".git/"].iter().any(|start| mention.starts_with(start));
    let is_path = (mention.contains('/') || ending) && mention.bytes().all(plain) && !elsewhere;
    is_path.then_some(mention.trim_end_matches('/'))
}

/// The names in a mention that is a type, `Type::member` or `function()`; none in anything else.
fn names(mention: &str) -> Vec<&str> {
    let head = mention.split(['(', '<']).next().unwrap_or_default();
    let called = mention.contains('(');
    let parts: Vec<&str> = head.split("::").collect();
    let is_name = |part: &&str| {
        !part.is_empty() && part.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
    };
    if !parts.iter().all(is_name) {
        return Vec::new();
    }
    let of_ours = parts.iter().any(|part| is_camel(part)) || (called && mention.ends_with(')'));
    // What stands before the first type is a crate or a module.
    let first = parts.iter().position(|part| is_camel(part)).unwrap_or(parts.len() - 1);
    if of_ours { parts[first..].to_vec() } else { Vec::new() }
}

/// `CamelCase` with a small letter: a verdict such as `VERIFIED` is none.
fn is_camel(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_uppercase())
        && part.contains(|next: char| next.is_ascii_lowercase())
}
