//! Clean rooms.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use nightgate_core::TreeId;
use nightgate_host::room::{RoomError, drift, lay_candidate, materialise, observe, settle, touched};

use crate::fixture::*;

/// A job with two trees: base's, and that of a candidate made from it.
struct Rooms {
    job: Job,
    base: TreeId,
    candidate: TreeId,
    room: std::path::PathBuf,
}

fn rooms(fixture: &Fixture, before: impl FnOnce(&User), after: impl FnOnce(&Job)) -> Rooms {
    let user = fixture.user();
    before(&user);
    user.commit();
    let job = fixture.job(&user, &[]);
    after(&job);
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    let base = job.store.repository().tree(&job.base).unwrap();
    Rooms { base, candidate: capture.tree.unwrap(), job, room: fixture.path("rooms/room") }
}

impl Rooms {
    fn observe(&self, tree: &TreeId) -> nightgate_host::room::Observation {
        let repository = self.job.job.repository();
        observe(&self.room, &repository.listing(tree).unwrap(), repository.object_format())
    }

    fn materialise(&self, tree: &TreeId) {
        materialise(self.job.job.repository(), tree, &self.room).unwrap();
    }

    fn lay(&self) -> Result<nightgate_host::room::Observation, RoomError> {
        lay_candidate(self.job.job.repository(), &self.base, &self.candidate, &self.room)
    }
}

#[test]
fn a_room_holds_exactly_the_tree_as_raw_blobs() {
    let fixture = Fixture::new();
    let rooms = rooms(
        &fixture,
        |_| {},
        |job| {
            job.write(".gitattributes", b"* text eol=crlf ident filter=lfs\n");
            job.write("text", b"$Id$\nline\n");
            job.write("big", &vec![b'x'; 300_000]);
            job.write("empty", b"");
            job.write("script", b"#!/bin/sh\n");
            set_mode(&job.root.join("script"), 0o6755);
            symlink("/etc/passwd", job.root.join("link")).unwrap();
            job.write("deep/er/file", b"x");
        },
    );
    rooms.materialise(&rooms.candidate);
    let room = &rooms.room;
    assert_eq!(fs::read(room.join("text")).unwrap(), b"$Id$\nline\n");
    assert_eq!(fs::read(room.join("big")).unwrap().len(), 300_000);
    assert_eq!(fs::read(room.join("empty")).unwrap(), b"");
    assert_eq!(fs::read_link(room.join("link")).unwrap().to_str(), Some("/etc/passwd"));
    let mode = |name: &str| fs::metadata(room.join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("script"), mode("text"), mode("deep/er")), (0o755, 0o644, 0o755));
    let seen = rooms.observe(&rooms.candidate);
    assert_eq!(seen.tree.as_ref(), Some(&rooms.candidate));
    assert_eq!((seen.untracked, seen.problems.len()), (0, 0));
    assert!(!room.join(".git").exists());
}

#[test]
fn a_room_must_be_fresh() {
    let fixture = Fixture::new();
    let rooms = rooms(&fixture, |_| {}, |job| job.write("file", b"x"));
    fs::create_dir(&rooms.room).unwrap();
    let again = materialise(rooms.job.job.repository(), &rooms.candidate, &rooms.room).unwrap_err();
    assert!(matches!(again, RoomError::Exists { .. }), "{again}");
    fs::remove_dir(&rooms.room).unwrap();
    symlink(fixture.path("home"), &rooms.room).unwrap();
    let again = materialise(rooms.job.job.repository(), &rooms.candidate, &rooms.room).unwrap_err();
    assert!(matches!(again, RoomError::Exists { .. }), "{again}");
    assert_eq!(fs::read_dir(fixture.path("home")).unwrap().count(), 0);
}

#[test]
fn drift_names_tracked_files_that_changed_and_counts_new_ones() {
    let fixture = Fixture::new();
    let rooms = rooms(
        &fixture,
        |_| {},
        |job| {
            for name in ["content", "mode", "gone", "linked", "piped", "foldered", "same", "sub/inner"] {
                job.write(name, b"x");
            }
        },
    );
    rooms.materialise(&rooms.candidate);
    let before = rooms.observe(&rooms.candidate);
    assert_eq!(drift(&before, &before), []);
    let room = &rooms.room;
    fs::write(room.join("content"), b"y").unwrap();
    set_mode(&room.join("mode"), 0o755);
    for name in ["gone", "linked", "piped", "foldered"] {
        fs::remove_file(room.join(name)).unwrap();
    }
    symlink("same", room.join("linked")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, room.join("piped"), fifo, 0o644.into(), 0).unwrap();
    write(room, b"foldered/file", b"x");
    fs::write(room.join("same"), b"x").unwrap();
    write(room, b"target/deep/output", b"x");
    write(room, b"sub/new", b"x");
    let after = rooms.observe(&rooms.candidate);
    assert_eq!(after.problems, [""; 0]);
    assert_eq!(drift(&before, &after), paths(&["content", "foldered", "gone", "linked", "mode", "piped"]));
    assert_eq!(after.untracked, 3);
    assert_ne!(after.tree, before.tree);
}

