//! Ids of git blobs and trees, computed by our own hashing of raw bytes. Reading files and running git are not here.
//!
//! Formats: `blob SP size NUL content` and `tree SP size NUL (mode SP name NUL raw-id)*`, hashed with SHA-1 or SHA-256
//! (gitformat documentation, "Object storage format" and "hash-function-transition").

use std::fmt;
use std::str::FromStr;

use nightgate_core::digest::hex;
use nightgate_core::tree::{EntryMode, Listing};
use nightgate_core::{ObjectId, TreeId};
use sha2::Digest as _;

/// Which hash names the objects of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectFormat {
    /// 40 digits; git's default.
    Sha1,
    /// 64 digits.
    Sha256,
}

/// A word that names no object format.
#[derive(Debug, thiserror::Error)]
#[error("object format `{0}` is not known: expected `sha1` or `sha256`")]
pub struct ObjectFormatError(String);

impl ObjectFormat {
    /// The word that git uses for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    /// How many hexadecimal digits an id has.
    pub fn digits(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }

    /// Starts the id of a blob whose content will be `size` bytes.
    pub fn blob(self, size: u64) -> ObjectHasher {
        ObjectHasher::start(self, "blob", size)
    }

    /// The id of a blob with exactly this content.
    pub fn blob_id(self, content: &[u8]) -> ObjectId {
        let mut hasher = self.blob(content.len() as u64);
        hasher.update(content);
        hasher.finish()
    }
}

impl fmt::Display for ObjectFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ObjectFormat {
    type Err = ObjectFormatError;

    fn from_str(text: &str) -> Result<Self, ObjectFormatError> {
        match text {
            "sha1" => Ok(Self::Sha1),
            "sha256" => Ok(Self::Sha256),
            other => Err(ObjectFormatError(other.to_owned())),
        }
    }
}

enum State {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

/// The id of one object, fed in pieces. The pieces must add up to the size that was announced; a reader that got
/// another number of bytes must throw the hasher away.
pub struct ObjectHasher(State);

impl ObjectHasher {
    fn start(format: ObjectFormat, kind: &str, size: u64) -> Self {
        let mut hasher = Self(match format {
            ObjectFormat::Sha1 => State::Sha1(sha1::Sha1::default()),
            ObjectFormat::Sha256 => State::Sha256(sha2::Sha256::default()),
        });
        hasher.update(format!("{kind} {size}\0").as_bytes());
        hasher
    }

    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Sha1(state) => state.update(bytes),
            State::Sha256(state) => state.update(bytes),
        }
    }

    /// The id.
    pub fn finish(self) -> ObjectId {
        hex(&self.finish_raw()).parse().expect("a hash's hexadecimal digits are an object id")
    }

    fn finish_raw(self) -> Vec<u8> {
        match self.0 {
            State::Sha1(state) => state.finalize().to_vec(),
            State::Sha256(state) => state.finalize().to_vec(),
        }
    }
}

/// The id of the tree that holds exactly these entries, as git computes it. Folders without entries don't exist in a
/// git tree.
///
/// The listing must be a tree's: no entry may lie below another entry that is not a folder. `Repository::listing` and
/// a walk never give such a listing.
pub fn tree_id(format: ObjectFormat, listing: &Listing) -> TreeId {
    // The byte order of whole paths is git's order inside each tree: git compares a folder as if its name ended in `/`.
    let entries: Vec<_> = listing
        .iter()
        .map(|(path, entry)| Leaf { path: path.as_bytes(), mode: entry.mode, id: entry.object.as_str() })
        .collect();
    hex(&hash_folder(format, &entries, 0)).parse().expect("a hash's hexadecimal digits are a tree id")
}

struct Leaf<'a> {
    path: &'a [u8],
    mode: EntryMode,
    id: &'a str,
}

/// Hashes the folder whose leaves are `leaves`, all of which share the first `depth` bytes of their paths.
fn hash_folder(format: ObjectFormat, leaves: &[Leaf<'_>], depth: usize) -> Vec<u8> {
    let mut body = Vec::new();
    let mut rest = leaves;
    while let Some(first) = rest.first() {
        let below = &first.path[depth..];
        let (name, count, mode, id) = match below.iter().position(|&byte| byte == b'/') {
            None => (below, 1, first.mode.as_str(), unhex(first.id)),
            Some(slash) => {
                let folder = &first.path[..depth + slash + 1];
                let count = rest.iter().take_while(|leaf| leaf.path.starts_with(folder)).count();
                let id = hash_folder(format, &rest[..count], folder.len());
                (&below[..slash], count, "40000", id)
            }
        };
        body.extend_from_slice(mode.as_bytes());
        body.push(b' ');
        body.extend_from_slice(name);
        body.push(0);
        body.extend_from_slice(&id);
        rest = &rest[count..];
    }
    let mut hasher = ObjectHasher::start(format, "tree", body.len() as u64);
    hasher.update(&body);
    hasher.finish_raw()
}

fn unhex(digits: &str) -> Vec<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16).map_or(0, |value| value as u8);
    digits.as_bytes().chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

#[cfg(test)]
mod tests;
