//! The files of `examples/minimal` against the program. They are never rewritten here: what is in them came from one real
//! job, and the README beside them says how to make new ones.

use nightgate_core::declaration::{Declaration, Terms};
use nightgate_core::event::{Actor, Event, EventBody, JobKind};
use nightgate_core::evidence::Evidence;
use nightgate_core::job::JobState;
use nightgate_core::plan::{DeclarationKind, Plan};
use nightgate_core::record::{FrozenAt, Record};
use nightgate_core::{Digest, strict_json};
use nightgate_engine::Report;

use crate::verdict_text::{self, Colour};

const TOML: &[u8] = include_bytes!("../../../examples/minimal/nightgate.toml");
const JSON: &[u8] = include_bytes!("../../../examples/minimal/declaration.json");
const PLAN: &[u8] = include_bytes!("../../../examples/minimal/plan.json");
const EVIDENCE: &[u8] = include_bytes!("../../../examples/minimal/evidence.json");
const RECORD: &[u8] = include_bytes!("../../../examples/minimal/record.json");
const VERDICT: &str = include_str!("../../../examples/minimal/verdict.txt");

/// When the job was made, as its first event said. No file of the example holds it, and the verdict shows the base's age.
const CREATED_MS: u64 = 1_796_086_625_484;

/// When the base was committed, as `repository.sh` says, in seconds.
const BASE_TIME: i64 = 1_796_068_800;

fn declared() -> Terms {
    Declaration::from_json(JSON).unwrap().settle().unwrap()
}

fn plan() -> Plan {
    Plan::from_bytes(PLAN.to_vec()).unwrap()
}

#[test]
fn both_spellings_of_the_declaration_mean_the_same_apart_from_the_ticket() {
    let project = Declaration::from_toml(TOML).unwrap().settle().unwrap();
    assert_eq!(project.ticket, None);
    assert_eq!(Terms { ticket: None, ..declared() }, project);
}

#[test]
fn the_plan_is_the_declarations() {
    let plan = plan();
    let content = plan.content();
    assert_eq!(content.terms, declared());
    assert_eq!(content.declaration.kind, DeclarationKind::File);
    assert_eq!(content.declaration.digest, Digest::of(JSON));
}

#[test]
fn judging_the_evidence_by_the_plan_gives_the_record_byte_for_byte() {
    let kept = Record::from_bytes(RECORD).unwrap();
    let evidence: Evidence = strict_json::read(EVIDENCE).unwrap();
    let job = kept.job().clone();
    let execution = kept.execution().cloned();
    let judged = Record::judge(job, JobKind::Run, FrozenAt::Freeze, &plan(), execution, evidence);
    assert_eq!(text(&judged.to_bytes()), text(RECORD));
}

#[test]
fn printing_the_record_gives_the_verdict_byte_for_byte() {
    let record = Record::from_bytes(RECORD).unwrap();
    let plan = record.plan().unwrap();
    let state = state(&record, &plan);
    let report = Report {
        state,
        requested_base: plan.content().base.clone(),
        plan: Some(plan),
        record: Some(record),
        base_time: BASE_TIME,
        tails: std::collections::BTreeMap::new(),
    };
    assert_eq!(verdict_text::job(&report, None, false, Colour(false)), VERDICT);
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The state of the record's job, from the events that it must have had.
fn state(record: &Record, plan: &Plan) -> JobState {
    let job = record.job().clone();
    let digest = plan.digest();
    let candidate = record.evidence().capture.candidate.clone();
    let title = plan.content().terms.ticket.as_ref().unwrap().text.clone();
    let bodies = [
        EventBody::Created {
            kind: JobKind::Run,
            project: "0123456789abcdef".parse().unwrap(),
            repository: "/example".to_owned(),
            title,
            request: Digest::of(b"request"),
        },
        EventBody::Frozen { plan: digest, base: plan.content().base.clone() },
        EventBody::Authorized { plan: digest, approved_by: "user:1000".to_owned() },
        EventBody::AttemptStarted { attempt: 1, agent: "command".to_owned() },
        EventBody::AttemptEnded {
            attempt: 1,
            execution: record.execution().unwrap().clone(),
            stdout: None,
            stderr: None,
        },
        EventBody::Captured {
            candidate,
            reference: Some(format!("refs/nightgate/{job}/candidate")),
            capture: Digest::of(b"capture"),
        },
        EventBody::Judged {
            record: Digest::of(RECORD),
            verdict: record.verdict().word(),
            reasons: record.verdict().reasons(),
        },
    ];
    let mut state: Option<JobState> = None;
    for (sequence, body) in (1..).zip(bodies) {
        let actor = Actor { identity: "user:1000".to_owned(), scope: body.scope() };
        let previous = state.as_ref().map(|state| state.head);
        let event = Event { job: job.clone(), sequence, previous, at_ms: CREATED_MS, fence: 1, actor, body };
        state = Some(JobState::apply(state, &event).unwrap());
    }
    state.unwrap()
}