#[test]
fn a_file_that_was_rewritten_and_restored_is_touched_and_one_that_was_read_or_has_new_neighbours_is_not() {
    const NAMES: [&str; 8] = [
        "tests/rewritten",
        "tests/swapped",
        "tests/mode",
        "tests/linked",
        "tests/link",
        "read",
        "gone",
        "other",
    ];
    let fixture = Fixture::new();
    let rooms = rooms(
        &fixture,
        |_| {},
        |job| {
            for name in NAMES.iter().filter(|name| **name != "tests/link") {
                job.write(name, b"expected");
            }
            symlink("rewritten", job.root.join("tests/link")).unwrap();
        },
    );
    rooms.materialise(&rooms.candidate);
    let before = rooms.observe(&rooms.candidate);
    settle(&before);
    assert_eq!(touched(&before, &rooms.observe(&rooms.candidate)), []);
    let at = |name: &str| rooms.room.join(name);
    // Times and content are as before; only the time of the change can't be put back.
    let old = fs::metadata(at("tests/rewritten")).unwrap();
    fs::write(at("tests/rewritten"), b"anything").unwrap();
    fs::write(at("tests/rewritten"), b"expected").unwrap();
    let file = fs::File::options().write(true).open(at("tests/rewritten")).unwrap();
    file.set_modified(old.modified().unwrap()).unwrap();
    assert_eq!(fs::metadata(at("tests/rewritten")).unwrap().mtime_nsec(), old.mtime_nsec());
    fs::rename(at("tests/swapped"), at("away")).unwrap();
    fs::write(at("tests/swapped"), b"anything").unwrap();
    fs::rename(at("away"), at("tests/swapped")).unwrap();
    set_mode(&at("tests/mode"), 0o755);
    set_mode(&at("tests/mode"), 0o644);
    fs::hard_link(at("tests/linked"), at("another")).unwrap();
    fs::remove_file(at("tests/link")).unwrap();
    symlink("rewritten", at("tests/link")).unwrap();
    // None of this is a change of a tracked file that holds the same.
    fs::read(at("read")).unwrap();
    write(&rooms.room, b"tests/__pycache__/cached", b"x");
    fs::remove_file(at("gone")).unwrap();
    fs::write(at("other"), b"drifted").unwrap();
    let after = rooms.observe(&rooms.candidate);
    let expected = ["tests/link", "tests/linked", "tests/mode", "tests/rewritten", "tests/swapped"];
    assert_eq!(touched(&before, &after), paths(&expected));
    assert_eq!(drift(&before, &after), paths(&["gone", "other"]));
}

#[test]
fn what_cannot_be_read_in_a_room_is_a_problem_and_no_drift() {
    let fixture = Fixture::new();
    let rooms = rooms(
        &fixture,
        |_| {},
        |job| {
            job.write("file", b"x");
            job.write("sub/inner", b"x");
        },
    );
    rooms.materialise(&rooms.candidate);
    let before = rooms.observe(&rooms.candidate);
    set_mode(&rooms.room.join("file"), 0o000);
    set_mode(&rooms.room.join("sub"), 0o000);
    let after = rooms.observe(&rooms.candidate);
    set_mode(&rooms.room.join("sub"), 0o755);
    assert_eq!(drift(&before, &after), []);
    if !is_root() {
        assert_eq!(after.unread, paths(&["file", "sub"]));
        assert_eq!(after.tree, None);
    }
    fs::remove_dir_all(&rooms.room).unwrap();
    let lost = rooms.observe(&rooms.candidate);
    assert_eq!((lost.tree.clone(), lost.problems.len()), (None, 1));
    assert_eq!(drift(&before, &lost), []);
}

