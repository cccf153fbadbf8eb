use rusqlite::Connection;

use super::{LATEST, MIGRATIONS, check, migrate, migrate_by, version};
use crate::sqlite::fault::Fault;

const NEXT: &str = "ALTER TABLE jobs ADD COLUMN flag INTEGER NOT NULL DEFAULT 7;";

fn store() -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    migrate(&mut conn).unwrap();
    conn.execute("INSERT INTO jobs (id, sequence, head, fence) VALUES ('j-00000001', 1, '', 1)", []).unwrap();
    conn
}

fn with(next: &'static str) -> Vec<&'static str> {
    [MIGRATIONS, &[next]].concat()
}

#[test]
fn the_next_migration_keeps_what_was_there() {
    let mut conn = store();
    migrate_by(&mut conn, &with(NEXT)).unwrap();
    assert_eq!(version(&conn).unwrap(), LATEST + 1);
    let (id, flag): (String, i64) =
        conn.query_row("SELECT id, flag FROM jobs", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!((id.as_str(), flag), ("j-00000001", 7));
}

#[test]
fn a_migration_is_applied_once() {
    let mut conn = store();
    migrate_by(&mut conn, &with(NEXT)).unwrap();
    migrate_by(&mut conn, &with(NEXT)).unwrap();
    assert_eq!(version(&conn).unwrap(), LATEST + 1);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let mut conn = store();
    let fault = migrate_by(&mut conn, &with("CREATE TABLE half (a); INSERT INTO nowhere VALUES (1);"));
    assert!(matches!(fault, Err(Fault::Sql(_))), "{fault:?}");
    check(&conn).unwrap();
    let half: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'half'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(half, 0);
}

#[test]
fn a_store_of_a_later_program_is_refused_and_left_alone() {
    let mut conn = store();
    migrate_by(&mut conn, &with(NEXT)).unwrap();
    assert!(matches!(migrate(&mut conn), Err(Fault::Version(found)) if found == LATEST + 1));
    assert!(matches!(check(&conn), Err(Fault::Version(found)) if found == LATEST + 1));
    assert_eq!(version(&conn).unwrap(), LATEST + 1);
}

#[test]
fn a_store_of_an_earlier_program_is_for_a_writer_to_bring_up_to_date() {
    let conn = store();
    conn.pragma_update(None, "user_version", LATEST - 1).unwrap();
    assert!(matches!(check(&conn), Err(Fault::Version(found)) if found == LATEST - 1));
}

#[test]
fn the_tables_of_another_program_are_refused() {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    assert!(matches!(migrate(&mut conn), Err(Fault::Foreign)));
}
