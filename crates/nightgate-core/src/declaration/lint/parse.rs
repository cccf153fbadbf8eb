//! Reads a shell script: POSIX's list grammar with what bash adds to it. Expansions are only read as far as it takes to
//! find their end, and the commands that are substituted. Words are read in `word`.
//!
//! Nothing is guessed: what isn't understood to the last character is [`Unreadable`].

use std::cell::Cell;
use std::rc::Rc;

use super::script::{Body, Command, Item, Joint, List, Pipeline, Simple, Word};
use super::word::is_assignment;

/// How deep constructs may stand in each other.
const MOST_DEPTH: usize = 50;

/// How many characters are looked at in all; reading goes back in few places.
const MOST_EFFORT: usize = 200_000;

/// How much of a command is quoted to a person.
const LONGEST_TEXT: usize = 60;

/// The script isn't understood: wrong, of another shell, too deep or too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Reads a whole script. `effort` adds up what it takes; beyond a limit nothing is readable.
pub(super) fn parse(script: &str, effort: &Cell<usize>) -> Result<List, Unreadable> {
    let characters: Vec<char> = script.chars().collect();
    Parser::new(&characters, 0, effort).whole()
}

/// Words that end a list where a command could begin.
const CLOSING: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

pub(super) struct Parser<'s> {
    characters: &'s [char],
    at: usize,
    depth: usize,
    effort: &'s Cell<usize>,
    /// The here-documents whose text begins behind the next line end.
    awaited: Vec<HereDocument>,
}

struct HereDocument {
    delimiter: String,
    without_tabs: bool,
}

impl<'s> Parser<'s> {
    pub(super) fn new(characters: &'s [char], depth: usize, effort: &'s Cell<usize>) -> Self {
        Self { characters, at: 0, depth, effort, awaited: Vec::new() }
    }

    pub(super) fn whole(&mut self) -> Result<List, Unreadable> {
        let list = self.list()?;
        if self.at == self.characters.len() { Ok(list) } else { Err(Unreadable) }
    }

