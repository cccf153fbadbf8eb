//! What every store promises, one claim a function; `conformance!` runs all of them on one kind of store.

use nightgate_core::approval::{Approval, ApprovedThing};
use nightgate_core::event::{Event, JobKind, Scope};
use nightgate_core::job::{JobState, TransitionError};
use nightgate_store::{FIRST_FENCE, Found, Head, Holder, Lease, MemoryStore, SqliteStore, Store, StoreError};

use crate::log::{after, allowed, bodies, created, digest, job, verified};

/// Creates a job and gives its lease and state.
pub fn begin(store: &dyn Store, bits: u64) -> (Lease, JobState) {
    let job = job(bits);
    let lease = store.create(&created(&job, JobKind::Run), "first").unwrap();
    let state = store.state(&job).unwrap();
    (lease, state)
}

/// Writes a whole log, and gives its events and the state that the store returned after each.
pub fn write(store: &dyn Store, bits: u64) -> (Vec<Event>, Vec<JobState>) {
    let events = verified(&job(bits));
    let lease = store.create(&events[0], "first").unwrap();
    let mut states = vec![store.state(lease.job()).unwrap()];
    states.extend(events[1..].iter().map(|event| store.append(&lease, event).unwrap()));
    store.release(lease).unwrap();
    (events, states)
}

fn a_new_job_has_its_first_event_and_a_lease(store: &dyn Store) {
    let event = created(&job(1), JobKind::Run);
    let lease = store.create(&event, "somebody").unwrap();
    assert_eq!((lease.job(), lease.owner(), lease.fence()), (&job(1), "somebody", FIRST_FENCE));
    assert_eq!(store.events(&job(1)).unwrap(), std::slice::from_ref(&event));
    assert_eq!(store.state(&job(1)).unwrap(), JobState::apply(None, &event).unwrap());
    let holder = Holder { owner: "somebody".to_owned(), fence: FIRST_FENCE };
    assert_eq!(store.lease_of(&job(1)).unwrap(), Some(holder));
}

fn a_job_is_created_once(store: &dyn Store) {
    let (_lease, before) = begin(store, 1);
    let again = store.create(&created(&job(1), JobKind::Verify), "second");
    assert_eq!(again.unwrap_err(), StoreError::JobExists(job(1)));
    assert_eq!(store.state(&job(1)).unwrap(), before);
}

fn a_log_begins_with_a_first_event(store: &dyn Store) {
    let second = verified(&job(1)).remove(1);
    let late = Event { sequence: 2, ..created(&job(1), JobKind::Run) };
    let chained = Event { previous: Some(digest("before")), ..created(&job(1), JobKind::Run) };
    for event in [second, late, chained] {
        assert!(matches!(store.create(&event, "x").unwrap_err(), StoreError::Illegal(_)), "{event:?}");
    }
    let fenced = Event { fence: FIRST_FENCE + 1, ..created(&job(1), JobKind::Run) };
    let misaddressed = StoreError::Misaddressed { job: job(1), sequence: 1 };
    assert_eq!(store.create(&fenced, "x").unwrap_err(), misaddressed);
    assert_eq!(store.jobs().unwrap(), []);
}

fn each_prefix_of_a_log_replays_to_the_state_that_was_live(store: &dyn Store) {
    let (written, states) = write(store, 1);
    let events = store.events(&job(1)).unwrap();
    assert_eq!(events, written);
    for (state, count) in states.iter().zip(1..) {
        assert_eq!(JobState::replay(&events[..count]).unwrap().as_ref(), Some(state));
    }
    assert_eq!(store.state(&job(1)).unwrap(), states[states.len() - 1]);
}

fn an_event_that_does_not_follow_the_last_one_is_a_conflict(store: &dyn Store) {
    let (lease, first) = begin(store, 1);
    let body = bodies(&first)[0].clone();
    let state = store.append(&lease, &after(&first, body.clone())).unwrap();
    let found = Head { sequence: 2, digest: Some(state.head) };
    let next = after(&state, body);
    let stale = Event { sequence: 2, previous: Some(first.head), ..next.clone() };
    let ahead = Event { sequence: 4, ..next.clone() };
    let other = Event { previous: Some(digest("another log")), ..next.clone() };
    let unchained = Event { previous: None, ..next.clone() };
    let zero = Event { sequence: 0, previous: None, ..next };
    for event in [stale, ahead, other, unchained, zero] {
        let expected = Head { sequence: event.sequence.saturating_sub(1), digest: event.previous };
        let conflict = StoreError::Conflict { job: job(1), expected, found };
        assert_eq!(store.append(&lease, &event).unwrap_err(), conflict);
    }
    assert_eq!(store.state(&job(1)).unwrap(), state);
}

fn an_event_that_the_state_does_not_allow_is_illegal(store: &dyn Store) {
    let (lease, state) = begin(store, 1);
    let illegal = bodies(&state).into_iter().map(|body| after(&state, body)).filter(|event| {
        let legal = allowed(&state).contains(event);
        !legal
    });
    for event in illegal {
        let refused = store.append(&lease, &event).unwrap_err();
        assert!(matches!(refused, StoreError::Illegal(TransitionError::Illegal { .. })), "{refused:?}");
    }
    assert_eq!(store.state(&job(1)).unwrap(), state);
}

