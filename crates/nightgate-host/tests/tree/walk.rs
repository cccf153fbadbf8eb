//! Raw walks, and deletion that stays where it belongs.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use nightgate_host::process::Cancel;
use nightgate_host::walk::{Fault, Folder, Kind, RemoveError, Until, remove_tree};

use crate::fixture::*;

#[test]
fn a_walk_opens_no_link_and_no_special_file_and_nothing_outside() {
    let fixture = Fixture::new();
    let root = fixture.path("rooms");
    fs::create_dir(root.join("folder")).unwrap();
    fs::write(root.join("file"), b"content").unwrap();
    symlink("file", root.join("to-file")).unwrap();
    symlink("folder", root.join("to-folder")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o644.into(), 0)
        .unwrap();
    let folder = Folder::open(&root).unwrap();
    let kind = |name: &[u8]| folder.status(name).unwrap().kind;
    assert_eq!(kind(b"pipe"), Kind::Special("FIFO"));
    assert_eq!(kind(b"to-folder"), Kind::Symlink);
    assert!(folder.file(b"to-file").is_err() && folder.folder(b"to-folder").is_err());
    assert!(folder.folder(b"..").is_err() && folder.file(b"../home").is_err());
    // Asked for against the rules, a FIFO doesn't block.
    assert!(matches!(folder.file(b"pipe"), Err(Fault::Changed)));
    assert!(Folder::open(&root.join("to-folder")).is_err());
    assert_eq!(folder.link(b"to-file").unwrap(), b"file");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_noticed() {
    let fixture = Fixture::new();
    let root = fixture.path("rooms");
    fs::write(root.join("file"), vec![b'x'; 400_000]).unwrap();
    let folder = Folder::open(&root).unwrap();
    let until = Until::after(Duration::from_secs(3600), None);
    for change in ["grown", "cut", "rewritten"] {
        let file = folder.file(b"file").unwrap();
        let mut first = true;
        let read = file.read(until, |_| {
            if std::mem::take(&mut first) {
                let other = fs::File::options().write(true).open(root.join("file")).unwrap();
                match change {
                    "grown" => other.set_len(500_000).unwrap(),
                    "cut" => other.set_len(10).unwrap(),
                    // The bytes stay; the time tells.
                    _ => other.set_modified(std::time::UNIX_EPOCH).unwrap(),
                }
            }
        });
        assert!(matches!(read, Err(Fault::Changed)), "{change}: {read:?}");
        fs::write(root.join("file"), vec![b'x'; 400_000]).unwrap();
    }
}

#[test]
fn an_interruption_ends_reading_within_a_block_and_listing_within_an_entry() {
    let fixture = Fixture::new();
    let root = fixture.path("rooms");
    fs::write(root.join("file"), vec![b'x'; 4_000_000]).unwrap();
    let folder = Folder::open(&root).unwrap();
    let cancel = Cancel::new().unwrap();
    let until = Until::after(Duration::from_secs(3600), Some(&cancel));
    assert_eq!(folder.names_until(10, until).unwrap().len(), 1);
    let mut seen = 0;
    let read = folder.file(b"file").unwrap().read(until, |bytes| {
        seen += bytes.len();
        cancel.cancel();
    });
    assert!(matches!(read, Err(Fault::Cancelled)), "{read:?}");
    assert!(seen < 1_000_000, "{seen}");
    assert!(matches!(folder.names_until(10, until), Err(Fault::Cancelled)));
}

#[test]
fn a_folder_with_more_names_than_allowed_is_over_budget() {
    let fixture = Fixture::new();
    let folder = Folder::open(fixture.temp.path()).unwrap();
    assert!(matches!(folder.names(2), Err(Fault::OverBudget(_))));
    assert_eq!(folder.names(3).unwrap().len(), 3);
}

#[test]
fn deletion_takes_everything_and_follows_nothing() {
    let fixture = Fixture::new();
    let root = fixture.path("rooms");
    let outside = fixture.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), b"x").unwrap();
    write(&root, b"job/a/b/file", b"x");
    symlink(&outside, root.join("job/a/link")).unwrap();
    symlink(outside.join("precious"), root.join("job/link")).unwrap();
    fs::hard_link(outside.join("precious"), root.join("job/hard")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, root.join("job/pipe"), rustix::fs::FileType::Fifo, 0o644.into(), 0)
        .unwrap();
    write(&root, b"job/closed/deep/file", b"x");
    write(&root, b"job/read-only/file", b"x");
    set_mode(&root.join("job/read-only"), 0o555);
    set_mode(&root.join("job/closed/deep"), 0o000);
    set_mode(&root.join("job/closed"), 0o000);
    remove_tree(&root.join("job"), &root).unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    assert_eq!(fs::read(outside.join("precious")).unwrap(), b"x");
    // What is gone already is no error.
    remove_tree(&root.join("job"), &root).unwrap();
    remove_tree(&root.join("job/a/b"), &root).unwrap();
}

#[test]
fn deletion_refuses_the_root_itself_and_all_that_is_not_below_it() {
    let fixture = Fixture::new();
    let root = fixture.path("rooms");
    write(&root, b"job/file", b"x");
    let below = |name: &str| root.join(name);
    for path in [
        root.clone(),
        below("."),
        below("job/.."),
        below("../home"),
        below("job/../../home"),
        fixture.path("home"),
        fixture.temp.path().to_owned(),
        "/".into(),
        "job".into(),
        fixture.path("rooms-and-more"),
    ] {
        let error = remove_tree(&path, &root).unwrap_err();
        assert!(matches!(error, RemoveError::Outside { .. }), "{}: {error}", path.display());
    }
    assert!(root.join("job/file").exists() && fixture.path("home").exists());
}

#[test]
fn deletion_never_goes_through_a_link_and_deletes_one_as_a_link() {
    let fixture = Fixture::new();
    let root = fixture.path("rooms");
    let outside = fixture.path("outside");
    write(&outside, b"job/file", b"x");
    symlink(&outside, root.join("way")).unwrap();
    let error = remove_tree(&root.join("way/job"), &root).unwrap_err();
    assert!(matches!(error, RemoveError::Failed { .. }), "{error}");
    remove_tree(&root.join("way"), &root).unwrap();
    assert!(outside.join("job/file").exists() && root.join("way").symlink_metadata().is_err());
}

#[test]
fn deletion_takes_folders_of_any_depth() {
    let fixture = Fixture::new();
    let root = fixture.path("rooms");
    fs::create_dir(root.join("job")).unwrap();
    let mut folder: std::os::fd::OwnedFd = fs::File::open(root.join("job")).unwrap().into();
    let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    for _ in 0..400 {
        rustix::fs::mkdirat(&folder, "deeper", 0o755.into()).unwrap();
        rustix::fs::mkdirat(&folder, ".nightgate-removing-1", 0o755.into()).unwrap();
        folder = rustix::fs::openat(&folder, "deeper", flags, rustix::fs::Mode::empty()).unwrap();
    }
    drop(folder);
    remove_tree(&root.join("job"), &root).unwrap();
    assert!(!root.join("job").exists());
}
