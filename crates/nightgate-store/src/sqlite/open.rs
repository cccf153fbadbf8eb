//! Opens the store's file for writing, and makes it. What is in it is `schema`'s.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempPath;

use super::fault::Fault;
use super::schema;
use crate::folder;

/// How long a call waits for another process's write.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Opens the store at `path` for writing, made where it was missing and brought up to date.
pub(super) fn writable(path: &Path) -> Result<Connection, Fault> {
    if !folder::has(path)? {
        make(path)?;
    }
    let mut conn = Connection::open_with_flags(path, WRITE)?;
    conn.busy_timeout(PATIENCE)?;
    keep_wal(&conn)?;
    // Before anything is changed: it may be another program's.
    schema::admit(&conn, schema::LATEST)?;
    tune(&conn)?;
    schema::migrate(&mut conn)?;
    Ok(conn)
}

const WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Makes a whole store beside its place and moves it there, so that nobody ever sees half of one. The file is closed
/// before it gets its name: closing it later would drop the locks that SQLite holds on it in this process.
fn make(path: &Path) -> Result<(), Fault> {
    let home = folder::of(path);
    folder::create_private(home)?;
    let nursery = tempfile::Builder::new().prefix(".new-store-").tempdir_in(home)?;
    let fresh = TempPath::try_from_path(nursery.path().join("store"))?;
    drop(OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?);
    let mut conn = Connection::open_with_flags(&fresh, WRITE)?;
    tune(&conn)?;
    schema::migrate(&mut conn)?;
    conn.close().map_err(|(_, fault)| fault)?;
    match fresh.persist_noclobber(path) {
        Ok(()) => {}
        // Somebody else was faster, with the same store.
        Err(fault) if fault.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(fault) => return Err(fault.error.into()),
    }
    Ok(folder::sync(home)?)
}

fn tune(conn: &Connection) -> Result<(), Fault> {
    let mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(io::Error::other("its file system can't hold a SQLite file in WAL mode").into());
    }
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Keeps SQLite from deleting the `-wal` and `-shm` files with the last connection: a reader that may write nothing
/// needs them to be there.
pub(super) fn keep_wal(conn: &Connection) -> Result<(), Fault> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

#[cfg(test)]
mod tests;
