//! Any sequence of calls gets the same answers from the SQLite store as from the model in memory.

use nightgate_core::JobId;
use nightgate_core::approval::{Approval, ApprovedThing};
use nightgate_core::event::{Event, EventBody, JobKind};
use nightgate_core::job::JobState;
use nightgate_store::{Lease, MemoryStore, SqliteStore, Store, StoreError};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::log::{after, allowed, bodies, created, digest, job};

/// How an event differs from the one that should come next.
#[derive(Clone, Copy, Debug)]
enum Flaw {
    None,
    Late,
    Early,
    Unchained,
    OtherJob,
    OtherFence,
    Unreadable,
    AnyBody,
}

#[derive(Clone, Debug)]
enum Call {
    Create { job: u64, kind: JobKind, flaw: Flaw },
    Append { lease: Index, body: (Index, Index), flaw: Flaw },
    Take { job: u64, owner: u8, expect: Expect },
    Release { lease: Index },
    Find { prefix: String },
    Approve { of: u8, by: u8 },
    Freeze { plan: u8, record: u8 },
    Reopen,
}

#[derive(Clone, Copy, Debug)]
enum Expect {
    AsItIs,
    Nobody,
    Fence(u64),
}

fn flaw() -> impl Strategy<Value = Flaw> {
    prop_oneof![
        12 => Just(Flaw::None),
        1 => Just(Flaw::Late),
        1 => Just(Flaw::Early),
        1 => Just(Flaw::Unchained),
        1 => Just(Flaw::OtherJob),
        1 => Just(Flaw::OtherFence),
        1 => Just(Flaw::Unreadable),
        1 => Just(Flaw::AnyBody),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let job = 0..4_u64;
    let kind = prop_oneof![3 => Just(JobKind::Run), 1 => Just(JobKind::Verify)];
    let expect = prop_oneof![4 => Just(Expect::AsItIs), 1 => Just(Expect::Nobody), 1 => (0..4_u64).prop_map(Expect::Fence)];
    let body = (any::<Index>(), any::<Index>());
    prop_oneof![
        3 => (job.clone(), kind, flaw()).prop_map(|(job, kind, flaw)| Call::Create { job, kind, flaw }),
        14 => (any::<Index>(), body, flaw()).prop_map(|(lease, body, flaw)| Call::Append { lease, body, flaw }),
        3 => (job, 0..2_u8, expect).prop_map(|(job, owner, expect)| Call::Take { job, owner, expect }),
        1 => any::<Index>().prop_map(|lease| Call::Release { lease }),
        1 => "(j-)?[0-4]{0,2}".prop_map(|prefix| Call::Find { prefix }),
        1 => (0..2_u8, 0..2_u8).prop_map(|(of, by)| Call::Approve { of, by }),
        1 => (0..2_u8, 0..2_u8).prop_map(|(plan, record)| Call::Freeze { plan, record }),
        1 => Just(Call::Reopen),
    ]
}

fn spoil(event: Event, flaw: Flaw) -> Event {
    match flaw {
        Flaw::None | Flaw::AnyBody => event,
        Flaw::Late => Event { sequence: event.sequence + 1, ..event },
        Flaw::Early => Event { sequence: event.sequence - 1, ..event },
        Flaw::Unchained => Event { previous: Some(digest("nothing")), ..event },
        Flaw::OtherJob => Event { job: job(1000), ..event },
        Flaw::OtherFence => Event { fence: event.fence + 1, ..event },
        Flaw::Unreadable => Event { at_ms: u64::MAX, ..event },
    }
}

/// Both stores, and the leases that both gave.
struct Pair {
    folder: tempfile::TempDir,
    model: MemoryStore,
    sqlite: SqliteStore,
    leases: Vec<(Lease, Lease)>,
    /// The state that the stores returned after each event of each job.
    live: Vec<JobState>,
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = SqliteStore::open(folder.path().join("store")).unwrap();
        Self { folder, model: MemoryStore::new(), sqlite, leases: Vec::new(), live: Vec::new() }
    }

    fn same<T: std::fmt::Debug + PartialEq>(&self, ask: impl Fn(&dyn Store) -> T) -> T {
        let answer = ask(&self.model);
        assert_eq!(answer, ask(&self.sqlite));
        answer
    }

    fn keep(&mut self, leases: (Result<Lease, StoreError>, Result<Lease, StoreError>)) {
        let shown = |lease: &Lease| (lease.job().clone(), lease.owner().to_owned(), lease.fence());
        assert_eq!(leases.0.as_ref().map(shown), leases.1.as_ref().map(shown));
        if let (Ok(model), Ok(sqlite)) = leases {
            self.leases.push((model, sqlite));
        }
    }

    fn make(&mut self, call: &Call) {
        match call {
            Call::Create { job: bits, kind, flaw } => {
                let event = spoil(created(&job(*bits), *kind), *flaw);
                self.keep((self.model.create(&event, "a"), self.sqlite.create(&event, "a")));
                if self.leases.last().is_some_and(|(lease, _)| *lease.job() == event.job) {
                    self.note(&event.job);
                }
            }
            Call::Append { lease, body, flaw } => self.append(*lease, *body, *flaw),
            Call::Take { job: bits, owner, expect } => {
                let job = job(*bits);
                let expect = match expect {
                    Expect::AsItIs => self.model.lease_of(&job).ok().flatten().map(|holder| holder.fence),
                    Expect::Nobody => None,
                    Expect::Fence(fence) => Some(*fence),
                };
                let owner = owner.to_string();
                self.keep((
                    self.model.take_lease(&job, &owner, expect),
                    self.sqlite.take_lease(&job, &owner, expect),
                ));
            }
            Call::Release { lease } => {
                if !self.leases.is_empty() {
                    let (model, sqlite) = self.leases.remove(lease.index(self.leases.len()));
                    assert_eq!(self.model.release(model), self.sqlite.release(sqlite));
                }
            }
            Call::Find { prefix } => drop(self.same(|store| store.find(prefix))),
            Call::Approve { of, by } => {
                let digest = digest(&of.to_string());
                let (by, how) = (by.to_string(), "somehow".to_owned());
                let approval = Approval { digest, of: ApprovedThing::Plan, by, how, at_ms: 1 };
                drop(self.same(|store| (store.approve(&approval), store.approval(&digest))));
            }
            Call::Freeze { plan, record } => {
                let (plan, record) = (digest(&plan.to_string()), digest(&record.to_string()));
                drop(self.same(|store| (store.keep_freeze(&plan, &record), store.freeze_of(&plan))));
            }
            Call::Reopen => self.sqlite = SqliteStore::open(self.folder.path().join("store")).unwrap(),
        }
    }

    fn append(&mut self, lease: Index, body: (Index, Index), flaw: Flaw) {
        if self.leases.is_empty() {
            return;
        }
        let (model, sqlite) = &self.leases[lease.index(self.leases.len())];
        let state = self.model.state(model.job()).unwrap();
        let legal: Vec<EventBody> = allowed(&state).into_iter().map(|event| event.body).collect();
        let choice = if legal.is_empty() || matches!(flaw, Flaw::AnyBody) { bodies(&state) } else { legal };
        // The smaller of two: what leads on is likelier.
        let place = body.0.index(choice.len()).min(body.1.index(choice.len()));
        let event = Event { fence: model.fence(), ..after(&state, choice[place].clone()) };
        let event = spoil(event, flaw);
        let answer = self.model.append(model, &event);
        assert_eq!(answer, self.sqlite.append(sqlite, &event));
        self.live.extend(answer);
    }

    fn note(&mut self, job: &JobId) {
        let state = self.same(|store| store.state(job)).unwrap();
        if state.sequence == 1 && !self.live.contains(&state) {
            self.live.push(state);
        }
    }

    fn compare(&self) {
        drop(self.same(|store| store.jobs()));
        for bits in 0..4 {
            drop(self.same(|store| (store.lease_of(&job(bits)), store.state(&job(bits)))));
            let Ok(events) = self.same(|store| store.events(&job(bits))) else { continue };
            let live: Vec<_> = self.live.iter().filter(|state| state.id == job(bits)).collect();
            assert_eq!(events.len(), live.len());
            for (state, count) in live.into_iter().zip(1..) {
                assert_eq!(JobState::replay(&events[..count]).unwrap().as_ref(), Some(state));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sqlite_store_answers_as_the_model_does(calls in prop::collection::vec(call(), 1..60)) {
        let mut pair = Pair::new();
        for call in &calls {
            pair.make(call);
        }
        pair.compare();
        pair.make(&Call::Reopen);
        pair.compare();
    }
}
