//! What a script can end with: a walk through it that follows every way at once and collects exit statuses. Nothing is
//! run. Syntax is in `parse`, what single programs do in `program`.
//!
//! Where it can't be known, more is thought possible, never less: a check is refused only if no way through it leads to
//! another status than the one that passes.

use std::cell::Cell;
use std::rc::Rc;

use super::answer::{Answer, Loss, Way};
use super::parse::{self, Unreadable};
use super::program::{self, Reply, Script};
use super::script::{Body, Command, Item, Joint, List, Pipeline, Simple, Word};
use super::shell::{Shell, Trap, set, trap};
use super::status::Statuses;

/// How many commands are walked through; loops and functions walk through some again.
const MOST_STEPS: usize = 20_000;

/// How deep commands, functions and scripts in scripts are followed.
const MOST_DEPTH: usize = 60;

/// What a walk came to.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) answer: Answer,
    /// The last of the statuses that were lost: the one that decides what is left.
    pub(super) loss: Option<Loss>,
    /// Whether anything in it decides about the work.
    pub(super) is_open: bool,
    /// Whether anything in it may print.
    pub(super) prints: bool,
}

/// Walks through a program with its arguments. With `aside_fails`, commands such as `cd` and `rm` may fail as well.
pub(super) fn walk(words: &[&str], aside_fails: bool) -> Result<Outcome, Unreadable> {
    let mut walker = Walker::new(aside_fails);
    let words: Vec<Option<&str>> = words.iter().copied().map(Some).collect();
    let text: Rc<str> = words.iter().copied().flatten().collect::<Vec<_>>().join(" ").into();
    let reply = program::reply(&words, true);
    let answer = walker.reply(reply, &text)?;
    let Walker { loss, is_open, prints, .. } = walker;
    Ok(Outcome { answer, loss, is_open, prints })
}

struct Walker {
    aside_fails: bool,
    steps: usize,
    depth: usize,
    /// What reading scripts has taken.
    effort: Cell<usize>,
    /// How many loops and functions surround this place in this shell.
    loops: usize,
    calls: usize,
    /// How this shell, the innermost loop and the innermost function can be left before their ends.
    exits: Answer,
    breaks: Answer,
    returns: Answer,
    loss: Option<Loss>,
    is_open: bool,
    prints: bool,
}

type Walked = Result<Answer, Unreadable>;

impl Walker {
    fn new(aside_fails: bool) -> Self {
        Self {
            aside_fails,
            steps: 0,
            depth: 0,
            effort: Cell::new(0),
            loops: 0,
            calls: 0,
            exits: Answer::NEVER,
            breaks: Answer::NEVER,
            returns: Answer::NEVER,
            loss: None,
            is_open: false,
            prints: false,
        }
    }

    fn deeper(&mut self, walk: impl FnOnce(&mut Self) -> Walked) -> Walked {
        self.steps += 1;
        self.depth += 1;
        let is_too_much = self.steps > MOST_STEPS || self.depth > MOST_DEPTH;
        let walked = if is_too_much { Err(Unreadable) } else { walk(self) };
        self.depth -= 1;
        walked
    }

    /// Notes that the failures in `answer` count for nothing.
    fn lose(&mut self, answer: &Answer, way: Way) {
        if let Some(command) = answer.failures().said_by {
            self.loss = Some(Loss { command, way });
        }
    }

    /// A command that decides by itself.
    fn open(&mut self, text: &Rc<str>) -> Answer {
        self.is_open = true;
        self.prints = true;
        Answer { statuses: Statuses::ANY, said_by: Some(Rc::clone(text)) }
    }

    /// A command whose failure says nothing.
    fn aside(&mut self) -> Answer {
        self.prints = true;
        if self.aside_fails { Answer::of(Statuses::ANY) } else { Answer::SUCCESS }
    }

    fn reply(&mut self, reply: Reply, text: &Rc<str>) -> Walked {
        match reply {
            Reply::Always { status, prints } => {
                self.prints |= prints;
                Ok(Answer::of(Statuses::only(status)))
            }
            Reply::Aside => Ok(self.aside()),
            Reply::Input => Ok(Answer::of(Statuses::ZERO | Statuses::only(1))),
            Reply::Open => Ok(self.open(text)),
            Reply::Script(script) => self.script(&script),
        }
    }

