//! The SQLite store's file: how it is made, what it refuses to become.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nightgate_core::job::JobState;
use nightgate_core::verdict::VerdictWord;
use nightgate_store::{SqliteStore, Store, StoreError};
use rusqlite::Connection;

use crate::conformance::{begin, write};
use crate::log::{digest, job};

const VERSION_1: &str = include_str!("../fixtures/store-v1.sql");

/// All paths below `folder`, sorted.
pub fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            paths.extend(listing(&entry.path()));
        }
        paths.push(entry.path());
    }
    paths.sort();
    paths
}

pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_was_written_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (events, states) = write(&SqliteStore::open(&path).unwrap(), 1);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.events(&job(1)).unwrap(), events);
    assert_eq!(store.state(&job(1)).unwrap(), states[states.len() - 1]);
    assert_eq!(store.lease_of(&job(1)).unwrap(), None);
}

#[test]
fn only_the_owner_can_read_what_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("a").join("b");
    let store = SqliteStore::open(home.join("store")).unwrap();
    drop(begin(&store, 1));
    let names = ["a", "a/b", "a/b/store", "a/b/store-shm", "a/b/store-wal"];
    let expected: Vec<_> = names.iter().map(|name| folder.path().join(name)).collect();
    assert_eq!(listing(folder.path()), expected);
    for path in expected {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{path:?}");
    }
}

#[test]
fn a_folder_that_exists_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    SqliteStore::open(folder.path().join("store")).unwrap();
    assert_eq!(mode(folder.path()), 0o755);
}

#[test]
fn a_store_is_in_wal_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    SqliteStore::open(&path).unwrap();
    let conn = Connection::open(&path).unwrap();
    let mode: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    fs::write(&path, "").unwrap();
    assert_eq!(SqliteStore::read_only(&path).jobs().unwrap(), []);
    drop(begin(&SqliteStore::open(&path).unwrap(), 1));
}

#[test]
fn a_place_below_a_file_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = SqliteStore::open(file.join("store")).unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
}

/// What both ways of opening say about a file, which they must leave as it is.
fn refusals(path: &Path) -> [StoreError; 2] {
    let before = fs::read(path).unwrap();
    let refused = [SqliteStore::open(path).unwrap_err(), SqliteStore::read_only(path).jobs().unwrap_err()];
    assert_eq!(fs::read(path).unwrap(), before);
    refused
}

#[test]
fn a_file_of_another_program_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(
        &text,
        "some text that is no database, and long enough to have a header of its own, says SQLite\n",
    )
    .unwrap();
    let database = folder.path().join("database");
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    for path in [text, database] {
        for refused in refusals(&path) {
            assert_eq!(refused, StoreError::NotAStore { path: path.clone() });
        }
    }
}

#[test]
fn a_store_of_a_later_nightgate_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let open = SqliteStore::open(&path).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 1000).unwrap();
    // Also by a process that had it open before.
    let newer = || StoreError::Newer { path: path.clone(), found: 1000, known: 1 };
    assert_eq!(open.jobs().unwrap_err(), newer());
    assert_eq!(open.keep_freeze(&digest("plan"), &digest("record")).unwrap_err(), newer());
    drop(open);
    assert_eq!(refusals(&path), [newer(), newer()]);
    assert!(newer().to_string().ends_with("use a newer nightgate"));
}

/// A store as version 1 made it, in `folder`.
fn version_1(folder: &Path) -> PathBuf {
    let path = folder.join("store");
    Connection::open(&path).unwrap().execute_batch(VERSION_1).unwrap();
    path
}

#[test]
fn a_store_of_version_1_opens_with_all_that_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(version_1(folder.path())).unwrap();
    let [done, begun]: [JobState; 2] =
        store.jobs().unwrap().into_iter().map(Result::unwrap).rev().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((done.id, done.sequence, done.verdict), (job(1), 7, Some(VerdictWord::Verified)));
    let words: Vec<_> = store.events(&job(1)).unwrap().iter().map(|event| event.body.word()).collect();
    let all = ["created", "frozen", "authorized", "attempt_started", "attempt_ended", "captured", "judged"];
    assert_eq!(words, all);
    assert_eq!((begun.id, begun.sequence), (job(2), 1));
    assert_eq!(store.lease_of(&job(1)).unwrap(), None);
    assert_eq!(store.lease_of(&job(2)).unwrap().unwrap().owner, "first");
    assert_eq!(store.approval(&digest("plan")).unwrap().unwrap().by, "user:1000");
    assert_eq!(store.freeze_of(&digest("plan")).unwrap(), Some(digest("second")));
    drop(begin(&store, 3));
}

#[test]
fn the_first_migration_is_still_what_made_version_1() {
    let schema = |path: &Path| {
        let conn = Connection::open(path).unwrap();
        let mut statement = conn
            .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.collect::<Result<Vec<(String, String, String)>, _>>().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("fresh");
    let mut conn = Connection::open(&fresh).unwrap();
    let first = conn.transaction().unwrap();
    first.execute_batch(include_str!("../../migrations/0001_first.sql")).unwrap();
    first.commit().unwrap();
    assert_eq!(schema(&fresh), schema(&version_1(folder.path())));
}
