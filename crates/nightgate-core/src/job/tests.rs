use proptest::prelude::*;

use super::{JobState, Phase, TransitionError};
use crate::event::{Actor, Event, EventBody, JobKind, Scope};
use crate::execution::{Execution, Limit};
use crate::gate::Reason;
use crate::sample::commit;
use crate::verdict::VerdictWord;
use crate::{Digest, JobId};

fn job() -> JobId {
    "j-00000000".parse().unwrap()
}

fn created(kind: JobKind) -> EventBody {
    EventBody::Created {
        kind,
        project: "0123456789abcdef".parse().unwrap(),
        repository: "/somewhere".to_owned(),
        title: "a task".to_owned(),
        request: Digest::of(b"request"),
    }
}

fn next(previous: Option<&Event>, body: EventBody) -> Event {
    Event {
        job: job(),
        sequence: previous.map_or(1, |event| event.sequence + 1),
        previous: previous.map(|event| Digest::of(&event.to_bytes())),
        at_ms: 1,
        fence: 1,
        actor: Actor { identity: "user:0".to_owned(), scope: body.scope() },
        body,
    }
}

fn log(bodies: Vec<EventBody>) -> Vec<Event> {
    bodies.into_iter().fold(Vec::new(), |mut events, body| {
        let event = next(events.last(), body);
        events.push(event);
        events
    })
}

fn captured() -> EventBody {
    let reference = Some("refs/nightgate/j-00000000/candidate".to_owned());
    EventBody::Captured { candidate: Some(commit('c')), reference, capture: Digest::of(b"capture") }
}

fn ended(execution: Execution) -> EventBody {
    EventBody::AttemptEnded { attempt: 1, execution, stdout: None, stderr: None }
}

fn judged(verdict: VerdictWord) -> EventBody {
    EventBody::Judged { record: Digest::of(b"record"), verdict, reasons: vec![Reason::CheckFailed] }
}

fn whole_run(execution: Execution, verdict: VerdictWord) -> Vec<EventBody> {
    let plan = Digest::of(b"plan");
    let mut bodies = vec![
        created(JobKind::Run),
        EventBody::Frozen { plan, base: commit('b') },
        EventBody::Authorized { plan, approved_by: "user:0".to_owned() },
        EventBody::AttemptStarted { attempt: 1, agent: "command".to_owned() },
        ended(execution.clone()),
        captured(),
    ];
    if execution.is_executed() {
        bodies.push(judged(verdict));
    }
    bodies
}

fn any_body() -> impl Strategy<Value = EventBody> {
    let plan = Digest::of(b"plan");
    let text = || "x".to_owned();
    proptest::sample::select(vec![
        created(JobKind::Run),
        created(JobKind::Verify),
        EventBody::Frozen { plan, base: commit('b') },
        EventBody::AwaitedApproval { digest: plan, of: text() },
        EventBody::Authorized { plan, approved_by: text() },
        EventBody::AttemptStarted { attempt: 1, agent: text() },
        ended(Execution::Executed),
        ended(Execution::Cancelled),
        captured(),
        judged(VerdictWord::Verified),
        judged(VerdictWord::Failed),
        EventBody::Stopped { why: text() },
        EventBody::Cancelled { why: text() },
    ])
}

proptest! {
    #[test]
    fn each_prefix_of_a_log_replays_to_the_live_state(bodies in proptest::collection::vec(any_body(), 1..14)) {
        let (mut live, mut events): (Option<JobState>, Vec<Event>) = (None, Vec::new());
        for body in bodies {
            let event = next(events.last(), body);
            match JobState::apply(live.clone(), &event) {
                Ok(state) => {
                    events.push(event);
                    live = Some(state);
                }
                Err(_) => continue,
            }
            let stored: Vec<Event> = events.iter().map(|event| Event::from_bytes(&event.to_bytes()).unwrap()).collect();
            prop_assert_eq!(&JobState::replay(&stored).unwrap(), &live);
        }
    }

    #[test]
    fn an_ended_job_stays_as_it_ended(body in any_body()) {
        let events = log(whole_run(Execution::Executed, VerdictWord::Verified));
        let state = JobState::replay(&events).unwrap();
        let refused = JobState::apply(state, &next(events.last(), body));
        let illegal = matches!(refused, Err(TransitionError::Illegal { .. }));
        prop_assert!(illegal);
    }
}