    /// A script that a shell of its own runs.
    fn script(&mut self, script: &Script) -> Walked {
        let list = parse::parse(&script.text, &self.effort)?;
        let shell = Shell::new(script.errexit, script.pipefail);
        self.deeper(|walker| {
            walker.process(shell, |walker, shell| walker.list(&list, shell, false, Answer::SUCCESS))
        })
    }

    /// What a process of its own ends with that does `walk`.
    fn process(&mut self, mut shell: Shell, walk: impl FnOnce(&mut Self, &mut Shell) -> Walked) -> Walked {
        let exits = std::mem::replace(&mut self.exits, Answer::NEVER);
        let breaks = std::mem::replace(&mut self.breaks, Answer::NEVER);
        let returns = std::mem::replace(&mut self.returns, Answer::NEVER);
        let (loops, calls) = (std::mem::take(&mut self.loops), std::mem::take(&mut self.calls));
        let end = walk(self, &mut shell)?;
        self.leave(end, &shell)?;
        (self.loops, self.calls, self.breaks, self.returns) = (loops, calls, breaks, returns);
        Ok(std::mem::replace(&mut self.exits, exits))
    }

    fn subshell(&mut self, list: &List, shell: &Shell, tested: bool, before: &Answer) -> Walked {
        self.process(shell.forked(), |walker, shell| walker.list(list, shell, tested, before.clone()))
    }

    /// The shell ends with `answer`, unless its trap has another opinion.
    fn leave(&mut self, answer: Answer, shell: &Shell) -> Result<(), Unreadable> {
        if answer.is_never() {
            return Ok(());
        }
        let mut passes = shell.at_exit.maybe_none;
        for script in &shell.at_exit.scripts {
            let mut inside = Shell { at_exit: Trap::NONE, ..shell.clone() };
            passes |= !self.list(script, &mut inside, false, answer.clone())?.is_never();
        }
        if passes {
            let exits = std::mem::replace(&mut self.exits, Answer::NEVER);
            self.exits = exits.or(answer);
        } else {
            self.lose(&answer, Way::Trapped);
        }
        Ok(())
    }

    /// What follows a command that may have failed where nobody looks at its status.
    fn fall(&mut self, answer: Answer, shell: &Shell, tested: bool) -> Walked {
        let failures = answer.failures();
        if tested || failures.is_never() {
            return Ok(answer);
        }
        let mut goes_on = shell.at_error.maybe_none;
        for script in &shell.at_error.scripts {
            let mut inside = Shell { at_error: Trap::NONE, ..shell.clone() };
            goes_on |= !self.list(script, &mut inside, false, failures.clone())?.is_never();
        }
        if !goes_on {
            self.lose(&failures, Way::Trapped);
            return Ok(answer.successes());
        }
        if shell.errexit.maybe_on {
            self.leave(failures, shell)?;
        }
        Ok(if shell.errexit.maybe_off { answer } else { answer.successes() })
    }

    /// Commands one after the other. `tested` where somebody looks at their status, so that `set -e` doesn't hold;
    /// `before` is what `$?` is at their beginning.
    fn list(&mut self, list: &List, shell: &mut Shell, tested: bool, before: Answer) -> Walked {
        let mut current = if list.0.is_empty() { Answer::SUCCESS } else { before };
        for (at, item) in list.0.iter().enumerate() {
            if current.is_never() {
                break;
            }
            let errexit = shell.errexit.maybe_on;
            if at > 0 {
                self.lose(&current, Way::Overwritten { by: Rc::clone(&item.text), errexit });
            }
            current = self.item(item, shell, tested, &current)?;
        }
        Ok(current)
    }

    fn item(&mut self, item: &Item, shell: &mut Shell, tested: bool, before: &Answer) -> Walked {
        if item.background {
            let ended =
                self.process(shell.forked(), |walker, shell| walker.chain(item, shell, tested, before))?;
            self.lose(&ended, Way::Background);
            return Ok(Answer::SUCCESS);
        }
        self.chain(item, shell, tested, before)
    }

