//! Captures that meet their limits: what wasn't read is a problem and never looks like a deletion.

use std::fs;
use std::time::Duration;

use nightgate_core::evidence::{CaptureProblemKind, CriteriaKind};
use nightgate_host::walk::Limits;

use crate::fixture::*;

fn over(name: &str) -> (CaptureProblemKind, String) {
    (CaptureProblemKind::OverBudget, name.to_owned())
}

#[test]
fn a_huge_sparse_file_is_over_budget_at_once_and_the_rest_is_kept() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("tests/big", b"small");
    user.write("other", b"old");
    user.write("grown", b"old");
    user.commit();
    let job = fixture.job(&user, &["tests"]);
    for name in ["tests/big", "grown", "fresh"] {
        let file = fs::File::create(job.root.join(name)).unwrap();
        file.set_len(8 << 40).unwrap();
    }
    job.write("other", b"new");
    let capture = job.capture();
    assert_eq!(problems(&capture), [over("tests/big"), over("fresh"), over("grown")]);
    assert_eq!(kind_at(&capture, "tests/big"), Some(CriteriaKind::Unreadable));
    assert_eq!(changed(&capture), ["M other"]);
    assert_eq!(job.content(&capture, "other").unwrap(), b"new");
}

#[test]
fn bytes_of_all_files_together_are_limited() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    for name in ["a", "b", "c"] {
        job.write(name, &[b'x'; 100]);
    }
    job.write("z", b"fits");
    let capture = job.capture_within(Limits { total_bytes: 210, ..Limits::default() });
    assert_eq!(problems(&capture), [over("c")]);
    assert_eq!(changed(&capture), ["A a", "A b", "A z"]);
}

#[test]
fn a_flood_of_entries_hides_neither_the_criteria_nor_what_lies_beside_it() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("zzz/tests/t", b"x");
    user.write("kept", b"x");
    user.write("flood/kept", b"x");
    user.commit();
    let job = fixture.job(&user, &["zzz/tests"]);
    job.write("zzz/tests/t", b"weaker");
    for number in 0..500 {
        job.write(&format!("flood/{number}"), b"");
    }
    job.write("later", b"new");
    let capture = job.capture_within(Limits { entries: 100, ..Limits::default() });
    assert_eq!(problems(&capture), [over("flood")]);
    assert_ne!(capture.criteria, job.baseline());
    assert_eq!(kind_at(&capture, "zzz/tests/t"), Some(CriteriaKind::File));
    // Nothing that wasn't seen is taken for deleted, and what was seen is kept.
    assert_eq!(changed(&capture), ["A later", "M zzz/tests/t"]);
    assert!(capture.candidate.is_some());
}

#[test]
fn a_flood_on_the_way_to_criteria_leaves_those_unknown_and_the_others_known() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("aaa/tests/t", b"x");
    user.write("zzz/tests/t", b"x");
    user.commit();
    let job = fixture.job(&user, &["aaa/tests", "zzz/tests"]);
    for number in 0..200 {
        job.write(&format!("aaa/{number}"), b"");
    }
    let capture = job.capture_within(Limits { entries: 100, ..Limits::default() });
    assert_eq!(problems(&capture), [over("aaa")]);
    assert_eq!(kind_at(&capture, "aaa"), Some(CriteriaKind::Unreadable));
    assert_eq!(kind_at(&capture, "aaa/tests/t"), None);
    assert_eq!(kind_at(&capture, "zzz/tests/t"), Some(CriteriaKind::File));
    assert_eq!(changed(&capture), [""; 0]);
}

#[test]
fn a_huge_file_in_the_place_of_a_folder_of_criteria_is_a_file() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("tests/t", b"x");
    user.commit();
    let job = fixture.job(&user, &["tests"]);
    job.remove("tests");
    fs::File::create(job.root.join("tests")).unwrap().set_len(8 << 40).unwrap();
    let capture = job.capture();
    assert_eq!(problems(&capture), [over("tests")]);
    assert_eq!(kind_at(&capture, "tests"), Some(CriteriaKind::File));
}

#[test]
fn time_that_is_over_is_a_problem_and_deletes_nothing() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("tests/t", b"x");
    user.write("file", b"x");
    user.commit();
    let job = fixture.job(&user, &["tests"]);
    let capture = job.capture_within(Limits { time: Duration::ZERO, ..Limits::default() });
    assert!(problems(&capture).contains(&over("")), "{:?}", problems(&capture));
    assert_eq!(changed(&capture), [""; 0]);
    assert_eq!(kind_at(&capture, "tests/t"), Some(CriteriaKind::Unreadable));
}

