//! Which files stay out of a candidate: what `.gitignore` files match, and caches. Reading the files is not here.
//!
//! The patterns are gitignore(5)'s, matched byte by byte as git matches them, so that a name in any encoding and a
//! pattern that other matchers read differently (`{a,b}`, `[[:alpha:]]`, `a**b`) mean here what they mean to git.

mod wildcard;

use std::sync::Arc;

use wildcard::Slash;

/// The most bytes of a `.gitignore` file that are read; more than any honest one has.
pub const MOST_PATTERN_BYTES: u64 = 256 << 10;

/// The most patterns that are in force in one folder: of its own file and of those above it.
pub const MOST_PATTERNS: usize = 50_000;

/// The most steps that one name may take, so that whoever waits between names doesn't wait long.
const MOST_STEPS_OF_A_NAME: u64 = 1 << 24;

/// How many steps of comparing names with patterns may still be taken. Counted in steps and not in time, so that the same
/// files always give the same answer.
#[derive(Debug)]
pub struct Effort {
    left: u64,
    left_for_name: u64,
}

/// The effort is used up: whether the name is ignored is not known.
#[derive(Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Effort {
    /// So many steps in all. Comparing a name with a pattern takes about as many as both have bytes; with many stars up to
    /// the product.
    pub fn new(steps: u64) -> Self {
        Self { left: steps, left_for_name: 0 }
    }

    fn begin_name(&mut self) {
        self.left_for_name = MOST_STEPS_OF_A_NAME;
    }

    fn take(&mut self, steps: usize) -> Result<(), Exhausted> {
        let steps = steps as u64;
        let (Some(left), Some(left_for_name)) =
            (self.left.checked_sub(steps), self.left_for_name.checked_sub(steps))
        else {
            return Err(Exhausted);
        };
        (self.left, self.left_for_name) = (left, left_for_name);
        Ok(())
    }
}

/// A longer pattern than this ignores nothing: it is longer than most names, and matching it would go deep.
const LONGEST_PATTERN: usize = 1024;

/// The name of the files that hold patterns.
pub const PATTERN_FILE: &[u8] = b".gitignore";

/// The file that marks a cache folder, and how it must begin (<https://bford.info/cachedir/>).
pub const CACHE_TAG: (&[u8], &[u8]) = (b"CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");

/// True for a name that only caches have: a folder's (or a link's to a folder), or a file's.
pub fn is_cache_name(name: &[u8], is_file: bool) -> bool {
    match name {
        b"__pycache__" | b".pytest_cache" | b".mypy_cache" | b".ruff_cache" | b"node_modules" | b".venv" => {
            !is_file
        }
        other => is_file && other.ends_with(b".pyc"),
    }
}

/// One line of a `.gitignore` file.
#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    /// Without `!`, a leading `/` and one trailing `/`.
    glob: Vec<u8>,
    /// How many bytes of it stand before its first wildcard.
    literal: usize,
    negated: bool,
    only_folders: bool,
    /// Matches the last component alone; otherwise the path below the file's folder.
    only_name: bool,
}

impl Pattern {
    /// Reads one line, without its line end. `None` for a comment, an empty line and one that is too long.
    fn read(line: &[u8]) -> Option<Self> {
        // Git handles a line as a C string.
        let line = line.split(|&byte| byte == 0).next().unwrap_or(line);
        if line.first().is_none_or(|&first| first == b'#') || line.len() > LONGEST_PATTERN {
            return None;
        }
        let mut glob = without_trailing_spaces(line);
        let negated = glob.first() == Some(&b'!');
        if negated {
            glob = &glob[1..];
        }
        let only_folders = glob.last() == Some(&b'/');
        if only_folders {
            glob = &glob[..glob.len() - 1];
        }
        let only_name = !glob.contains(&b'/');
        let glob = glob.strip_prefix(b"/").unwrap_or(glob);
        Some(Self {
            glob: glob.to_vec(),
            literal: glob.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(glob.len()),
            negated,
            only_folders,
            only_name,
        })
    }

    fn matches(&self, below: &[u8], is_folder: bool, effort: &mut Effort) -> Result<bool, Exhausted> {
        effort.take(1)?;
        if self.only_folders && !is_folder {
            return Ok(false);
        }
        if self.only_name {
            let name = below.rsplit(|&byte| byte == b'/').next().unwrap_or(below);
            return wildcard::matches(&self.glob, name, Slash::Ordinary, effort);
        }
        // Git compares what stands before the first wildcard literally and hands only the rest to the matcher, for
        // which `**` at the start of that rest is then at the start of a component.
        let (literal, wild) = self.glob.split_at(self.literal);
        match below.strip_prefix(literal) {
            Some(rest) => wildcard::matches(wild, rest, Slash::Separates, effort),
            None => Ok(false),
        }
    }
}

/// Cuts spaces off the end, except one after a backslash. Tabs stay.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = None;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b' ' => end = end.or(Some(at)),
            b'\\' if at + 1 == line.len() => return line,
            b'\\' => {
                at += 1;
                end = None;
            }
            _ => end = None,
        }
        at += 1;
    }
    &line[..end.unwrap_or(line.len())]
}

/// The patterns that are in force in one folder: those of its own `.gitignore` file and of the folders above it.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    innermost: Option<Arc<PatternFile>>,
}

#[derive(Debug)]
struct PatternFile {
    patterns: Vec<Pattern>,
    /// How many bytes of a path lead to the file's folder, its slash included.
    folder_bytes: usize,
    /// How many patterns these are, together with those above.
    in_force: usize,
    above: Option<Arc<PatternFile>>,
}

impl Rules {
    /// These rules with those of the `.gitignore` file of `folder` on top; `folder` is empty for the root. `None` where that
    /// would put more than [`MOST_PATTERNS`] in force.
    pub fn with_file(&self, folder: &[u8], content: &[u8]) -> Option<Self> {
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let above = self.innermost.as_ref().map_or(0, |file| file.in_force);
        let patterns: Vec<_> = content
            .split(|&byte| byte == b'\n')
            .filter_map(|line| Pattern::read(line.strip_suffix(b"\r").unwrap_or(line)))
            .take(MOST_PATTERNS - above + 1)
            .collect();
        let in_force = above + patterns.len();
        let folder_bytes = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let file = PatternFile { patterns, folder_bytes, in_force, above: self.innermost.clone() };
        (in_force <= MOST_PATTERNS).then(|| Self { innermost: Some(Arc::new(file)) })
    }

    /// True where these rules keep `path` out. The last line that matches decides, and the innermost file that has one.
    ///
    /// The caller must not ask below a folder that is itself kept out: nothing in it can be brought back.
    ///
    /// # Errors
    /// Where the answer would take more effort than is left, or than one name may take.
    pub fn ignore(&self, path: &[u8], is_folder: bool, effort: &mut Effort) -> Result<bool, Exhausted> {
        effort.begin_name();
        let mut file = self.innermost.as_deref();
        while let Some(PatternFile { patterns, folder_bytes, above, .. }) = file {
            let below = path.get(*folder_bytes..).unwrap_or_default();
            for pattern in patterns.iter().rev() {
                if pattern.matches(below, is_folder, effort)? {
                    return Ok(!pattern.negated);
                }
            }
            file = above.as_deref();
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
