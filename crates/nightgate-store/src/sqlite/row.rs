//! Reads and writes single rows, and takes none of them at its word. What may be written is decided before.

use nightgate_core::approval::Approval;
use nightgate_core::event::Event;
use nightgate_core::job::JobState;
use nightgate_core::{Digest, JobId, strict_json};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::fault::Fault;
use crate::admit::Tenure;
use crate::chain::{self, Stored};
use crate::error::{Damaged, Head, StoreError};

/// A job's entry.
pub(super) struct Entry {
    /// Its lease.
    pub(super) tenure: Tenure,
    sequence: u64,
    head: String,
}

/// A job's entry, if it has one.
pub(super) fn entry(conn: &Connection, job: &JobId) -> Result<Option<Entry>, Fault> {
    let sql = "SELECT sequence, head, fence, owner FROM jobs WHERE id = ?1";
    let entry = conn.query_row(sql, [job.as_str()], |row| {
        let tenure = Tenure { fence: row.get(2)?, owner: row.get(3)? };
        Ok(Entry { tenure, sequence: row.get(0)?, head: row.get(1)? })
    });
    entry.optional().map_err(|fault| unless_damaged(job, fault))
}

/// The entry of a job that must be there.
pub(super) fn existing(conn: &Connection, job: &JobId) -> Result<Entry, Fault> {
    Ok(entry(conn, job)?.ok_or_else(|| StoreError::NoSuchJob(job.clone()))?)
}

/// A job's verified events and its state.
pub(super) fn log(conn: &Connection, job: &JobId) -> Result<(Vec<Event>, JobState), Fault> {
    let entry = existing(conn, job)?;
    let rows = rows(conn, job).map_err(|fault| unless_damaged(job, fault))?;
    let digest = entry.head.parse().map_err(|fault| damaged_entry(job.as_str(), format!("{fault}")))?;
    let (events, state) = chain::verify(job, &rows, Head { sequence: entry.sequence, digest: Some(digest) })?;
    if entry.tenure.fence < state.fence {
        let why =
            format!("its fence is {}, and the log was written under {}", entry.tenure.fence, state.fence);
        return Err(damaged_entry(job.as_str(), why).into());
    }
    Ok((events, state))
}

fn rows(conn: &Connection, job: &JobId) -> Result<Vec<Stored>, rusqlite::Error> {
    let sql = "SELECT sequence, bytes, digest FROM events WHERE job = ?1 ORDER BY sequence";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([job.as_str()], |row| {
        Ok(Stored { sequence: row.get(0)?, bytes: row.get(1)?, digest: row.get(2)? })
    })?;
    rows.collect()
}

/// The names of all jobs, as text, in this order.
pub(super) fn names(conn: &Connection, order: &'static str) -> Result<Vec<String>, Fault> {
    let mut statement = conn.prepare_cached(&format!("SELECT id FROM jobs ORDER BY {order}"))?;
    let names = statement
        .query_map([], |row| Ok(String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?).into_owned()))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Writes the last event of `state`.
pub(super) fn insert_event(
    transaction: &Transaction<'_>,
    state: &JobState,
    bytes: &[u8],
) -> Result<(), Fault> {
    transaction.execute(
        "INSERT INTO events (job, sequence, bytes, digest) VALUES (?1, ?2, ?3, ?4)",
        params![state.id.as_str(), state.sequence, bytes, state.head.to_string()],
    )?;
    Ok(())
}

/// The approval of these bytes.
pub(super) fn approval(conn: &Connection, digest: &Digest) -> Result<Option<Approval>, Fault> {
    let damaged = |why: String| Fault::entry(format!("the approval of {digest}"), why);
    let sql = "SELECT bytes FROM approvals WHERE digest = ?1";
    let bytes: Option<Vec<u8>> = conn.query_row(sql, [digest.to_string()], |row| row.get(0)).optional()?;
    let Some(bytes) = bytes else { return Ok(None) };
    let approval: Approval = strict_json::read(&bytes).map_err(|fault| damaged(fault.to_string()))?;
    if approval.digest != *digest {
        return Err(damaged(format!("it approves {}", approval.digest)));
    }
    Ok(Some(approval))
}

/// The blob that says how a plan was frozen last.
pub(super) fn freeze(conn: &Connection, plan: &Digest) -> Result<Option<Digest>, Fault> {
    let sql = "SELECT record FROM freezes WHERE plan = ?1 ORDER BY ordinal DESC LIMIT 1";
    let record: Option<String> = conn.query_row(sql, [plan.to_string()], |row| row.get(0)).optional()?;
    let read =
        |text: String| text.parse().map_err(|fault| Fault::entry(format!("the freeze of {plan}"), fault));
    record.map(read).transpose()
}

/// A job whose entry is damaged.
pub(super) fn damaged_entry(job: &str, why: String) -> Damaged {
    Damaged { job: job.to_owned(), sequence: None, why }
}

fn unless_damaged(job: &JobId, fault: rusqlite::Error) -> Fault {
    let fault = Fault::Sql(fault);
    match fault.damage() {
        Some(why) => damaged_entry(job.as_str(), why).into(),
        None => fault,
    }
}