fn an_execution_identity_can_not_write_a_verdict(store: &dyn Store) {
    let mut events = verified(&job(1));
    let mut verdict = events.pop().unwrap();
    let lease = store.create(&events[0], "first").unwrap();
    for event in &events[1..] {
        store.append(&lease, event).unwrap();
    }
    verdict.actor.scope = Scope::Execute;
    let refused = store.append(&lease, &verdict).unwrap_err();
    assert!(matches!(refused, StoreError::Illegal(TransitionError::OutOfScope { .. })), "{refused:?}");
    assert_eq!(store.state(&job(1)).unwrap().verdict, None);
}

fn an_event_for_another_job_or_fence_than_its_lease_is_refused(store: &dyn Store) {
    let (lease, state) = begin(store, 1);
    let (_other, elsewhere) = begin(store, 2);
    let fenced = Event { fence: 2, ..after(&state, bodies(&state)[0].clone()) };
    for event in [fenced, after(&elsewhere, bodies(&elsewhere)[0].clone())] {
        let misaddressed = StoreError::Misaddressed { job: event.job.clone(), sequence: 2 };
        assert_eq!(store.append(&lease, &event).unwrap_err(), misaddressed);
    }
    assert_eq!(store.state(&job(1)).unwrap(), state);
    assert_eq!(store.state(&job(2)).unwrap(), elsewhere);
}

fn an_event_that_could_not_be_read_back_is_refused(store: &dyn Store) {
    let (lease, state) = begin(store, 1);
    let beyond = (1 << 53) + 1;
    let next = Event { at_ms: beyond, ..after(&state, bodies(&state)[0].clone()) };
    assert!(matches!(store.append(&lease, &next).unwrap_err(), StoreError::Unreadable { .. }));
    assert_eq!(store.state(&job(1)).unwrap(), state);
    let first = Event { at_ms: beyond, ..created(&job(2), JobKind::Run) };
    assert!(matches!(store.create(&first, "x").unwrap_err(), StoreError::Unreadable { .. }));
    assert_eq!(store.state(&job(2)).unwrap_err(), StoreError::NoSuchJob(job(2)));
}

fn an_owner_that_was_taken_over_is_fenced_off(store: &dyn Store) {
    let (old, state) = begin(store, 1);
    let new = store.take_lease(&job(1), "second", Some(old.fence())).unwrap();
    let next = after(&state, bodies(&state)[0].clone());
    let fenced = || StoreError::Fenced { job: job(1), held: 1, current: 2 };
    assert_eq!(store.append(&old, &next).unwrap_err(), fenced());
    assert_eq!(store.release(old).unwrap_err(), fenced());
    assert_eq!(store.lease_of(&job(1)).unwrap(), Some(Holder { owner: "second".to_owned(), fence: 2 }));
    store.append(&new, &Event { fence: 2, ..next }).unwrap();
}

fn a_lease_is_taken_only_as_it_was_seen(store: &dyn Store) {
    let (lease, _) = begin(store, 1);
    let held = Some(Holder { owner: "first".to_owned(), fence: 1 });
    for expected in [None, Some(0), Some(2)] {
        let moved = StoreError::LeaseMoved { job: job(1), expected, found: held.clone() };
        assert_eq!(store.take_lease(&job(1), "second", expected).unwrap_err(), moved);
    }
    assert_eq!(store.lease_of(&job(1)).unwrap(), held);
    store.release(lease).unwrap();
    assert_eq!(store.lease_of(&job(1)).unwrap(), None);
    let moved = StoreError::LeaseMoved { job: job(1), expected: Some(1), found: None };
    assert_eq!(store.take_lease(&job(1), "second", Some(1)).unwrap_err(), moved);
}

fn a_fence_never_goes_down(store: &dyn Store) {
    let (mut lease, _) = begin(store, 1);
    for fence in 2..6 {
        store.release(lease).unwrap();
        lease = store.take_lease(&job(1), "next", None).unwrap();
        assert_eq!(lease.fence(), fence);
    }
    let taken = store.take_lease(&job(1), "last", Some(5)).unwrap();
    assert_eq!(taken.fence(), 6);
}

fn the_job_created_last_is_listed_first(store: &dyn Store) {
    let states: Vec<_> = [5, 2, 9].into_iter().map(|bits| begin(store, bits).1).collect();
    let listed: Vec<_> = store.jobs().unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(listed, states.into_iter().rev().collect::<Vec<_>>());
}

fn a_job_that_is_not_there_is_no_such_job(store: &dyn Store) {
    drop(begin(store, 1));
    let none = || StoreError::NoSuchJob(job(2));
    assert_eq!(store.events(&job(2)).unwrap_err(), none());
    assert_eq!(store.state(&job(2)).unwrap_err(), none());
    assert_eq!(store.lease_of(&job(2)).unwrap_err(), none());
    assert_eq!(store.take_lease(&job(2), "x", None).unwrap_err(), none());
}

