//! The environment of everything that Nightgate starts, built from nothing. Starting it is not here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

/// The folders of programs of the system, in the order of `PATH`, after the folders of tools.
pub const SYSTEM_PATH: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Where Python keeps its byte code: a folder in `TMPDIR`.
pub const BYTE_CODE_FOLDER: &str = "pycache";

/// Parts of a name that mark its value as a secret, in upper case.
const SECRET_MARKS: [&str; 9] =
    ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY"];

/// Beginnings of names that redirect git, the loader, the shell or Nightgate itself.
const REDIRECTING: [&str; 5] = ["GIT_", "LD_", "NIGHTGATE_", "DYLD_", "BASH_FUNC_"];

/// Names that a shell executes, and names by which an agent passes its session on to its children.
const LINEAGE: [&str; 18] = [
    "AI_AGENT",
    "BASH_ENV",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "ENV",
    "GEMINI_CLI",
    "OPENCODE",
    "OPENCODE_SESSION_ID",
    "PROMPT_COMMAND",
];

/// What an environment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A coding agent or a reviewer.
    Agent,
    /// The set-up of a project before its checks.
    Setup,
    /// A check, or another verifier.
    Check,
    /// A git that Nightgate runs for itself.
    Git,
    /// A question to an installed tool: its version, or where it really lies.
    ToolProbe,
}

/// A snapshot of Nightgate's own environment. The CLI takes it once; nothing here reads the real one.
#[derive(Clone, Debug, Default)]
pub struct Inherited(BTreeMap<OsString, OsString>);

impl Inherited {
    /// The snapshot with these variables; of two of one name the later one holds.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self(variables.into_iter().collect())
    }

    /// The value of one variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The absolute folders of the inherited `PATH`, in its order, each once. Relative and empty entries mean
    /// "wherever I happen to be" and are left out.
    pub fn search_path(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for entry in self.get("PATH").unwrap_or_default().as_bytes().split(|byte| *byte == b':') {
            let folder = PathBuf::from(OsStr::from_bytes(entry));
            if folder.is_absolute() && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }
}

/// What differs between two environments of one role.
#[derive(Clone, Debug)]
pub struct EnvironmentSpec<'a> {
    /// `HOME`, an absolute folder.
    pub home: PathBuf,
    /// `TMPDIR`, an absolute folder; Python's caches go below it.
    pub tmp: PathBuf,
    /// Folders of resolved tools, put before the system's on `PATH`. One that isn't absolute, or that has a colon
    /// in its name (`PATH` can't express it), is left out.
    pub path: Vec<PathBuf>,
    /// Names that a person's `passEnv` lists: copied from the inherited environment, see [`may_pass`].
    pub pass: &'a [String],
    /// Nightgate's own additions. They win over everything else and are not checked.
    pub extra: Vec<(OsString, OsString)>,
}

/// A complete environment: what isn't in it, the process doesn't have.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    withheld: Vec<String>,
}

impl Environment {
    /// Builds the environment of one role. Nothing is inherited but the user's name, the places of certificates
    /// (agent and set-up) and what `spec.pass` names; a passed name never replaces a variable that is set here.
    pub fn build(role: Role, inherited: &Inherited, spec: &EnvironmentSpec<'_>) -> Self {
        let mut variables = BTreeMap::new();
        for name in spec.pass.iter().filter(|name| may_pass(name)) {
            if let Some(value) = inherited.get(name) {
                variables.insert(OsString::from(name), value.to_owned());
            }
        }
        let mut set = |name: &str, value: &OsStr| variables.insert(OsString::from(name), value.to_owned());
        for (name, value) in common(role, inherited) {
            set(name, value);
        }
        set("PATH", &search_path(&spec.path));
        set("HOME", spec.home.as_os_str());
        set("TMPDIR", spec.tmp.as_os_str());
        for (name, value) in fixed(role) {
            set(name, OsStr::new(value));
        }
        // An agent works as a developer does; what it leaves of caches never reaches a check.
        if matches!(role, Role::Setup | Role::Check) {
            set("PYTHONPYCACHEPREFIX", spec.tmp.join(BYTE_CODE_FOLDER).as_os_str());
        }
        if matches!(role, Role::Agent | Role::Setup) {
            for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
                if let Some(value) = inherited.get(name) {
                    set(name, value);
                }
            }
        }
        variables.extend(spec.extra.iter().cloned());
        let withheld = withheld(inherited, &variables);
        Self { variables, withheld }
    }

    /// Makes `command` start with exactly this environment.
    pub fn apply(&self, command: &mut Command) {
        command.env_clear().envs(&self.variables);
    }

    /// The value of one variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// All variables, sorted by name.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The names, sorted, of inherited variables that look like secrets and were not passed. Never their values.
    pub fn withheld(&self) -> &[String] {
        &self.withheld
    }
}

/// Whether a name can ever be passed on from Nightgate's own environment. Git's, the loader's, the shell's and
/// Nightgate's own variables and those by which agents recognise their children can't, whoever asks.
pub fn may_pass(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['=', '\0'])
        && !REDIRECTING.iter().any(|beginning| name.starts_with(beginning))
        && !LINEAGE.contains(&name)
}

/// Whether a variable of this name is taken for a secret.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_MARKS.iter().any(|mark| name.contains(mark))
}

/// What each role has in common: who, which language, which time zone, which terminal.
fn common(role: Role, inherited: &Inherited) -> [(&'static str, &OsStr); 6] {
    let named = |name| inherited.get(name).filter(|value| !value.is_empty());
    let user = named("USER").or_else(|| named("LOGNAME")).unwrap_or(OsStr::new("nightgate"));
    let language = OsStr::new("C.UTF-8");
    let all = OsStr::new(if role == Role::Git { "C" } else { "C.UTF-8" });
    [
        ("USER", user),
        ("LOGNAME", user),
        ("LANG", language),
        ("LC_ALL", all),
        ("TZ", OsStr::new("UTC")),
        ("TERM", OsStr::new("dumb")),
    ]
}

/// The variables of a role that don't depend on the spec.
fn fixed(role: Role) -> &'static [(&'static str, &'static str)] {
    match role {
        Role::Agent => &[],
        Role::Setup => &[("PYTHONDONTWRITEBYTECODE", "1")],
        Role::Check => &[("PYTHONDONTWRITEBYTECODE", "1"), ("PYTHONNOUSERSITE", "1")],
        Role::Git => &[
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            // `false` answers every question with a failure; unset, git would look for an editor of its own.
            ("GIT_EDITOR", "false"),
            ("GIT_SEQUENCE_EDITOR", "false"),
            ("GIT_ASKPASS", "false"),
            ("SSH_ASKPASS", "false"),
        ],
        Role::ToolProbe => &[],
    }
}

fn search_path(tools: &[PathBuf]) -> OsString {
    let usable = |folder: &&PathBuf| folder.is_absolute() && !folder.as_os_str().as_bytes().contains(&b':');
    let folders = tools.iter().filter(usable).map(|folder| folder.as_os_str());
    let folders: Vec<&OsStr> = folders.chain(SYSTEM_PATH.iter().map(OsStr::new)).collect();
    folders.join(OsStr::new(":"))
}

fn withheld(inherited: &Inherited, given: &BTreeMap<OsString, OsString>) -> Vec<String> {
    let names = inherited.0.keys().filter(|name| !given.contains_key(*name));
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| looks_secret(name)).collect()
}

#[cfg(test)]
mod tests;
