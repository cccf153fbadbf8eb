//! The store in one SQLite file: the embedded default. Opening and creating the file is `open`'s, its tables `schema`'s,
//! reading without writing `reader`'s.

mod fault;
mod open;
mod reader;
mod row;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nightgate_core::approval::Approval;
use nightgate_core::event::Event;
use nightgate_core::job::JobState;
use nightgate_core::{Digest, JobId};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::admit::{self, Tenure};
use crate::error::{Damaged, StoreError};
use crate::lease::{FIRST_FENCE, Holder, Lease};
use crate::store::{Found, Store};
use fault::Fault;

/// A store in one SQLite file, which several processes may have open.
///
/// The file is in WAL mode: a copy of the store is a copy of the file *and* of its `-wal` beside it. Writers wait for one
/// another for up to 30 seconds; readers wait for nobody.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    access: Access,
}

#[derive(Debug)]
enum Access {
    Write(Mutex<Connection>),
    Read,
}

impl SqliteStore {
    /// Opens the store at `path` for writing, makes it where it is missing, and brings it up to date.
    ///
    /// What is made (missing folders with mode 0700, files with 0600) appears whole or not at all, and survives a crash
    /// once this returns. Folders and files that exist keep their modes.
    ///
    /// Errors: [`Newer`](StoreError::Newer), [`NotAStore`](StoreError::NotAStore),
    /// [`Unavailable`](StoreError::Unavailable).
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let conn = open::writable(&path).map_err(|fault| fault.during("open the store", &path))?;
        Ok(Self { path, access: Access::Write(Mutex::new(conn)) })
    }

    /// The store at `path` for reading: it needs no right to write and makes no file. Each call answers from what is
    /// there at that moment; a missing store is an empty one.
    ///
    /// Nothing is looked at yet: the errors that [`open`](Self::open) gives come from the first call, and
    /// [`Older`](StoreError::Older) where a writer has to bring the store up to date.
    pub fn read_only(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), access: Access::Read }
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Answers from one consistent state.
    fn read<T>(
        &self,
        doing: &'static str,
        answer: impl Fn(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let answer = match &self.access {
            Access::Write(conn) => {
                let mut conn = conn.lock().unwrap_or_else(PoisonError::into_inner);
                reader::snapshot(&mut conn, &answer)
            }
            Access::Read => reader::read(&self.path, &answer),
        };
        answer.map_err(|fault| fault.during(doing, &self.path))
    }

    /// Makes one change, whole or not at all.
    fn write<T>(
        &self,
        doing: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let Access::Write(conn) = &self.access else { return Err(StoreError::ReadOnly { doing }) };
        let mut conn = conn.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = (|| {
            let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            schema::check(&transaction)?;
            let answer = change(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        })();
        changed.map_err(|fault: Fault| fault.during(doing, &self.path))
    }
}

impl Store for SqliteStore {
    fn create(&self, event: &Event, owner: &str) -> Result<Lease, StoreError> {
        let (state, bytes) = admit::creation(event)?;
        self.write("create a job", |transaction| {
            if row::entry(transaction, &event.job)?.is_some() {
                return Err(StoreError::JobExists(event.job.clone()).into());
            }
            transaction.execute(
                "INSERT INTO jobs (id, sequence, head, fence, owner) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![event.job.as_str(), state.sequence, state.head.to_string(), FIRST_FENCE, owner],
            )?;
            row::insert_event(transaction, &state, &bytes)
        })?;
        Ok(Lease::granted(event.job.clone(), owner.to_owned(), FIRST_FENCE))
    }

    fn append(&self, lease: &Lease, event: &Event) -> Result<JobState, StoreError> {
        self.write("append to a job's log", |transaction| {
            row::existing(transaction, lease.job())?.tenure.admit(lease)?;
            admit::address(lease, event)?;
            let (_, state) = row::log(transaction, lease.job())?;
            let (state, bytes) = admit::succession(state, event)?;
            row::insert_event(transaction, &state, &bytes)?;
            transaction.execute(
                "UPDATE jobs SET sequence = ?2, head = ?3 WHERE id = ?1",
                params![state.id.as_str(), state.sequence, state.head.to_string()],
            )?;
            Ok(state)
        })
    }

    fn events(&self, job: &JobId) -> Result<Vec<Event>, StoreError> {
        self.read("read a job's log", |conn| Ok(row::log(conn, job)?.0))
    }

    fn state(&self, job: &JobId) -> Result<JobState, StoreError> {
        self.read("read a job's state", |conn| Ok(row::log(conn, job)?.1))
    }

    fn jobs(&self) -> Result<Vec<Result<JobState, Damaged>>, StoreError> {
        self.read("list the jobs", |conn| {
            let listed = row::names(conn, "ordinal DESC")?.into_iter().map(|name| {
                let job: JobId = match name.parse() {
                    Ok(job) => job,
                    Err(fault) => return Ok(Err(row::damaged_entry(&name, format!("{fault}")))),
                };
                match row::log(conn, &job) {
                    Ok((_, state)) => Ok(Ok(state)),
                    Err(Fault::Store(StoreError::Damaged(damaged))) => Ok(Err(damaged)),
                    Err(fault) => Err(fault),
                }
            });
            listed.collect()
        })
    }

    fn find(&self, prefix: &str) -> Result<Found, StoreError> {
        self.read("find a job", |conn| {
            let names = row::names(conn, "id")?;
            // A damaged name can't be asked for; the list shows it.
            Ok(Found::among(prefix, names.iter().filter_map(|name| name.parse().ok())))
        })
    }

    fn take_lease(&self, job: &JobId, owner: &str, expect: Option<u64>) -> Result<Lease, StoreError> {
        let next = self.write("take a job's lease", |transaction| {
            let next = row::existing(transaction, job)?.tenure.pass(job, owner, expect)?;
            set_tenure(transaction, job, &next)?;
            Ok(next)
        })?;
        Ok(Lease::granted(job.clone(), owner.to_owned(), next.fence))
    }

    fn lease_of(&self, job: &JobId) -> Result<Option<Holder>, StoreError> {
        self.read("read a job's lease", |conn| Ok(row::existing(conn, job)?.tenure.holder()))
    }

    fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.write("release a job's lease", |transaction| {
            row::existing(transaction, lease.job())?.tenure.admit(&lease)?;
            set_tenure(transaction, lease.job(), &Tenure { fence: lease.fence(), owner: None })
        })
    }

    fn approve(&self, approval: &Approval) -> Result<Approval, StoreError> {
        let bytes = admit::approval_bytes(approval)?;
        self.write("keep an approval", |transaction| {
            transaction.execute(
                "INSERT INTO approvals (digest, bytes) VALUES (?1, ?2)",
                params![approval.digest.to_string(), bytes],
            )?;
            row::approval(transaction, &approval.digest)?.ok_or_else(|| {
                Fault::entry(format!("the approval of {}", approval.digest), "it was not kept")
            })
        })
    }

    fn approval(&self, digest: &Digest) -> Result<Option<Approval>, StoreError> {
        self.read("read an approval", |conn| row::approval(conn, digest))
    }

    fn keep_freeze(&self, plan: &Digest, record: &Digest) -> Result<(), StoreError> {
        self.write("keep a freeze record", |transaction| {
            if row::freeze(transaction, plan).is_ok_and(|last| last == Some(*record)) {
                return Ok(());
            }
            transaction.execute(
                "INSERT INTO freezes (plan, record) VALUES (?1, ?2)",
                params![plan.to_string(), record.to_string()],
            )?;
            Ok(())
        })
    }

    fn freeze_of(&self, plan: &Digest) -> Result<Option<Digest>, StoreError> {
        self.read("read a freeze record", |conn| row::freeze(conn, plan))
    }
}

fn set_tenure(transaction: &Transaction<'_>, job: &JobId, tenure: &Tenure) -> Result<(), Fault> {
    transaction.execute(
        "UPDATE jobs SET fence = ?2, owner = ?3 WHERE id = ?1",
        params![job.as_str(), tenure.fence, tenure.owner],
    )?;
    Ok(())
}
