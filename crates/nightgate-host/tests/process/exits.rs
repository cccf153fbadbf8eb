//! Each way in which a run can end, and none taken for another.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use nightgate_host::process::{Confine, Exit, Helper, Limit, Mechanism, Stdin, SuperviseError};

use crate::bench::{Bench, in_both, stderr, stdout};

const BRIEF: Option<Duration> = Some(Duration::from_millis(100));

fn errno(exit: &Exit) -> i32 {
    match exit {
        Exit::NotStarted { errno, text } => {
            assert!(!text.is_empty());
            *errno
        }
        other => panic!("{other:?}"),
    }
}

in_both! {
    an_exit_status_and_both_streams_are_reported,
    success_is_status_zero,
    a_signal_is_no_exit_status,
    a_missing_program_is_not_started,
    a_file_without_permission_is_not_started,
    a_file_that_is_no_program_is_not_started_by_a_shell,
    a_script_without_its_interpreter_is_not_started,
    a_missing_folder_starts_nothing,
    a_missing_input_starts_nothing,
    an_argument_beyond_the_systems_limit_is_not_started,
    a_target_that_runs_too_long_timed_out,
    a_target_that_exits_0_when_asked_to_end_still_timed_out,
    a_target_that_ignores_the_request_is_killed,
    a_stopped_target_is_ended,
    a_silent_target_timed_out_and_its_output_until_then_is_kept,
    limits_that_are_not_reached_change_nothing,
    a_cancelled_run_is_asked_to_end_and_is_cancelled,
    another_thread_cancels,
    what_was_cancelled_before_is_never_started,
    two_hundred_megabytes_are_counted_and_bounded,
    progress_shows_every_byte_in_order,
    a_log_that_breaks_is_reported_and_blocks_nothing,
}

fn an_exit_status_and_both_streams_are_reported(confine: Confine) {
    let bench = Bench::shell(confine, "echo out; echo err >&2; exit 7");
    let ended = bench.run();
    assert_eq!(ended.exit, Exit::Exited(7));
    assert_eq!((stdout(&ended).as_str(), stderr(&ended).as_str()), ("out\n", "err\n"));
    assert_eq!((ended.stop.survivors, ended.stop.remaining), (0, Some(0)));
    assert!(ended.stdout.closed && ended.stderr.closed && ended.stop.is_complete());
    assert!(!ended.stdout.truncated && ended.stdout.broken.is_none());
}

fn success_is_status_zero(confine: Confine) {
    assert_eq!(Bench::new(confine, "/bin/true", &[]).run().exit, Exit::Exited(0));
}

fn a_signal_is_no_exit_status(confine: Confine) {
    assert_eq!(Bench::shell(confine, "kill -SEGV $$").run().exit, Exit::Signalled(11));
    assert_eq!(Bench::shell(confine, "kill -KILL $$").run().exit, Exit::Signalled(9));
    assert_eq!(Bench::shell(confine, "kill -TERM $$").run().exit, Exit::Signalled(15));
    assert_eq!(Bench::shell(confine, "exit 139").run().exit, Exit::Exited(139));
}

fn a_missing_program_is_not_started(confine: Confine) {
    let ended = Bench::new(confine, "/nonexistent/program", &[]).run();
    assert_eq!(errno(&ended.exit), 2);
    assert_eq!(ended.stop.remaining, Some(0));
}

fn a_file_without_permission_is_not_started(confine: Confine) {
    let mut bench = Bench::new(confine, "/", &[]);
    bench.program = bench.path("plain");
    fs::write(&bench.program, "#!/bin/sh\n").unwrap();
    assert_eq!(errno(&bench.run().exit), 13);
}

