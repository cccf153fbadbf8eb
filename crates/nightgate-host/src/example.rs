//! Makes a small real repository for demonstrations. What is in it, and what is shown with it, is not here.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::git::Git;
use crate::repository::RepositoryError;

/// Makes the folder `root`, which must not exist, a repository with these files in one commit on `main`.
///
/// A crash leaves a folder that must be deleted.
///
/// # Errors
/// Where a file can't be written, or git fails.
pub fn create(git: &Git, root: &Path, files: &[(&str, &str)]) -> Result<(), RepositoryError> {
    fs::create_dir(root).map_err(RepositoryError::file("make", root))?;
    for (name, content) in files {
        let file = root.join(name);
        let folder = file.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(RepositoryError::file("make", folder))?;
        fs::write(&file, content).map_err(RepositoryError::file("write", &file))?;
    }
    let run = |verb: &str, args: &[&str]| {
        let identity =
            ["-c", "user.name=Nightgate demo", "-c", "user.email=demo@nightgate.invalid"].map(OsStr::new);
        git.discovering(root, &identity, verb).args(args).success()
    };
    run("init", &["--quiet", "--template=", "--initial-branch=main"])?;
    run("add", &["--all"])?;
    run("commit", &["--quiet", "--message=A shop that greets its customers"])?;
    Ok(())
}
