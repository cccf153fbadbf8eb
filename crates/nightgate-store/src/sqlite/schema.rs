//! The tables' versions: which one a file has, and the way from each to the newest. What the tables hold is in the
//! numbered files of `migrations/`.

use rusqlite::{Connection, TransactionBehavior};

use super::fault::Fault;

/// The way from version 0, an empty file, to the newest: the n-th makes version n of version n - 1.
const MIGRATIONS: &[&str] = &[include_str!("../../migrations/0001_first.sql")];

/// The version that this program reads and writes.
pub(super) const LATEST: i64 = MIGRATIONS.len() as i64;

/// Marks the file as Nightgate's: `NGAT`.
const APPLICATION: i64 = 0x4e47_4154;

/// Brings an open store up to date, in one transaction. Refuses a newer one, and any other program's file.
pub(super) fn migrate(conn: &mut Connection) -> Result<(), Fault> {
    migrate_by(conn, MIGRATIONS)
}

fn migrate_by(conn: &mut Connection, migrations: &[&str]) -> Result<(), Fault> {
    let latest = migrations.len() as i64;
    if admit(conn, latest)? == latest {
        return Ok(());
    }
    // Another process may be at the same work: what counts is what is seen under the lock.
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = admit(&transaction, latest)?;
    for migration in migrations.iter().skip(usize::try_from(found).map_err(|_| Fault::Foreign)?) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", latest)?;
    transaction.commit()?;
    Ok(())
}

/// The version of a file that can be brought up to date. Changes nothing.
pub(super) fn admit(conn: &Connection, latest: i64) -> Result<i64, Fault> {
    match version(conn)? {
        found if found <= latest => Ok(found),
        found => Err(Fault::Version(found)),
    }
}

/// Says whether this program can use the store as it is.
pub(super) fn check(conn: &Connection) -> Result<(), Fault> {
    match version(conn)? {
        LATEST => Ok(()),
        found => Err(Fault::Version(found)),
    }
}

/// The store's version; 0 for a file in which nothing was ever made.
pub(super) fn version(conn: &Connection) -> Result<i64, Fault> {
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let version = number("user_version")?;
    let ours = number("application_id")? == APPLICATION;
    let objects: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if ours || (version == 0 && objects == 0) { Ok(version) } else { Err(Fault::Foreign) }
}

#[cfg(test)]
mod tests;
