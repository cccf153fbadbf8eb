//! Generators of plans, evidence and gate answers for this crate's own tests.

use proptest::prelude::*;

use crate::declaration::Declaration;
use crate::evidence::{
    Above, Capture, CaptureProblem, CaptureProblemKind, CaptureSource, CheckRun, CriteriaEntry, CriteriaKind,
    Evidence, Exit, Isolation, LeftOut, OutsideLink, Remaining, Room, StandIn, Stream, Survivors, WayOut,
};
use crate::gate::{Finding, Gate, GateOutcome, GateResult, Reason, Role};
use crate::isolation::IsolationLevel;
use crate::plan::{AtBase, DeclarationKind, DeclarationSource, FreezeFacts, Plan};
use crate::tree::{Change, Entry, EntryMode};
use crate::{CommitId, Digest, ObjectId, RepoPath, TreeId};

pub(crate) fn path(text: &str) -> RepoPath {
    text.parse().unwrap()
}

pub(crate) fn commit(digit: char) -> CommitId {
    digit.to_string().repeat(40).parse().unwrap()
}

pub(crate) fn tree(digit: char) -> TreeId {
    digit.to_string().repeat(40).parse().unwrap()
}

fn object(digit: char) -> ObjectId {
    digit.to_string().repeat(40).parse().unwrap()
}

/// A plan whose declaration has these additional keys, as JSON text that begins with a comma, or nothing.
pub(crate) fn plan_with(keys: &str) -> Plan {
    let text = format!(
        r#"{{"criteriaPaths": ["tests"], "commands": [{{"name": "tests", "executable": "make", "args": ["test"]}},
        {{"name": "style", "executable": "make", "args": ["style"], "required": false}}]{keys}}}"#
    );
    let terms = Declaration::from_json(text.as_bytes()).unwrap().settle().unwrap();
    let facts = FreezeFacts {
        base: commit('b'),
        base_tree: tree('b'),
        declaration: DeclarationSource { kind: DeclarationKind::File, digest: Digest::of(text.as_bytes()) },
        criteria: baseline(),
        tools: Vec::new(),
        at_base: vec![AtBase { check: "tests".to_owned(), exit: Exit::Exited { code: 1 }, passed: false }],
    };
    Plan::freeze(terms, facts).unwrap()
}

pub(crate) fn baseline() -> Vec<CriteriaEntry> {
    [("tests/a.sh", CriteriaKind::Executable), ("tests/data/x.json", CriteriaKind::File)]
        .map(|(at, kind)| CriteriaEntry { path: path(at), kind, digest: Some(Digest::of(at.as_bytes())) })
        .to_vec()
}

pub(crate) fn check_run(name: &str, exit: Exit) -> CheckRun {
    CheckRun {
        name: name.to_owned(),
        exit,
        stdout: Stream { bytes: 3, log: Some(Digest::of(b"ok\n")), truncated: false },
        stderr: Stream::default(),
        duration_ms: 10,
        program_removed: false,
        drift: Vec::new(),
        touched: Vec::new(),
        unread: Vec::new(),
        survivors: Survivors::default(),
    }
}

pub(crate) fn change(at: &str) -> Change {
    Change { path: path(at), before: None, after: Some(Entry { mode: EntryMode::File, object: object('1') }) }
}

/// Evidence of honest work: with a plan of [`plan_with`] it is VERIFIED.
pub(crate) fn honest(plan: &Plan) -> Evidence {
    Evidence {
        schema_version: 1,
        plan: plan.digest(),
        capture: Capture {
            source: CaptureSource::Workspace,
            base: plan.content().base.clone(),
            candidate: Some(commit('c')),
            tree: Some(tree('c')),
            changes: vec![change("src/a.sh")],
            criteria: baseline(),
            outside_links: Vec::new(),
            problems: Vec::new(),
            ignored: LeftOut::default(),
            caches: LeftOut::default(),
            notes: Vec::new(),
            survivors: Some(Survivors::default()),
        },
        isolation: Isolation { level: IsolationLevel::I1, capabilities: Vec::new() },
        checks: vec![
            check_run("tests", Exit::Exited { code: 0 }),
            check_run("style", Exit::Exited { code: 0 }),
        ],
        room: Some(Room { tree: Some(tree('c')), ..Room::default() }),
        changed_tools: Vec::new(),
        faults: Vec::new(),
    }
}