    fn chain(&mut self, item: &Item, shell: &mut Shell, tested: bool, before: &Answer) -> Walked {
        let mut left = self.pipeline(&item.first, shell, tested || !item.rest.is_empty(), before)?;
        for (at, (joint, pipeline)) in item.rest.iter().enumerate() {
            let tested = tested || at + 1 < item.rest.len();
            let (asked, skipped) = match joint {
                Joint::And => (left.successes(), left.failures()),
                Joint::Or => (left.failures(), left.successes()),
            };
            if asked.is_never() {
                continue;
            }
            let mut inside = shell.clone();
            let right = self.pipeline(pipeline, &mut inside, tested, &asked)?;
            if *joint == Joint::Or && !right.is_never() && right.statuses.is_within(Statuses::ZERO) {
                self.lose(&asked, Way::Excused { by: Rc::clone(&pipeline.text) });
            }
            if skipped.is_never() {
                *shell = inside;
            } else if !right.is_never() {
                *shell = shell.clone().joined(&inside);
            }
            left = skipped.or(right);
        }
        Ok(left)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, shell: &mut Shell, tested: bool, before: &Answer) -> Walked {
        let tested = tested || pipeline.negated;
        let answer = match pipeline.commands.as_slice() {
            [command] => self.command(command, shell, tested, before)?,
            commands => {
                let answer = self.pipe(commands, shell, tested, before)?;
                self.fall(answer, shell, tested)?
            }
        };
        if !pipeline.negated {
            return Ok(answer);
        }
        if !self.breaks.is_never() {
            // A loop that is left behind `!` ends with what that makes of it.
            self.breaks.statuses |= Statuses::only(1);
        }
        Ok(answer.negated())
    }

    fn pipe(&mut self, commands: &[Rc<Command>], shell: &Shell, tested: bool, before: &Answer) -> Walked {
        // What the last that failed says, and what the last says.
        let (mut any, mut last) = (Answer::SUCCESS, Answer::SUCCESS);
        for (at, command) in commands.iter().enumerate() {
            if at > 0 && !shell.pipefail.maybe_on {
                self.lose(&last, Way::Piped);
            }
            last =
                self.process(shell.forked(), |walker, shell| walker.command(command, shell, tested, before))?;
            let others = if last.statuses.has_zero() { any } else { Answer::NEVER };
            any = last.failures().or(others);
        }
        let any = if shell.pipefail.maybe_on { any } else { Answer::NEVER };
        Ok(if shell.pipefail.maybe_off { any.or(last) } else { any })
    }

    fn command(&mut self, command: &Command, shell: &mut Shell, tested: bool, before: &Answer) -> Walked {
        self.deeper(|walker| walker.body(command, shell, tested, before))
    }

    fn body(&mut self, command: &Command, shell: &mut Shell, tested: bool, before: &Answer) -> Walked {
        match &command.body {
            Body::Simple(simple) => self.simple(command, simple, shell, tested, before),
            Body::Group(list) => self.list(list, shell, tested, before.clone()),
            Body::Subshell(list) => {
                let answer = self.subshell(list, shell, tested, before)?;
                self.fall(answer, shell, tested)
            }
            Body::If { branches, otherwise } => {
                self.conditional(branches, otherwise.as_ref(), shell, tested, before)
            }
            Body::Loop { until, condition, body } => {
                self.repetition(*until, Some(condition), body, shell, tested, before)
            }
            Body::For(body) => self.repetition(false, None, body, shell, tested, before),
            Body::Case { subject, branches, is_total } => {
                let before = self.substituted(subject, shell, before.clone())?;
                self.lose(&before, Way::Substituted);
                let start = shell.clone();
                let mut answer = if *is_total { Answer::NEVER } else { Answer::SUCCESS };
                for branch in branches {
                    let mut inside = start.clone();
                    answer = answer.or(self.list(branch, &mut inside, tested, before.clone())?);
                    *shell = shell.clone().joined(&inside);
                }
                Ok(answer)
            }
            Body::Condition(None) => {
                let answer = self.open(&command.text);
                self.fall(answer, shell, tested)
            }
            Body::Condition(Some(holds)) => {
                let answer = Answer::of(Statuses::only(u8::from(!holds)));
                self.fall(answer, shell, tested)
            }
            Body::Function { name, body } => {
                Rc::make_mut(&mut shell.functions).insert(name.clone(), vec![Rc::clone(body)]);
                Ok(Answer::SUCCESS)
            }
        }
    }

