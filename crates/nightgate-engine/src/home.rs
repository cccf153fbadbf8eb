//! Where Nightgate keeps its own things. What lies in them is the store's and the host's.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nightgate_core::{JobId, ProjectId};

use crate::error::EngineError;

/// The layout below Nightgate's home.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    root: PathBuf,
}

impl Home {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Makes the folders that every job needs. Existing ones stay as they are. The home itself may be reached through a link;
    /// below it, where things are deleted, there is none.
    pub(crate) fn make(&self) -> Result<(), EngineError> {
        make_folder(&self.root)?;
        for folder in ["blobs", "projects", "jobs", "rooms", "locks"].map(|name| self.root.join(name)) {
            refuse_link(&folder)?;
            make_folder(&folder)?;
        }
        refuse_link(&self.kept())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.join("store.sqlite")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }

    /// The store of bases of one project: a bare repository.
    pub(crate) fn bases(&self, project: &ProjectId) -> PathBuf {
        self.root.join("projects").join(project.as_str()).join("bases.git")
    }

    /// Everything of one job that is not yet, or not only, in the store.
    pub(crate) fn job(&self, job: &JobId) -> PathBuf {
        self.jobs().join(job.as_str())
    }

    pub(crate) fn jobs(&self) -> PathBuf {
        self.root.join("jobs")
    }

    pub(crate) fn rooms(&self) -> PathBuf {
        self.root.join("rooms")
    }

    /// Workspaces that could not be captured whole.
    pub(crate) fn kept(&self) -> PathBuf {
        self.root.join("kept")
    }

    /// Where a job's workspace goes that could not be captured whole: the first place of its name where nothing stands.
    pub(crate) fn free_place_in_kept(&self, job: &JobId) -> PathBuf {
        let place = |number: u32| match number {
            1 => self.kept().join(job.as_str()),
            _ => self.kept().join(format!("{job}-{number}")),
        };
        (1..).map(place).find(|place| place.symlink_metadata().is_err()).unwrap_or_else(|| place(0))
    }

    /// Held by the process that works on a job.
    pub(crate) fn lock(&self, job: &JobId) -> PathBuf {
        self.root.join("locks").join(job.as_str())
    }

    /// Held by the keeper of a job's processes, until the last of them is gone.
    pub(crate) fn keeper_lock(&self, job: &JobId) -> PathBuf {
        self.root.join("locks").join(format!("{job}.keeper"))
    }
}

/// The folders of one job. Only [`JobFolder::workspace`] and [`JobFolder::agent_home`] are for its agent.
#[derive(Clone, Debug)]
pub(crate) struct JobFolder {
    root: PathBuf,
}

impl JobFolder {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root.join("workspace")
    }

    pub(crate) fn agent_home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn agent_tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub(crate) fn prompt(&self) -> PathBuf {
        self.root.join("prompt")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }
}

fn refuse_link(path: &Path) -> Result<(), EngineError> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        let why = format!(
            "{} is a symbolic link: put a folder in its place; to keep Nightgate's things elsewhere, name the place with \
             NIGHTGATE_HOME",
            path.display()
        );
        return Err(EngineError::environment("use Nightgate's home", why));
    }
    Ok(())
}

/// Makes a folder (0700) and what is missing above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), EngineError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| EngineError::file("make the folder", path, source))
}

/// The name of the log of a job's agent.
pub(crate) const AGENT_LOG: &str = "agent";
