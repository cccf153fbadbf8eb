//! Names of things: git objects, jobs, projects. Making new ones needs randomness or git and is not here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that isn't an identifier of the kind that was asked for.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct IdError {
    text: String,
    expected: &'static str,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { text: text.to_owned(), expected: $expected })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && is_lower_hex(text)
}

fn is_job_id(text: &str) -> bool {
    text.strip_prefix("j-").is_some_and(|rest| {
        rest.len() == 8 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    })
}

text_id!(
    /// A git object id: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
    ObjectId,
    "a git object id of 40 or 64 hexadecimal digits",
    is_object_id
);
text_id!(
    /// The full id of a commit. Never a name, a prefix or a ref.
    CommitId,
    "a commit id of 40 or 64 hexadecimal digits",
    is_object_id
);
text_id!(
    /// The full id of a git tree.
    TreeId,
    "a tree id of 40 or 64 hexadecimal digits",
    is_object_id
);
text_id!(
    /// A job: `j-` and eight characters of `0-9a-z`. Safe as a file name and as a component of a ref.
    JobId,
    "a job id: `j-` and eight characters of 0-9 and a-z",
    is_job_id
);
text_id!(
    /// A project: 16 hexadecimal digits, derived from where the user's repository lies.
    ProjectId,
    "a project id of 16 hexadecimal digits",
    |text| text.len() == 16 && is_lower_hex(text)
);

impl JobId {
    /// A job id from 40 random bits; the bits above them are ignored.
    pub fn from_bits(bits: u64) -> Self {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let digits = (0..8).map(|place| char::from(ALPHABET[(bits >> (place * 5) & 31) as usize]));
        Self("j-".chars().chain(digits).collect())
    }
}

impl ProjectId {
    /// The project of the repository whose common git directory has this digest of its canonical path.
    pub fn from_digest(digest: &crate::Digest) -> Self {
        Self(digest.hex()[..16].to_owned())
    }
}
