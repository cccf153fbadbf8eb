//! A shell script as far as it decides what is run and whose exit status counts: lists, pipelines, compound commands.
//! How it is read is in `parse`, what it comes to in `outcome`.

use std::rc::Rc;

/// Commands one after the other.
#[derive(Debug)]
pub(super) struct List(pub(super) Vec<Item>);

/// One chain of `&&` and `||`, and what ends it.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Joint, Pipeline)>,
    /// Whether `&` ends it.
    pub(super) background: bool,
    pub(super) text: Rc<str>,
}

/// What stands between two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

/// Commands with `|` between them.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// Whether `!` turns its status around.
    pub(super) negated: bool,
    pub(super) commands: Vec<Rc<Command>>,
    pub(super) text: Rc<str>,
}

/// One command with its redirections.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) body: Body,
    /// Whether it reads a file, which may be missing.
    pub(super) reads_file: bool,
    pub(super) text: Rc<str>,
}

#[derive(Debug)]
pub(super) enum Body {
    Simple(Simple),
    Group(List),
    Subshell(List),
    /// The conditions with what is done where they hold, then the rest.
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    /// `while`, or `until`.
    Loop {
        until: bool,
        condition: List,
        body: List,
    },
    /// `for` and `select`.
    For(List),
    Case {
        subject: Word,
        branches: Vec<List>,
        /// Whether one branch takes whatever the others left.
        is_total: bool,
    },
    /// `[[ ... ]]` and `(( ... ))`, with the answer where it is always the same.
    Condition(Option<bool>),
    Function {
        name: String,
        body: Rc<Command>,
    },
}

/// Assignments and the words of a command.
#[derive(Debug, Default)]
pub(super) struct Simple {
    pub(super) assignments: Vec<Word>,
    pub(super) words: Vec<Word>,
}

#[derive(Debug)]
pub(super) struct Word {
    /// What it is, where nothing in it is expanded.
    pub(super) literal: Option<String>,
    /// The scripts of its command substitutions.
    pub(super) substitutions: Vec<List>,
    /// As it is written, shortened.
    pub(super) text: Rc<str>,
}
