//! Takes the text of a Rust file apart into code and comments, line by line, so that a word in a string or a comment
//! isn't taken for code. Meaning is not here.

#[cfg(test)]
mod tests;

/// One line of a file: its code with the content of strings left out, and the text of its comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Code; a string is `""`.
    pub(super) code: String,
    /// Comments, without their marks' meaning.
    pub(super) comment: String,
}

enum State {
    Code,
    Comment { depth: usize },
    Text { hashes: Option<usize> },
}

/// Splits `text`; the result has a line for each line of it.
pub(super) fn split(text: &str) -> Vec<Line> {
    let mut state = State::Code;
    text.lines().map(|line| split_line(line, &mut state)).collect()
}

fn split_line(line: &str, state: &mut State) -> Line {
    let characters: Vec<char> = line.chars().collect();
    let mut out = Line::default();
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        at += match state {
            State::Code if rest.starts_with(&['/', '/']) => {
                out.comment.extend(rest);
                rest.len()
            }
            State::Code if rest.starts_with(&['/', '*']) => {
                *state = State::Comment { depth: 1 };
                2
            }
            State::Code => code(rest, out.code.chars().last(), &mut out.code, state),
            State::Comment { depth } if rest.starts_with(&['*', '/']) => {
                *depth -= 1;
                if *depth == 0 {
                    *state = State::Code;
                }
                2
            }
            State::Comment { depth } if rest.starts_with(&['/', '*']) => {
                *depth += 1;
                2
            }
            State::Comment { .. } => {
                out.comment.push(rest[0]);
                1
            }
            State::Text { hashes } => match text_end(rest, *hashes) {
                Some(length) => {
                    out.code.push('"');
                    *state = State::Code;
                    length
                }
                None if hashes.is_none() && rest[0] == '\\' => 2,
                None => 1,
            },
        };
    }
    out
}

/// Takes one piece of code, and returns how many characters that was.
fn code(rest: &[char], before: Option<char>, out: &mut String, state: &mut State) -> usize {
    let in_word = before.is_some_and(|character| character.is_alphanumeric() || character == '_');
    if rest[0] == '"' {
        out.push('"');
        *state = State::Text { hashes: None };
        return 1;
    }
    if let Some((length, hashes)) = raw_start(rest).filter(|_| !in_word) {
        out.push('"');
        *state = State::Text { hashes: Some(hashes) };
        return length;
    }
    if rest[0] == '\'' {
        let length = character_length(rest);
        out.push('\'');
        return length;
    }
    out.push(rest[0]);
    1
}

/// The length of `r"`, `br#"`, ... and the number of its hashes.
fn raw_start(rest: &[char]) -> Option<(usize, usize)> {
    let prefix = rest.iter().take_while(|character| matches!(character, 'r' | 'b' | 'c')).count();
    if prefix == 0 || prefix > 2 || rest[prefix - 1] != 'r' {
        return None;
    }
    let hashes = rest[prefix..].iter().take_while(|character| **character == '#').count();
    (rest.get(prefix + hashes) == Some(&'"')).then_some((prefix + hashes + 1, hashes))
}

/// The length of a character literal; 1 where the quote starts a lifetime.
fn character_length(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', _, tail @ ..] => {
            tail.iter().position(|character| *character == '\'').map_or(1, |end| end + 4)
        }
        ['\'', _, '\'', ..] => 3,
        _ => 1,
    }
}

fn text_end(rest: &[char], hashes: Option<usize>) -> Option<usize> {
    let hashes = hashes.unwrap_or(0);
    let closed = rest[0] == '"' && rest.len() > hashes && rest[1..=hashes].iter().all(|next| *next == '#');
    closed.then_some(hashes + 1)
}