    fn conditional(
        &mut self,
        branches: &[(List, List)],
        otherwise: Option<&List>,
        shell: &mut Shell,
        tested: bool,
        before: &Answer,
    ) -> Walked {
        let mut answer = Answer::NEVER;
        let mut after: Option<Shell> = None;
        let mut join = |shell: Shell| {
            let joined = after.take().map(|after| after.joined(&shell));
            after = Some(joined.unwrap_or(shell));
        };
        let mut asked = before.clone();
        for (condition, branch) in branches {
            let said = self.list(condition, shell, true, asked)?;
            self.lose(&said, Way::Condition);
            if said.statuses.has_zero() {
                let mut inside = shell.clone();
                answer = answer.or(self.list(branch, &mut inside, tested, said.successes())?);
                join(inside);
            }
            asked = said.failures();
            if asked.is_never() {
                break;
            }
        }
        if !asked.is_never() {
            answer = answer.or(match otherwise {
                Some(list) => self.list(list, shell, tested, asked)?,
                None => Answer::SUCCESS,
            });
            join(shell.clone());
        }
        if let Some(after) = after {
            *shell = after;
        }
        Ok(answer)
    }

    /// `while`, `until` and, without a condition, `for`.
    fn repetition(
        &mut self,
        until: bool,
        condition: Option<&List>,
        body: &List,
        shell: &mut Shell,
        tested: bool,
        before: &Answer,
    ) -> Walked {
        let breaks = std::mem::replace(&mut self.breaks, Answer::NEVER);
        self.loops += 1;
        let mut answer = Answer::NEVER;
        let mut before = before.clone();
        // Twice, as the second time may begin with what the first has set.
        for _ in 0..2 {
            let said = match condition {
                Some(condition) => self.list(condition, shell, true, before.clone())?,
                None => Answer::of(Statuses::ZERO | Statuses::only(1)),
            };
            self.lose(&said, Way::Condition);
            let (goes_on, ends) = match until {
                true => (said.failures(), said.successes()),
                false => (said.successes(), said.failures()),
            };
            if !ends.is_never() {
                answer = answer.or(Answer::SUCCESS);
            }
            if goes_on.is_never() {
                break;
            }
            let mut inside = shell.clone();
            let before_body = if condition.is_some() { goes_on } else { before.clone() };
            let round = self.list(body, &mut inside, tested, before_body)?;
            *shell = shell.clone().joined(&inside);
            if !round.is_never() && (said.said_by.is_some() || ends.is_never()) {
                // It may never end, which is no success either.
                self.exits.statuses |= Answer::FAILURE.statuses;
            }
            before = before.or(round.clone());
            if !ends.is_never() {
                answer = answer.or(round);
            }
        }
        self.loops -= 1;
        let broken = std::mem::replace(&mut self.breaks, breaks);
        Ok(answer.or(broken))
    }

    /// The status of the last command substitution in a word; `before` where there is none.
    fn substituted(&mut self, word: &Word, shell: &Shell, before: Answer) -> Walked {
        let mut answer = before;
        for list in &word.substitutions {
            answer = self.subshell(list, shell, false, &answer)?;
        }
        Ok(answer)
    }

    fn simple(
        &mut self,
        command: &Command,
        simple: &Simple,
        shell: &mut Shell,
        tested: bool,
        before: &Answer,
    ) -> Walked {
        let mut substituted = Answer::SUCCESS;
        for word in simple.assignments.iter().chain(&simple.words) {
            substituted = self.substituted(word, shell, substituted)?;
            if !simple.words.is_empty() {
                self.lose(&substituted, Way::Substituted);
            }
        }
        let errexit = shell.errexit;
        let answer = if simple.words.is_empty() {
            substituted
        } else {
            self.program(command, &simple.words, shell, tested, before)?
        };
        // A file that isn't there keeps a command from running.
        let unread = if command.reads_file && !answer.is_never() { self.aside() } else { Answer::NEVER };
        // What a sourced file may turn on doesn't hold for the line that names it.
        let sources = simple.words.first().is_some_and(|word| matches!(&*word.text, "." | "source"));
        let errexit = if sources { errexit } else { shell.errexit };
        let holding = Shell { errexit, ..shell.clone() };
        self.fall(answer.or(unread), &holding, tested)
    }

