//! What a tree holds, by path. Reading contents is not here.

use std::io::{self, Write};

use nightgate_core::tree::{Entry, EntryMode, Listing};
use nightgate_core::{RepoPath, TreeId};

use super::{Repository, RepositoryError};

impl Repository {
    /// Everything in a tree, recursively.
    ///
    /// # Errors
    /// [`RepositoryError::Malformed`] for a tree that no checkout could give: names like `..`, a file that is a folder
    /// too, and `.git` in any spelling of its case.
    pub fn listing(&self, tree: &TreeId) -> Result<Listing, RepositoryError> {
        self.listing_at(tree.as_str(), &[])
    }

    /// What stands at and below `paths` (everything where there are none) in a tree or commit.
    pub(crate) fn listing_at(&self, treeish: &str, paths: &[RepoPath]) -> Result<Listing, RepositoryError> {
        use std::os::unix::ffi::OsStrExt as _;
        let mut parser = Parser { pending: Vec::new(), listing: Listing::new(), fault: None };
        let command = self.command("ls-tree").args(["-r", "-z", "--full-tree", treeish, "--"]);
        let command = command.args(paths.iter().map(|path| std::ffi::OsStr::from_bytes(path.as_bytes())));
        let ended = command.converse(&mut io::empty(), &mut parser);
        let fault = parser.fault.take().or_else(|| first_conflict(&parser.listing));
        if let Some(what) = fault {
            return Err(RepositoryError::Malformed { object: treeish.to_owned(), what });
        }
        ended?;
        Ok(parser.listing)
    }
}

/// A path that lies below another entry of the listing.
fn first_conflict(listing: &Listing) -> Option<String> {
    let mut last_folder: Option<Vec<u8>> = None;
    for path in listing.keys() {
        let bytes = path.as_bytes();
        let Some(slash) = bytes.iter().rposition(|&byte| byte == b'/') else { continue };
        if last_folder.as_deref() == Some(&bytes[..slash]) {
            continue;
        }
        last_folder = Some(bytes[..slash].to_vec());
        if let Some(above) = path.ancestors().find(|above| listing.contains_key(above)) {
            return Some(format!("it holds {above} both as a file and as a folder"));
        }
    }
    None
}

/// Reads `mode SP type SP id TAB path NUL` records.
struct Parser {
    pending: Vec<u8>,
    listing: Listing,
    fault: Option<String>,
}

impl Parser {
    fn record(&mut self, record: &[u8]) -> Result<(), String> {
        let refuse = || format!("git ls-tree listed something unreadable: {}", record.escape_ascii());
        let tab = record.iter().position(|&byte| byte == b'\t').ok_or_else(refuse)?;
        let (about, name) = (&record[..tab], &record[tab + 1..]);
        let mut words = about.split(|&byte| byte == b' ');
        let mode = words.next().and_then(EntryMode::parse).ok_or_else(refuse)?;
        let id = words.nth(1).and_then(|id| std::str::from_utf8(id).ok()?.parse().ok()).ok_or_else(refuse)?;
        let path = RepoPath::from_bytes(name).map_err(|error| error.to_string())?;
        if name.split(|&byte| byte == b'/').any(|part| part.eq_ignore_ascii_case(b".git")) {
            return Err(format!("it holds {path}, which git never checks out"));
        }
        match self.listing.insert(path.clone(), Entry { mode, object: id }) {
            None => Ok(()),
            Some(_) => Err(format!("it holds {path} twice")),
        }
    }
}

impl Write for Parser {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let mut records = pending.split(|&byte| byte == 0).peekable();
        while let Some(record) = records.next() {
            if records.peek().is_none() {
                self.pending = record.to_vec();
            } else if let Err(what) = self.record(record) {
                self.fault = Some(what);
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
