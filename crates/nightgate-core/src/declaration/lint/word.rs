//! Reads the words of a shell script: quotes, escapes, and expansions up to their end. Commands are read in `parse`.

use super::parse::{Parser, Unreadable};
use super::script::{List, Word};

/// A word while it is read.
#[derive(Default)]
struct Reading {
    text: String,
    /// Something in it is expanded, or may match names of files.
    is_expanded: bool,
    substitutions: Vec<List>,
}

impl Parser<'_> {
    /// The word that begins here, which may be empty.
    pub(super) fn word(&mut self) -> Result<Word, Unreadable> {
        self.deeper(|parser| {
            let start = parser.at();
            let mut reading = Reading::default();
            while parser.piece(start, &mut reading)? {}
            let is_pattern = reading.is_expanded && reading.text != "[";
            Ok(Word {
                literal: (!is_pattern).then_some(reading.text),
                substitutions: reading.substitutions,
                text: parser.text_since(start),
            })
        })
    }

    /// One more piece of a word that began at `start`; false where it ends.
    fn piece(&mut self, start: usize, reading: &mut Reading) -> Result<bool, Unreadable> {
        let Some(character) = self.peek() else { return Ok(false) };
        match character {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' => return Ok(false),
            '<' | '>' => return self.process_substitution(reading),
            '(' => return self.parenthesis(start, reading),
            '\\' => {
                self.next()?;
                match self.next()? {
                    '\n' => {}
                    escaped => reading.text.push(escaped),
                }
            }
            '\'' => {
                self.next()?;
                while self.peek() != Some('\'') {
                    let quoted = self.next()?;
                    reading.text.push(quoted);
                }
                self.next()?;
            }
            '"' => {
                self.next()?;
                self.double_quoted(reading)?;
            }
            '`' => self.backquoted(reading)?,
            '$' => self.expansion(reading, false)?,
            '*' | '?' | '[' => {
                reading.is_expanded = true;
                reading.text.push(self.next()?);
            }
            _ => {
                let plain = self.next()?;
                reading.text.push(plain);
            }
        }
        Ok(true)
    }

    /// `<(commands)` and `>(commands)`; their statuses are never asked for.
    fn process_substitution(&mut self, reading: &mut Reading) -> Result<bool, Unreadable> {
        if self.peek_second() != Some('(') {
            return Ok(false);
        }
        self.next()?;
        self.next()?;
        reading.is_expanded = true;
        self.list()?;
        self.expect(")")?;
        Ok(true)
    }

    /// `name=(array)` and `@(pattern|pattern)`; any other parenthesis ends a word.
    fn parenthesis(&mut self, start: usize, reading: &mut Reading) -> Result<bool, Unreadable> {
        let before = self.before().filter(|_| self.at() > start);
        match before {
            Some('=') => {
                self.next()?;
                loop {
                    self.skip_lines()?;
                    if self.skip(")")? {
                        break;
                    }
                    let at = self.at();
                    reading.substitutions.extend(self.word()?.substitutions);
                    if self.at() == at {
                        return Err(Unreadable);
                    }
                }
            }
            Some('?' | '*' | '+' | '@' | '!') => {
                let mut open = 0;
                loop {
                    match self.next()? {
                        '(' => open += 1,
                        ')' if open == 1 => break,
                        ')' => open -= 1,
                        '\'' | '"' | '\\' | '$' | '`' => return Err(Unreadable),
                        _ => {}
                    }
                }
            }
            _ => return Ok(false),
        }
        reading.is_expanded = true;
        Ok(true)
    }

    /// The rest of `"..."`.
    fn double_quoted(&mut self, reading: &mut Reading) -> Result<(), Unreadable> {
        self.deeper(|parser| {
            loop {
                match parser.peek() {
                    Some('`') => parser.backquoted(reading)?,
                    Some('$') => parser.expansion(reading, true)?,
                    _ => match parser.next()? {
                        '"' => return Ok(()),
                        '\\' => match parser.next()? {
                            '\n' => {}
                            escaped => {
                                if !matches!(escaped, '$' | '`' | '"' | '\\') {
                                    reading.text.push('\\');
                                }
                                reading.text.push(escaped);
                            }
                        },
                        plain => reading.text.push(plain),
                    },
                }
            }
        })
    }

    /// `` `commands` ``, which are read again as a script of their own.
    fn backquoted(&mut self, reading: &mut Reading) -> Result<(), Unreadable> {
        self.expect("`")?;
        let mut script = Vec::new();
        loop {
            match self.next()? {
                '`' => break,
                '\\' => match self.next()? {
                    escaped @ ('`' | '\\' | '$') => script.push(escaped),
                    other => script.extend(['\\', other]),
                },
                plain => script.push(plain),
            }
        }
        reading.is_expanded = true;
        reading.substitutions.push(self.inner(&script).whole()?);
        Ok(())
    }

    /// What begins with `$`.
    fn expansion(&mut self, reading: &mut Reading, is_quoted: bool) -> Result<(), Unreadable> {
        self.expect("$")?;
        reading.is_expanded = true;
        match self.peek() {
            Some('(') => self.command_substitution(reading)?,
            Some('{') => {
                self.next()?;
                self.parameter(reading, is_quoted)?;
            }
            Some('\'') if !is_quoted => {
                self.next()?;
                loop {
                    match self.next()? {
                        '\'' => break,
                        '\\' => {
                            self.next()?;
                        }
                        _ => {}
                    }
                }
            }
            Some('?' | '#' | '@' | '*' | '!' | '$' | '-') => {
                self.next()?;
            }
            Some(name) if name.is_ascii_alphanumeric() || name == '_' => {
                while self.peek().is_some_and(|name| name.is_ascii_alphanumeric() || name == '_') {
                    self.next()?;
                }
            }
            // A dollar that means itself is taken for something that is expanded: nothing is known of it then.
            _ => {}
        }
        Ok(())
    }

    /// `(commands)` or `((arithmetic))` behind `$`.
    fn command_substitution(&mut self, reading: &mut Reading) -> Result<(), Unreadable> {
        if self.attempt(Self::arithmetic)? {
            return Ok(());
        }
        self.expect("(")?;
        reading.substitutions.push(self.list()?);
        self.expect(")")
    }

    /// The rest of `${...}`.
    fn parameter(&mut self, reading: &mut Reading, is_quoted: bool) -> Result<(), Unreadable> {
        self.deeper(|parser| {
            loop {
                match parser.peek() {
                    Some('`') => parser.backquoted(reading)?,
                    Some('$') => parser.expansion(reading, is_quoted)?,
                    _ => match parser.next()? {
                        '}' => return Ok(()),
                        '\\' => {
                            parser.next()?;
                        }
                        '"' => parser.double_quoted(reading)?,
                        '\'' if !is_quoted => while parser.next()? != '\'' {},
                        _ => {}
                    },
                }
            }
        })
    }
}

/// Whether a word in front of a command is an assignment: `name=`, `name+=` or `name[...]=`.
pub(super) fn is_assignment(word: &[char]) -> bool {
    let is_name = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
    let length = word.iter().take_while(|character| is_name(character)).count();
    if length == 0 || word[0].is_ascii_digit() {
        return false;
    }
    match &word[length..] {
        ['=', ..] | ['+', '=', ..] => true,
        ['[', subscript @ ..] => subscript.windows(2).any(|pair| pair == [']', '='] || pair == [']', '+']),
        _ => false,
    }
}
