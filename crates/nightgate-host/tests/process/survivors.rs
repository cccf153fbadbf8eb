//! What the target leaves running, and that nothing of it outlives the call.

use nightgate_host::process::{Confine, Exit};

use crate::bench::{Bench, in_both, stdout};

/// Leaves a process in a session of its own whose parents have all ended, which holds the FIFO `held` and ignores
/// every signal that can be ignored; goes on once it is there.
pub const DAEMON: &str = "
    mkfifo ready
    setsid sh -c 'sh -c \"trap \\\"\\\" TERM HUP INT; exec 3>held; echo up >&3; echo >ready; exec sleep 1000\" &' &
    read line <ready
";

in_both! {
    a_double_forked_daemon_is_found_and_ended,
    a_daemon_is_ended_at_a_time_limit_too,
    a_grandchild_that_holds_the_output_delays_nothing,
    a_stopped_survivor_is_ended,
    a_hundred_survivors_are_counted_and_ended,
    a_process_that_ended_before_is_no_survivor,
    an_orphan_that_ends_is_reaped_while_the_target_runs,
}

fn a_double_forked_daemon_is_found_and_ended(confine: Confine) {
    let bench = Bench::shell(confine, &format!("{DAEMON} exit 0"));
    let mut held = bench.fifo("held");
    let ended = bench.run();
    assert_eq!(held.abandoned(), "up\n");
    assert_eq!(ended.exit, Exit::Exited(0));
    assert!(ended.stop.survivors >= 1, "{:?}", ended.stop);
    assert_eq!(ended.stop.remaining, Some(0));
    let named = ended.stop.survivor_names.iter().any(|name| name == "sleep" || name == "sh");
    assert!(named || !ended.stop.proc_mounted && ended.stop.user_namespace, "{:?}", ended.stop);
}

fn a_daemon_is_ended_at_a_time_limit_too(confine: Confine) {
    let mut bench = Bench::shell(confine, &format!("{DAEMON} echo begun; exec sleep 1000"));
    bench.silence = Some(std::time::Duration::from_millis(500));
    let mut held = bench.fifo("held");
    let ended = bench.run();
    held.abandoned();
    assert!(ended.stop.is_complete());
    assert!(matches!(ended.exit, Exit::TimedOut(_)));
}

fn a_grandchild_that_holds_the_output_delays_nothing(confine: Confine) {
    let bench = Bench::shell(confine, &format!("{DAEMON} echo done; exit 0"));
    let mut held = bench.fifo("held");
    let ended = bench.run();
    held.abandoned();
    assert_eq!((ended.exit.clone(), stdout(&ended).as_str()), (Exit::Exited(0), "done\n"));
    assert!(ended.stdout.closed);
}

fn a_stopped_survivor_is_ended(confine: Confine) {
    let script = "mkfifo ready; setsid sh -c 'exec 3>held; echo >ready; kill -STOP $$' & read line <ready";
    let bench = Bench::shell(confine, script);
    let mut held = bench.fifo("held");
    assert_eq!(bench.run().stop.remaining, Some(0));
    held.abandoned();
}

fn a_hundred_survivors_are_counted_and_ended(confine: Confine) {
    let script = "n=0; while [ $n -lt 100 ]; do setsid sleep 1000 3>held & n=$((n+1)); done; exit 4";
    let bench = Bench::shell(confine, script);
    let mut held = bench.fifo("held");
    let ended = bench.run();
    held.abandoned();
    assert_eq!((ended.exit, ended.stop.survivors, ended.stop.remaining), (Exit::Exited(4), 100, Some(0)));
}

fn a_process_that_ended_before_is_no_survivor(confine: Confine) {
    let ended = Bench::shell(confine, "sh -c 'sh -c : &'; sleep 0.01 & wait; exit 0").run();
    assert_eq!(ended.exit, Exit::Exited(0));
    assert_eq!(ended.stop.remaining, Some(0));
}

fn an_orphan_that_ends_is_reaped_while_the_target_runs(confine: Confine) {
    // `kill -0` succeeds as long as the orphan's number is taken, also by its unreaped rest.
    let script = "orphan=$(sh -c 'sleep 0.01 >/dev/null & echo $!'); while kill -0 $orphan 2>&-; do :; done";
    assert_eq!(Bench::shell(confine, script).run().exit, Exit::Exited(0));
}
