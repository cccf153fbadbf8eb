//! How something can end, who may have said so, and how that came to count for nothing. How it is found out is in
//! `outcome`.

use std::rc::Rc;

use super::status::Statuses;

/// How something can end.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) statuses: Statuses,
    /// A command of the work that may be what failed.
    pub(super) said_by: Option<Rc<str>>,
}

impl Answer {
    pub(super) const NEVER: Self = Self { statuses: Statuses::NONE, said_by: None };
    pub(super) const SUCCESS: Self = Self { statuses: Statuses::ZERO, said_by: None };
    /// No answer at all, as of something that hangs or is killed.
    pub(super) const FAILURE: Self = Self { statuses: Statuses::ANY, said_by: None };

    pub(super) fn of(statuses: Statuses) -> Self {
        Self { statuses, said_by: None }
    }

    pub(super) fn is_never(&self) -> bool {
        self.statuses.is_empty()
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self { statuses: self.statuses | other.statuses, said_by: other.said_by.or(self.said_by) }
    }

    pub(super) fn successes(&self) -> Self {
        if self.statuses.has_zero() { Self::SUCCESS } else { Self::NEVER }
    }

    pub(super) fn failures(&self) -> Self {
        let statuses = self.statuses.failures();
        let said_by = self.said_by.clone().filter(|_| !statuses.is_empty());
        Self { statuses, said_by }
    }

    pub(super) fn negated(&self) -> Self {
        let failed = if self.statuses.failures().is_empty() { Statuses::NONE } else { Statuses::ZERO };
        let succeeded = if self.statuses.has_zero() { Statuses::only(1) } else { Statuses::NONE };
        Self { statuses: failed | succeeded, said_by: self.said_by.clone() }
    }
}

/// How the status of a command came to count for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) command: Rc<str>,
    pub(super) way: Way,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Something else comes after it; `errexit` where `set -e` was to prevent that.
    Overwritten {
        by: Rc<str>,
        errexit: bool,
    },
    /// `|| true`.
    Excused {
        by: Rc<str>,
    },
    Piped,
    Background,
    Condition,
    Substituted,
    Trapped,
}
