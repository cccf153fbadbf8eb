//! What is left when a process is killed, and when there is no room.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use nightgate_core::event::{Event, EventBody, JobKind};
use nightgate_core::{Digest, JobId};
use nightgate_store::{BlobError, Blobs, SqliteStore, Store, StoreError};

use crate::child;
use crate::conformance::begin;
use crate::log::{after, bodies, created, job, verified};

fn writes_for_ever(folder: &Path) {
    let store = SqliteStore::open(folder.join("store")).unwrap();
    let written = store.jobs().unwrap().len() as u64;
    for bits in written.. {
        let events = verified(&job(bits));
        let lease = store.create(&events[0], &std::process::id().to_string()).unwrap();
        child::report(&told(&events[0]));
        for event in &events[1..] {
            store.append(&lease, event).unwrap();
            child::report(&told(event));
        }
    }
}

fn told(event: &Event) -> String {
    format!("{} {} {}", event.job, event.sequence, Digest::of(&event.to_bytes()))
}

/// Starts a writer, kills it once it has reported so many events, and gives all that it reported.
fn reports_of_a_killed_writer(folder: &Path, count: usize) -> Vec<String> {
    let test = "crash::what_was_reported_before_a_kill_is_there_after_it";
    let mut writer = child::command(test, folder, "").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut reports = Vec::new();
    for line in lines.map_while(Result::ok) {
        reports.extend(child::reported(&line).map(str::to_owned));
        // Goes on to read what was on its way when the writer died.
        if reports.len() == count {
            writer.kill().unwrap();
        }
    }
    assert!(!writer.wait().unwrap().success());
    assert!(reports.len() >= count, "the writer ended by itself: {reports:?}");
    reports
}

#[test]
fn what_was_reported_before_a_kill_is_there_after_it() {
    if let Some(folder) = child::folder() {
        return writes_for_ever(&folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut reports = Vec::new();
    for count in [1, 2, 3, 5, 8, 13, 21] {
        reports.extend(reports_of_a_killed_writer(folder.path(), count));
        let store = SqliteStore::open(folder.path().join("store")).unwrap();
        for report in &reports {
            let (job, rest) = report.split_once(' ').unwrap();
            let sequence: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
            let job: JobId = job.parse().unwrap();
            assert_eq!(told(&store.events(&job).unwrap()[sequence - 1]), *report);
        }
        assert!(store.jobs().unwrap().iter().all(Result::is_ok));
    }
}

#[test]
fn the_job_of_a_killed_writer_goes_on_under_a_new_lease() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (dead, state) = begin(&SqliteStore::open(&path).unwrap(), 1);
    drop(dead);
    let store = SqliteStore::open(&path).unwrap();
    let seen = store.lease_of(&job(1)).unwrap().unwrap();
    let lease = store.take_lease(&job(1), "heir", Some(seen.fence)).unwrap();
    let next = Event { fence: lease.fence(), ..after(&state, bodies(&state)[0].clone()) };
    assert_eq!(store.append(&lease, &next).unwrap().sequence, 2);
}

fn writes_until_there_is_no_room(folder: &Path) {
    let store = SqliteStore::open(folder.join("store")).unwrap();
    let blobs = Blobs::open(folder.join("blobs")).unwrap();
    let kept = blobs.put(b"small").unwrap();
    child::report(&format!("blob {kept}"));
    let refused = (0..1000).find_map(|bits| {
        let mut event = created(&job(bits), JobKind::Run);
        if let EventBody::Created { title, .. } = &mut event.body {
            *title = "x".repeat(20_000);
        }
        let refused = store.create(&event, "x").err();
        if refused.is_none() {
            child::report(&format!("job {}", told(&event)));
        }
        refused
    });
    assert!(matches!(refused, Some(StoreError::Unavailable { .. })), "{refused:?}");
    assert!(store.jobs().unwrap().iter().all(Result::is_ok), "a reader saw what was refused");
    let big = vec![7; 2 << 20];
    let refused = blobs.put(&big).unwrap_err();
    assert!(matches!(refused, BlobError::NoRoom { .. }), "{refused:?}");
    assert!(!blobs.contains(&Digest::of(&big)).unwrap());
    child::report("refused");
}

#[test]
fn without_room_nothing_is_lost_and_nothing_is_half_there() {
    if let Some(folder) = child::folder() {
        return writes_until_there_is_no_room(&folder);
    }
    let folder = tempfile::tempdir().unwrap();
    // A full disk that a test can have without rights: no file may grow beyond 1 MiB at most (the unit of the limit is
    // 512 or 1024 bytes, as the shell likes), and growing is an error rather than a signal.
    let limits = "trap '' XFSZ; ulimit -f 1024";
    let test = "crash::without_room_nothing_is_lost_and_nothing_is_half_there";
    let output = child::command(test, folder.path(), limits).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let reports: Vec<_> = text.lines().filter_map(child::reported).collect();
    assert_eq!(reports.last(), Some(&"refused"));

    let store = SqliteStore::open(folder.path().join("store")).unwrap();
    let kept: Vec<_> = reports.iter().filter_map(|line| line.strip_prefix("job ")).collect();
    let jobs = store.jobs().unwrap();
    assert_eq!(jobs.len(), kept.len());
    for (state, report) in jobs.into_iter().rev().zip(kept) {
        assert_eq!(told(&store.events(&state.unwrap().id).unwrap()[0]), report);
    }
    drop(begin(&store, 5000));

    let blobs = Blobs::open(folder.path().join("blobs")).unwrap();
    let small = reports.iter().find_map(|line| line.strip_prefix("blob ")).unwrap();
    assert_eq!(blobs.get(&small.parse().unwrap()).unwrap(), b"small");
    let files = crate::file::listing(&folder.path().join("blobs"));
    assert_eq!(files.iter().filter(|path| path.is_file()).count(), 1, "{files:?}");
}
