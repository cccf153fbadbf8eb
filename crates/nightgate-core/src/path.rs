//! Paths inside a repository: bytes, relative, without detours. Looking one up in a file system is not here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path below the root of a repository: one or more components separated by `/`, none of them empty, `.` or `..`, no
/// NUL. Any other byte is allowed, as git allows it: invalid UTF-8, newlines and quotes survive every step.
///
/// As text (in JSON and on a terminal) a path of printable UTF-8 is itself; any other, and one that begins with `"`, is
/// in git's quoted form: between double quotes, with `\\`, `\"`, `\n`, `\t` and `\ooo` for bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

/// Text or bytes that aren't a path inside a repository.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("path {text} {why}")]
pub struct PathError {
    text: String,
    why: &'static str,
}

impl RepoPath {
    /// A path from raw bytes, as git and the file system give them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PathError> {
        let refuse = |why| Err(PathError { text: quote(bytes), why });
        if bytes.is_empty() {
            return refuse("is empty: name a file or folder of the repository");
        }
        if bytes[0] == b'/' {
            return refuse("is absolute: write it from the repository's root, without a leading `/`");
        }
        if bytes.contains(&0) {
            return refuse("holds a NUL byte");
        }
        for component in bytes.split(|&byte| byte == b'/') {
            match component {
                b"" => return refuse("has an empty component: remove the doubled or trailing `/`"),
                b"." => return refuse("has a `.` component: remove it"),
                b".." => return refuse("climbs with `..`: paths stay inside the repository"),
                _ => {}
            }
        }
        Ok(Self(bytes.to_vec()))
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// True for the path itself and for everything below it.
    pub fn is_at_or_below(&self, folder: &Self) -> bool {
        self.0.strip_prefix(folder.0.as_slice()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    /// The folders above, from the outermost to the innermost; empty for a path of one component.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + '_ {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'/')
            .map(|(at, _)| Self(self.0[..at].to_vec()))
    }

    /// The last component.
    pub fn file_name(&self) -> &[u8] {
        self.0.rsplit(|&byte| byte == b'/').next().unwrap_or(&self.0)
    }

    /// This path with one more component. The component must be a name as a directory listing gives it.
    pub fn join(&self, name: &[u8]) -> Result<Self, PathError> {
        Self::from_bytes(&[self.as_bytes(), b"/", name].concat())
    }
}

fn is_plain(text: &str) -> bool {
    !text.starts_with('"') && !text.chars().any(needs_quoting)
}

/// True for control characters, and for those that reorder or hide text on a terminal: never shown as they are.
pub fn needs_quoting(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Any bytes in the text form of paths.
pub(crate) fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_plain(text) => text.to_owned(),
        _ => quote(bytes),
    }
}

fn quote(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                other if needs_quoting(other) => {
                    for byte in other.encode_utf8(&mut [0; 4]).bytes() {
                        let _ = write!(text, "\\{byte:03o}");
                    }
                }
                other => text.push(other),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\{byte:03o}");
        }
    }
    text.push('"');
    text
}

fn unquote(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter();
    while let Some(&byte) = rest.next() {
        if byte == b'"' {
            return None;
        }
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match *rest.next()? {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            quoted @ (b'"' | b'\\') => bytes.push(quoted),
            first @ b'0'..=b'3' => {
                let mut value = first - b'0';
                for _ in 0..2 {
                    let digit = *rest.next()?;
                    if !matches!(digit, b'0'..=b'7') {
                        return None;
                    }
                    value = value * 8 + (digit - b'0');
                }
                bytes.push(value);
            }
            _ => return None,
        }
    }
    Some(bytes)
}

impl FromStr for RepoPath {
    type Err = PathError;

    /// Reads the text form: plain, or git's quoted form.
    fn from_str(text: &str) -> Result<Self, PathError> {
        if text.starts_with('"') {
            let refuse =
                || PathError { text: quote(text.as_bytes()), why: "is not a well-formed quoted path" };
            return Self::from_bytes(&unquote(text).ok_or_else(refuse)?);
        }
        Self::from_bytes(text.as_bytes())
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
