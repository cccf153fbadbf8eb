//! How often the kernel has killed for want of memory. Whether it killed a certain process nobody is told.

use std::fs;
use std::path::Path;

/// The kernel's counters of such kills, as far as they can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    /// On this machine, since it was started.
    machine: Option<u64>,
    /// In this process's control group and those below it.
    group: Option<u64>,
}

impl Kills {
    /// Reads them now.
    pub fn count() -> Self {
        let read = |path: &Path| fs::read_to_string(path).ok();
        let machine = read(Path::new("/proc/vmstat")).and_then(|text| kills_in(&text));
        let group = read(Path::new("/proc/self/cgroup")).and_then(|text| {
            let below_root = group_in(&text)?.trim_start_matches('/').to_owned();
            let folder = Path::new("/sys/fs/cgroup").join(below_root);
            kills_in(&read(&folder.join("memory.events"))?)
        });
        Self { machine, group }
    }

    /// Whether there have been more since `earlier`; `None` where no counter could be read both times.
    pub fn grew_since(&self, earlier: &Self) -> Option<bool> {
        let grew = |now: Option<u64>, then: Option<u64>| Some(now? != then?);
        match (grew(self.machine, earlier.machine), grew(self.group, earlier.group)) {
            (None, None) => None,
            (machine, group) => Some(machine == Some(true) || group == Some(true)),
        }
    }
}

/// The value of `oom_kill` in a file of counters, one a line.
fn kills_in(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// The path of the control group (version 2) in a `/proc/PID/cgroup`.
fn group_in(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod tests {
    use super::{Kills, group_in, kills_in};

    #[test]
    fn counters_are_read_from_what_the_kernel_writes() {
        assert_eq!(kills_in("pgfault 7\noom_kill 3\ndrop_pagecache 0\n"), Some(3));
        assert_eq!(kills_in("low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n"), Some(1));
        for text in ["", "oom 2\noom_group_kill 1\n", "oom_kill\n", "oom_kill many\n"] {
            assert_eq!(kills_in(text), None, "{text:?}");
        }
        assert_eq!(group_in("4:memory:/a\n0::/user.slice/b\n"), Some("/user.slice/b"));
        assert_eq!(group_in("4:memory:/a\n"), None);
    }

    #[test]
    fn either_counter_tells_and_without_any_it_is_not_known() {
        let kills = |machine, group| Kills { machine, group };
        let (some, none) = (kills(Some(1), Some(1)), kills(None, None));
        assert_eq!(some.grew_since(&some), Some(false));
        assert_eq!(kills(Some(2), Some(1)).grew_since(&some), Some(true));
        assert_eq!(kills(Some(1), Some(2)).grew_since(&some), Some(true));
        assert_eq!(kills(None, Some(2)).grew_since(&some), Some(true));
        assert_eq!(kills(None, Some(1)).grew_since(&some), Some(false));
        assert_eq!(none.grew_since(&some), None);
        assert_eq!(some.grew_since(&kills(None, None)), None);
        assert_eq!(kills(None, Some(1)).grew_since(&kills(Some(1), None)), None);
    }
}
