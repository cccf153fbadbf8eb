//! Files in the folders above a place that tools find by looking upwards from it. What follows from them is core's.
//!
//! Rooms have no root of their own, so that what lies above them is part of what a check sees. Where a box gives a check another
//! root, this must be asked of the folders that the check sees.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::Errno;

/// What each tool looks for in the folders above the one that it is started in: a path below each of them. `{js}` is each of
/// [`SCRIPTS`], `{rc}` each of [`SETTINGS`].
const SOUGHT: &[(&str, &[&str])] = &[
    ("babel", &["babel.config.{js}", "babel.config.json", ".babelrc", ".babelrc.{js}", ".babelrc.json"]),
    ("bazel", &["MODULE.bazel", "REPO.bazel", "WORKSPACE", "WORKSPACE.bazel", ".bazelrc", ".bazelversion"]),
    ("biome", &["biome.json", "biome.jsonc"]),
    ("buck", &[".buckconfig"]),
    ("bundler", &["Gemfile", "gems.rb", ".bundle/config"]),
    ("cabal", &["cabal.project"]),
    ("cargo", &[".cargo/config", ".cargo/config.toml", "Cargo.toml"]),
    ("clang", &[".clang-format", ".clang-tidy", "compile_commands.json", "compile_flags.txt"]),
    ("clippy", &["clippy.toml", ".clippy.toml"]),
    ("coverage", &[".coveragerc"]),
    ("deno", &["deno.json", "deno.jsonc"]),
    ("direnv", &[".envrc"]),
    (
        "dotnet",
        &[
            "Directory.Build.props",
            "Directory.Build.rsp",
            "Directory.Build.targets",
            "Directory.Packages.props",
            "NuGet.Config",
            "NuGet.config",
            "global.json",
            "nuget.config",
        ],
    ),
    ("dune", &["dune-project", "dune-workspace"]),
    ("editorconfig", &[".editorconfig"]),
    ("eslint", &["eslint.config.{js}", ".eslintrc", ".eslintrc.{rc}", ".eslintignore"]),
    ("git", &[".git"]),
    ("go", &["go.mod", "go.work"]),
    ("gradle", &["settings.gradle", "settings.gradle.kts"]),
    ("jest", &["jest.config.{js}", "jest.config.json"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("maven", &[".mvn"]),
    ("mercurial", &[".hg"]),
    (
        "mise and asdf",
        &["mise.toml", ".mise.toml", ".config/mise.toml", "mise/config.toml", ".tool-versions"],
    ),
    ("mocha", &[".mocharc.{rc}"]),
    ("mypy", &["mypy.ini", ".mypy.ini"]),
    ("node", &["package.json", "node_modules", ".pnp.cjs", ".pnp.js"]),
    ("node version managers", &[".nvmrc", ".node-version"]),
    ("npm, pnpm and yarn", &[".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", "lerna.json"]),
    ("nx and turbo", &["nx.json", "turbo.json"]),
    ("pants", &["pants.toml"]),
    ("prettier", &["prettier.config.{js}", ".prettierrc", ".prettierrc.{rc}", ".prettierrc.toml"]),
    ("pylint", &["pylintrc", "pylintrc.toml", ".pylintrc", ".pylintrc.toml"]),
    ("pyright", &["pyrightconfig.json"]),
    (
        "pytest and tools of Python",
        &[
            "pyproject.toml",
            "pytest.ini",
            "pytest.toml",
            ".pytest.ini",
            ".pytest.toml",
            "setup.cfg",
            "setup.py",
            "tox.ini",
            "conftest.py",
            "__init__.py",
        ],
    ),
    ("python-dotenv", &[".env"]),
    ("rake", &["Rakefile", "Rakefile.rb", "rakefile", "rakefile.rb"]),
    ("rubocop", &[".rubocop.yml"]),
    ("ruby version managers", &[".ruby-version"]),
    ("ruff", &["ruff.toml", ".ruff.toml"]),
    ("rustfmt", &["rustfmt.toml", ".rustfmt.toml"]),
    ("rustup", &["rust-toolchain", "rust-toolchain.toml"]),
    ("stack", &["stack.yaml"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    ("typescript", &["tsconfig.json", "jsconfig.json"]),
    ("uv and pyenv", &["uv.toml", ".python-version", ".python-versions"]),
    ("vitest", &["vite.config.{js}", "vitest.config.{js}", "vitest.workspace.{js}"]),
];

/// How a configuration that is a program in JavaScript can end.
const SCRIPTS: [&str; 6] = ["js", "cjs", "mjs", "ts", "cts", "mts"];

/// How a configuration that may be a program or settings can end.
const SETTINGS: [&str; 9] = ["js", "cjs", "mjs", "ts", "json", "json5", "jsonc", "yaml", "yml"];

/// Something above a place that a tool started there would find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Above {
    /// Where.
    pub path: PathBuf,
    /// Which tool looks for it.
    pub tool: &'static str,
}

/// What was found above a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Files, folders and links, also such as lead nowhere; the nearest first.
    pub found: Vec<Above>,
    /// What couldn't be looked up, with the system's reason.
    pub unknown: Vec<String>,
}

/// Looks in `place`, as it really lies, and in each folder above it for what tools look for there. Nothing is listed: a folder
/// that can't be read hides nothing.
///
/// # Errors
/// Where it can't be known how `place` really lies.
pub fn look(place: &Path) -> io::Result<Findings> {
    let place = std::fs::canonicalize(place)?;
    let mut findings = Findings::default();
    for folder in place.ancestors() {
        for (tool, name) in sought() {
            let path = folder.join(&name);
            match statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT) {
                Ok(_) => findings.found.push(Above { path, tool }),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(errno) => {
                    findings.unknown.push(format!("{}: {}", path.display(), io::Error::from(errno)))
                }
            }
        }
    }
    Ok(findings)
}

/// Each path that is looked for, with its tool.
fn sought() -> impl Iterator<Item = (&'static str, String)> {
    SOUGHT
        .iter()
        .flat_map(|(tool, names)| names.iter().flat_map(|name| spelled(name)).map(|name| (*tool, name)))
}

fn spelled(name: &str) -> Vec<String> {
    let each =
        |mark: &str, endings: &[&str]| endings.iter().map(|ending| name.replace(mark, ending)).collect();
    if name.contains("{js}") {
        each("{js}", &SCRIPTS)
    } else if name.contains("{rc}") {
        each("{rc}", &SETTINGS)
    } else {
        vec![name.to_owned()]
    }
}

#[cfg(test)]
mod tests;
