//! Sets of exit statuses. Where they come from is in `outcome`.

use std::ops::{BitOr, BitOrAssign};

/// Which exit statuses something could end with; none where it never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statuses([u64; 4]);

impl Statuses {
    pub(super) const NONE: Self = Self([0; 4]);
    pub(super) const ZERO: Self = Self([1, 0, 0, 0]);
    pub(super) const ANY: Self = Self([u64::MAX; 4]);

    pub(super) fn only(status: u8) -> Self {
        let mut words = [0; 4];
        words[usize::from(status / 64)] = 1 << (status % 64);
        Self(words)
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    pub(super) fn has_zero(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// Those but 0.
    pub(super) fn failures(self) -> Self {
        let [first, rest @ ..] = self.0;
        Self([first & !1, rest[0], rest[1], rest[2]])
    }

    pub(super) fn is_within(self, other: Self) -> bool {
        self | other == other
    }
}

impl BitOr for Statuses {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

impl BitOrAssign for Statuses {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}
