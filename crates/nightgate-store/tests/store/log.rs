//! Jobs and events to write. Says nothing about stores.

use nightgate_core::event::{Actor, Event, EventBody, JobKind};
use nightgate_core::execution::{Execution, Limit};
use nightgate_core::gate::Reason;
use nightgate_core::job::JobState;
use nightgate_core::verdict::VerdictWord;
use nightgate_core::{CommitId, Digest, JobId};

pub fn job(bits: u64) -> JobId {
    JobId::from_bits(bits)
}

pub fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub fn created(job: &JobId, kind: JobKind) -> Event {
    let body = EventBody::Created {
        kind,
        project: "00112233aabbccdd".parse().unwrap(),
        repository: "/home/someone/a project".to_owned(),
        title: format!("make {job} \"work\"\n\u{e9}"),
        request: digest("request"),
    };
    event(job, 1, None, 1, body)
}

/// The event with this body that comes right after `state`, under its fence.
pub fn after(state: &JobState, body: EventBody) -> Event {
    event(&state.id, state.sequence + 1, Some(state.head), state.fence, body)
}

fn event(job: &JobId, sequence: u64, previous: Option<Digest>, fence: u64, body: EventBody) -> Event {
    let actor = Actor { identity: "user:1000".to_owned(), scope: body.scope() };
    Event { job: job.clone(), sequence, previous, at_ms: 1_800_000_000_000 + sequence, fence, actor, body }
}

/// All kinds of bodies that could come next; those that lead on come first.
pub fn bodies(state: &JobState) -> Vec<EventBody> {
    let attempt = state.attempts;
    let ended =
        |execution| EventBody::AttemptEnded { attempt, execution, stdout: Some(digest("log")), stderr: None };
    let judged = |verdict, reasons| EventBody::Judged { record: digest("record"), verdict, reasons };
    vec![
        EventBody::Frozen { plan: digest("plan"), base: commit() },
        EventBody::Authorized { plan: digest("plan"), approved_by: "user:1000".to_owned() },
        ended(Execution::Executed),
        EventBody::AttemptStarted { attempt: attempt + 1, agent: "scripted".to_owned() },
        EventBody::Captured {
            candidate: Some(commit()),
            reference: Some("refs/nightgate/x/candidate".to_owned()),
            capture: digest("capture"),
        },
        judged(VerdictWord::Verified, Vec::new()),
        judged(VerdictWord::Failed, vec![Reason::ALL[0]]),
        ended(Execution::TimedOut { limit: Limit::Silence, seconds: 900 }),
        EventBody::AwaitedApproval { digest: digest("configuration"), of: "nightgate.toml".to_owned() },
        EventBody::Stopped { why: "the environment failed".to_owned() },
        EventBody::Cancelled { why: "asked to".to_owned() },
    ]
}

fn commit() -> CommitId {
    "0123456789abcdef0123456789abcdef01234567".parse().unwrap()
}

/// The events that may come after `state`, those that lead on first.
pub fn allowed(state: &JobState) -> Vec<Event> {
    let events = bodies(state).into_iter().map(|body| after(state, body));
    events.filter(|event| JobState::apply(Some(state.clone()), event).is_ok()).collect()
}

/// A whole log: from asked to VERIFIED.
pub fn verified(job: &JobId) -> Vec<Event> {
    let mut events = vec![created(job, JobKind::Run)];
    let mut state = JobState::replay(&events).unwrap().unwrap();
    while let Some(next) = allowed(&state).into_iter().next() {
        assert!(events.len() < 20, "it never ends: {events:?}");
        state = JobState::apply(Some(state), &next).unwrap();
        events.push(next);
    }
    assert_eq!(state.verdict, Some(VerdictWord::Verified));
    events
}