#[test]
fn patterns_that_take_too_many_steps_end_the_reading_and_delete_nothing() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    user.write("zzz/file", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write(".gitignore", "*a*a*a*a*b\n".repeat(100).as_bytes());
    job.write("file", b"changed");
    job.remove("zzz/file");
    let limits = |pattern_steps| Limits { pattern_steps, ..Limits::default() };
    assert_eq!(problems(&job.capture_within(limits(100_000))), []);
    job.write(&"a".repeat(200), b"new");
    let capture = job.capture_within(limits(100_000));
    assert_eq!(problems(&capture), [over("")]);
    assert!(capture.problems[0].text.contains("too many steps"), "{:?}", capture.problems);
    assert_eq!(changed(&capture), ["A .gitignore"], "what came before it");
    assert!(capture.candidate.is_some());
    // Too many of them count for nothing, and that is told.
    job.remove(&"a".repeat(200));
    job.write(".gitignore", "a\n".repeat(60_000).as_bytes());
    let capture = job.capture();
    assert_eq!(problems(&capture), [over(".gitignore")]);
    assert_eq!(changed(&capture), ["A .gitignore", "M file", "D zzz/file"]);
}

#[test]
fn folders_beyond_the_depth_and_paths_beyond_the_length_are_unrepresentable() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("a/b/c/kept", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("a/b/new", b"x");
    job.write("long/name-of-some-length", b"x");
    let not = |name: &str| (CaptureProblemKind::Unrepresentable, name.to_owned());
    let capture = job.capture_within(Limits { depth: 2, path_bytes: 20, ..Limits::default() });
    assert_eq!(problems(&capture), [not("a/b/c"), not("long/name-of-some-length")]);
    assert_eq!(changed(&capture), ["A a/b/new"]);
}

#[test]
fn a_path_longer_than_the_system_takes_in_one_piece_is_a_problem_and_the_rest_is_kept() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.commit();
    let job = fixture.job(&user, &[]);
    // 60 folders of 200 letters, made one inside the other: 12,060 bytes.
    let name = "d".repeat(200);
    let mut folder: std::os::fd::OwnedFd = fs::File::open(&job.root).unwrap().into();
    for _ in 0..60 {
        rustix::fs::mkdirat(&folder, &name, 0o755.into()).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
        folder = rustix::fs::openat(&folder, &name, flags, rustix::fs::Mode::empty()).unwrap();
    }
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    rustix::fs::openat(&folder, "deepest", flags, 0o644.into()).unwrap();
    drop(folder);
    job.write("file", b"x");
    let capture = job.capture();
    assert_eq!(capture.problems.len(), 1);
    assert_eq!(capture.problems[0].kind, CaptureProblemKind::Unrepresentable);
    assert_eq!(changed(&capture), ["A file"]);
}

#[test]
fn unreadable_files_and_folders_are_problems_and_stay_as_base_has_them() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    user.write("folder/a", b"x");
    user.write("other", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("file", b"changed, but nobody may see it");
    job.write("other", b"new");
    set_mode(&job.root.join("file"), 0o000);
    set_mode(&job.root.join("folder"), 0o000);
    let capture = job.capture();
    if is_root() {
        assert_eq!(changed(&capture), ["M file", "M other"]);
        return;
    }
    let unreadable = |name: &str| (CaptureProblemKind::Unreadable, name.to_owned());
    assert_eq!(problems(&capture), [unreadable("file"), unreadable("folder")]);
    assert_eq!(changed(&capture), ["M other"]);
}

#[test]
fn a_mount_below_the_workspace_is_another_device() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("src/a", b"x");
    user.write("b", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    // Only root may mount; in its own mount namespace nothing of it is seen outside.
    let inside = std::env::var_os("NIGHTGATE_TEST_MOUNTED").map(std::path::PathBuf::from);
    let Some(root) = inside else {
        let outside = fixture.path("outside");
        fs::create_dir(&outside).unwrap();
        let script = format!(
            "mount --bind {outside} {root}/src && mount --bind {outside}/../home/f {root}/b && exec \"$0\" \
             --exact limits::a_mount_below_the_workspace_is_another_device --test-threads=1",
            outside = outside.display(),
            root = job.root.display()
        );
        fs::write(fixture.path("home/f"), b"x").unwrap();
        let status = std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env("NIGHTGATE_TEST_MOUNTED", &job.root)
            .output()
            .unwrap();
        // Where user namespaces or mounts in them are forbidden, nobody could have mounted anything either.
        let said = String::from_utf8_lossy(&status.stderr).into_owned();
        assert!(status.status.success() || said.contains("unshare:") || said.contains("mount:"), "{said}");
        return;
    };
    let folder = nightgate_host::walk::Folder::open(&root).unwrap();
    for result in [folder.folder(b"src").map(drop), folder.file(b"b").map(drop)] {
        assert!(matches!(result, Err(nightgate_host::walk::Fault::OtherDevice)), "{result:?}");
    }
}
