//! Reads a store without the right to write it, and without making a file. How rows are read is `row`'s.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::fault::Fault;
use super::{open, schema};
use crate::folder;

/// Something asked of a store.
pub(super) type Question<'a, T> = &'a dyn Fn(&Connection) -> Result<T, Fault>;

/// Answers from one consistent state of an open store.
pub(super) fn snapshot<T>(conn: &mut Connection, question: Question<'_, T>) -> Result<T, Fault> {
    let transaction = conn.transaction()?;
    schema::check(&transaction)?;
    question(&transaction)
}

/// Answers from the store at `path` as it is now; from an empty one where there is none.
///
/// Nightgate's writers leave a `-wal` file beside the store for good, with which SQLite finds a consistent state. Where
/// there is none, no writer came near the store since it was put there: it is read as a file that nobody changes, and
/// again if a writer came meanwhile.
pub(super) fn read<T>(path: &Path, question: Question<'_, T>) -> Result<T, Fault> {
    loop {
        if !folder::has(path)? {
            return question(&nothing()?);
        }
        let wal = wal(path);
        let alone = !folder::has(&wal)?;
        let answer = ask(path, alone, question);
        if !alone || !folder::has(&wal)? {
            return answer;
        }
    }
}

fn ask<T>(path: &Path, alone: bool, question: Question<'_, T>) -> Result<T, Fault> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(uri(path, alone), flags)?;
    open::keep_wal(&conn)?;
    conn.busy_timeout(open::PATIENCE)?;
    // A file in which nothing was made yet.
    if schema::version(&conn)? == 0 {
        return question(&nothing()?);
    }
    snapshot(&mut conn, question)
}

fn nothing() -> Result<Connection, Fault> {
    let mut conn = Connection::open_in_memory()?;
    schema::migrate(&mut conn)?;
    Ok(conn)
}

fn wal(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    name.into()
}

/// The address of a file by which SQLite opens it with options (<https://sqlite.org/uri.html>).
fn uri(path: &Path, immutable: bool) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing to a string can't fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str(if immutable { "?mode=ro&immutable=1" } else { "?mode=ro" });
    uri
}
