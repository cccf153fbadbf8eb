//! New files of a user's working tree that git would leave out by rules outside of it: `core.excludesFile` and
//! `.git/info/exclude`. Only the tree's own `.gitignore` files decide what is captured; whether the user means these files to
//! be part of their work can't be known.

use nightgate_core::RepoPath;
use nightgate_core::evidence::{CaptureProblem, CaptureProblemKind};
use nightgate_core::tree::Change;

use super::conversion::Configuration;
use super::index::Index;
use super::{WorkingTree, doubt};
use crate::git::GitError;
use crate::repository::RepositoryError;

/// The problems of the new files that are ignored so. One that is in the index is none: the user added it.
pub(super) fn ignored(
    tree: &WorkingTree<'_>,
    configuration: &Configuration,
    index: &Index,
    changes: &[Change],
) -> Result<Vec<CaptureProblem>, RepositoryError> {
    let is_new = |change: &&Change| change.before.is_none() && index.tracked(&change.path).is_none();
    let files: Vec<_> = changes.iter().filter(is_new).map(|change| &change.path).collect();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let file = configuration.excludes_file.as_deref();
    let settings: Vec<_> = file.map(|file| ("core.excludesFile", file)).into_iter().collect();
    // Git reads paths here as pathspecs: `:a` would mean something else than `./:a`.
    let input = files.iter().flat_map(|path| [b"./", path.as_bytes(), b"\0"]).collect::<Vec<_>>().concat();
    let mut answer = Vec::new();
    let command = tree.command(&settings, "check-ignore");
    let command = command.args(["-z", "--stdin", "--verbose", "--no-index"]);
    let output = command.ask(&mut &input[..], &mut answer)?;
    // 1 says that none is ignored.
    if !matches!(output.code, 0 | 1) {
        let doing = "git check-ignore".to_owned();
        return Err(GitError::Failed { doing, code: output.code, stderr: output.stderr }.into());
    }
    Ok(problems(&answer)?)
}

/// Reads `source NUL line NUL pattern NUL path NUL` records. A pattern with `!` brings a file back.
fn problems(answer: &[u8]) -> Result<Vec<CaptureProblem>, GitError> {
    let unreadable = || {
        let what = "a record that is no match".to_owned();
        GitError::Answer { doing: "git check-ignore".to_owned(), what }
    };
    let mut found = Vec::new();
    let Some(answer) = answer.strip_suffix(b"\0") else {
        return if answer.is_empty() { Ok(found) } else { Err(unreadable()) };
    };
    let fields: Vec<_> = answer.split(|&byte| byte == 0).collect();
    for record in fields.chunks(4) {
        let [source, _, pattern, path] = record else { return Err(unreadable()) };
        let path = path.strip_prefix(b"./").and_then(|path| RepoPath::from_bytes(path).ok());
        let path = path.ok_or_else(unreadable)?;
        if !pattern.starts_with(b"!") {
            let source = String::from_utf8_lossy(source);
            let why = format!("it is new, and {source} ignores it, which decides nothing here");
            found.push(doubt(CaptureProblemKind::IgnoredElsewhere, &path, &why));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::problems;

    #[test]
    fn an_answer_of_git_is_read_and_anything_else_is_refused() {
        let answer =
            b"/home/u/.gitignore\x001\x00*.log\x00./a\nb.log\0.git/info/exclude\x002\x00!keep\x00./keep\0";
        let found = problems(answer).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path.as_ref().unwrap().as_bytes(), b"a\nb.log");
        assert!(found[0].text.contains("/home/u/.gitignore") && found[0].text.contains("--commit"));
        assert!(problems(b"").unwrap().is_empty());
        for wrong in [&b"a\0b\0c\0"[..], b"a\0b\0c\0./x", b"a\x001\0c\0x\0"] {
            assert!(problems(wrong).is_err(), "{}", wrong.escape_ascii());
        }
    }
}
