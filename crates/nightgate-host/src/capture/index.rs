//! What the index of a user's repository says of the files in its working tree. Files decide; the index only shows where
//! they can't: git takes from it what a commit would hold nevertheless.

use std::collections::BTreeMap;

use nightgate_core::RepoPath;
use nightgate_core::tree::{Entry, EntryMode};

use super::WorkingTree;
use crate::git::GitError;
use crate::repository::RepositoryError;

/// One path of an index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    pub(super) entry: Entry,
    /// True where git is told not to look at the file: `skip-worktree` (as a sparse checkout does) or `assume-unchanged`.
    pub(super) is_unwatched: bool,
}

/// An index. Of a path in conflict it holds one of the versions.
#[derive(Debug, Default)]
pub(super) struct Index(BTreeMap<RepoPath, Tracked>);

impl Index {
    /// Reads it by git, and changes nothing of it.
    ///
    /// # Errors
    /// Where git can't read it. One that isn't there is empty.
    pub(super) fn read(tree: &WorkingTree<'_>) -> Result<Self, RepositoryError> {
        let output = tree.command(&[], "ls-files").args(["-z", "-v", "--stage", "--full-name"]).success()?;
        Ok(Self::parse(&output.stdout)?)
    }

    /// Reads `tag SP mode SP id SP stage TAB path NUL` records. A path that no tree can hold is left out.
    fn parse(answer: &[u8]) -> Result<Self, GitError> {
        let mut entries = BTreeMap::new();
        for record in answer.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
            let unreadable = || {
                let what = format!("`{}` in place of an entry", record.escape_ascii());
                GitError::Answer { doing: "git ls-files".to_owned(), what }
            };
            let tab = record.iter().position(|&byte| byte == b'\t').ok_or_else(unreadable)?;
            let mut words = record[..tab].split(|&byte| byte == b' ');
            let tag = words.next().ok_or_else(unreadable)?;
            let is_unwatched = tag == b"S" || tag.first().is_some_and(u8::is_ascii_lowercase);
            let mode = words.next().and_then(EntryMode::parse).ok_or_else(unreadable)?;
            let id = words.next().and_then(|id| std::str::from_utf8(id).ok()?.parse().ok());
            let entry = Entry { mode, object: id.ok_or_else(unreadable)? };
            if let Ok(path) = RepoPath::from_bytes(&record[tab + 1..]) {
                entries.insert(path, Tracked { entry, is_unwatched });
            }
        }
        Ok(Self(entries))
    }

    pub(super) fn tracked(&self, path: &RepoPath) -> Option<&Tracked> {
        self.0.get(path)
    }

    /// Files at which git doesn't look.
    pub(super) fn unwatched(&self) -> impl Iterator<Item = &RepoPath> {
        self.0.iter().filter(|(_, tracked)| tracked.is_unwatched).map(|(path, _)| path)
    }

    pub(super) fn submodules(&self) -> impl Iterator<Item = &RepoPath> {
        self.0.iter().filter(|(_, tracked)| tracked.entry.mode == EntryMode::Gitlink).map(|(path, _)| path)
    }

    /// True where something is tracked below a folder.
    pub(super) fn holds_any_below(&self, folder: &RepoPath) -> bool {
        // The lowest path that can stand below.
        let lowest = folder.join(b"\x01").ok();
        let next = lowest.and_then(|lowest| self.0.range(lowest..).next());
        next.is_some_and(|(path, _)| path.is_at_or_below(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_git_is_read_and_anything_else_is_refused() {
        let id = "1".repeat(40);
        let answer = format!(
            "H 100755 {id} 0\ta/b\0S 100644 {id} 0\ta-b\0H 160000 {id} 0\tsub\0h 100644 {id} 2\t \"\n\0"
        );
        let index = Index::parse(answer.as_bytes()).unwrap();
        let path = |text: &[u8]| RepoPath::from_bytes(text).unwrap();
        assert_eq!(index.tracked(&path(b"a/b")).unwrap().entry.mode, EntryMode::Executable);
        assert_eq!(index.unwatched().collect::<Vec<_>>(), [&path(b" \"\n"), &path(b"a-b")]);
        assert_eq!(index.submodules().collect::<Vec<_>>(), [&path(b"sub")]);
        assert!(index.holds_any_below(&path(b"a")) && !index.holds_any_below(&path(b"sub")));
        for wrong in ["H 100644\tx\0", &format!("H 040000 {id} 0\tx\0"), "nonsense\0"] {
            assert!(Index::parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        assert!(Index::parse(b"").unwrap().0.is_empty());
    }
}
