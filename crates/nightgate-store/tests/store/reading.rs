//! Readers without the right to write.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nightgate_core::approval::{Approval, ApprovedThing};
use nightgate_core::event::JobKind;
use nightgate_store::{Found, SqliteStore, Store, StoreError};
use rusqlite::Connection;

use crate::conformance::{begin, write};
use crate::file::listing;
use crate::log::{after, bodies, created, digest, job};
use crate::powerless::powerless;

fn set_modes(folder: &Path, of_folder: u32, of_files: u32) {
    for path in listing(folder) {
        fs::set_permissions(path, fs::Permissions::from_mode(of_files)).unwrap();
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(of_folder)).unwrap();
}

/// Reads job 1 of the store at `path` where nothing can be written, and says whether anything was made.
fn read_sealed(path: &Path, live: &dyn Store) {
    let folder = path.parent().unwrap();
    let (events, jobs) = (live.events(&job(1)).unwrap(), live.jobs().unwrap());
    let before = listing(folder);
    set_modes(folder, 0o500, 0o400);
    let read = powerless(|| {
        let store = SqliteStore::read_only(path);
        assert!(fs::write(folder.join("probe"), "").is_err(), "the folder isn't sealed");
        (store.events(&job(1)), store.jobs(), store.find("1"), store.approval(&digest("plan")))
    });
    set_modes(folder, 0o700, 0o600);
    assert_eq!(read, (Ok(events), Ok(jobs), Ok(Found::One(job(1))), Ok(None)));
    assert_eq!(listing(folder), before);
}

#[test]
fn a_missing_store_is_an_empty_one_and_stays_missing() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::read_only(folder.path().join("a").join("store"));
    assert_eq!(store.jobs().unwrap(), []);
    assert_eq!(store.find("j-1").unwrap(), Found::None);
    assert_eq!(store.state(&job(1)).unwrap_err(), StoreError::NoSuchJob(job(1)));
    assert_eq!(store.approval(&digest("plan")).unwrap(), None);
    assert_eq!(store.freeze_of(&digest("plan")).unwrap(), None);
    assert!(listing(folder.path()).is_empty());
}

#[test]
fn a_store_that_can_not_be_written_is_read_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = SqliteStore::open(&path).unwrap();
    write(&store, 1);
    // While a writer has it open, and after.
    read_sealed(&path, &store);
    drop(store);
    read_sealed(&path, &SqliteStore::read_only(&path));
}

#[test]
fn the_last_writer_leaves_what_readers_need() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = SqliteStore::open(&path).unwrap();
    let open = listing(folder.path());
    drop(store);
    assert_eq!(open.len(), 3);
    assert_eq!(listing(folder.path()), open);
}

/// Leaves the store's main file alone, with all that was written in it.
fn strip(path: &Path) {
    Connection::open(path).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    for suffix in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        if Path::new(&name).exists() {
            fs::remove_file(name).unwrap();
        }
    }
}

#[test]
fn a_copy_of_the_file_alone_is_read_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    // A name that would mean something else in an address, and isn't text.
    let path = folder.path().join(OsStr::from_bytes(b"a ?b#%41&c\xff"));
    write(&SqliteStore::open(&path).unwrap(), 1);
    strip(&path);
    let reader = SqliteStore::read_only(&path);
    assert_eq!(reader.jobs().unwrap().len(), 1);
    assert_eq!(listing(folder.path()), std::slice::from_ref(&path));
    read_sealed(&path, &reader);
}

#[test]
fn a_reader_sees_what_is_written_after_it_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let reader = SqliteStore::read_only(&path);
    assert_eq!(reader.jobs().unwrap(), []);
    let writer = SqliteStore::open(&path).unwrap();
    for bits in 0..3 {
        let (_lease, state) = begin(&writer, bits);
        assert_eq!(reader.jobs().unwrap()[0], Ok(state));
    }
}

#[test]
fn a_reader_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (lease, state) = begin(&SqliteStore::open(&path).unwrap(), 1);
    let reader = SqliteStore::read_only(&path);
    let how = "plan approve".to_owned();
    let approval =
        Approval { digest: digest("plan"), of: ApprovedThing::Plan, by: "user:0".to_owned(), how, at_ms: 1 };
    let refused = [
        reader.create(&created(&job(2), JobKind::Run), "x").map(drop),
        reader.append(&lease, &after(&state, bodies(&state)[0].clone())).map(drop),
        reader.take_lease(&job(1), "x", Some(1)).map(drop),
        reader.release(lease),
        reader.approve(&approval).map(drop),
        reader.keep_freeze(&digest("plan"), &digest("record")),
    ];
    for answer in refused {
        assert!(matches!(answer, Err(StoreError::ReadOnly { .. })), "{answer:?}");
    }
    assert_eq!(reader.jobs().unwrap(), [Ok(state)]);
}
