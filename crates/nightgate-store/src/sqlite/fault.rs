//! From SQLite's errors to the store's, with what to do about them. Nothing is retried here: SQLite waits by itself.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{Damaged, StoreError};
use crate::sqlite::schema;

/// Anything that ends a call early.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite said no.
    Sql(rusqlite::Error),
    /// The file system said no.
    Io(io::Error),
    /// The file holds something else.
    Foreign,
    /// The store has a version that this program can't use as it is.
    Version(i64),
    /// The store's own answer.
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(fault: rusqlite::Error) -> Self {
        Self::Sql(fault)
    }
}

impl From<io::Error> for Fault {
    fn from(fault: io::Error) -> Self {
        Self::Io(fault)
    }
}

impl From<StoreError> for Fault {
    fn from(fault: StoreError) -> Self {
        Self::Store(fault)
    }
}

impl From<Damaged> for Fault {
    fn from(fault: Damaged) -> Self {
        Self::Store(StoreError::Damaged(fault))
    }
}

impl Fault {
    /// An approval or a freeze record that isn't what was written.
    pub(super) fn entry(what: String, why: impl ToString) -> Self {
        Self::Store(StoreError::DamagedEntry { what, why: why.to_string() })
    }

    /// Why what was read can't be what was written; `None` where the fault says nothing about it.
    pub(super) fn damage(&self) -> Option<String> {
        let Self::Sql(fault) = self else { return None };
        match fault {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::InvalidColumnType(..) => Some(fault.to_string()),
            rusqlite::Error::SqliteFailure(failure, _) if failure.code == ErrorCode::DatabaseCorrupt => {
                Some(fault.to_string())
            }
            _ => None,
        }
    }

    /// The error of a caller who was `doing` something with the store at `path`.
    pub(super) fn during(self, doing: &'static str, path: &Path) -> StoreError {
        let path = path.to_owned();
        let known = schema::LATEST;
        let unavailable = |why: String| StoreError::Unavailable { doing, why };
        match self {
            Self::Store(fault) => fault,
            Self::Foreign => StoreError::NotAStore { path },
            Self::Version(found) if found < known => StoreError::Older { path, found, known },
            Self::Version(found) => StoreError::Newer { path, found, known },
            Self::Io(fault) => unavailable(format!("{}: {fault}: {}", path.display(), io_advice(&fault))),
            Self::Sql(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == ErrorCode::NotADatabase =>
            {
                StoreError::NotAStore { path }
            }
            Self::Sql(fault) => unavailable(format!("{}: {fault}: {}", path.display(), sql_advice(&fault))),
        }
    }
}

fn io_advice(fault: &io::Error) -> &'static str {
    match fault.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => ROOM,
        _ => ACCESS,
    }
}

const ROOM: &str = "make room, then try again";
const ACCESS: &str = "see that it and its folder can be read and written by this user";

fn sql_advice(fault: &rusqlite::Error) -> &'static str {
    match fault.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another process has kept it locked: see what it does, then try again"
        }
        Some(ErrorCode::DiskFull) => ROOM,
        Some(ErrorCode::SystemIoFailure) => "see that its medium has room and is in order",
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => ACCESS,
        Some(ErrorCode::DatabaseCorrupt) => "it is damaged: restore it from a copy",
        Some(_) | None => "this is a fault of nightgate's, or the file was altered: report it with this text",
    }
}
