//! Stores that aren't what was written: each damage is seen, named, and stays with its job.

use std::path::{Path, PathBuf};

use nightgate_core::Digest;
use nightgate_core::approval::{Approval, ApprovedThing};
use nightgate_core::event::Event;
use nightgate_core::job::JobState;
use nightgate_store::{Damaged, SqliteStore, Store, StoreError};
use rusqlite::{Connection, params};

use crate::conformance::{begin, write};
use crate::log::{after, bodies, digest, job, verified};

/// A store with two whole jobs, 1 and 2, of seven events each.
fn store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = SqliteStore::open(&path).unwrap();
    write(&store, 1);
    write(&store, 2);
    (folder, path)
}

/// The file without the triggers that guard it, as a fault of the medium or a forger has it.
fn unguarded(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    let names: Vec<String> = {
        let mut statement = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.collect::<Result<_, _>>().unwrap()
    };
    for name in names {
        conn.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    conn
}

/// What the store says about job 1 after this SQL, while job 2 stays whole.
fn damage_by(sql: &str) -> Damaged {
    let (_folder, path) = store();
    unguarded(&path).execute_batch(&sql.replace("THIS", job(1).as_str())).unwrap();
    damage_of_job_1(&path)
}

fn damage_of_job_1(path: &Path) -> Damaged {
    let store = SqliteStore::open(path).unwrap();
    let StoreError::Damaged(damaged) = store.state(&job(1)).unwrap_err() else { panic!("not damaged") };
    assert_eq!(store.events(&job(1)).unwrap_err(), StoreError::Damaged(damaged.clone()));
    let whole = JobState::replay(&verified(&job(2))).unwrap().unwrap();
    assert_eq!(store.jobs().unwrap(), [Ok(whole), Err(damaged.clone())]);
    assert_eq!(SqliteStore::read_only(path).jobs().unwrap(), store.jobs().unwrap());
    damaged
}

#[test]
fn a_damaged_event_is_named_and_hides_no_other_job() {
    let of_3 = "WHERE job = 'THIS' AND sequence = 3";
    let cases = [
        ("UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), 'user:1', 'user:2') AS BLOB)", Some(3)),
        ("UPDATE events SET bytes = substr(bytes, 1, 20)", Some(3)),
        ("UPDATE events SET bytes = x''", Some(3)),
        ("UPDATE events SET digest = 'sha256:00'", Some(3)),
        ("UPDATE events SET sequence = 30", Some(3)),
        ("DELETE FROM events", Some(3)),
    ];
    for (sql, sequence) in cases {
        let damaged = damage_by(&format!("{sql} {of_3}"));
        assert_eq!((damaged.job.as_str(), damaged.sequence), (job(1).as_str(), sequence), "{sql}: {damaged}");
    }
}

#[test]
fn a_lost_end_is_seen() {
    let damaged = damage_by("DELETE FROM events WHERE job = 'THIS' AND sequence = 7");
    assert_eq!(damaged.sequence, Some(7));
    let damaged = damage_by("PRAGMA foreign_keys = OFF; DELETE FROM events WHERE job = 'THIS'");
    assert_eq!(damaged.sequence, Some(1));
}

#[test]
fn a_damaged_entry_is_seen() {
    for sql in [
        "UPDATE jobs SET head = 'sha256:00' WHERE id = 'THIS'",
        "UPDATE jobs SET head = (SELECT digest FROM events WHERE job = 'THIS' AND sequence = 1) WHERE id = 'THIS'",
        "UPDATE jobs SET sequence = 6 WHERE id = 'THIS'",
    ] {
        assert_eq!(damage_by(sql).sequence, None, "{sql}");
    }
}

/// Replaces event 3 of job 1 by another and its digest, without the events after it.
fn forge(path: &Path, forged: &Event) {
    let bytes = forged.to_bytes();
    let conn = unguarded(path);
    let sql = "UPDATE events SET bytes = ?2, digest = ?3 WHERE job = ?1 AND sequence = 3";
    conn.execute(sql, params![job(1).as_str(), bytes, Digest::of(&bytes).to_string()]).unwrap();
}

#[test]
fn an_event_that_was_replaced_with_its_digest_breaks_the_chain() {
    let (_folder, path) = store();
    let mut forged = verified(&job(1)).remove(2);
    forged.actor.identity = "user:2000".to_owned();
    forge(&path, &forged);
    let damaged = damage_of_job_1(&path);
    assert_eq!(damaged.sequence, Some(4));
    assert!(damaged.why.contains("doesn't carry the digest of the event before it"), "{damaged}");
}

#[test]
fn an_event_of_another_job_is_seen() {
    let (_folder, path) = store();
    forge(&path, &verified(&job(2)).remove(2));
    assert_eq!(damage_of_job_1(&path).sequence, Some(3));
}

#[test]
fn the_whole_log_of_another_job_is_seen() {
    let sql = "
        PRAGMA foreign_keys = OFF;
        DELETE FROM events WHERE job = 'THIS';
        INSERT INTO events SELECT 'THIS', sequence, bytes, digest FROM events;
        UPDATE jobs SET head = (SELECT digest FROM events WHERE job = 'THIS' AND sequence = 7) WHERE id = 'THIS'";
    assert_eq!(damage_by(sql).sequence, Some(1));
}

#[test]
fn an_event_in_another_spelling_is_seen() {
    let (_folder, path) = store();
    let mut bytes = verified(&job(1)).remove(2).to_bytes();
    bytes.push(b' ');
    let conn = unguarded(&path);
    let sql = "UPDATE events SET bytes = ?2, digest = ?3 WHERE job = ?1 AND sequence = 3";
    conn.execute(sql, params![job(1).as_str(), bytes, Digest::of(&bytes).to_string()]).unwrap();
    assert_eq!(damage_of_job_1(&path).sequence, Some(3));
}

#[test]
fn a_fence_that_went_down_is_seen() {
    let (_folder, path) = store();
    let store = SqliteStore::open(&path).unwrap();
    let (lease, state) = begin(&store, 3);
    let taken = store.take_lease(&job(3), "second", Some(lease.fence())).unwrap();
    let next = after(&state, bodies(&state)[0].clone());
    store.append(&taken, &Event { fence: 2, ..next }).unwrap();
    unguarded(&path).execute("UPDATE jobs SET fence = 1 WHERE id = ?1", [job(3).as_str()]).unwrap();
    let refused = store.state(&job(3)).unwrap_err();
    assert!(matches!(&refused, StoreError::Damaged(Damaged { sequence: None, .. })), "{refused:?}");
}

#[test]
fn a_job_whose_name_is_damaged_is_listed_as_such() {
    let (_folder, path) = store();
    let sql = "PRAGMA foreign_keys = OFF; UPDATE jobs SET id = 'nonsense' WHERE id = 'THIS'";
    unguarded(&path).execute_batch(&sql.replace("THIS", job(1).as_str())).unwrap();
    let jobs = SqliteStore::open(&path).unwrap().jobs().unwrap();
    assert!(jobs[0].is_ok());
    let damaged = jobs[1].as_ref().unwrap_err();
    assert_eq!((damaged.job.as_str(), damaged.sequence), ("nonsense", None));
}

#[test]
fn nothing_is_appended_to_a_damaged_log() {
    let (_folder, path) = store();
    let store = SqliteStore::open(&path).unwrap();
    let (lease, state) = begin(&store, 3);
    let conn = unguarded(&path);
    conn.execute("UPDATE events SET bytes = x'00' WHERE job = ?1", [job(3).as_str()]).unwrap();
    let refused = store.append(&lease, &after(&state, bodies(&state)[0].clone())).unwrap_err();
    assert!(matches!(refused, StoreError::Damaged(_)), "{refused:?}");
}

#[test]
fn an_approval_or_freeze_that_was_altered_counts_for_nothing() {
    let (_folder, path) = store();
    let store = SqliteStore::open(&path).unwrap();
    let (by, how) = ("user:1000".to_owned(), "plan approve".to_owned());
    store.approve(&Approval { digest: digest("plan"), of: ApprovedThing::Plan, by, how, at_ms: 1 }).unwrap();
    store.keep_freeze(&digest("plan"), &digest("record")).unwrap();
    let conn = unguarded(&path);
    // The approval of one plan, put under the digest of another.
    conn.execute("UPDATE approvals SET digest = ?1", [digest("another").to_string()]).unwrap();
    conn.execute("UPDATE freezes SET record = 'x'", []).unwrap();
    let approval = store.approval(&digest("another")).unwrap_err();
    let freeze = store.freeze_of(&digest("plan")).unwrap_err();
    for refused in [approval, freeze] {
        assert!(matches!(refused, StoreError::DamagedEntry { .. }), "{refused:?}");
    }
    store.keep_freeze(&digest("plan"), &digest("again")).unwrap();
    assert_eq!(store.freeze_of(&digest("plan")).unwrap(), Some(digest("again")));
}

#[test]
fn the_tables_refuse_to_forget() {
    let (_folder, path) = store();
    let store = SqliteStore::open(&path).unwrap();
    let (by, how) = ("user:1000".to_owned(), "plan approve".to_owned());
    let approval = Approval { digest: digest("plan"), of: ApprovedThing::Plan, by, how, at_ms: 1 };
    store.approve(&approval).unwrap();
    store.keep_freeze(&digest("plan"), &digest("record")).unwrap();
    let conn = Connection::open(&path).unwrap();
    let forbidden = [
        "DELETE FROM events",
        "UPDATE events SET bytes = x'00'",
        "INSERT OR REPLACE INTO events SELECT job, sequence, x'00', digest FROM events WHERE sequence = 7",
        "INSERT INTO events SELECT job, sequence + 10, bytes, digest FROM events",
        "DELETE FROM jobs",
        "UPDATE jobs SET id = 'x'",
        "UPDATE jobs SET fence = 0",
        "UPDATE jobs SET sequence = 1",
        "DELETE FROM approvals",
        "UPDATE approvals SET bytes = x'00'",
        "DELETE FROM freezes",
        "UPDATE freezes SET record = 'x'",
    ];
    for sql in forbidden {
        assert!(conn.execute(sql, []).is_err(), "{sql}");
    }
    conn.execute("INSERT OR REPLACE INTO approvals SELECT digest, x'00' FROM approvals", []).unwrap();
    assert_eq!(store.approval(&digest("plan")).unwrap(), Some(approval));
    assert!(store.jobs().unwrap().iter().all(Result::is_ok));
}
