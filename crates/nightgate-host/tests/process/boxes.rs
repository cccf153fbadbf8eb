//! What a box shows, holds and reaches, tried from inside by real programs.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};

use nightgate_host::process::{Confine, Ended, Exit};
use nightgate_host::sandbox::{Access, Bind, Network, Sandbox, Strength, probe};

use crate::bench::{Bench, stderr, stdout};

/// Makes two tests of each function, one for each kind of box.
macro_rules! in_each_box {
    ($($name:ident,)*) => {
        mod namespaces {
            $(#[test] fn $name() { super::$name(nightgate_host::sandbox::Strength::Namespaces) })*
        }
        mod restricted {
            $(#[test] fn $name() { super::$name(nightgate_host::sandbox::Strength::Restricted) })*
        }
    };
}

/// A script in a box whose only own folder is `work`, which it starts in.
fn boxed(strength: Strength, script: &str) -> Bench {
    let mut bench = Bench::shell(Confine::Best, script);
    let work = bench.path("work");
    for folder in [&work, &bench.path("home"), &bench.path("tmp")] {
        fs::create_dir(folder).unwrap();
    }
    bench.cwd = work.clone();
    bench.sandbox = Some(Sandbox {
        strength,
        binds: vec![Bind::same(work, Access::Write)],
        network: Network::None,
        nesting: false,
    });
    bench
}

/// The box, to be changed for the next run.
fn sandbox(bench: &mut Bench) -> &mut Sandbox {
    bench.log.push('+');
    bench.sandbox.as_mut().unwrap()
}

#[track_caller]
fn succeeds(bench: &Bench) -> String {
    let ended = bench.run();
    assert_eq!(ended.exit, Exit::Exited(0), "{}{}", stdout(&ended), stderr(&ended));
    stdout(&ended)
}

#[test]
fn a_probe_finds_each_kind_of_box_to_hold() {
    let scratch = tempfile::tempdir().unwrap();
    let probed = probe(&Bench::shell(Confine::Best, "").helper, scratch.path()).unwrap();
    assert_eq!(probed.probes.len(), 2);
    for found in &probed.probes {
        assert_eq!(found.why_not, None, "{found:#?}");
        assert!(found.attempts.len() > 10, "{found:#?}");
    }
    assert_eq!(probed.best(Strength::Namespaces), Some(Strength::Namespaces));
    assert_eq!(probed.best(Strength::Restricted), Some(Strength::Restricted));
}

in_each_box! {
    what_is_written_in_a_writable_folder_is_there_afterwards,
    nothing_else_can_be_read_or_written,
    a_readable_folder_cannot_be_written,
    there_are_no_rights_left,
    a_link_leads_to_nothing_outside,
    a_program_that_the_box_does_not_show_cannot_start,
    standard_input_comes_from_outside,
    python_and_its_standard_library_work,
}

fn what_is_written_in_a_writable_folder_is_there_afterwards(strength: Strength) {
    let bench = boxed(strength, "mkdir a && echo text > a/b && mv a/b c && ln c d && chmod +x d");
    succeeds(&bench);
    assert_eq!(fs::read_to_string(bench.path("work/c")).unwrap(), "text\n");
    assert_eq!(fs::metadata(bench.path("work/d")).unwrap().permissions().mode() & 0o777, 0o755);
}

fn nothing_else_can_be_read_or_written(strength: Strength) {
    let script = "cat ../secret; echo no > ../made; ls ..; rm -f ../secret; mkdir /x /usr/x /etc/x; echo over >> ../secret; :";
    let bench = boxed(strength, script);
    fs::write(bench.path("secret"), "the secret").unwrap();
    let ended = bench.run();
    assert!(!stdout(&ended).contains("secret"), "{}", stdout(&ended));
    assert_eq!(fs::read_to_string(bench.path("secret")).unwrap(), "the secret");
    assert!(!bench.path("made").exists());
    for made in ["/x", "/usr/x", "/etc/x"] {
        assert!(!fs::exists(made).unwrap(), "{made}");
    }
}

fn a_readable_folder_cannot_be_written(strength: Strength) {
    let mut bench = boxed(strength, "cat ../other/file && ! touch ../other/new && ! echo x > ../other/file");
    let other = bench.path("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("file"), "readable").unwrap();
    sandbox(&mut bench).binds.push(Bind::same(&other, Access::Read));
    assert_eq!(succeeds(&bench), "readable");
    assert_eq!(fs::read_to_string(other.join("file")).unwrap(), "readable");
    assert!(!other.join("new").exists());
}

fn there_are_no_rights_left(strength: Strength) {
    let script = "cat /proc/self/status; for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger; do
        if test -e $file && (: > $file); then echo written; fi
    done";
    let printed = succeeds(&boxed(strength, script));
    let value = |name: &str| {
        let line = printed.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_once(':').unwrap().1.trim().to_owned()
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(value(set), "0000000000000000", "{set}");
    }
    assert_eq!((value("NoNewPrivs"), value("Seccomp")), ("1".into(), "2".into()));
    assert!(!printed.contains("written"), "{printed}");
}

fn a_link_leads_to_nothing_outside(strength: Strength) {
    let bench = boxed(strength, "! cat link; echo x > link; :");
    fs::write(bench.path("secret"), "the secret").unwrap();
    symlink(bench.path("secret"), bench.path("work/link")).unwrap();
    assert_eq!(succeeds(&bench), "", "{strength:?}");
    assert_eq!(fs::read_to_string(bench.path("secret")).unwrap(), "the secret");
}

fn a_program_that_the_box_does_not_show_cannot_start(strength: Strength) {
    let mut bench = boxed(strength, "");
    bench.program = bench.path("program");
    fs::copy("/bin/true", &bench.program).unwrap();
    assert!(matches!(bench.run().exit, Exit::NotStarted { .. }));
    let program = Bind::same(&bench.program, Access::Read);
    sandbox(&mut bench).binds.push(program);
    bench.args.clear();
    succeeds(&bench);
}

fn standard_input_comes_from_outside(strength: Strength) {
    let mut bench = boxed(strength, "cat");
    fs::write(bench.path("prompt"), "do it").unwrap();
    bench.stdin = nightgate_host::process::Stdin::File(bench.path("prompt"));
    assert_eq!(succeeds(&bench), "do it");
}

fn python_and_its_standard_library_work(strength: Strength) {
    let script = "python3 -c '
import json, os, subprocess, tempfile, threading, multiprocessing
lock = multiprocessing.Lock()
threading.Thread(target=lambda: None).start()
folder = tempfile.mkdtemp(dir=\".\")
print(subprocess.run([\"/bin/echo\", \"child\"], capture_output=True, text=True).stdout.strip())
'";
    assert_eq!(succeeds(&boxed(strength, script)), "child\n");
}

#[test]
fn a_missing_or_linked_bind_stops_the_start_and_is_named() {
    let mut bench = boxed(Strength::Namespaces, "true");
    let gone = bench.path("gone");
    sandbox(&mut bench).binds.push(Bind::same(&gone, Access::Read));
    assert!(not_started(&bench.run()).contains("gone"));
    symlink("/etc", &gone).unwrap();
    bench.log = "linked".to_owned();
    assert!(not_started(&bench.run()).contains("it is a symbolic link"));
}

#[track_caller]
fn not_started(ended: &Ended) -> &str {
    match &ended.exit {
        Exit::NotStarted { text, .. } => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_read_only_file_stays_as_it_is_in_a_folder_that_can_be_written() {
    let script = "cd tests
        for change in 'echo x > expected' 'echo x >> expected' 'rm -f expected' 'mv expected moved' 'chmod +x expected' \
            'touch new && mv -f new expected' 'ln -f /bin/true expected' 'truncate -s 0 expected' 'touch expected'
        do
            if eval \"$change\" 2>/dev/null; then echo \"$change\"; fi
        done
        cd .. && for change in 'mv tests moved' 'rm -rf tests' 'mv tests/inner tests/moved'; do
            if eval \"$change\" 2>/dev/null; then echo \"$change\"; fi
        done
        echo cache > tests/cache";
    let mut bench = boxed(Strength::Namespaces, script);
    let tests = bench.path("work/tests");
    fs::create_dir_all(tests.join("inner")).unwrap();
    fs::write(tests.join("expected"), "5").unwrap();
    for (path, access) in [
        (tests.clone(), Access::Write),
        (tests.join("inner"), Access::Write),
        (tests.join("expected"), Access::Read),
    ] {
        sandbox(&mut bench).binds.push(Bind::same(path, access));
    }
    assert_eq!(succeeds(&bench), "");
    assert_eq!(fs::read_to_string(tests.join("expected")).unwrap(), "5");
    assert_eq!(fs::read_to_string(tests.join("cache")).unwrap(), "cache\n");
    assert!(tests.join("inner").is_dir());
}

#[test]
fn a_folder_can_be_shown_at_another_place_with_nothing_above_it() {
    let mut bench =
        boxed(Strength::Namespaces, "pwd; ls /room; ls -d /home /root /srv 2>/dev/null; cat ../above; :");
    let bind = Bind::at(bench.path("work"), "/room/tree", Access::Write);
    fs::write(bench.path("above"), "steering").unwrap();
    sandbox(&mut bench).binds = vec![bind];
    bench.cwd = "/room/tree".into();
    assert_eq!(succeeds(&bench), "/room/tree\ntree\n");
}

const TALK: &str = "python3 -c '
import socket, threading
server = socket.create_server((\"127.0.0.1\", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].sendall(b\"heard\")
print(client.recv(5).decode())
'";

#[test]
fn without_a_network_a_box_has_a_loopback_of_its_own() {
    assert_eq!(succeeds(&boxed(Strength::Namespaces, TALK)), "heard\n");
}

#[test]
fn the_network_reaches_the_outside_only_where_it_is_open() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\", {port})).recv(5))'"
    );
    for strength in [Strength::Namespaces, Strength::Restricted] {
        let mut bench = boxed(strength, &script);
        assert_eq!(bench.run().exit, Exit::Exited(1), "{strength:?}");
        sandbox(&mut bench).network = Network::Open;
        let answering = std::thread::spawn({
            let listener = listener.try_clone().unwrap();
            move || listener.accept().unwrap().0.write_all(b"hello").unwrap()
        });
        assert_eq!(succeeds(&bench), "b'hello'\n", "{strength:?}");
        answering.join().unwrap();
    }
}

/// What a sandbox does that an agent brings along: its own users, processes, mounts and network. Root's box keeps what acts
/// on the machine covered in `/proc`, and so gives no second one.
const NESTED: &str = r#"test $(id -u) = 0 || proc="--proc /proc"
    bwrap --unshare-user --unshare-pid --unshare-net --unshare-ipc --ro-bind / / --dev /dev $proc --tmpfs /tmp \
        --bind "$PWD" "$PWD" --chdir "$PWD" sh -c 'echo nested > made; ! echo no > /usr/made; cat made'"#;

#[test]
fn a_sandbox_within_works_only_in_a_box_that_nests() {
    let mut bench = boxed(Strength::Namespaces, NESTED);
    let refused = bench.run();
    assert!(stderr(&refused).contains("bwrap: "), "{}", stderr(&refused));
    assert_ne!(refused.exit, Exit::Exited(0), "{}", stdout(&refused));
    assert!(!bench.path("work/made").exists());
    let agents = sandbox(&mut bench);
    agents.nesting = true;
    agents.network = Network::Open;
    assert_eq!(succeeds(&bench), "nested\n");
}

#[test]
fn a_box_that_nests_still_shows_and_writes_nothing_else() {
    let script = "cat ../secret; ls ..; mkdir /x; unshare -Ur sh -c 'mount -o remount,rw /usr && echo remounted; umount /usr && \
        echo uncovered; mount --bind /usr /mnt && echo bound; mkdir /usr/x && echo written'; :";
    let mut bench = boxed(Strength::Namespaces, script);
    fs::write(bench.path("secret"), "the secret").unwrap();
    sandbox(&mut bench).nesting = true;
    assert_eq!(succeeds(&bench), "work\n");
    assert!(!fs::exists("/usr/x").unwrap());
}

#[test]
fn nothing_of_a_box_is_mounted_outside() {
    let before = fs::read_to_string("/proc/self/mountinfo").unwrap();
    succeeds(&boxed(Strength::Namespaces, "cat /proc/self/mountinfo"));
    assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap(), before);
}