pub(crate) fn any_exit() -> impl Strategy<Value = Exit> {
    let text = || "[a-z]{1,8}".prop_map(String::from);
    prop_oneof![
        (0..=255).prop_map(|code| Exit::Exited { code }),
        (1..=64).prop_map(|signal| Exit::Signalled { signal }),
        text().prop_map(|limit| Exit::Killed { limit }),
        (1_u64..100).prop_map(|seconds| Exit::TimedOut { seconds }),
        text().prop_map(|text| Exit::NotStarted { text }),
        Just(Exit::Cancelled),
        text().prop_map(|text| Exit::Lost { text }),
        text().prop_map(|text| Exit::NotRun { text }),
    ]
}

/// One way in which a fact that was known becomes unknown.
pub(crate) fn any_loss() -> impl Strategy<Value = fn(&mut Evidence)> {
    let losses: Vec<fn(&mut Evidence)> = vec![
        |e| e.capture.candidate = None,
        |e| e.capture.tree = None,
        |e| e.capture.criteria.clear(),
        |e| e.capture.criteria[0].digest = None,
        |e| e.capture.criteria[1].kind = CriteriaKind::Unreadable,
        |e| {
            let kind = CaptureProblemKind::Unreadable;
            e.capture.problems.push(CaptureProblem { kind, path: None, text: "unread".to_owned() });
        },
        |e| {
            let survivors =
                Survivors { remaining: Remaining::Unknown("lost".to_owned()), ..Survivors::default() };
            e.capture.survivors = Some(survivors);
        },
        |e| {
            let link =
                OutsideLink { path: path("src/a.sh"), target: "../..".to_owned(), leads: WayOut::Above };
            e.capture.outside_links.push(link);
        },
        |e| e.isolation.level = IsolationLevel::I0,
        |e| e.checks.clear(),
        |e| {
            e.checks.remove(0);
        },
        |e| e.checks[0].exit = Exit::Lost { text: "lost".to_owned() },
        |e| e.checks[0].exit = Exit::NotRun { text: "not run".to_owned() },
        |e| e.checks[0].exit = Exit::NotStarted { text: "gone".to_owned() },
        |e| e.checks[0].exit = Exit::TimedOut { seconds: 1 },
        |e| e.checks[0].exit = Exit::Cancelled,
        |e| e.checks[0].exit = Exit::Killed { limit: "memory".to_owned() },
        |e| e.checks[0].exit = Exit::Exited { code: 127 },
        |e| e.checks[0].stdout.log = None,
        |e| e.checks[0].unread.push("unread".to_owned()),
        |e| e.checks[1].survivors.remaining = Remaining::Some(1),
        |e| e.room = Some(Room::default()),
        |e| e.room = Some(Room { tree: Some(tree('d')), ..Room::default() }),
        |e| {
            let stand_in = StandIn { product: path("src/a.o"), source: path("src/a.c") };
            e.room.as_mut().unwrap().stand_ins.push(stand_in);
        },
        |e| {
            let above = Above { path: "/package.json".to_owned(), tool: "node".to_owned() };
            e.room.as_mut().unwrap().above.push(above);
        },
        |e| e.faults.push("a fault".to_owned()),
        |e| e.plan = Digest::of(b"another plan"),
        |e| e.capture.base = commit('d'),
        |e| e.schema_version = 2,
    ];
    proptest::sample::select(losses)
}

pub(crate) fn any_gate_result() -> impl Strategy<Value = GateResult> {
    let gate = prop_oneof![
        Just(Gate::Integrity),
        Just(Gate::Scope),
        Just(Gate::Criteria),
        Just(Gate::Outcome),
        "[a-z]{1,4}".prop_map(Gate::Check)
    ];
    let role = proptest::sample::select(vec![Role::Veto, Role::Required, Role::Advisory]);
    let outcome = proptest::sample::select(vec![
        GateOutcome::Pass,
        GateOutcome::Fail,
        GateOutcome::Unsure,
        GateOutcome::Skipped,
        GateOutcome::NotAsked,
    ]);
    (gate, role, outcome, proptest::sample::select(Reason::ALL)).prop_map(|(gate, role, outcome, code)| {
        let findings = match outcome {
            GateOutcome::Fail | GateOutcome::Unsure => {
                vec![Finding { code, path: None, text: "found".to_owned(), evidence: None }]
            }
            GateOutcome::Pass | GateOutcome::Skipped | GateOutcome::NotAsked => Vec::new(),
        };
        GateResult { gate, role, outcome, findings }
    })
}
