//! Which crate may know which, and which libraries stay out of it: read from one `Cargo.toml`. What a crate does with
//! the standard library is `source`.

use super::Finding;

#[cfg(test)]
mod tests;

/// What one of our crates may depend on.
struct Rule {
    name: &'static str,
    /// Crates of ours.
    may: &'static [&'static str],
    /// Libraries that would bring in what this crate must not have.
    never: &'static [&'static str],
    /// Why, in a word.
    because: &'static str,
}

const CORE: &str = "nightgate-core";
const HOST: &str = "nightgate-host";
const STORE: &str = "nightgate-store";
const ENGINE: &str = "nightgate-engine";
const SERVER: &str = "nightgate-server";

const DATABASE: &[&str] = &["rusqlite", "sqlx", "diesel", "postgres", "tokio-postgres", "heed", "redb"];
const RULES: [Rule; 8] = [
    Rule {
        name: CORE,
        may: &[],
        never: &[
            "tokio",
            "futures",
            "smol",
            "async-std",
            "rand",
            "getrandom",
            "fastrand",
            "uuid",
            "rustix",
            "libc",
            "nix",
            "tempfile",
            "walkdir",
            "ignore",
            "jiff",
            "chrono",
            "time",
            "reqwest",
            "ureq",
            "rusqlite",
            "git2",
            "gix",
        ],
        because: "core decides, without touching the world",
    },
    Rule {
        name: HOST,
        may: &[CORE],
        never: &["rusqlite", "sqlx", "diesel", "postgres", "tokio-postgres", "heed", "redb", "axum", "hyper"],
        because: "host touches, and neither remembers nor serves",
    },
    Rule {
        name: STORE,
        may: &[CORE],
        never: &["axum", "hyper", "signal-hook", "command-group"],
        because: "store remembers and starts nothing",
    },
    Rule {
        name: ENGINE,
        may: &[CORE, HOST, STORE],
        never: &["rusqlite", "sqlx", "axum", "hyper", "clap", "ratatui", "indicatif"],
        because: "engine drives, without SQL, HTTP or a terminal",
    },
    Rule {
        name: SERVER,
        may: &[CORE, ENGINE],
        never: DATABASE,
        because: "server shows what the engine says",
    },
    Rule {
        name: "nightgate",
        may: &[CORE, ENGINE, SERVER],
        never: DATABASE,
        because: "the command line speaks through the engine",
    },
    Rule { name: "testkit", may: &[], never: &[], because: "tests look from outside" },
    Rule { name: "xtask", may: &[], never: &[], because: "the house is checked without its inhabitants" },
];

/// The faults of one crate's manifest.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let manifest: toml::Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::fault(path, 1, format!("not TOML ({error})"), "repair it")],
    };
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let Some(rule) = RULES.iter().find(|rule| Some(rule.name) == name) else {
        let what = format!("the crate `{}` is unknown here", name.unwrap_or_default());
        return vec![Finding::fault(path, 1, what, "say in xtask/src/tidy/crates.rs what it may depend on")];
    };
    let mut findings = Vec::new();
    for (table, dependency) in dependencies(&manifest) {
        let line = line_of(text, &dependency);
        let ours = RULES.iter().any(|other| other.name == dependency);
        let for_tests = table == "dev-dependencies" && dependency == "testkit";
        if ours && !for_tests && !rule.may.contains(&dependency.as_str()) {
            let allowed = if rule.may.is_empty() { "none of ours".to_owned() } else { rule.may.join(", ") };
            let what = format!("{} depends on {dependency}", rule.name);
            findings.push(Finding::fault(
                path,
                line,
                what,
                format!("{}; it may use {allowed}", rule.because),
            ));
        }
        if table != "dev-dependencies" && rule.never.contains(&dependency.as_str()) {
            let what = format!("{} depends on {dependency}", rule.name);
            findings.push(Finding::fault(
                path,
                line,
                what,
                format!("{}; move the need elsewhere", rule.because),
            ));
        }
    }
    findings
}

/// The table and the true name (`package = "..."` looked through) of each dependency, target-specific ones included.
fn dependencies(manifest: &toml::Table) -> Vec<(&'static str, String)> {
    let mut tables = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(toml::Value::as_table) {
        tables.extend(targets.values().filter_map(toml::Value::as_table));
    }
    let mut found = Vec::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(entries) = table.get(kind).and_then(toml::Value::as_table) else { continue };
            for (key, value) in entries {
                let renamed = value.get("package").and_then(toml::Value::as_str);
                found.push((kind, renamed.unwrap_or(key).to_owned()));
            }
        }
    }
    found
}

/// The first line that begins with `name` as a whole key, or names it as a package.
fn line_of(text: &str, name: &str) -> usize {
    let is_key = |line: &str| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    let quoted = format!("\"{name}\"");
    text.lines().position(|line| is_key(line) || line.contains(&quoted)).map_or(1, |index| index + 1)
}
