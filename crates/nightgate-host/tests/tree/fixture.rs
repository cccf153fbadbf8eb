//! A user's repository, a store, a job and a workspace in one temporary folder.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use nightgate_core::evidence::{Capture, CaptureProblemKind, CriteriaEntry, CriteriaKind};
use nightgate_core::tree::Listing;
use nightgate_core::{CommitId, RepoPath};
use nightgate_host::base_store::BaseStore;
use nightgate_host::candidate::{JobRepository, Signature};
use nightgate_host::capture::{CaptureRequest, FileSource, capture};
use nightgate_host::env::{Environment, EnvironmentSpec, Inherited, Role};
use nightgate_host::git::{Git, UserSettings};
use nightgate_host::repository::UserRepository;
use nightgate_host::walk::Limits;
use nightgate_host::workspace::Workspace;
use tempfile::TempDir;

pub fn path(text: &str) -> RepoPath {
    RepoPath::from_bytes(text.as_bytes()).unwrap()
}

pub fn paths(texts: &[&str]) -> Vec<RepoPath> {
    texts.iter().map(|text| path(text)).collect()
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn git_program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("git")).find(|file| file.is_file()).unwrap()
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A folder that is emptied with all rights given back, whatever the test did in it.
pub struct Fixture {
    pub temp: TempDir,
    pub git: Git,
}