#[test]
fn a_verified_run_is_done_and_every_other_end_is_blocked() {
    let state = |bodies| JobState::replay(&log(bodies)).unwrap().unwrap();
    assert_eq!(state(whole_run(Execution::Executed, VerdictWord::Verified)).phase, Phase::Done);
    for verdict in [VerdictWord::Failed, VerdictWord::Uncertain] {
        let state = state(whole_run(Execution::Executed, verdict));
        assert!(matches!(state.phase, Phase::Blocked { .. }));
        assert_eq!(state.execution, Some(Execution::Executed), "the axes were merged");
    }
    let late = Execution::TimedOut { limit: Limit::Wall, seconds: 1 };
    let state = state(whole_run(late, VerdictWord::Verified));
    assert!(matches!(state.phase, Phase::Blocked { .. }));
    assert_eq!((state.verdict, state.candidate), (None, Some(commit('c'))));
}

#[test]
fn an_attempt_that_was_not_executed_is_never_judged() {
    let mut bodies = whole_run(Execution::Cancelled, VerdictWord::Verified);
    bodies.push(judged(VerdictWord::Verified));
    assert!(matches!(JobState::replay(&log(bodies)), Err(TransitionError::Illegal { event: "judged", .. })));
}

#[test]
fn nothing_is_captured_while_the_mutation_window_is_open() {
    let mut bodies = whole_run(Execution::Executed, VerdictWord::Verified);
    bodies.remove(4);
    assert!(matches!(
        JobState::replay(&log(bodies)),
        Err(TransitionError::Illegal { event: "captured", .. })
    ));
}

#[test]
fn an_agent_never_starts_without_the_approval_of_this_plan() {
    let mut bodies = whole_run(Execution::Executed, VerdictWord::Verified);
    bodies[2] = EventBody::Authorized { plan: Digest::of(b"another plan"), approved_by: "user:0".to_owned() };
    assert!(matches!(
        JobState::replay(&log(bodies)),
        Err(TransitionError::Illegal { event: "authorized", .. })
    ));
}

#[test]
fn there_are_never_two_attempts_at_once() {
    let mut bodies = whole_run(Execution::Executed, VerdictWord::Verified);
    bodies.insert(4, EventBody::AttemptStarted { attempt: 2, agent: "command".to_owned() });
    assert!(matches!(JobState::replay(&log(bodies)), Err(TransitionError::Illegal { sequence: 5, .. })));
}

#[test]
fn a_frozen_job_waits_for_no_approval_of_its_declaration() {
    let mut bodies = whole_run(Execution::Executed, VerdictWord::Verified);
    bodies.insert(2, EventBody::AwaitedApproval { digest: Digest::of(b"x"), of: "x".to_owned() });
    assert!(matches!(JobState::replay(&log(bodies)), Err(TransitionError::Illegal { sequence: 3, .. })));
}

#[test]
fn an_altered_missing_or_misplaced_event_breaks_the_chain() {
    let events = log(whole_run(Execution::Executed, VerdictWord::Verified));
    let mut altered = events.clone();
    altered[1].at_ms = 2;
    assert!(matches!(JobState::replay(&altered), Err(TransitionError::Unchained { sequence: 3, .. })));
    let mut missing = events.clone();
    missing.remove(2);
    assert!(matches!(JobState::replay(&missing), Err(TransitionError::OutOfOrder { expected: 3, .. })));
    let mut fenced = events;
    fenced[3].fence = 0;
    assert!(matches!(JobState::replay(&fenced), Err(TransitionError::OutOfOrder { .. })));
}

#[test]
fn an_execution_identity_never_writes_a_verdict() {
    let mut events = log(whole_run(Execution::Executed, VerdictWord::Verified));
    let last = events.last_mut().unwrap();
    last.actor.scope = Scope::Execute;
    assert!(matches!(JobState::replay(&events), Err(TransitionError::OutOfScope { event: "judged", .. })));
}