#[test]
fn the_candidate_is_laid_over_what_setup_made_and_its_files_are_newer() {
    let fixture = Fixture::new();
    let rooms = rooms(
        &fixture,
        |user| {
            for name in ["same", "changed", "gone", "old/only", "file-to-folder", "folder-to-file/x"] {
                user.write(name, b"base");
            }
        },
        |job| {
            for name in ["gone", "old", "file-to-folder", "folder-to-file"] {
                job.remove(name);
            }
            job.write("changed", b"candidate");
            job.write("new/file", b"candidate");
            job.write("file-to-folder/x", b"candidate");
            job.write("folder-to-file", b"candidate");
        },
    );
    rooms.materialise(&rooms.base);
    let room = &rooms.room;
    write(room, b"target/output", b"built");
    write(room, b"new/untracked", b"built");
    // Setup may have changed what is tracked, and taken rights away.
    fs::write(room.join("same"), b"rewritten by setup").unwrap();
    set_mode(&room.join("changed"), 0o444);
    let built = fs::metadata(room.join("target/output")).unwrap();
    let source = fs::metadata(room.join("old/only")).unwrap();
    assert!(source.mtime() < built.mtime(), "a base file must look older than any output");

    let seen = rooms.lay().unwrap();
    assert_eq!(seen.tree.as_ref(), Some(&rooms.candidate));
    assert_eq!(seen.untracked, 2);
    assert_eq!(fs::read(room.join("target/output")).unwrap(), b"built");
    for name in ["same", "changed", "new/file", "file-to-folder/x", "folder-to-file"] {
        let laid = fs::metadata(room.join(name)).unwrap();
        let (laid, built) = ((laid.mtime(), laid.mtime_nsec()), (built.mtime(), built.mtime_nsec()));
        assert!(laid > built, "{name}");
    }
    assert!(!room.join("gone").exists() && !room.join("old").exists());
    // Again on itself, as after a second setup.
    assert!(lay_candidate(rooms.job.job.repository(), &rooms.candidate, &rooms.candidate, room).is_ok());
}

#[test]
fn what_setup_left_in_the_place_of_the_candidates_files_is_an_error_unless_it_is_a_file() {
    for (made, ok) in [("new", true), ("new/deeper/x", false)] {
        let fixture = Fixture::new();
        let rooms = rooms(&fixture, |user| user.write("a", b"x"), |job| job.write("new", b"candidate"));
        rooms.materialise(&rooms.base);
        write(&rooms.room, made.as_bytes(), b"by setup");
        match rooms.lay() {
            Ok(_) => assert!(ok && fs::read(rooms.room.join("new")).unwrap() == b"candidate"),
            Err(error) => assert!(!ok && matches!(error, RoomError::InTheWay { .. }), "{error}"),
        }
    }
}

#[test]
fn laying_out_never_follows_a_link_that_setup_planted() {
    let fixture = Fixture::new();
    let rooms = rooms(
        &fixture,
        |user| user.write("a", b"x"),
        |job| {
            job.write("file", b"candidate");
            job.write("folder/file", b"candidate");
        },
    );
    let outside = fixture.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), b"precious").unwrap();
    rooms.materialise(&rooms.base);
    symlink(outside.join("file"), rooms.room.join("file")).unwrap();
    symlink(&outside, rooms.room.join("folder")).unwrap();
    let error = rooms.lay().unwrap_err();
    assert!(matches!(error, RoomError::InTheWay { .. }), "{error}");
    fs::remove_file(rooms.room.join("folder")).unwrap();
    rooms.lay().unwrap();
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"precious");
    assert_eq!(fs::read(rooms.room.join("file")).unwrap(), b"candidate");
}

#[test]
fn a_submodule_is_an_empty_folder_of_the_room_and_part_of_its_tree() {
    let fixture = Fixture::new();
    let rooms = rooms(
        &fixture,
        |user| {
            user.write("file", b"x");
            let other = user.commit();
            user.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{other},lib/sub")]);
            user.run(&["commit", "-q", "-m", "a submodule"]);
            fs::create_dir_all(user.root.join("lib/sub/.git")).unwrap();
            user.write("lib/sub/.git/HEAD", b"");
            fs::remove_dir_all(user.root.join("lib")).unwrap();
            user.run(&["reset", "-q", "--hard"]);
        },
        |job| job.write("file", b"y"),
    );
    rooms.materialise(&rooms.base);
    assert_eq!(fs::read_dir(rooms.room.join("lib/sub")).unwrap().count(), 0);
    assert_eq!(rooms.observe(&rooms.base).tree.as_ref(), Some(&rooms.base));
    write(&rooms.room, b"lib/sub/fetched", b"x");
    let seen = rooms.lay().unwrap();
    assert_eq!((seen.tree.as_ref(), seen.untracked), (Some(&rooms.candidate), 1));
}
