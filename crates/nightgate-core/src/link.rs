//! Where the symbolic links of a tree lead, by their names alone: to a place in it, or out of it. Reading links is not here.

use std::collections::{BTreeMap, HashMap};

use crate::RepoPath;
use crate::evidence::{OutsideLink, WayOut};
use crate::path::shown;

/// The links of one tree with the raw bytes of their targets.
pub type Links<'a> = BTreeMap<&'a RepoPath, &'a [u8]>;

/// So many links are followed one after the other, as Linux does (path_resolution(7)); a longer chain leads nowhere.
const LONGEST_CHAIN: usize = 40;

/// The bytes of paths that are looked at in all. Links that honest trees hold take some hundreds each.
const EFFORT: u64 = 1 << 28;

/// The links of `candidate` that lead out of it, in path order. One that is in `base` too, and leads out of that, is none of
/// the candidate's doing and not told.
///
/// A link is followed through the other links of its tree. What no link is counts as a folder, whether it is there or not.
pub fn leading_out(base: &Links<'_>, candidate: &Links<'_>) -> Vec<OutsideLink> {
    let (mut before, mut after) = (Follower::new(base), Follower::new(candidate));
    let mut found = Vec::new();
    for (path, target) in candidate {
        let Some(leads) = after.way_out(path, target) else { continue };
        let is_of_base = base.get(path) == Some(target) && before.way_out(path, target).is_some();
        if !is_of_base {
            found.push(OutsideLink { path: (*path).clone(), target: shown(target), leads });
        }
    }
    found
}

/// Follows links while its effort lasts.
struct Follower<'a> {
    links: HashMap<&'a [u8], &'a [u8]>,
    left: u64,
}

impl<'a> Follower<'a> {
    fn new(links: &Links<'a>) -> Self {
        let links = links.iter().map(|(path, target)| (path.as_bytes(), *target)).collect();
        Self { links, left: EFFORT }
    }

    fn way_out(&mut self, link: &RepoPath, target: &'a [u8]) -> Option<WayOut> {
        let mut at = link.as_bytes().to_vec();
        ascend(&mut at);
        let mut chain = 1;
        let mut ahead: Vec<&[u8]> = Vec::new();
        let mut next = Some(target);
        loop {
            if let Some(target) = next.take() {
                if target.first() == Some(&b'/') {
                    return Some(WayOut::Absolute);
                }
                ahead.extend(target.rsplit(|&byte| byte == b'/'));
            }
            let component = ahead.pop()?;
            let cost = (at.len() + component.len() + 1) as u64;
            let Some(left) = self.left.checked_sub(cost) else { return Some(WayOut::Unknown) };
            self.left = left;
            match component {
                b"" | b"." => {}
                b".." if at.is_empty() => return Some(WayOut::Above),
                b".." => ascend(&mut at),
                name => {
                    if !at.is_empty() {
                        at.push(b'/');
                    }
                    at.extend_from_slice(name);
                    next = self.links.get(at.as_slice()).copied();
                    if next.is_some() {
                        chain += 1;
                        if chain > LONGEST_CHAIN {
                            return None;
                        }
                        ascend(&mut at);
                    }
                }
            }
        }
    }
}

/// Cuts the last component off.
fn ascend(path: &mut Vec<u8>) {
    path.truncate(path.iter().rposition(|&byte| byte == b'/').unwrap_or(0));
}

#[cfg(test)]
mod tests;
