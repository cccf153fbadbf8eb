//! Wildcards as git matches them (gitignore(5), gitglossary(7) "pathspec"). Lines, files and folders are not here.

use std::collections::{HashMap, HashSet};

use super::{Effort, Exhausted};

/// How `*`, `?` and sets treat `/`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slash {
    /// As any other byte; for single names.
    Ordinary,
    /// Only a literal `/` and a `**` that is a whole component match it.
    Separates,
}

/// True where the whole of `text` matches `glob`. Time is bounded by the product of both lengths, and by `effort`.
pub(super) fn matches(
    glob: &[u8],
    text: &[u8],
    slash: Slash,
    effort: &mut Effort,
) -> Result<bool, Exhausted> {
    let (failed, failed_stars) = (HashSet::new(), HashMap::new());
    Matcher { glob, text, slash, failed, failed_stars, effort }.matches_from(0, 0)
}

struct Matcher<'a> {
    glob: &'a [u8],
    text: &'a [u8],
    slash: Slash,
    /// Pairs of positions after a star from which there is no match.
    failed: HashSet<(usize, usize)>,
    /// For a run of stars: where in the text it was tried without a match, and how far it may reach from there. It needn't be
    /// tried in between, as all that it could try there has been.
    failed_stars: HashMap<usize, (usize, usize)>,
    effort: &'a mut Effort,
}

impl Matcher<'_> {
    fn matches_from(&mut self, mut at: usize, mut seen: usize) -> Result<bool, Exhausted> {
        while let Some(&wanted) = self.glob.get(at) {
            self.effort.take(1)?;
            if wanted == b'*' {
                return self.star(at, seen);
            }
            let Some(&byte) = self.text.get(seen) else { return Ok(false) };
            at = match wanted {
                b'?' if byte == b'/' && self.slash == Slash::Separates => return Ok(false),
                b'?' => at + 1,
                b'\\' if self.glob.get(at + 1) == Some(&byte) => at + 2,
                b'\\' => return Ok(false),
                b'[' => {
                    // A set is read to its end, or to the glob's.
                    self.effort.take(self.glob.len() - at)?;
                    match self.set(at + 1, byte) {
                        Some(after) => after,
                        None => return Ok(false),
                    }
                }
                literal if literal == byte => at + 1,
                _ => return Ok(false),
            };
            seen += 1;
        }
        Ok(seen == self.text.len())
    }

    /// Matches from the first star of a run of stars at `at`.
    fn star(&mut self, at: usize, seen: usize) -> Result<bool, Exhausted> {
        if self.failed_stars.get(&at).is_some_and(|(from, to)| (*from..=*to).contains(&seen)) {
            return Ok(false);
        }
        let after = at + self.glob[at..].iter().take_while(|&&byte| byte == b'*').count();
        self.effort.take(after - at)?;
        let rest = &self.glob[after..];
        let begins_component = at == 0 || self.glob[at - 1] == b'/';
        let ends_component = rest.is_empty() || rest[0] == b'/' || rest.starts_with(b"\\/");
        let crosses = match self.slash {
            Slash::Ordinary => true,
            Slash::Separates => after - at > 1 && begins_component && ends_component,
        };
        // `**/` also stands for no component at all.
        if crosses
            && self.slash == Slash::Separates
            && rest.first() == Some(&b'/')
            && self.try_from(after + 1, seen)?
        {
            return Ok(true);
        }
        for end in seen..=self.text.len() {
            if self.try_from(after, end)? {
                return Ok(true);
            }
            if !crosses && self.text.get(end) == Some(&b'/') {
                self.failed_stars.insert(at, (seen, end));
                return Ok(false);
            }
        }
        self.failed_stars.insert(at, (seen, self.text.len()));
        Ok(false)
    }

    fn try_from(&mut self, at: usize, seen: usize) -> Result<bool, Exhausted> {
        self.effort.take(1)?;
        if self.failed.contains(&(at, seen)) {
            return Ok(false);
        }
        let matched = self.matches_from(at, seen)?;
        if !matched {
            self.failed.insert((at, seen));
        }
        Ok(matched)
    }

    /// Where the glob goes on after the set that begins at `at` (behind its `[`), if `byte` is of the set. An unfinished
    /// set and an unknown class match nothing.
    fn set(&self, mut at: usize, byte: u8) -> Option<usize> {
        let negated = matches!(self.glob.get(at), Some(b'!' | b'^'));
        at += usize::from(negated);
        let mut found = false;
        let mut range_start = None;
        let mut first = true;
        loop {
            let member = *self.glob.get(at)?;
            if member == b']' && !first {
                break;
            }
            first = false;
            let next = self.glob.get(at + 1);
            if member == b'\\' {
                let literal = *next?;
                found |= literal == byte;
                range_start = Some(literal);
                at += 2;
            } else if member == b'-' && range_start.is_some() && next.is_some_and(|&end| end != b']') {
                at += 1;
                if self.glob[at] == b'\\' {
                    at += 1;
                }
                let end = *self.glob.get(at)?;
                found |= range_start.is_some_and(|start| (start..=end).contains(&byte));
                range_start = None;
                at += 1;
            } else if member == b'[' && next == Some(&b':') {
                let body = at + 2;
                let close = body + self.glob[body..].iter().position(|&byte| byte == b']')?;
                if close > body && self.glob[close - 1] == b':' {
                    found |= class(&self.glob[body..close - 1], byte)?;
                    range_start = None;
                    at = close + 1;
                } else {
                    found |= byte == b'[';
                    range_start = Some(b'[');
                    at += 1;
                }
            } else {
                found |= member == byte;
                range_start = Some(member);
                at += 1;
            }
        }
        let refused = found == negated || (byte == b'/' && self.slash == Slash::Separates);
        (!refused).then_some(at + 1)
    }
}

/// Whether `byte` is of the POSIX class of this name in the C locale; `None` for an unknown name.
fn class(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        // Vertical tab and form feed are no spaces to git.
        b"space" => matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
