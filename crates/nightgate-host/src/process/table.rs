//! The processes of this machine as `/proc` shows them. Ending them is not here.

use std::collections::HashSet;
use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// One process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    pub(super) name: String,
    /// Whether it has ended and only waits to be reaped.
    pub(super) ended: bool,
    /// When it started, in ticks since boot: with the pid, what makes it this process and no other.
    started: u64,
}

impl Process {
    /// Sends a signal to this process and to no other that has its number by now.
    pub(super) fn signal(&self, signal: Signal) {
        match pidfd_open(self.pid, PidfdFlags::empty()) {
            Ok(handle) if read(self.pid.as_raw_pid()).is_ok_and(|now| now.started == self.started) => {
                // Gone, or another user's: the sweep that sends this counts what is left.
                let _left = pidfd_send_signal(handle, signal);
            }
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
                let _left = kill_process(self.pid, signal);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// All processes in `/proc`. One that ends while the table is read may be left out.
pub(super) fn all() -> io::Result<Vec<Process>> {
    let numbers = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(numbers.filter_map(|number: i32| read(number).ok()).collect())
}

/// The processes of `table` that descend from `root`, without it.
pub(super) fn descendants(table: Vec<Process>, root: Pid) -> Vec<Process> {
    let mut family = HashSet::from([root.as_raw_pid()]);
    loop {
        let before = family.len();
        let children = table.iter().filter(|process| family.contains(&process.parent));
        let children: Vec<i32> = children.map(|process| process.pid.as_raw_pid()).collect();
        family.extend(children);
        if family.len() == before {
            break;
        }
    }
    table.into_iter().filter(|one| one.pid != root && family.contains(&one.pid.as_raw_pid())).collect()
}

fn read(number: i32) -> io::Result<Process> {
    let text = fs::read(format!("/proc/{number}/stat"))?;
    parse(&String::from_utf8_lossy(&text)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Reads the line of `proc_pid_stat(5)`. The name may hold anything, also blanks and parentheses.
fn parse(stat: &str) -> Option<Process> {
    let (pid, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // The state is field 3, the parent 4, the start time 22.
    let started = fields.nth(22 - 5)?.trim().parse().ok()?;
    let pid = Pid::from_raw(pid.parse().ok()?)?;
    Some(Process { pid, parent, name: name.to_owned(), ended: matches!(state, "Z" | "X"), started })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        let pid = Pid::from_raw(pid).unwrap();
        Process { pid, parent, name: String::new(), ended: false, started: 0 }
    }

    #[test]
    fn a_name_with_parentheses_and_blanks_is_read_whole() {
        let line = "12 (a) S 1 (b) Z 7 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9\n";
        let wanted = Process { name: "a) S 1 (b".into(), ended: true, started: 4711, ..process(12, 7) };
        assert_eq!(parse(line), Some(wanted));
    }

    #[test]
    fn this_process_is_in_the_table() {
        let me = rustix::process::getpid();
        assert!(all().unwrap().iter().any(|process| process.pid == me && !process.ended));
    }

    #[test]
    fn descendants_are_found_in_any_order_and_strangers_are_not() {
        let table = vec![process(9, 7), process(7, 5), process(5, 1), process(6, 1), process(8, 6)];
        let found: Vec<_> =
            descendants(table, Pid::from_raw(5).unwrap()).iter().map(|one| one.pid.as_raw_pid()).collect();
        assert_eq!(found, [9, 7]);
    }
}
