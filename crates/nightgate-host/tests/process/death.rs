//! What happens when the supervisor or its helpers are killed, and on a terminal. The supervisor that is killed is a
//! program of its own, `nightgate-driver`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nightgate_host::process::{Confine, Exit, Mechanism};

use crate::bench::{Bench, Fifo, in_both};
use crate::survivors::DAEMON;

/// Starts a supervisor of `script` in `folder`, with a terminal or without.
fn driver(folder: &Path, confine: Confine, terminal: bool, script: &str) -> Child {
    let confine = if confine == Confine::Best { "best" } else { "subreaper" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_nightgate-driver"));
    command.arg(folder).arg(env!("CARGO_BIN_EXE_nightgate-box"));
    command.args([confine, if terminal { "terminal" } else { "none" }, script]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

in_both! {
    a_killed_supervisor_leaves_nothing_behind,
    a_target_has_no_terminal_although_the_supervisor_has,
}

fn a_killed_supervisor_leaves_nothing_behind(confine: Confine) {
    let folder = tempfile::tempdir().unwrap();
    let mut held = Fifo::make(&folder.path().join("held"));
    let mut supervisor = driver(folder.path(), confine, false, &format!("{DAEMON} exec sleep 1000 3>held"));
    assert_eq!(held.line(), "up\n");
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    held.wait_until_abandoned();
}

fn a_target_has_no_terminal_although_the_supervisor_has(confine: Confine) {
    let folder = tempfile::tempdir().unwrap();
    let script = "if (: </dev/tty) 2>/dev/null; then exit 1; else exit 42; fi";
    let mut supervisor = driver(folder.path(), confine, true, script);
    assert!(supervisor.wait().unwrap().success());
    assert_eq!(fs::read_to_string(folder.path().join("exit")).unwrap(), "Exited(42)");
}

#[test]
fn a_target_can_not_kill_the_first_process_of_its_namespace() {
    let ended = Bench::shell(Confine::Best, "[ $PPID = 1 ] && kill -9 1; exit 6").run();
    assert_eq!(ended.exit, Exit::Exited(6));
}

#[test]
fn a_keeper_killed_by_the_target_is_lost_and_the_guard_sweeps() {
    let bench = Bench::shell(Confine::SubreaperOnly, &format!("{DAEMON} kill -9 $PPID; exit 0"));
    let mut held = bench.fifo("held");
    let ended = bench.run();
    held.abandoned();
    assert!(matches!(ended.exit, Exit::Lost { .. }), "{:?}", ended.exit);
    assert_eq!((ended.stop.mechanism, ended.stop.remaining), (Mechanism::Subreaper, Some(0)));
    assert!(ended.stop.survivors >= 1);
}

#[test]
fn when_keeper_and_guard_are_killed_nobody_knows_what_is_left() {
    let script = "read -r pid name state guard rest </proc/$PPID/stat; kill -9 $guard $PPID; exit 0";
    let ended = Bench::shell(Confine::SubreaperOnly, script).run();
    assert!(matches!(ended.exit, Exit::Lost { .. }), "{:?}", ended.exit);
    assert_eq!(ended.stop.remaining, None);
    assert!(!ended.stop.is_complete());
}

#[test]
fn a_killed_supervisor_and_a_stopped_keeper_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut held = Fifo::make(&folder.path().join("held"));
    let script = format!("{DAEMON} kill -STOP $PPID; echo stopped >held; exec sleep 1000 3>held");
    let mut supervisor = driver(folder.path(), Confine::SubreaperOnly, false, &script);
    assert_eq!((held.line(), held.line()), ("up\n".to_owned(), "stopped\n".to_owned()));
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    held.wait_until_abandoned();
}

#[test]
fn a_stopped_keeper_is_killed_and_the_guard_sweeps() {
    let mut bench =
        Bench::shell(Confine::SubreaperOnly, &format!("{DAEMON} kill -STOP $PPID; exec sleep 1000"));
    bench.wall = Some(std::time::Duration::from_millis(300));
    let mut held = bench.fifo("held");
    let ended = bench.run();
    held.abandoned();
    assert!(matches!(ended.exit, Exit::TimedOut(_)), "{:?}", ended.exit);
    assert_eq!(ended.stop.remaining, Some(0));
}
