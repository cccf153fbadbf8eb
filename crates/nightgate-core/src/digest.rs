//! SHA-256 digests, the names of everything that Nightgate keeps. Hashing of git objects is not here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Text that isn't a digest.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a digest: write `sha256:` and 64 hexadecimal digits")]
pub struct DigestError(String);

impl Digest {
    /// The digest of exactly these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest from its 32 raw bytes, as a streaming hasher gives them.
    pub fn from_raw(raw: [u8; 32]) -> Self {
        Self(raw)
    }

    /// The 64 hexadecimal digits, without the `sha256:` prefix.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

/// Lower-case hexadecimal digits of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

impl FromStr for Digest {
    type Err = DigestError;

    /// Reads a digest with or without its `sha256:` prefix.
    fn from_str(text: &str) -> Result<Self, DigestError> {
        let refuse = || DigestError(text.to_owned());
        let digits = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
        if digits.len() != 64 {
            return Err(refuse());
        }
        let mut raw = [0; 32];
        for (byte, pair) in raw.iter_mut().zip(digits.chunks_exact(2)) {
            let value = |digit: u8| match digit {
                b'0'..=b'9' => Some(digit - b'0'),
                b'a'..=b'f' => Some(digit - b'a' + 10),
                _ => None,
            };
            *byte =
                value(pair[0]).zip(value(pair[1])).map(|(high, low)| high << 4 | low).ok_or_else(refuse)?;
        }
        Ok(Self(raw))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
