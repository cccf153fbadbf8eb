//! What the target finds around it: input, descriptors, limits, session, environment.

use std::fs::{self, File};

use nightgate_host::process::{Confine, Exit, Stdin};

use crate::bench::{Bench, in_both, stdout};

in_both! {
    input_is_empty_and_not_ours,
    a_megabyte_of_input_arrives_and_ends,
    no_descriptor_but_three_is_inherited,
    the_environment_is_exactly_the_given_one,
    the_folder_is_the_given_one,
    umask_core_limit_privileges_and_signals_are_fixed,
    arguments_arrive_unchanged,
    the_target_is_in_a_session_of_its_own_helpers,
    closing_the_streams_ends_nothing,
}

fn input_is_empty_and_not_ours(confine: Confine) {
    let bench = Bench::shell(confine, "readlink /proc/self/fd/0; cat");
    let ended = bench.run();
    assert_eq!((ended.exit.clone(), stdout(&ended).as_str()), (Exit::Exited(0), "/dev/null\n"));
}

fn a_megabyte_of_input_arrives_and_ends(confine: Confine) {
    let mut bench = Bench::new(confine, "/bin/cat", &[]);
    let prompt: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    let path = bench.path("prompt");
    fs::write(&path, &prompt).unwrap();
    bench.stdin = Stdin::File(path);
    let ended = bench.run();
    assert_eq!(ended.exit, Exit::Exited(0));
    assert!(ended.stdout.files.assemble().unwrap().bytes == prompt);
}

fn no_descriptor_but_three_is_inherited(confine: Confine) {
    let ours = File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::empty()).unwrap();
    let bench = Bench::new(confine, "/bin/ls", &["/proc/self/fd"]);
    let ended = bench.run();
    // The fourth is the folder that `ls` itself reads.
    assert_eq!(stdout(&ended), "0\n1\n2\n3\n");
}

fn the_environment_is_exactly_the_given_one(confine: Confine) {
    let bench = Bench::new(confine, "/usr/bin/env", &[]);
    let ended = bench.run();
    let environment = bench.environment();
    let lines =
        environment.variables().map(|(name, value)| format!("{}={}\n", name.display(), value.display()));
    assert_eq!(stdout(&ended), lines.collect::<String>());
}

fn the_folder_is_the_given_one(confine: Confine) {
    let bench = Bench::new(confine, "/bin/pwd", &["-P"]);
    assert_eq!(stdout(&bench.run()).trim_end(), bench.cwd.canonicalize().unwrap().to_str().unwrap());
}

fn umask_core_limit_privileges_and_signals_are_fixed(confine: Confine) {
    let script =
        "umask; ulimit -c; ulimit -Hc; grep -E '^(NoNewPrivs|SigIgn|SigBlk|CapAmb)' /proc/self/status";
    let bench = Bench::shell(confine, script);
    let ended = bench.run();
    let zero = "0000000000000000";
    let wanted = format!("0022\n0\n0\nSigBlk:\t{zero}\nSigIgn:\t{zero}\nCapAmb:\t{zero}\nNoNewPrivs:\t1\n");
    // Signals 32 and 33 are the C library's own; it lets nobody change them.
    assert_eq!(stdout(&ended).replace("0000000180000000", zero), wanted);
}

fn arguments_arrive_unchanged(confine: Confine) {
    let args = ["-c", "printf '%s|' \"$@\"", "sh", "", "a b", "\n", "é", "*"];
    assert_eq!(stdout(&Bench::new(confine, "/bin/sh", &args).run()), "|a b|\n|é|*|");
}

fn the_target_is_in_a_session_of_its_own_helpers(confine: Confine) {
    // Fields 5 and 6 are process group and session; a zero is one that the target's namespace can't see.
    let bench = Bench::shell(
        confine,
        "read -r pid name state parent group session rest < /proc/self/stat
        [ $pid = $group ] && [ $session != $pid ] && echo $session",
    );
    let ended = bench.run();
    // Read and not asked for: where the tests themselves run in a pid namespace, their session is a zero too, and a
    // library that takes process ids for positive numbers panics on it.
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let ours = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap();
    let printed = stdout(&ended);
    let theirs = printed.trim();
    assert!(theirs.parse::<i32>().is_ok(), "{theirs}");
    assert!(theirs != ours || ended.stop.proc_mounted, "{theirs}");
}

fn closing_the_streams_ends_nothing(confine: Confine) {
    let ended = Bench::shell(confine, "exec >&- 2>&-; exit 5").run();
    assert_eq!(ended.exit, Exit::Exited(5));
}