fn a_lease_of_another_store_opens_nothing(store: &dyn Store) {
    let elsewhere = MemoryStore::new();
    let (lease, state) = begin(&elsewhere, 1);
    let event = after(&state, bodies(&state)[0].clone());
    assert_eq!(store.append(&lease, &event).unwrap_err(), StoreError::NoSuchJob(job(1)));
    assert_eq!(store.release(lease).unwrap_err(), StoreError::NoSuchJob(job(1)));
}

fn a_job_is_found_by_the_beginning_of_its_name(store: &dyn Store) {
    // Names begin with the lowest bits: j-10000000, j-11000000, j-20000000, j-j0000000.
    let [one, eleven, two, letter] = [1, 1 + (1 << 5), 2, 18].map(|bits| begin(store, bits).1.id);
    let cases = [
        ("j-10", Found::One(one.clone())),
        ("10", Found::One(one.clone())),
        (one.as_str(), Found::One(one.clone())),
        ("j-1", Found::Several(vec![one.clone(), eleven.clone()])),
        ("2", Found::One(two)),
        ("j", Found::One(letter.clone())),
        ("j-j", Found::One(letter)),
        ("3", Found::None),
        ("1_", Found::None),
        ("1%", Found::None),
        ("J-1", Found::None),
        ("", Found::None),
        ("j-", Found::None),
    ];
    for (prefix, found) in cases {
        assert_eq!(store.find(prefix).unwrap(), found, "{prefix:?}");
    }
}

fn the_first_approval_of_a_digest_stays(store: &dyn Store) {
    let first = Approval {
        digest: digest("a plan"),
        of: ApprovedThing::Plan,
        by: "user:1000".to_owned(),
        how: "plan approve".to_owned(),
        at_ms: 1,
    };
    let second =
        Approval { by: "user:2000".to_owned(), of: ApprovedThing::Declaration, at_ms: 2, ..first.clone() };
    assert_eq!(store.approval(&first.digest).unwrap(), None);
    assert_eq!(store.approve(&first).unwrap(), first);
    assert_eq!(store.approve(&second).unwrap(), first);
    assert_eq!(store.approval(&first.digest).unwrap(), Some(first));
    assert_eq!(store.approval(&digest("a plan ")).unwrap(), None);
    let unreadable = Approval { digest: digest("another"), at_ms: u64::MAX, ..second };
    assert!(matches!(store.approve(&unreadable).unwrap_err(), StoreError::Unreadable { .. }));
    assert_eq!(store.approval(&digest("another")).unwrap(), None);
}

fn the_last_freeze_of_a_plan_counts(store: &dyn Store) {
    let plan = digest("plan");
    assert_eq!(store.freeze_of(&plan).unwrap(), None);
    for record in ["one", "two", "two", "one"].map(digest) {
        store.keep_freeze(&plan, &record).unwrap();
        assert_eq!(store.freeze_of(&plan).unwrap(), Some(record));
    }
    assert_eq!(store.freeze_of(&digest("another")).unwrap(), None);
}

macro_rules! conformance {
    ($kind:ident, $with:expr, [$($claim:ident),* $(,)?]) => {
        mod $kind {
            $(#[test]
            fn $claim() {
                $with(&super::$claim);
            })*
        }
    };
}

macro_rules! all_claims {
    ($kind:ident, $with:expr) => {
        conformance!(
            $kind,
            $with,
            [
                a_new_job_has_its_first_event_and_a_lease,
                a_job_is_created_once,
                a_log_begins_with_a_first_event,
                each_prefix_of_a_log_replays_to_the_state_that_was_live,
                an_event_that_does_not_follow_the_last_one_is_a_conflict,
                an_event_that_the_state_does_not_allow_is_illegal,
                an_execution_identity_can_not_write_a_verdict,
                an_event_for_another_job_or_fence_than_its_lease_is_refused,
                an_event_that_could_not_be_read_back_is_refused,
                an_owner_that_was_taken_over_is_fenced_off,
                a_lease_is_taken_only_as_it_was_seen,
                a_fence_never_goes_down,
                the_job_created_last_is_listed_first,
                a_job_that_is_not_there_is_no_such_job,
                a_lease_of_another_store_opens_nothing,
                a_job_is_found_by_the_beginning_of_its_name,
                the_first_approval_of_a_digest_stays,
                the_last_freeze_of_a_plan_counts,
            ]
        );
    };
}

type Claim<'a> = &'a dyn Fn(&dyn Store);

fn with_memory(claim: Claim<'_>) {
    claim(&MemoryStore::new());
}

fn with_sqlite(claim: Claim<'_>) {
    let folder = tempfile::tempdir().unwrap();
    claim(&SqliteStore::open(folder.path().join("store")).unwrap());
}

all_claims!(memory, super::with_memory);
all_claims!(sqlite, super::with_sqlite);