impl Fixture {
    pub fn new() -> Self {
        let temp = TempDir::with_prefix("nightgate-tree-").unwrap();
        for folder in ["home", "git-home", "rooms"] {
            fs::create_dir(temp.path().join(folder)).unwrap();
        }
        let home = temp.path().join("git-home");
        // As from inside a hook: none of these may reach git.
        let inherited = Inherited::new(
            ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_PARAMETERS"]
                .map(|name| (OsString::from(name), OsString::from("/nowhere"))),
        );
        let spec =
            EnvironmentSpec { home: home.clone(), tmp: home, path: Vec::new(), pass: &[], extra: Vec::new() };
        let git = Git::new(git_program(), Environment::build(Role::Git, &inherited, &spec));
        Self { temp, git }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// The user's repository, empty, on branch `main`.
    pub fn user(&self) -> User {
        self.user_of_format("sha1")
    }

    pub fn user_of_format(&self, format: &str) -> User {
        let user = User { root: self.path("user"), home: self.path("home") };
        fs::create_dir(&user.root).unwrap();
        user.run(&["init", "-q", "-b", "main", &format!("--object-format={format}")]);
        user.run(&["config", "user.name", "User"]);
        user.run(&["config", "user.email", "user@localhost"]);
        user
    }

    /// A job on the user's HEAD, with a workspace.
    pub fn job(&self, user: &User, criteria: &[&str]) -> Job {
        let repository = user.open(&self.git);
        let base = repository.resolve("HEAD").unwrap();
        let store = BaseStore::open(&self.git, &self.path("store.git"), repository.object_format()).unwrap();
        store.import(&repository, &base).unwrap();
        let listing = store.repository().listing(&store.repository().tree(&base).unwrap()).unwrap();
        let job = JobRepository::create(&store, &self.path("job.git")).unwrap();
        let root = self.path("workspace");
        Workspace::create(&store, &root, &base, "work").unwrap();
        Job {
            user: repository,
            store,
            job,
            base,
            listing,
            root,
            criteria: paths(criteria),
            home: user.home.clone(),
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = nightgate_host::walk::remove_tree(&self.path("workspace"), self.temp.path());
        let _ = nightgate_host::walk::remove_tree(&self.path("user"), self.temp.path());
    }
}

/// The user's repository as the user works with it: with their own git.
pub struct User {
    pub root: PathBuf,
    pub home: PathBuf,
}

impl User {
    pub fn run(&self, args: &[&str]) -> String {
        run_git(&self.root, &self.home, args)
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        write(&self.root, name.as_bytes(), content);
    }

    /// Commits everything in the working tree.
    pub fn commit(&self) -> CommitId {
        self.run(&["-c", "core.protectNTFS=false", "add", "-A", "-f", "."]);
        self.run(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
        self.run(&["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub fn open(&self, git: &Git) -> UserRepository {
        UserRepository::discover(git, &self.root).unwrap()
    }
}

/// Runs git as a person would, without the surrounding environment; it must succeed.
pub fn run_git(folder: &Path, home: &Path, args: &[&str]) -> String {
    let output = Command::new(git_program())
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub fn write(root: &Path, name: &[u8], content: &[u8]) {
    let file = root.join(OsStr::from_bytes(name));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, content).unwrap();
}

pub struct Job {
    pub user: UserRepository,
    pub store: BaseStore,
    pub job: JobRepository,
    pub base: CommitId,
    pub listing: Listing,
    pub root: PathBuf,
    pub criteria: Vec<RepoPath>,
    pub home: PathBuf,
}

impl Job {
    pub fn write(&self, name: &str, content: &[u8]) {
        write(&self.root, name.as_bytes(), content);
    }

    pub fn remove(&self, name: &str) {
        let file = self.root.join(name);
        if file.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir_all(file)
        } else {
            fs::remove_file(file)
        }
        .unwrap();
    }

    /// Runs git in the workspace, as the agent would.
    pub fn agent_git(&self, args: &[&str]) -> String {
        run_git(&self.root, &self.home, args)
    }

    pub fn capture(&self) -> Capture {
        self.capture_within(Limits::default())
    }

    pub fn capture_within(&self, limits: Limits) -> Capture {
        self.capture_from(&self.root, FileSource::Workspace, limits)
    }

    /// Captures the user's own working tree.
    pub fn capture_worktree(&self, settings: &UserSettings) -> Capture {
        let root = self.user.top().unwrap();
        self.capture_from(root, FileSource::Worktree { user: &self.user, settings }, Limits::default())
    }

    fn capture_from(&self, root: &Path, source: FileSource<'_>, limits: Limits) -> Capture {
        let author =
            Signature { name: "agent".to_owned(), email: "agent@localhost".to_owned(), time: 1_700_000_000 };
        let request = CaptureRequest {
            root,
            source,
            base: &self.base,
            base_listing: &self.listing,
            criteria: &self.criteria,
            limits,
            cancel: None,
            job: &self.job,
            author: &author,
            message: "candidate\n",
        };
        capture(&request).unwrap()
    }

    pub fn baseline(&self) -> Vec<CriteriaEntry> {
        self.store.repository().criteria_baseline(&self.base, &self.criteria).unwrap()
    }

    /// A file of the candidate, as git has it.
    pub fn content(&self, capture: &Capture, name: &str) -> Option<Vec<u8>> {
        let candidate = capture.candidate.as_ref().unwrap();
        self.job.repository().read_file(candidate, &path(name), 1 << 20).unwrap()
    }

    /// The whole candidate, as git has it.
    pub fn candidate(&self, capture: &Capture) -> Listing {
        self.job.repository().listing(capture.tree.as_ref().unwrap()).unwrap()
    }
}

/// The changed paths, each with `A`, `D` or `M`.
pub fn changed(capture: &Capture) -> Vec<String> {
    let letter = |change: &nightgate_core::tree::Change| match (&change.before, &change.after) {
        (None, _) => 'A',
        (_, None) => 'D',
        _ => 'M',
    };
    capture.changes.iter().map(|change| format!("{} {}", letter(change), change.path)).collect()
}

pub fn problems(capture: &Capture) -> Vec<(CaptureProblemKind, String)> {
    let place = |path: &Option<RepoPath>| path.as_ref().map_or_else(String::new, RepoPath::to_string);
    capture.problems.iter().map(|problem| (problem.kind, place(&problem.path))).collect()
}

pub fn notes(capture: &Capture) -> Vec<(&str, String)> {
    let place = |path: &Option<RepoPath>| path.as_ref().map_or_else(String::new, RepoPath::to_string);
    capture.notes.iter().map(|note| (note.code.as_str(), place(&note.path))).collect()
}

pub fn kind_at(capture: &Capture, name: &str) -> Option<CriteriaKind> {
    capture.criteria.iter().find(|entry| entry.path == path(name)).map(|entry| entry.kind)
}

/// Every file below a folder with its bytes and mode, links with their targets, except what `skip` names.
pub fn snapshot(root: &Path, skip: &[&str]) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            let below = file.strip_prefix(root).unwrap().to_owned();
            if skip.iter().any(|skipped| below.starts_with(skipped)) {
                continue;
            }
            let about = file.symlink_metadata().unwrap();
            let content = if about.is_dir() {
                folders.push(file.clone());
                Vec::new()
            } else if about.is_symlink() {
                fs::read_link(&file).unwrap().as_os_str().as_bytes().to_vec()
            } else {
                fs::read(&file).unwrap()
            };
            found.insert(below, (about.permissions().mode(), content));
        }
    }
    found
}

/// A runner of random cases; `PROPTEST_CASES` asks for another number of them.
pub fn runner(cases: u32) -> proptest::test_runner::TestRunner {
    let default = proptest::test_runner::Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    proptest::test_runner::TestRunner::new(proptest::test_runner::Config {
        cases,
        failure_persistence: None,
        ..default
    })
}
