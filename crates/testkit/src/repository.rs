//! A user's git repository, made for one test. What must not change in it is `snapshot`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::{Hermetic, Outcome, Snapshot, tree};

/// Author and committer date of every commit made here: commit ids are the same on each run.
const DATE: &str = "2001-02-03T04:05:06Z";

/// A git repository with a working tree. Everything in it belongs to the environment's account, which also runs git.
#[derive(Debug)]
pub struct Repository<'h> {
    hermetic: &'h Hermetic,
    path: PathBuf,
}

impl<'h> Repository<'h> {
    /// Makes an empty repository at `path`.
    pub fn create(hermetic: &'h Hermetic, path: &Path) -> Self {
        tree::make_folder(path);
        hermetic.account().own(path);
        let repository = Self { hermetic, path: path.to_path_buf() };
        repository.git(["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// The repository that lies at `path` already.
    pub fn at(hermetic: &'h Hermetic, path: impl Into<PathBuf>) -> Self {
        Self { hermetic, path: path.into() }
    }

    /// Its working tree.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file of the working tree, with its folders.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.place(name);
        fs::write(&path, text).unwrap_or_else(|error| panic!("failed to write {}: {error}", path.display()));
        self.hermetic.account().own(&path);
        self
    }

    /// Writes a file that can be executed.
    pub fn write_executable(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        self.write(name, text);
        fs::set_permissions(self.path.join(name), fs::Permissions::from_mode(0o755))
            .expect("the mode of a new file can be set");
        self
    }

    /// Makes a link of the working tree.
    pub fn link(&self, name: &str, aim: &str) -> &Self {
        let path = self.place(name);
        symlink(aim, &path).unwrap_or_else(|error| panic!("failed to link {}: {error}", path.display()));
        self.hermetic.account().own(&path);
        self
    }

    fn place(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        let folder = path.parent().expect("a file lies in a folder");
        tree::make_folder(folder);
        for made in folder.ancestors().take_while(|made| **made != *self.path) {
            // Only the folders between: what lies in them has its owner already.
            if let crate::Account::Ordinary { uid } = self.hermetic.account() {
                std::os::unix::fs::lchown(made, Some(uid), Some(uid)).expect("a folder can be given away");
            }
        }
        path
    }

    /// Copies all that lies in `folder` into the working tree.
    pub fn copy_from(&self, folder: &Path) -> &Self {
        tree::copy(folder, &self.path, &[]);
        self.hermetic.account().own(&self.path);
        self
    }

    /// Adds everything, commits it, and returns the new commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    /// The id of HEAD's commit.
    pub fn head(&self) -> String {
        self.git(["rev-parse", "HEAD"])
    }

    /// Runs git here, which must succeed, and returns what it printed, without the last line break.
    #[track_caller]
    pub fn git<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> String {
        let arguments: Vec<&str> = arguments.into_iter().collect();
        let outcome = self.try_git(arguments.iter().copied());
        assert!(outcome.status.success(), "git {} {outcome}", arguments.join(" "));
        outcome.stdout_text().trim_end_matches('\n').to_owned()
    }

    /// Runs git here. It takes no optional locks: looking never writes.
    pub fn try_git<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Outcome {
        self.git_with(arguments, &[])
    }

    fn git_with<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        variables: &[(&str, &Path)],
    ) -> Outcome {
        let mut command = self.hermetic.command("git");
        command.args(arguments).current_dir(&self.path);
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_AUTHOR_DATE", DATE).env("GIT_COMMITTER_DATE", DATE);
        command.envs(variables.iter().copied());
        self.hermetic.run(&mut command)
    }

    /// The bytes of `path` in `revision`; absent where there is no such file.
    pub fn read_at(&self, revision: &str, path: &str) -> Option<Vec<u8>> {
        let outcome = self.try_git(["cat-file", "blob", &format!("{revision}:{path}")]);
        outcome.status.success().then_some(outcome.stdout)
    }

    /// Writes the files of `revision` into `folder`, by an index of its own: the repository isn't touched.
    pub fn export(&self, revision: &str, folder: &Path) {
        tree::make_folder(folder);
        self.hermetic.account().own(folder);
        let index = folder.with_extension("index");
        let prefix = format!("--prefix={}/", folder.display());
        for arguments in [vec!["read-tree", revision], vec!["checkout-index", "--all", "--force", &prefix]] {
            let outcome = self.git_with(arguments.iter().copied(), &[("GIT_INDEX_FILE", &index)]);
            assert!(outcome.status.success(), "git {} {outcome}", arguments.join(" "));
        }
    }

    /// What `git fsck --full --strict` complains about; empty where all is well.
    pub fn fsck(&self) -> String {
        let outcome = self.try_git(["fsck", "--full", "--strict", "--no-dangling", "--no-progress"]);
        if outcome.status.success() { String::new() } else { outcome.to_string() }
    }

    /// Everything that Nightgate must leave as it is.
    pub fn snapshot(&self) -> Snapshot {
        let status = self.git(["status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored"]);
        Snapshot::take(&self.path, Path::new(".git"), status)
    }

    /// The same of a bare repository, whose git directory is its path.
    pub fn snapshot_bare(&self) -> Snapshot {
        Snapshot::take(&self.path, Path::new(""), String::new())
    }
}