fn a_file_that_is_no_program_is_not_started_by_a_shell(confine: Confine) {
    for content in ["", "exit 0\n", "\x7fELF\x02\x01\x01"] {
        let mut bench = Bench::new(confine, "/", &[]);
        bench.program = bench.path("program");
        fs::write(&bench.program, content).unwrap();
        fs::set_permissions(&bench.program, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(errno(&bench.run().exit), 8, "{content:?}");
    }
}

fn a_script_without_its_interpreter_is_not_started(confine: Confine) {
    let mut bench = Bench::new(confine, "/", &[]);
    bench.program = bench.path("script");
    fs::write(&bench.program, "#!/nonexistent/interpreter\n").unwrap();
    fs::set_permissions(&bench.program, PermissionsExt::from_mode(0o755)).unwrap();
    let ended = bench.run();
    assert_eq!(errno(&ended.exit), 2);
    assert!(format!("{:?}", ended.exit).contains("interpreter is missing"));
}

fn a_missing_folder_starts_nothing(confine: Confine) {
    let mut bench = Bench::shell(confine, "echo ran");
    bench.cwd = bench.path("missing");
    let ended = bench.run();
    assert_eq!(errno(&ended.exit), 2);
    assert_eq!(stdout(&ended), "");
}

fn a_missing_input_starts_nothing(confine: Confine) {
    let mut bench = Bench::shell(confine, "echo ran");
    bench.stdin = Stdin::File(bench.path("missing"));
    let ended = bench.run();
    assert_eq!(errno(&ended.exit), 2);
    assert_eq!(stdout(&ended), "");
}

fn an_argument_beyond_the_systems_limit_is_not_started(confine: Confine) {
    let long = "x".repeat(200 << 10);
    assert_eq!(errno(&Bench::new(confine, "/bin/true", &[&long]).run().exit), 7);
}

fn a_target_that_runs_too_long_timed_out(confine: Confine) {
    let mut bench = Bench::shell(confine, "echo begun; exec sleep 1000");
    bench.wall = BRIEF;
    let ended = bench.run();
    assert_eq!(ended.exit, Exit::TimedOut(Limit::Wall));
    assert!(ended.stop.is_complete());
}

fn a_target_that_exits_0_when_asked_to_end_still_timed_out(confine: Confine) {
    let mut bench = Bench::shell(confine, "trap 'exit 0' TERM; while :; do sleep 0.01; done");
    bench.wall = Some(Duration::from_millis(300));
    assert_eq!(bench.run().exit, Exit::TimedOut(Limit::Wall));
}

fn a_target_that_ignores_the_request_is_killed(confine: Confine) {
    let mut bench = Bench::shell(confine, "trap '' TERM; while :; do sleep 1000; done");
    bench.wall = BRIEF;
    let ended = bench.run();
    assert_eq!(ended.exit, Exit::TimedOut(Limit::Wall));
    assert!(ended.stop.is_complete());
}

fn a_stopped_target_is_ended(confine: Confine) {
    let mut bench = Bench::shell(confine, "trap '' TERM; kill -STOP $$");
    bench.wall = BRIEF;
    let ended = bench.run();
    assert_eq!(ended.exit, Exit::TimedOut(Limit::Wall));
    assert!(ended.stop.is_complete());
}

fn a_silent_target_timed_out_and_its_output_until_then_is_kept(confine: Confine) {
    let mut bench = Bench::shell(confine, "echo begun; exec sleep 1000");
    bench.silence = Some(Duration::from_millis(300));
    let mut seen = Vec::new();
    let ended = bench
        .watch(&mut |progress| seen.extend_from_slice(progress.output.map_or(&[], |(_, bytes)| bytes)))
        .unwrap();
    assert_eq!(ended.exit, Exit::TimedOut(Limit::Silence));
    assert_eq!(stdout(&ended).as_bytes(), seen);
}

fn limits_that_are_not_reached_change_nothing(confine: Confine) {
    let mut bench = Bench::shell(confine, "exit 3");
    (bench.wall, bench.silence) = (Some(Duration::MAX), Some(Duration::from_secs(3600)));
    assert_eq!(bench.run().exit, Exit::Exited(3));
}

fn a_cancelled_run_is_asked_to_end_and_is_cancelled(confine: Confine) {
    let bench =
        Bench::shell(confine, "trap 'echo asked; exit 0' TERM; echo begun; while :; do sleep 0.01; done");
    let cancel = bench.cancel.clone();
    let ended = bench
        .watch(&mut |progress| {
            if progress.output.is_some() {
                cancel.cancel()
            }
        })
        .unwrap();
    assert_eq!(ended.exit, Exit::Cancelled);
    assert!(ended.stop.is_complete());
    assert_eq!(stdout(&ended), "begun\nasked\n");
}

fn another_thread_cancels(confine: Confine) {
    let bench = Bench::shell(confine, "echo begun; exec sleep 1000");
    let (began, begun) = std::sync::mpsc::channel();
    let cancel = bench.cancel.clone();
    let other = std::thread::spawn(move || {
        begun.recv().unwrap();
        cancel.cancel();
    });
    let ended = bench
        .watch(&mut |progress| {
            if progress.output.is_some() {
                began.send(()).unwrap();
            }
        })
        .unwrap();
    other.join().unwrap();
    assert_eq!(ended.exit, Exit::Cancelled);
}

fn what_was_cancelled_before_is_never_started(confine: Confine) {
    let bench = Bench::shell(confine, "echo ran");
    bench.cancel.cancel();
    let ended = bench.run();
    assert_eq!((ended.exit, ended.stop.mechanism), (Exit::Cancelled, Mechanism::Nothing));
    assert_eq!(ended.stdout.bytes, 0);
}

fn two_hundred_megabytes_are_counted_and_bounded(confine: Confine) {
    let bench = Bench::new(confine, "/usr/bin/head", &["-c", "200000000", "/dev/zero"]);
    let ended = bench.run();
    assert_eq!(ended.exit, Exit::Exited(0));
    assert_eq!((ended.stdout.bytes, ended.stdout.truncated), (200_000_000, true));
    let log = ended.stdout.files.assemble().unwrap();
    assert_eq!((log.total, log.truncated), (200_000_000, true));
    assert!(log.bytes.len() < 2 << 20);
    let files = fs::read_dir(bench.folder.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
    assert!(files.map(|file| file.len()).sum::<u64>() < 3 << 20);
}

fn progress_shows_every_byte_in_order(confine: Confine) {
    let bench = Bench::shell(confine, "seq 1 20000");
    let (mut seen, mut count) = (Vec::new(), 0);
    let ended = bench
        .watch(&mut |progress| {
            if let Some((_, bytes)) = progress.output {
                seen.extend_from_slice(bytes);
            }
            count = progress.stdout;
        })
        .unwrap();
    assert_eq!(String::from_utf8(seen).unwrap(), stdout(&ended));
    assert_eq!(count, ended.stdout.bytes);
}

fn a_log_that_breaks_is_reported_and_blocks_nothing(confine: Confine) {
    let bench = Bench::new(confine, "/usr/bin/head", &["-c", "3000000", "/dev/zero"]);
    let folder = bench.folder.path().to_owned();
    let ended = bench.watch(&mut |_| drop(fs::remove_dir_all(&folder))).unwrap();
    assert_eq!(ended.exit, Exit::Exited(0));
    assert_eq!(ended.stdout.bytes, 3_000_000);
    assert!(ended.stdout.broken.is_some());
}

#[test]
fn a_helper_that_is_none_is_an_error() {
    for program in ["/bin/true", "/nonexistent/helper"] {
        let mut bench = Bench::shell(Confine::Best, "echo ran");
        bench.helper = Helper { program: program.into(), argument: None };
        assert!(matches!(bench.watch(&mut |_| {}), Err(SuperviseError::Helper { .. })), "{program}");
    }
}

#[test]
fn a_relative_path_is_an_error() {
    let mut bench = Bench::new(Confine::Best, "sh", &[]);
    assert!(matches!(bench.watch(&mut |_| {}), Err(SuperviseError::RelativePath(_))));
    bench.program = "/bin/sh".into();
    bench.cwd = ".".into();
    assert!(matches!(bench.watch(&mut |_| {}), Err(SuperviseError::RelativePath(_))));
}

#[test]
fn two_runs_never_share_a_log() {
    let bench = Bench::shell(Confine::Best, "echo one");
    bench.run();
    assert!(matches!(bench.watch(&mut |_| {}), Err(SuperviseError::Log { .. })));
}
