//! Several writers and readers of one store at once: handles in threads, and processes.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nightgate_core::event::{EventBody, JobKind};
use nightgate_store::{SqliteStore, Store, StoreError};

use crate::child;
use crate::conformance::{begin, write};
use crate::log::{after, created, job};

const WRITERS: u64 = 4;

/// Runs `work` in as many threads, each with its own handle, all at once.
fn at_once<T: Send>(path: &Path, work: impl Fn(u64, &SqliteStore) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(WRITERS as usize);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (start, work) = (&start, &work);
                scope.spawn(move || {
                    let store = SqliteStore::open(path).unwrap();
                    start.wait();
                    work(writer, &store)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn of_appends_at_once_exactly_one_wins_and_the_others_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (lease, state) = begin(&SqliteStore::open(&path).unwrap(), 1);
    let answers = at_once(&path, |writer, store| {
        store.append(&lease, &after(&state, EventBody::Stopped { why: format!("writer {writer}") }))
    });
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1, "{won:?}");
    assert!(lost.iter().all(|answer| matches!(answer, Err(StoreError::Conflict { .. }))), "{lost:?}");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(Ok(store.state(&job(1)).unwrap()), won.into_iter().next().unwrap());
}

#[test]
fn of_owners_that_take_a_lease_at_once_exactly_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    drop(begin(&SqliteStore::open(&path).unwrap(), 1));
    let taken = at_once(&path, |writer, store| store.take_lease(&job(1), &writer.to_string(), Some(1)));
    assert_eq!(taken.iter().filter(|lease| lease.is_ok()).count(), 1);
    let lost = |lease: &Result<_, _>| matches!(lease, Err(StoreError::LeaseMoved { .. }));
    assert_eq!(taken.iter().filter(|lease| lost(lease)).count(), WRITERS as usize - 1);
}

#[test]
fn creating_many_jobs_at_once_creates_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    at_once(&path, |writer, store| {
        for bits in 0..10 {
            write(store, writer * 10 + bits);
        }
    });
    let jobs = SqliteStore::read_only(&path).jobs().unwrap();
    assert_eq!(jobs.len(), WRITERS as usize * 10);
    assert!(jobs.iter().all(Result::is_ok));
}

#[test]
fn many_can_make_the_store_at_once() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").join("store");
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for bits in 0..8 {
                let (start, path) = (&start, &path);
                scope.spawn(move || {
                    start.wait();
                    drop(begin(&SqliteStore::open(path).unwrap(), bits));
                });
            }
        });
        assert_eq!(SqliteStore::read_only(&path).jobs().unwrap().len(), 8);
    }
}

#[test]
fn a_reader_sees_whole_logs_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let store = SqliteStore::read_only(&path);
            let mut seen = 0;
            while !done.load(Ordering::Acquire) {
                let jobs = store.jobs().unwrap();
                assert!(jobs.iter().all(Result::is_ok), "{jobs:?}");
                assert!(jobs.len() >= seen);
                seen = jobs.len();
            }
        });
        let store = SqliteStore::open(&path).unwrap();
        for bits in 0..30 {
            write(&store, bits);
        }
        done.store(true, Ordering::Release);
        reader.join().unwrap();
    });
}

fn competes(folder: &Path) {
    let store = SqliteStore::open(folder.join("store")).unwrap();
    child::report("ready");
    // The parent closes the pipe to all at once.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let me = u64::from(std::process::id());
    for bits in 0..5 {
        store.create(&created(&job((me << 8) + bits), JobKind::Run), "x").map(drop).unwrap();
    }
    match store.take_lease(&job(1), "x", Some(1)) {
        Ok(_) => child::report("took it"),
        Err(StoreError::LeaseMoved { .. }) => child::report("lost it"),
        Err(fault) => panic!("{fault}"),
    }
}

#[test]
fn processes_at_once_lose_no_job_and_share_no_lease() {
    if let Some(folder) = child::folder() {
        return competes(&folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("store")).unwrap();
    drop(begin(&store, 1));
    let test = "together::processes_at_once_lose_no_job_and_share_no_lease";
    let mut children: Vec<_> = (0..3)
        .map(|_| {
            let mut command = child::command(test, folder.path(), "");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in &mut children {
        child.stdin.as_mut().unwrap().write_all(b"go").unwrap();
    }
    for child in &mut children {
        drop(child.stdin.take());
    }
    let mut took = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        took += String::from_utf8(output.stdout).unwrap().matches("took it").count();
    }
    assert_eq!(took, 1);
    assert_eq!(store.jobs().unwrap().len(), 1 + 3 * 5);
}
