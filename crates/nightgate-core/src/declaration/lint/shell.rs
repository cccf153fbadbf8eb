//! What a shell remembers from one command to the next, on all ways that lead to a place at once. What commands end with
//! is in `outcome`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::parse::{self, Unreadable};
use super::script::{Command, List};

/// What a shell's option is at some place, where ways through the script may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Switch {
    pub(super) maybe_on: bool,
    pub(super) maybe_off: bool,
}

impl Switch {
    pub(super) const UNKNOWN: Self = Self { maybe_on: true, maybe_off: true };

    pub(super) fn of(is_on: bool) -> Self {
        Self { maybe_on: is_on, maybe_off: !is_on }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self { maybe_on: self.maybe_on || other.maybe_on, maybe_off: self.maybe_off || other.maybe_off }
    }
}

/// What a trap does at some place: nothing, one of these, or either.
#[derive(Clone, Debug)]
pub(super) struct Trap {
    pub(super) maybe_none: bool,
    pub(super) scripts: Vec<Rc<List>>,
}

impl Trap {
    pub(super) const NONE: Self = Self { maybe_none: true, scripts: Vec::new() };

    pub(super) fn or(mut self, other: &Self) -> Self {
        self.maybe_none |= other.maybe_none;
        for script in &other.scripts {
            if !self.scripts.iter().any(|own| Rc::ptr_eq(own, script)) {
                self.scripts.push(Rc::clone(script));
            }
        }
        self
    }
}

/// What a shell remembers from one command to the next.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    pub(super) errexit: Switch,
    pub(super) pipefail: Switch,
    pub(super) at_exit: Trap,
    pub(super) at_error: Trap,
    /// Each with all the bodies that it may have.
    pub(super) functions: Rc<BTreeMap<String, Vec<Rc<Command>>>>,
}

impl Shell {
    pub(super) fn new(errexit: bool, pipefail: bool) -> Self {
        Self {
            errexit: Switch::of(errexit),
            pipefail: Switch::of(pipefail),
            at_exit: Trap::NONE,
            at_error: Trap::NONE,
            functions: Rc::default(),
        }
    }

    /// What a subshell takes over.
    pub(super) fn forked(&self) -> Self {
        Self { at_exit: Trap::NONE, ..self.called() }
    }

    /// What a function begins with: whether a trap for errors holds in it is an option of its own.
    pub(super) fn called(&self) -> Self {
        let at_error = Trap { maybe_none: true, ..self.at_error.clone() };
        Self { at_error, ..self.clone() }
    }

    /// What holds after one of two ways.
    pub(super) fn joined(self, other: &Self) -> Self {
        let mut functions = self.functions;
        if !Rc::ptr_eq(&functions, &other.functions) {
            let own = Rc::make_mut(&mut functions);
            for (name, bodies) in other.functions.iter() {
                let known = own.entry(name.clone()).or_default();
                for body in bodies {
                    if !known.iter().any(|known| Rc::ptr_eq(known, body)) {
                        known.push(Rc::clone(body));
                    }
                }
            }
        }
        Self {
            errexit: self.errexit.or(other.errexit),
            pipefail: self.pipefail.or(other.pipefail),
            at_exit: self.at_exit.or(&other.at_exit),
            at_error: self.at_error.or(&other.at_error),
            functions,
        }
    }
}

/// `set`, of which two options matter. One that only the shell knows may be either.
pub(super) fn set(args: &[Option<&str>], shell: &mut Shell) {
    let mut is_on = true;
    for arg in args {
        let Some(arg) = arg else {
            (shell.errexit, shell.pipefail) = (Switch::UNKNOWN, Switch::UNKNOWN);
            continue;
        };
        match *arg {
            "--" | "-" => return,
            "errexit" => shell.errexit = Switch::of(is_on),
            "pipefail" => shell.pipefail = Switch::of(is_on),
            _ => {}
        }
        let Some(letters) = arg.strip_prefix(['-', '+']) else { continue };
        is_on = arg.starts_with('-');
        if letters.contains('e') {
            shell.errexit = Switch::of(is_on);
        }
    }
}

/// `trap action signals`. Of the signals only the two matter that are none.
pub(super) fn trap(args: &[Option<&str>], shell: &mut Shell, effort: &Cell<usize>) -> Result<(), Unreadable> {
    let args = match args {
        [Some("--"), rest @ ..] => rest,
        all => all,
    };
    let [action, signals @ ..] = args else { return Ok(()) };
    let names = |wanted: &[&str]| {
        signals
            .iter()
            .any(|signal| signal.is_none_or(|signal| wanted.contains(&signal.to_ascii_uppercase().as_str())))
    };
    let (at_exit, at_error) = (names(&["EXIT", "0", "SIGEXIT"]), names(&["ERR"]));
    if !at_exit && !at_error {
        return Ok(());
    }
    let trap = match action {
        None => return Err(Unreadable),
        Some("-") => Trap::NONE,
        Some(script) => Trap { maybe_none: false, scripts: vec![Rc::new(parse::parse(script, effort)?)] },
    };
    if at_error {
        shell.at_error = trap.clone();
    }
    if at_exit {
        shell.at_exit = trap;
    }
    Ok(())
}
