//! The rules of the house: reads the repository and applies each rule to the text it is about. What rustfmt and clippy
//! can say is not here.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

mod architecture;
mod crates;
mod lexer;
mod name;
mod source;

#[cfg(test)]
mod tests;

/// One thing that a rule found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    what: String,
    advice: String,
    weight: Weight,
}

/// Whether a finding fails the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Fault,
    Notice,
}

impl Finding {
    fn fault(path: &str, line: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        let (what, advice) = (what.into(), advice.into());
        Self { path: path.to_owned(), line, what, advice, weight: Weight::Fault }
    }

    fn notice(path: &str, line: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { weight: Weight::Notice, ..Self::fault(path, line, what, advice) }
    }

    /// Whether it fails the check; the others are for a reader to weigh.
    pub fn is_fault(&self) -> bool {
        self.weight == Weight::Fault
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = if self.is_fault() { "" } else { "note: " };
        write!(f, "{}:{}: {weight}{}: {}", self.path, self.line, self.what, self.advice)
    }
}

/// A file of the repository.
struct TextFile {
    /// From the repository's root, with `/`.
    path: String,
    text: String,
}

/// Applies all rules to the repository at `root`; sorted by path and line.
pub fn check(root: &Path) -> io::Result<Vec<Finding>> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(root, Path::new(folder), &mut files)?;
    }
    let mut findings = Vec::new();
    for file in &files {
        if file.path.ends_with("/Cargo.toml") {
            findings.extend(crates::check(&file.path, &file.text));
        } else if is_source(&file.path) {
            findings.extend(source::check(&file.path, &file.text));
        } else {
            findings.extend(source::check_marks(&file.path, &file.text));
        }
    }
    let sources: Vec<&TextFile> = files.iter().filter(|file| file.path.ends_with(".rs")).collect();
    let definitions = architecture::definitions(sources.iter().map(|file| file.text.as_str()));
    let places = source_folders(&files);
    let exists = |path: &str| {
        root.join(path).exists() || places.iter().any(|folder| root.join(folder).join(path).exists())
    };
    if let Some(text) = read_if_present(&root.join("ARCHITECTURE.md"))? {
        findings.extend(architecture::check("ARCHITECTURE.md", &text, &definitions, exists));
    }
    let designs = names(&root.join("docs/design"))?;
    findings.extend(name::check_designs("docs/design", &designs));
    findings.sort();
    Ok(findings)
}

/// Whether `path` is a source file in the sense of the rules: below the `src` of a crate.
fn is_source(path: &str) -> bool {
    path.ends_with(".rs") && path.contains("/src/")
}

fn source_folders(files: &[TextFile]) -> BTreeSet<String> {
    files
        .iter()
        .filter_map(|file| file.path.split_once("/src/").map(|(folder, _)| format!("{folder}/src")))
        .collect()
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<TextFile>) -> io::Result<()> {
    for name in names(&root.join(folder))? {
        let relative = folder.join(&name);
        let path = root.join(&relative);
        if path.is_dir() {
            if name != "target" {
                collect(root, &relative, files)?;
            }
        } else if name == "Cargo.toml" || name.ends_with(".rs") {
            let path_text = relative.to_string_lossy().into_owned();
            files.push(TextFile { path: path_text, text: fs::read_to_string(&path)? });
        }
    }
    Ok(())
}

/// The sorted names in a folder; none where there is no such folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn read_if_present(path: &PathBuf) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