    /// A command's words: a function, a builtin that steers the shell, or a program.
    fn program(
        &mut self,
        command: &Command,
        words: &[Word],
        shell: &mut Shell,
        tested: bool,
        before: &Answer,
    ) -> Walked {
        let literals: Vec<Option<&str>> = words.iter().map(|word| word.literal.as_deref()).collect();
        let (name, args) = match literals.split_first() {
            Some((Some(name), args)) => (*name, args),
            Some((None, _)) | None => return Ok(self.open(&command.text)),
        };
        if let Some(bodies) = shell.functions.get(name).cloned() {
            return self.call(&bodies, shell, tested, before);
        }
        match name {
            // Behind these stands a builtin, or a program.
            "command" | "builtin"
                if args.first().is_some_and(|arg| arg.is_none_or(|arg| !arg.starts_with('-'))) =>
            {
                let mut shell_without = Shell { functions: Rc::default(), ..shell.clone() };
                let answer = self.program(command, &words[1..], &mut shell_without, tested, before)?;
                *shell = Shell { functions: Rc::clone(&shell.functions), ..shell_without };
                Ok(answer)
            }
            "exit" => {
                let status = self.named_status(&words[1..], before);
                self.leave(status, shell)?;
                Ok(Answer::NEVER)
            }
            "return" => {
                let status = self.named_status(&words[1..], before);
                if self.calls > 0 {
                    let returns = std::mem::replace(&mut self.returns, Answer::NEVER);
                    self.returns = returns.or(status);
                    return Ok(Answer::NEVER);
                }
                // Outside of a function one shell ends, and another says that this is wrong and goes on.
                self.leave(status, shell)?;
                Ok(Answer::FAILURE)
            }
            "break" | "continue" if self.loops > 0 => {
                // `continue` may be the last round as well.
                let breaks = std::mem::replace(&mut self.breaks, Answer::NEVER);
                self.breaks = breaks.or(Answer::SUCCESS);
                Ok(Answer::NEVER)
            }
            "break" | "continue" => Ok(Answer::SUCCESS),
            "set" => {
                set(args, shell);
                Ok(Answer::SUCCESS)
            }
            "shopt" => {
                if args.iter().any(|arg| matches!(arg, None | Some("errexit" | "pipefail"))) {
                    set(&[None], shell);
                }
                Ok(Answer::SUCCESS)
            }
            "trap" => trap(args, shell, &self.effort).map(|()| Answer::SUCCESS),
            "exec" if args.is_empty() => Ok(Answer::SUCCESS),
            "exec" => {
                let answer = self.reply(program::reply(&literals, false), &command.text)?;
                let exits = std::mem::replace(&mut self.exits, Answer::NEVER);
                self.exits = exits.or(answer);
                Ok(Answer::NEVER)
            }
            "eval" => {
                let Some(script) = args.iter().copied().collect::<Option<Vec<_>>>() else {
                    set(&[None], shell);
                    return Ok(self.open(&command.text));
                };
                let list = parse::parse(&script.join(" "), &self.effort)?;
                self.deeper(|walker| walker.list(&list, shell, tested, before.clone()))
            }
            // `setopt` and `emulate` are zsh's.
            "." | "source" | "setopt" | "unsetopt" | "emulate" => {
                set(&[None], shell);
                Ok(self.open(&command.text))
            }
            "kill" if words.iter().any(|word| &*word.text == "0" || word.text.contains("$$")) => {
                self.exits.statuses |= Answer::FAILURE.statuses;
                Ok(self.aside())
            }
            _ => self.reply(program::reply(&literals, false), &command.text),
        }
    }

    /// What `exit` and `return` say with these arguments.
    fn named_status(&mut self, args: &[Word], before: &Answer) -> Answer {
        match args {
            [] => before.clone(),
            [word] if matches!(&*word.text, "$?" | "\"$?\"" | "${?}") => before.clone(),
            [word, ..] => match program::exit_status(word.literal.as_deref()) {
                Some(statuses) => Answer::of(statuses),
                None => self.open(&word.text),
            },
        }
    }

    fn call(&mut self, bodies: &[Rc<Command>], shell: &mut Shell, tested: bool, before: &Answer) -> Walked {
        let returns = std::mem::replace(&mut self.returns, Answer::NEVER);
        let loops = std::mem::take(&mut self.loops);
        self.calls += 1;
        let start = shell.called();
        let mut answer = Answer::NEVER;
        for body in bodies {
            let mut inside = start.clone();
            answer = answer.or(self.command(body, &mut inside, tested, before)?);
            *shell = shell.clone().joined(&inside);
        }
        self.calls -= 1;
        self.loops = loops;
        let returned = std::mem::replace(&mut self.returns, returns);
        Ok(answer.or(returned))
    }
}
