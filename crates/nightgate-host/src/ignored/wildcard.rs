//! Wildcards as git matches them (gitignore(5), gitglossary(7) "pathspec"). Lines, files and folders are not here.

use std::collections::HashSet;

/// How `*`, `?` and sets treat `/`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slash {
    /// As any other byte; for single names.
    Ordinary,
    /// Only a literal `/` and a `**` that is a whole component match it.
    Separates,
}

/// True where the whole of `text` matches `glob`. Time is bounded by the product of both lengths.
pub(super) fn matches(glob: &[u8], text: &[u8], slash: Slash) -> bool {
    Matcher { glob, text, slash, failed: HashSet::new() }.matches_from(0, 0)
}

struct Matcher<'a> {
    glob: &'a [u8],
    text: &'a [u8],
    slash: Slash,
    /// Pairs of positions after a star from which there is no match.
    failed: HashSet<(usize, usize)>,
}

impl Matcher<'_> {
    fn matches_from(&mut self, mut at: usize, mut seen: usize) -> bool {
        while let Some(&wanted) = self.glob.get(at) {
            if wanted == b'*' {
                return self.star(at, seen);
            }
            let Some(&byte) = self.text.get(seen) else { return false };
            at = match wanted {
                b'?' if byte == b'/' && self.slash == Slash::Separates => return false,
                b'?' => at + 1,
                b'\\' if self.glob.get(at + 1) == Some(&byte) => at + 2,
                b'\\' => return false,
                b'[' => match self.set(at + 1, byte) {
                    Some(after) => after,
                    None => return false,
                },
                literal if literal == byte => at + 1,
                _ => return false,
            };
            seen += 1;
        }
        seen == self.text.len()
    }

    /// Matches from the first star of a run of stars at `at`.
    fn star(&mut self, at: usize, seen: usize) -> bool {
        let after = at + self.glob[at..].iter().take_while(|&&byte| byte == b'*').count();
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
            && self.try_from(after + 1, seen)
        {
            return true;
        }
        for end in seen..=self.text.len() {
            if self.try_from(after, end) {
                return true;
            }
            if !crosses && self.text.get(end) == Some(&b'/') {
                return false;
            }
        }
        false
    }

    fn try_from(&mut self, at: usize, seen: usize) -> bool {
        if self.failed.contains(&(at, seen)) {
            return false;
        }
        let matched = self.matches_from(at, seen);
        if !matched {
            self.failed.insert((at, seen));
        }
        matched
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
