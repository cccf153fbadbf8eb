//! Commits that the files of a workspace don't show, by its refs read as plain files. Never decides anything.

use nightgate_core::CommitId;
use nightgate_core::evidence::Note;

use crate::walk::{Fault, Folder, Kind};

/// The most refs that are looked at.
const MOST: u64 = 1000;

/// A note where the workspace's repository has a branch or a HEAD that isn't at base. For a capture without changes:
/// work may lie in commits that nobody checked out.
pub(super) fn commits(root: &Folder, base: &CommitId) -> Option<Note> {
    let git = root.folder(b".git").ok()?;
    let mut names = Vec::new();
    if is_elsewhere(&git, b"HEAD", base) {
        names.push("HEAD".to_owned());
    }
    if let Ok(heads) = git.folder(b"refs").and_then(|refs| refs.folder(b"heads")) {
        collect(&heads, "", base, 0, &mut names);
    }
    if names.is_empty() {
        return None;
    }
    let text =
        format!("the files are as they were at base, but the workspace has commits at {}", names.join(", "));
    Some(Note { code: "unreached_commits".to_owned(), path: None, text })
}

fn collect(folder: &Folder, prefix: &str, base: &CommitId, depth: usize, names: &mut Vec<String>) {
    let Ok(entries) = folder.names(MOST) else { return };
    for entry in entries {
        let shown = format!("{prefix}{}", String::from_utf8_lossy(&entry).escape_debug());
        match folder.status(&entry).map(|status| status.kind) {
            Ok(Kind::Folder) if depth < 16 => {
                if let Ok(inner) = folder.folder(&entry) {
                    collect(&inner, &format!("{shown}/"), base, depth + 1, names);
                }
            }
            Ok(Kind::File) if names.len() < 20 && is_elsewhere(folder, &entry, base) => names.push(shown),
            _ => {}
        }
    }
}

/// True where the file holds a commit id that isn't base's. A symbolic ref holds none.
fn is_elsewhere(folder: &Folder, name: &[u8], base: &CommitId) -> bool {
    let read = || -> Result<Vec<u8>, Fault> {
        match folder.status(name)?.kind {
            Kind::File => folder.file(name)?.head(200),
            _ => Err(Fault::Changed),
        }
    };
    let Ok(content) = read() else { return false };
    let id = std::str::from_utf8(content.trim_ascii()).ok().and_then(|text| text.parse::<CommitId>().ok());
    id.is_some_and(|id| id != *base)
}