    /// A reader of another text inside of this one.
    pub(super) fn inner<'t>(&self, characters: &'t [char]) -> Parser<'t>
    where
        's: 't,
    {
        Parser::new(characters, self.depth + 1, self.effort)
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.characters.get(self.at + 1).copied()
    }

    pub(super) fn before(&self) -> Option<char> {
        self.characters.get(self.at.checked_sub(1)?).copied()
    }

    pub(super) fn next(&mut self) -> Result<char, Unreadable> {
        self.exert()?;
        let next = self.peek().ok_or(Unreadable)?;
        self.at += 1;
        Ok(next)
    }

    fn exert(&self) -> Result<(), Unreadable> {
        self.effort.set(self.effort.get() + 1);
        if self.effort.get() > MOST_EFFORT { Err(Unreadable) } else { Ok(()) }
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        let rest = self.characters.get(self.at..).unwrap_or_default();
        text.chars().enumerate().all(|(offset, character)| rest.get(offset) == Some(&character))
    }

    /// Goes past `text` where it stands here.
    pub(super) fn skip(&mut self, text: &str) -> Result<bool, Unreadable> {
        self.exert()?;
        let stands = self.starts_with(text);
        if stands {
            self.at += text.chars().count();
        }
        Ok(stands)
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), Unreadable> {
        if self.skip(text)? { Ok(()) } else { Err(Unreadable) }
    }

    /// Reads one construct inside of another.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        self.depth += 1;
        let result = if self.depth > MOST_DEPTH { Err(Unreadable) } else { read(self) };
        self.depth -= 1;
        result
    }

    /// Reads one thing, or nothing: where it isn't there, the place is as before.
    pub(super) fn attempt(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<bool, Unreadable>,
    ) -> Result<bool, Unreadable> {
        let at = self.at;
        let stands = read(self)?;
        if !stands {
            self.at = at;
        }
        Ok(stands)
    }

    /// What was read since `start`, for a person: white space folded, shortened.
    pub(super) fn text_since(&self, start: usize) -> Rc<str> {
        let written = &self.characters[start..self.at];
        let shown: String = written.iter().take(4 * LONGEST_TEXT).collect();
        let folded = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        if folded.chars().count() <= LONGEST_TEXT && written.len() <= 4 * LONGEST_TEXT {
            return folded.into();
        }
        folded.chars().take(LONGEST_TEXT).chain(['…']).collect::<String>().into()
    }

    /// Goes past blanks, continued lines and a comment.
    pub(super) fn skip_blanks(&mut self) -> Result<(), Unreadable> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => {
                    self.next()?;
                }
                Some('\\') if self.peek_second() == Some('\n') => {
                    self.next()?;
                    self.next()?;
                }
                Some('#') => {
                    while self.peek().is_some_and(|character| character != '\n') {
                        self.next()?;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn skip_lines(&mut self) -> Result<(), Unreadable> {
        loop {
            self.skip_blanks()?;
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.line_end()?;
        }
    }

    /// Goes past a line end and the here-documents that follow it.
    fn line_end(&mut self) -> Result<(), Unreadable> {
        self.next()?;
        for document in std::mem::take(&mut self.awaited) {
            loop {
                if self.peek().is_none() {
                    break;
                }
                let mut line = String::new();
                while let Some(character) = self.peek() {
                    self.next()?;
                    if character == '\n' {
                        break;
                    }
                    line.push(character);
                }
                let line = if document.without_tabs { line.trim_start_matches('\t') } else { &line };
                if line == document.delimiter {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The word that begins here if it is plain, for keywords. None of them is longer than `function`.
    fn keyword(&self) -> String {
        let rest = &self.characters[self.at..];
        let is_end = |character: &char| " \t\n;|&()<>".contains(*character);
        let word: String = rest.iter().take(9).take_while(|character| !is_end(character)).collect();
        if word.contains(['\'', '"', '\\', '$', '`']) { String::new() } else { word }
    }

    fn skip_keyword(&mut self, keyword: &str) -> Result<bool, Unreadable> {
        self.skip_blanks()?;
        let stands = self.keyword() == keyword;
        if stands {
            self.expect(keyword)?;
        }
        Ok(stands)
    }

    fn expect_keyword(&mut self, keyword: &str) -> Result<(), Unreadable> {
        if self.skip_keyword(keyword)? { Ok(()) } else { Err(Unreadable) }
    }

    pub(super) fn list(&mut self) -> Result<List, Unreadable> {
        self.deeper(|parser| {
            let mut items = Vec::new();
            loop {
                parser.skip_lines()?;
                if parser.is_list_end() {
                    return Ok(List(items));
                }
                let mut item = parser.item()?;
                parser.skip_blanks()?;
                match parser.peek() {
                    Some('&') => {
                        parser.next()?;
                        item.background = true;
                    }
                    Some(';') if !matches!(parser.peek_second(), Some(';' | '&')) => {
                        parser.next()?;
                    }
                    Some('\n') => parser.line_end()?,
                    _ if parser.is_list_end() => {}
                    _ => return Err(Unreadable),
                }
                items.push(item);
            }
        })
    }

    fn is_list_end(&self) -> bool {
        match self.peek() {
            None | Some(')') => true,
            Some(';') => matches!(self.peek_second(), Some(';' | '&')),
            Some(_) => CLOSING.contains(&self.keyword().as_str()),
        }
    }

    fn item(&mut self) -> Result<Item, Unreadable> {
        let start = self.at;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            let end = self.at;
            self.skip_blanks()?;
            let joint = if self.skip("&&")? {
                Joint::And
            } else if self.skip("||")? {
                Joint::Or
            } else {
                self.at = end;
                let text = self.text_since(start);
                return Ok(Item { first, rest, background: false, text });
            };
            self.skip_lines()?;
            rest.push((joint, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Unreadable> {
        let start = self.at;
        let mut negated = false;
        loop {
            if self.skip_keyword("!")? {
                negated = !negated;
            } else if self.skip_keyword("time")? {
                self.skip_keyword("-p")?;
            } else {
                break;
            }
        }
        let mut commands = vec![Rc::new(self.command()?)];
        loop {
            let end = self.at;
            self.skip_blanks()?;
            if self.starts_with("||") || !self.skip("|")? {
                self.at = end;
                let text = self.text_since(start);
                return Ok(Pipeline { negated, commands, text });
            }
            self.skip("&")?;
            self.skip_lines()?;
            commands.push(Rc::new(self.command()?));
        }
    }

    fn command(&mut self) -> Result<Command, Unreadable> {
        self.deeper(|parser| {
            parser.skip_blanks()?;
            let start = parser.at;
            let mut reads_file = false;
            let body = match parser.compound()? {
                Some(body) => body,
                None => parser.simple(&mut reads_file)?,
            };
            let is_simple = matches!(body, Body::Simple(_) | Body::Function { .. });
            loop {
                let end = parser.at;
                parser.skip_blanks()?;
                if is_simple || !parser.redirection(&mut reads_file)? {
                    parser.at = end;
                    break;
                }
            }
            let text = parser.text_since(start);
            Ok(Command { body, reads_file, text })
        })
    }

    /// A command that holds others; nothing where a simple one begins.
    fn compound(&mut self) -> Result<Option<Body>, Unreadable> {
        if self.peek() == Some('(') {
            let start = self.at + 2;
            if self.attempt(Self::arithmetic)? {
                return Ok(Some(Body::Condition(constant(&self.characters[start..self.at - 2]))));
            }
            self.next()?;
            let list = self.list()?;
            self.expect(")")?;
            return Ok(Some(Body::Subshell(list)));
        }
        let keyword = self.keyword();
        let read: fn(&mut Self) -> Result<Body, Unreadable> = match keyword.as_str() {
            "{" => Self::group,
            "if" => Self::conditional,
            "while" => |parser| parser.repetition(false),
            "until" => |parser| parser.repetition(true),
            "for" | "select" => Self::iteration,
            "case" => Self::case,
            "[[" => Self::condition,
            "function" => Self::function,
            _ => return Ok(None),
        };
        self.expect(&keyword)?;
        read(self).map(Some)
    }

    fn group(&mut self) -> Result<Body, Unreadable> {
        let list = self.list()?;
        self.expect_keyword("}")?;
        Ok(Body::Group(list))
    }

    fn conditional(&mut self) -> Result<Body, Unreadable> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.list()?;
            self.expect_keyword("then")?;
            branches.push((condition, self.list()?));
            if self.skip_keyword("elif")? {
                continue;
            }
            if self.skip_keyword("else")? {
                otherwise = Some(self.list()?);
            }
            self.expect_keyword("fi")?;
            return Ok(Body::If { branches, otherwise });
        }
    }

    fn repetition(&mut self, until: bool) -> Result<Body, Unreadable> {
        let condition = self.list()?;
        let body = self.done()?;
        Ok(Body::Loop { until, condition, body })
    }

    fn done(&mut self) -> Result<List, Unreadable> {
        self.expect_keyword("do")?;
        let body = self.list()?;
        self.expect_keyword("done")?;
        Ok(body)
    }

    fn iteration(&mut self) -> Result<Body, Unreadable> {
        self.skip_blanks()?;
        if self.starts_with("((") {
            if !self.arithmetic()? {
                return Err(Unreadable);
            }
        } else {
            self.word()?;
            self.skip_lines()?;
            if self.skip_keyword("in")? {
                loop {
                    self.skip_blanks()?;
                    if matches!(self.peek(), None | Some(';' | '\n')) {
                        break;
                    }
                    self.word()?;
                }
            }
        }
        self.skip_blanks()?;
        self.skip(";")?;
        self.skip_lines()?;
        Ok(Body::For(self.done()?))
    }

    fn case(&mut self) -> Result<Body, Unreadable> {
        self.skip_blanks()?;
        let subject = self.word()?;
        self.skip_lines()?;
        self.expect_keyword("in")?;
        let mut branches = Vec::new();
        let mut is_total = false;
        loop {
            self.skip_lines()?;
            if self.skip_keyword("esac")? {
                return Ok(Body::Case { subject, branches, is_total });
            }
            self.skip("(")?;
            loop {
                self.skip_blanks()?;
                is_total |= &*self.word()?.text == "*";
                self.skip_blanks()?;
                if !self.skip("|")? {
                    break;
                }
            }
            self.expect(")")?;
            branches.push(self.list()?);
            self.skip_blanks()?;
            let goes_on = self.skip(";;&")? || self.skip(";;")? || self.skip(";&")?;
            if !goes_on && self.keyword() != "esac" {
                return Err(Unreadable);
            }
        }
    }

    /// The rest of `[[ ... ]]`.
    fn condition(&mut self) -> Result<Body, Unreadable> {
        let mut words = 0;
        let mut first = None;
        loop {
            while matches!(self.peek(), Some(' ' | '\t' | '\n')) {
                self.next()?;
            }
            if self.keyword() == "]]" {
                self.expect("]]")?;
                let constant = if words == 1 { first.flatten() } else { None };
                return Ok(Body::Condition(constant.map(|word: String| !word.is_empty())));
            }
            let start = self.at;
            let word = self.word()?;
            if self.at == start {
                self.next()?;
            }
            words += 1;
            first.get_or_insert(word.literal);
        }
    }

    fn function(&mut self) -> Result<Body, Unreadable> {
        self.skip_blanks()?;
        let name = self.word()?.literal.ok_or(Unreadable)?;
        self.skip_blanks()?;
        if self.skip("(")? {
            self.skip_blanks()?;
            self.expect(")")?;
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Result<Body, Unreadable> {
        self.skip_lines()?;
        Ok(Body::Function { name, body: Rc::new(self.command()?) })
    }

    fn simple(&mut self, reads_file: &mut bool) -> Result<Body, Unreadable> {
        let start = self.at;
        let mut simple = Simple::default();
        loop {
            let end = self.at;
            self.skip_blanks()?;
            if self.redirection(reads_file)? {
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => {
                    self.at = end;
                    break;
                }
                Some('(') => return self.named_function(simple),
                Some(_) => {}
            }
            let begin = self.at;
            let word = self.word()?;
            if simple.words.is_empty() && is_assignment(&self.characters[begin..self.at]) {
                simple.assignments.push(word);
            } else {
                simple.words.push(word);
            }
        }
        if self.at == start { Err(Unreadable) } else { Ok(Body::Simple(simple)) }
    }

    /// `name() body`, of which the name was read.
    fn named_function(&mut self, simple: Simple) -> Result<Body, Unreadable> {
        self.expect("(")?;
        self.skip_blanks()?;
        self.expect(")")?;
        let mut words = simple.words.into_iter();
        match (words.next(), words.next(), simple.assignments.is_empty()) {
            (Some(Word { literal: Some(name), .. }), None, true) => self.function_body(name),
            _ => Err(Unreadable),
        }
    }

    /// Goes past a redirection where one begins here.
    fn redirection(&mut self, reads_file: &mut bool) -> Result<bool, Unreadable> {
        self.attempt(|parser| {
            while parser.peek().is_some_and(|character| character.is_ascii_digit()) {
                parser.next()?;
            }
            let is_process = parser.peek_second() == Some('(');
            let begins = match parser.peek() {
                Some('<' | '>') => !is_process,
                Some('&') => parser.peek_second() == Some('>'),
                _ => false,
            };
            if !begins {
                return Ok(false);
            }
            let operators = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"];
            let mut found = "";
            for operator in operators {
                if parser.skip(operator)? {
                    found = operator;
                    break;
                }
            }
            parser.skip_blanks()?;
            let start = parser.at;
            let word = parser.word()?;
            if parser.at == start {
                return Err(Unreadable);
            }
            if let "<<" | "<<-" = found {
                let delimiter = word.literal.ok_or(Unreadable)?;
                parser.awaited.push(HereDocument { delimiter, without_tabs: found == "<<-" });
            }
            *reads_file |= found == "<";
            Ok(true)
        })
    }

    /// `(( ... ))` where that stands here, and not a subshell in a subshell.
    pub(super) fn arithmetic(&mut self) -> Result<bool, Unreadable> {
        if !self.skip("((")? {
            return Ok(false);
        }
        let mut open = 0;
        loop {
            match self.peek() {
                None => return Ok(false),
                Some('(') => open += 1,
                Some(')') if open > 0 => open -= 1,
                Some(')') => return self.skip("))"),
                Some(_) => {}
            }
            self.next()?;
        }
    }
}

/// What an arithmetic condition always says.
fn constant(expression: &[char]) -> Option<bool> {
    let number: i64 = expression.iter().collect::<String>().trim().parse().ok()?;
    Some(number != 0)
}
