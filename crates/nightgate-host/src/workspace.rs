//! The private repository in which an agent works. Reading what the agent left, and running the agent, are not here.

use std::fs;
use std::path::{Path, PathBuf};

use nightgate_core::CommitId;

use crate::base_store::BaseStore;
use crate::repository::{CONFIGURATION, Repository, RepositoryError, append, read_shallow, write_shallow};

/// Turns off every conversion: files are the raw blobs, whatever `.gitattributes` and the user's configuration say.
const ATTRIBUTES: &str = "* -text -eol -filter -ident -working-tree-encoding\n";

/// So that the agent's git commits without asking anybody. Whose name its commits bear is of no account: the candidate is
/// another commit.
const IDENTITY: &str = "[user]\n\tname = agent\n\temail = agent@localhost\n[commit]\n\tgpgSign = false\n";

/// A workspace that was just made. From the moment an agent was started in it, git must not be run in it any more.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Makes the folder `root`, which must not exist, and in it a repository of its own with one branch at `base`: no
    /// remote, no tag, no reflog, no hook, no commit that `base` doesn't reach. Its objects are borrowed from the store,
    /// which must hold `base`; what git writes in the workspace goes into the workspace.
    ///
    /// The files are the raw blobs of the base tree, submodules are empty folders, and `git status` is clean. A crash
    /// leaves a folder that must be deleted; there is no way to finish it.
    ///
    /// # Errors
    /// [`RepositoryError::Exists`] where something is at `root`.
    pub fn create(
        store: &BaseStore,
        root: &Path,
        base: &CommitId,
        branch: &str,
    ) -> Result<Self, RepositoryError> {
        let lender = store.repository();
        if let Err(error) = fs::create_dir(root) {
            return Err(match error.kind() {
                std::io::ErrorKind::AlreadyExists => RepositoryError::Exists { path: root.to_owned() },
                _ => RepositoryError::file("make", root)(error),
            });
        }
        let git = lender.git();
        git.command("check-ref-format").args(["--branch", branch]).success()?;
        git.discovering(root, &[], "init")
            .args(["--quiet", "--template="])
            .arg(format!("--initial-branch={branch}"))
            .arg(format!("--object-format={}", lender.object_format()))
            .arg(root)
            .success()?;
        let git_dir = root.join(".git");
        append(&git_dir.join("config"), [CONFIGURATION, IDENTITY].concat().as_bytes())?;
        let info = git_dir.join("info");
        let attributes = info.join("attributes");
        fs::create_dir_all(&info)
            .and_then(|()| fs::write(&attributes, ATTRIBUTES))
            .map_err(RepositoryError::file("write", &attributes))?;
        let repository = Repository::open(git, &git_dir)?;
        repository.borrow_from(lender.git_dir())?;
        write_shallow(&git_dir, &read_shallow(lender.git_dir())?)?;
        repository.set_reference(&format!("refs/heads/{branch}"), base, None)?;
        let mut work_tree = std::ffi::OsString::from("--work-tree=");
        work_tree.push(root);
        git.in_repository(&git_dir, &[&work_tree], "read-tree")
            .long()
            .args(["--reset", "-u", "--no-recurse-submodules", base.as_str()])
            .success()?;
        Ok(Self { root: root.to_owned() })
    }

    /// The folder that holds the files and `.git`.
    pub fn root(&self) -> &Path {
        &self.root
    }
}
