//! Reads the links of a candidate and of base, to tell which lead out. Following them is `nightgate-core`'s.

use std::collections::{BTreeSet, HashMap};
use std::io;

use nightgate_core::ObjectId;
use nightgate_core::evidence::{OutsideLink, WayOut};
use nightgate_core::link::{Links, leading_out};
use nightgate_core::tree::{EntryMode, Listing};

use crate::repository::{BlobSink, Repository, RepositoryError};

/// The most links that are told one by one.
const MOST_TOLD: usize = 200;

/// The bytes of one target that are looked at: no system follows longer ones.
const LONGEST_TARGET: usize = 4096;

/// The bytes of all targets together that are held.
const MOST_BYTES: usize = 256 << 20;

/// The links that lead out of the tree of `candidate` and didn't lead out of base's. `repository` must hold the blobs of both.
pub(super) fn outside(
    repository: &Repository,
    base: &Listing,
    candidate: &Listing,
) -> Result<Vec<OutsideLink>, RepositoryError> {
    let is_link = |entry: &nightgate_core::tree::Entry| entry.mode == EntryMode::Symlink;
    let links = |listing| -> Vec<_> { Listing::iter(listing).filter(|(_, entry)| is_link(entry)).collect() };
    let (before, after) = (links(base), links(candidate));
    // Where no link differs, none leads elsewhere: what isn't a link plays no part.
    if before == after {
        return Ok(Vec::new());
    }
    let ids: BTreeSet<&ObjectId> = before.iter().chain(&after).map(|(_, entry)| &entry.object).collect();
    let ids: Vec<_> = ids.into_iter().collect();
    let mut targets = Targets { read: Vec::with_capacity(ids.len()), bytes: 0 };
    repository.blobs(&ids, &mut targets)?;
    if targets.bytes > MOST_BYTES {
        let first = after.first().map(|(path, _)| OutsideLink {
            path: (*path).clone(),
            target: "more than can be looked at".to_owned(),
            leads: WayOut::Unknown,
        });
        return Ok(first.into_iter().collect());
    }
    let targets: HashMap<_, _> = ids.into_iter().zip(&targets.read).collect();
    let of = |links| -> Links<'_> {
        let links: &Vec<(&_, &nightgate_core::tree::Entry)> = links;
        links
            .iter()
            .filter_map(|(path, entry)| Some((*path, targets.get(&entry.object)?.as_slice())))
            .collect()
    };
    let mut found = leading_out(&of(&before), &of(&after));
    found.truncate(MOST_TOLD);
    Ok(found)
}

/// The beginnings of targets, in the order of asking; nothing more is kept beyond [`MOST_BYTES`].
struct Targets {
    read: Vec<Vec<u8>>,
    bytes: usize,
}

impl BlobSink for Targets {
    fn begin(&mut self, _place: usize, _size: u64) -> io::Result<()> {
        self.read.push(Vec::new());
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(target) = self.read.last_mut()
            && self.bytes <= MOST_BYTES
        {
            let taken = bytes.len().min(LONGEST_TARGET - target.len());
            target.extend_from_slice(&bytes[..taken]);
            self.bytes += taken;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}
