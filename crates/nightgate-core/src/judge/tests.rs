use proptest::prelude::*;

use super::{Findings, finding, is_vetoed, judge};
use crate::evidence::{
    Above, CaptureProblem, CaptureProblemKind, CriteriaEntry, CriteriaKind, Evidence, Exit, OutsideLink,
    SetupRun, SetupTree, StandIn, Stream, WayOut,
};
use crate::gate::{FailureClass, Finding, Gate, GateOutcome, GateResult, MOST_OF_A_CODE, Reason, Role};
use crate::plan::Plan;
use crate::sample::{
    any_exit, any_gate_result, any_loss, change, check_run, commit, honest, path, plan_with,
};
use crate::verdict::{Verdict, VerdictWord};

fn judged(keys: &str, alter: impl FnOnce(&mut Evidence)) -> Verdict {
    let plan = plan_with(keys);
    let mut evidence = honest(&plan);
    alter(&mut evidence);
    judge(&plan, &evidence)
}

#[track_caller]
fn assert_failed(verdict: &Verdict, code: Reason) {
    assert_eq!(verdict.word(), VerdictWord::Failed, "{verdict:#?}");
    assert!(verdict.reasons().contains(&code), "{:?}", verdict.reasons());
}

#[track_caller]
fn assert_uncertain(verdict: &Verdict, code: Reason) {
    assert_eq!(verdict.word(), VerdictWord::Uncertain, "{verdict:#?}");
    assert!(verdict.reasons().contains(&code), "{:?}", verdict.reasons());
}

fn any_code() -> impl Strategy<Value = Reason> {
    proptest::sample::select(&Reason::ALL[..6])
}

fn rank(word: VerdictWord) -> u8 {
    match word {
        VerdictWord::Failed => 0,
        VerdictWord::Uncertain => 1,
        VerdictWord::Verified => 2,
    }
}

proptest! {
    #[test]
    fn the_order_of_gates_never_matters(gates in proptest::collection::vec(any_gate_result(), 0..8), seed in any::<u64>()) {
        let mut shuffled = gates.clone();
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, (seed as usize).rotate_left(at as u32) % (at + 1));
        }
        let (one, other) = (Verdict::compose(gates), Verdict::compose(shuffled));
        prop_assert_eq!(one.word(), other.word());
        prop_assert_eq!(one.class(), other.class());
        let sorted = |verdict: &Verdict| { let mut codes = verdict.reasons(); codes.sort(); codes };
        prop_assert_eq!(sorted(&one), sorted(&other));
    }

    #[test]
    fn a_failed_required_gate_never_improves_a_verdict(gates in proptest::collection::vec(any_gate_result(), 0..8), mut added in any_gate_result()) {
        added.role = Role::Required;
        added.outcome = GateOutcome::Fail;
        let before = Verdict::compose(gates.clone()).word();
        let after = Verdict::compose([gates, vec![added]].concat()).word();
        prop_assert!(rank(after) <= rank(before));
        prop_assert_eq!(after, VerdictWord::Failed);
    }

    #[test]
    fn an_answer_that_becomes_unknown_never_gives_verified(gates in proptest::collection::vec(any_gate_result(), 1..8), at in any::<usize>()) {
        let mut gates = gates;
        let at = at % gates.len();
        prop_assume!(gates[at].role != Role::Advisory);
        gates[at].outcome = GateOutcome::Unsure;
        prop_assert_ne!(Verdict::compose(gates).word(), VerdictWord::Verified);
    }

    #[test]
    fn a_fact_that_becomes_unknown_never_gives_verified(losses in proptest::collection::vec(any_loss(), 1..4)) {
        let plan = plan_with("");
        for loss in losses {
            let mut evidence = honest(&plan);
            loss(&mut evidence);
            let verdict = judge(&plan, &evidence);
            prop_assert_ne!(verdict.word(), VerdictWord::Verified, "{:#?}", evidence);
            prop_assert!(!verdict.reasons().is_empty());
        }
    }

    #[test]
    fn advisory_answers_change_nothing(gates in proptest::collection::vec(any_gate_result(), 0..8), advisory in proptest::collection::vec(any_gate_result(), 0..4)) {
        let advisory: Vec<_> = advisory.into_iter().map(|mut result| { result.role = Role::Advisory; result }).collect();
        let (without, with) = (Verdict::compose(gates.clone()), Verdict::compose([gates, advisory].concat()));
        prop_assert_eq!(without.word(), with.word());
        prop_assert_eq!(without.reasons(), with.reasons());
        prop_assert_eq!(without.class(), with.class());
    }

    #[test]
    fn without_an_affirmative_pass_nothing_is_verified(gates in proptest::collection::vec(any_gate_result(), 0..8)) {
        let verdict = Verdict::compose(gates.clone());
        let affirmed = gates.iter().any(|gate| gate.role == Role::Required && gate.outcome == GateOutcome::Pass);
        if !affirmed {
            prop_assert_ne!(verdict.word(), VerdictWord::Verified);
        }
        prop_assert_eq!(verdict.reasons().is_empty(), verdict.word() == VerdictWord::Verified);
    }

    #[test]
    fn only_the_expected_exit_of_a_required_check_is_verified(exit in any_exit()) {
        let verdict = judged("", |evidence| evidence.checks[0].exit = exit.clone());
        let expected = exit == Exit::Exited { code: 0 };
        prop_assert_eq!(verdict.word() == VerdictWord::Verified, expected, "{:?}", exit);
    }

    #[test]
    fn how_many_findings_are_listed_changes_nothing_of_a_verdict(
        fails in proptest::collection::vec((any_code(), 1_usize..250), 0..4),
        unsures in proptest::collection::vec((any_code(), 1_usize..250), 0..4),
        others in proptest::collection::vec(any_gate_result(), 0..4),
    ) {
        let many = |codes: Vec<(Reason, usize)>| -> Vec<Finding> {
            let one = |code, at: usize| finding(code, Some(&path(&format!("file{at}"))), "found", None);
            codes.into_iter().flat_map(|(code, count)| (0..count).map(move |at| one(code, at))).collect()
        };
        let found = Findings { fails: many(fails), unsures: many(unsures) };
        let all = [found.fails.clone(), found.unsures.clone()].concat();
        let capped = found.answer(Gate::Scope, Role::Veto);
        let count = |findings: &[Finding], code| findings.iter().filter(|finding| finding.code == code).count();
        for code in Reason::ALL {
            // Fails and unsures of one code are counted apart.
            prop_assert!(count(&capped.findings, *code) <= 2 * (MOST_OF_A_CODE + 1));
        }
        let whole = GateResult { findings: all, ..capped.clone() };
        let verdict = |gate: GateResult| Verdict::compose([others.clone(), vec![gate]].concat());
        let (one, other) = (verdict(capped), verdict(whole));
        prop_assert_eq!(one.word(), other.word());
        prop_assert_eq!(one.class(), other.class());
        prop_assert_eq!(one.reasons(), other.reasons());
    }

    #[test]
    fn an_advisory_check_decides_nothing(exit in any_exit()) {
        let verdict = judged("", |evidence| evidence.checks[1].exit = exit);
        prop_assert_eq!(verdict.word(), VerdictWord::Verified);
    }
}

#[test]
fn twenty_thousand_changed_criteria_are_told_in_a_hundred_findings_and_a_number() {
    let verdict = judged("", |evidence| {
        for at in 0..20_000 {
            let (path, kind) = (path(&format!("tests/{at}")), CriteriaKind::File);
            evidence.capture.criteria.push(CriteriaEntry { path, kind, digest: None });
        }
    });
    assert_failed(&verdict, Reason::CriteriaModified);
    let findings = verdict.findings();
    assert_eq!(findings.len(), MOST_OF_A_CODE + 1);
    let (gate, last) = findings[MOST_OF_A_CODE];
    assert_eq!((gate, &last.path, last.code), (&Gate::Criteria, &None, Reason::CriteriaModified));
    assert_eq!(last.text, "and 19900 more, which are not listed");
}

#[test]
fn honest_work_is_verified() {
    let verdict = judged("", |_| {});
    assert_eq!(verdict.word(), VerdictWord::Verified, "{verdict:#?}");
    assert!(verdict.reasons().is_empty());
    assert_eq!(verdict.class(), None);
}

#[test]
fn criteria_that_differ_are_failed_for_the_right_reason() {
    type Alter = fn(&mut Vec<CriteriaEntry>);
    let cases: [(Reason, Alter); 10] = [
        (Reason::CriteriaTypeChanged, |c| c[0].path = path("tests/a.sh/inside")),
        (Reason::CriteriaModified, |c| c[0].digest = Some(crate::Digest::of(b"weaker"))),
        (Reason::CriteriaModified, |c| c[0].kind = CriteriaKind::File),
        (Reason::CriteriaModified, |c| c[1].kind = CriteriaKind::Unreadable),
        (Reason::CriteriaModified, |c| {
            c.push(CriteriaEntry { path: path("tests/new"), kind: CriteriaKind::File, digest: None });
        }),
        (Reason::CriteriaDeleted, |c| {
            c.remove(1);
        }),
        (Reason::CriteriaTypeChanged, |c| c[0].kind = CriteriaKind::Special),
        (Reason::CriteriaTypeChanged, |c| c[0].kind = CriteriaKind::Folder),
        (Reason::CriteriaRedirected, |c| c[0].kind = CriteriaKind::Symlink),
        (Reason::CriteriaRedirected, |c| {
            c[1] = CriteriaEntry { path: path("tests/data"), kind: CriteriaKind::Symlink, digest: None };
        }),
    ];
    for (code, alter) in cases {
        let verdict = judged("", |evidence| alter(&mut evidence.capture.criteria));
        assert_failed(&verdict, code);
        assert_eq!(verdict.class(), Some(FailureClass::Tamper));
    }
}

const HIDING: [CaptureProblemKind; 3] =
    [CaptureProblemKind::Converted, CaptureProblemKind::IgnoredElsewhere, CaptureProblemKind::Submodule];

#[track_caller]
fn hide(evidence: &mut Evidence, kind: CaptureProblemKind, at: &str) {
    evidence.capture.problems.push(CaptureProblem { kind, path: Some(path(at)), text: "hidden".to_owned() });
}

#[test]
fn a_path_that_hides_what_a_commit_would_hold_is_unknown_and_not_a_fact_against_the_work() {
    let keys = r#", "allowedPaths": ["src"], "protectedPathsUnchanged": ["lib"]"#;
    for kind in HIDING {
        let verdict = judged(keys, |evidence| {
            evidence.capture.criteria[1].digest = Some(crate::Digest::of(b"with other line ends"));
            for at in ["tests/data/x.json", "tests/new", "lib/sub/file", "nightgate.toml"] {
                evidence.capture.changes.push(change(at));
                hide(evidence, kind, at.strip_suffix("/file").unwrap_or(at));
            }
            let (path, kind) = (path("tests/new"), CriteriaKind::File);
            evidence.capture.criteria.push(CriteriaEntry { path, kind, digest: None });
        });
        assert_uncertain(&verdict, Reason::EvidenceIncomplete);
        assert_eq!(verdict.reasons(), [Reason::EvidenceIncomplete]);
        // Beside it, what is known still counts.
        let verdict = judged(keys, |evidence| {
            evidence.capture.criteria[0].digest = Some(crate::Digest::of(b"weaker"));
            hide(evidence, kind, "tests/data/x.json");
        });
        assert_failed(&verdict, Reason::CriteriaModified);
    }
}

#[test]
fn a_check_of_other_files_than_a_commit_would_hold_can_neither_fail_nor_verify_it() {
    for kind in HIDING {
        let with = |exit: Exit| {
            judged("", |evidence| {
                evidence.checks[0].exit = exit;
                evidence.capture.ignored.add(path("src/generated.sh"));
                hide(evidence, kind, "src/a.sh");
            })
        };
        assert_uncertain(&with(Exit::Exited { code: 1 }), Reason::CheckFailed);
        assert_uncertain(&with(Exit::Signalled { signal: 11 }), Reason::CheckSignal);
        assert_uncertain(&with(Exit::Exited { code: 0 }), Reason::EvidenceIncomplete);
    }
}

#[test]
fn without_a_candidate_nothing_is_held_against_the_work() {
    let verdict = judged("", |evidence| {
        evidence.capture.candidate = None;
        evidence.capture.changes.clear();
        evidence.capture.criteria.clear();
    });
    assert_uncertain(&verdict, Reason::EvidenceIncomplete);
}

#[test]
fn where_something_could_not_be_read_that_nothing_changed_is_not_known() {
    let verdict = judged("", |evidence| {
        evidence.capture.changes.clear();
        let (kind, path) = (CaptureProblemKind::Unreadable, Some(path("src")));
        evidence.capture.problems.push(CaptureProblem { kind, path, text: "permission denied".to_owned() });
    });
    assert_uncertain(&verdict, Reason::OutcomeAbsent);
}

/// A capture that stopped at `at` because that held more than it may look at.
fn flooded(evidence: &mut Evidence, at: &str) {
    let kind = CaptureProblemKind::OverBudget;
    evidence.capture.problems.push(CaptureProblem {
        kind,
        path: Some(path(at)),
        text: "too many entries".to_owned(),
    });
    let kind = CriteriaKind::Unreadable;
    evidence.capture.criteria.push(CriteriaEntry { path: path(at), kind, digest: None });
}

proptest! {
    #[test]
    fn criteria_below_a_folder_that_was_too_much_are_unknown_and_never_held_against_the_work(
        folder in proptest::sample::select(vec!["tests", "tests/data"]),
        unseen in proptest::sample::select(vec![None, Some(CriteriaKind::Unreadable)]),
    ) {
        let verdict = judged("", |evidence| {
            let below = |entry: &CriteriaEntry| entry.path.is_at_or_below(&path(folder));
            match unseen {
                None => evidence.capture.criteria.retain(|entry| !below(entry)),
                Some(kind) => {
                    for entry in evidence.capture.criteria.iter_mut().filter(|entry| below(entry)) {
                        (entry.kind, entry.digest) = (kind, None);
                    }
                }
            }
            flooded(evidence, folder);
        });
        prop_assert_eq!(verdict.word(), VerdictWord::Uncertain, "{:#?}", verdict);
        prop_assert_eq!(verdict.reasons(), vec![Reason::BudgetExhausted]);
    }

    #[test]
    fn what_was_seen_of_the_criteria_counts_however_much_was_not(
        folder in proptest::sample::select(vec!["src", "tests", "tests/data"]),
        seen in proptest::sample::select(vec![CriteriaKind::File, CriteriaKind::Symlink, CriteriaKind::Special]),
    ) {
        let verdict = judged("", |evidence| {
            let first = &mut evidence.capture.criteria[0];
            (first.kind, first.digest) = (seen, Some(crate::Digest::of(b"another")));
            flooded(evidence, folder);
        });
        prop_assert_eq!(verdict.word(), VerdictWord::Failed, "{:#?}", verdict);
    }
}

#[test]
fn criteria_are_held_against_the_work_where_another_folder_was_too_much() {
    let gone = |evidence: &mut Evidence| {
        evidence.capture.criteria.remove(0);
        let path = Some(path("src"));
        let kind = CaptureProblemKind::OverBudget;
        evidence.capture.problems.push(CaptureProblem { kind, path, text: "too many entries".to_owned() });
    };
    assert_failed(&judged("", gone), Reason::CriteriaDeleted);
}

#[test]
fn a_criteria_file_that_became_too_much_or_unreadable_itself_is_held_against_the_work() {
    for kind in [CaptureProblemKind::OverBudget, CaptureProblemKind::Unreadable] {
        let verdict = judged("", |evidence| {
            let entry = &mut evidence.capture.criteria[1];
            (entry.kind, entry.digest) = (CriteriaKind::Unreadable, None);
            let path = Some(entry.path.clone());
            evidence.capture.problems.push(CaptureProblem { kind, path, text: "not read".to_owned() });
        });
        assert_failed(&verdict, Reason::CriteriaModified);
    }
    // A folder that nobody may look into any more is the attempt's doing.
    let verdict = judged("", |evidence| {
        let kind = CriteriaKind::Unreadable;
        evidence.capture.criteria[1] = CriteriaEntry { path: path("tests/data"), kind, digest: None };
        let (kind, path) = (CaptureProblemKind::Unreadable, Some(path("tests/data")));
        evidence.capture.problems.push(CaptureProblem { kind, path, text: "permission denied".to_owned() });
    });
    assert_failed(&verdict, Reason::CriteriaModified);
}

fn outside_link(at: &str, leads: WayOut) -> OutsideLink {
    OutsideLink { path: path(at), target: "/outside".to_owned(), leads }
}

#[test]
fn work_that_a_link_leads_out_of_is_uncertain_and_still_failed_where_a_check_says_no() {
    for leads in [WayOut::Absolute, WayOut::Above, WayOut::Unknown] {
        let link =
            |evidence: &mut Evidence| evidence.capture.outside_links.push(outside_link("src/a.sh", leads));
        let verdict = judged("", link);
        assert_uncertain(&verdict, Reason::LinkOutside);
        assert_eq!(verdict.class(), Some(FailureClass::Uncertain));
        let verdict = judged("", |evidence| {
            link(evidence);
            evidence.checks[0].exit = Exit::Exited { code: 1 };
        });
        assert_failed(&verdict, Reason::CheckFailed);
    }
}

#[test]
fn a_changed_link_at_criteria_has_their_finding_alone_and_an_unchanged_one_its_own() {
    for at in ["tests", "tests/data", "tests/data/x.json"] {
        let verdict = judged("", |evidence| {
            evidence.capture.changes.push(change(at));
            evidence.capture.outside_links.push(outside_link(at, WayOut::Absolute));
        });
        assert_failed(&verdict, Reason::CriteriaModified);
        assert!(!verdict.reasons().contains(&Reason::LinkOutside), "{at}: {:?}", verdict.reasons());
        let verdict = judged("", |evidence| {
            evidence.capture.outside_links.push(outside_link(at, WayOut::Above));
        });
        assert_uncertain(&verdict, Reason::LinkOutside);
    }
}

#[test]
fn a_special_file_beside_the_criteria_is_no_member() {
    let verdict = judged("", |evidence| {
        let kind = CriteriaKind::Special;
        evidence.capture.criteria.push(CriteriaEntry { path: path("tests/fifo"), kind, digest: None });
    });
    assert_eq!(verdict.word(), VerdictWord::Verified);
}

#[test]
fn a_changed_criteria_path_is_failed_even_where_the_observation_missed_it() {
    assert_failed(&judged("", |e| e.capture.changes.push(change("tests/a.sh"))), Reason::CriteriaModified);
}

#[test]
fn a_changed_project_file_is_influence() {
    assert_failed(
        &judged("", |e| e.capture.changes.push(change("nightgate.toml"))),
        Reason::InfluenceChanged,
    );
}

#[test]
fn scope_is_kept_by_path_and_not_by_prefix() {
    let keys = r#", "protectedPathsUnchanged": ["src/b"], "dependencyFilesUnchanged": ["package.json"], "allowedPaths": ["src", "package.json"]"#;
    for (at, code) in [
        ("src/b", Reason::ProtectedChanged),
        ("src/b/c", Reason::ProtectedChanged),
        ("package.json", Reason::DependencyChanged),
        ("docs/x", Reason::ScopeViolation),
        ("src2/x", Reason::ScopeViolation),
    ] {
        let verdict = judged(keys, |evidence| evidence.capture.changes = vec![change(at)]);
        assert_failed(&verdict, code);
        assert_eq!(verdict.class(), Some(FailureClass::Scope));
    }
    let verdict = judged(keys, |evidence| evidence.capture.changes = vec![change("src/bb")]);
    assert_eq!(verdict.word(), VerdictWord::Verified);
}

#[test]
fn what_had_to_change_and_did_not_is_failed() {
    let nothing = |evidence: &mut Evidence| evidence.capture.changes.clear();
    assert_failed(&judged("", nothing), Reason::OutcomeAbsent);
    assert_failed(&judged(r#", "changedPaths": ["src/b.sh"]"#, |_| {}), Reason::OutcomeAbsent);
    assert_eq!(judged(r#", "changedPaths": ["src"]"#, |_| {}).word(), VerdictWord::Verified);
    assert_eq!(judged(r#", "outcomeRequirement": "any""#, nothing).word(), VerdictWord::Verified);
    let forbidden = r#", "outcomeRequirement": "repository_change_forbidden""#;
    assert_failed(&judged(forbidden, |_| {}), Reason::ScopeViolation);
    assert_eq!(judged(forbidden, nothing).word(), VerdictWord::Verified);
}

#[test]
fn checks_after_a_veto_are_skipped_and_not_absent() {
    let plan = plan_with("");
    let mut evidence = honest(&plan);
    evidence.capture.changes.clear();
    evidence.checks.clear();
    evidence.room = None;
    assert!(is_vetoed(&plan, &evidence));
    let verdict = judge(&plan, &evidence);
    assert_failed(&verdict, Reason::OutcomeAbsent);
    assert!(verdict.gates().iter().skip(4).all(|result| result.outcome == GateOutcome::Skipped));
}

#[test]
fn a_check_that_said_no_is_failed_and_one_that_could_not_say_is_uncertain() {
    let with = |exit: Exit| judged("", |evidence| evidence.checks[0].exit = exit);
    assert_failed(&with(Exit::Exited { code: 2 }), Reason::CheckFailed);
    assert_failed(&with(Exit::Signalled { signal: 11 }), Reason::CheckSignal);
    assert_uncertain(&with(Exit::Exited { code: 127 }), Reason::CheckNotStarted);
    assert_uncertain(&with(Exit::NotStarted { text: "no such file".into() }), Reason::CheckNotStarted);
    assert_uncertain(&with(Exit::TimedOut { seconds: 5 }), Reason::CheckTimeout);
    assert_uncertain(&with(Exit::Killed { limit: "memory".into() }), Reason::CheckKilled);
    assert_uncertain(&with(Exit::Lost { text: "x".into() }), Reason::VerifierError);
}

#[test]
fn a_kill_that_may_be_the_kernels_for_want_of_memory_is_uncertain_and_any_other_end_is_what_it_was() {
    let kills = [Exit::Signalled { signal: 9 }, Exit::Exited { code: 137 }];
    for exit in &kills {
        for killed_any in [Some(true), None] {
            let verdict = judged("", |e| e.checks[0].exit = exit.clone().or_out_of_memory(killed_any));
            assert_uncertain(&verdict, Reason::CheckKilled);
        }
        assert_eq!(exit.clone().or_out_of_memory(Some(false)), *exit);
    }
    for exit in [Exit::Signalled { signal: 15 }, Exit::Exited { code: 1 }, Exit::Exited { code: 0 }] {
        assert_eq!(exit.clone().or_out_of_memory(Some(true)), exit);
    }
}

#[test]
fn a_failure_that_base_has_too_is_told_and_not_excused() {
    let verdict = judged("", |evidence| evidence.checks[0].exit = Exit::Exited { code: 1 });
    assert_failed(&verdict, Reason::CheckFailed);
    assert!(verdict.findings()[0].1.text.contains("preExisting"), "{verdict:#?}");
}

#[test]
fn a_failed_check_beside_ignored_new_files_is_not_self_contained() {
    let verdict = judged("", |evidence| {
        evidence.checks[0].exit = Exit::Exited { code: 1 };
        evidence.capture.ignored.add(path("src/generated.sh"));
    });
    assert_failed(&verdict, Reason::NotSelfContained);
    let passing = judged("", |evidence| evidence.capture.ignored.add(path("src/generated.sh")));
    assert_eq!(passing.word(), VerdictWord::Verified);
}

#[test]
fn a_check_whose_program_the_candidate_removed_is_failed() {
    let verdict = judged("", |evidence| {
        evidence.checks[0].exit = Exit::NotStarted { text: "no such file".into() };
        evidence.checks[0].program_removed = true;
    });
    assert_failed(&verdict, Reason::CheckFailed);
}

#[test]
fn files_that_change_while_checks_run_are_uncertain() {
    let drift = |at: &'static str| move |evidence: &mut Evidence| evidence.checks[0].drift.push(path(at));
    assert_uncertain(&judged("", drift("tests/a.sh")), Reason::CriteriaUnstable);
    assert_uncertain(&judged("", drift("src/a.sh")), Reason::TreeUnstable);
    let outputs = r#", "allowedPaths": ["src"]"#;
    assert_uncertain(&judged(outputs, drift("Cargo.lock")), Reason::TreeUnstable);
}

#[test]
fn criteria_that_were_rewritten_and_restored_are_uncertain_and_other_files_are_not() {
    let touched = |at: &'static str| move |evidence: &mut Evidence| evidence.checks[1].touched.push(path(at));
    assert_uncertain(&judged("", touched("tests/a.sh")), Reason::CriteriaUnstable);
    assert_eq!(judged("", touched("src/a.sh")).word(), VerdictWord::Verified);
}

#[test]
fn outputs_of_a_command_may_be_rewritten_by_it_alone() {
    let text = plan_with("").bytes().to_vec();
    let text = String::from_utf8(text).unwrap().replacen(
        r#""outputs": []"#,
        r#""outputs": ["Cargo.lock", "tests/a.sh"]"#,
        1,
    );
    let plan = Plan::from_bytes(text.into_bytes()).unwrap();
    let drifted = |check: usize, at: &str| {
        let mut evidence = honest(&plan);
        evidence.checks[check].drift.push(path(at));
        judge(&plan, &evidence)
    };
    assert_eq!(drifted(0, "Cargo.lock").word(), VerdictWord::Verified);
    assert_uncertain(&drifted(1, "Cargo.lock"), Reason::TreeUnstable);
    assert_uncertain(&drifted(0, "tests/a.sh"), Reason::CriteriaUnstable);
}

#[test]
fn a_failed_setup_step_is_uncertain() {
    let verdict = judged("", |evidence| {
        for run in &mut evidence.checks {
            run.exit = Exit::NotRun { text: "setup failed".into() };
        }
        let room = evidence.room.as_mut().unwrap();
        room.setup.push(SetupRun {
            name: "deps".into(),
            on: SetupTree::Base,
            exit: Exit::Exited { code: 1 },
            stdout: Stream::default(),
            stderr: Stream::default(),
            duration_ms: 1,
        });
    });
    assert_uncertain(&verdict, Reason::SetupFailed);
}

#[test]
fn a_product_of_setup_that_can_stand_in_for_a_file_is_uncertain_whatever_the_checks_say() {
    let stand_in = |evidence: &mut Evidence| {
        let stand_in = StandIn { product: path("out/a.o"), source: path("src/a.sh") };
        evidence.room.as_mut().unwrap().stand_ins.push(stand_in);
    };
    assert_uncertain(&judged("", stand_in), Reason::SetupStale);
    let verdict = judged("", |evidence| {
        stand_in(evidence);
        for run in &mut evidence.checks {
            run.exit = Exit::NotRun { text: "the clean room failed".into() };
        }
    });
    assert_uncertain(&verdict, Reason::SetupStale);
    assert_eq!(verdict.reasons(), [Reason::SetupStale]);
}

#[test]
fn what_steers_tools_from_above_the_room_is_uncertain() {
    let verdict = judged("", |evidence| {
        let above = Above { path: "/home/u/package.json".into(), tool: "node".into() };
        evidence.room.as_mut().unwrap().above.push(above);
    });
    assert_uncertain(&verdict, Reason::InfluenceAbove);
    assert!(verdict.findings()[0].1.text.contains("/home/u/package.json"), "{verdict:#?}");
}

#[test]
fn a_level_below_the_minimum_is_uncertain_and_tampering_still_failed() {
    let keys = r#", "isolation": {"minimum": "I3"}"#;
    assert_uncertain(&judged(keys, |_| {}), Reason::SandboxDegraded);
    assert_failed(&judged(keys, |evidence| evidence.capture.criteria.clear()), Reason::CriteriaDeleted);
}

#[test]
fn a_pinned_tool_that_changed_is_uncertain_and_another_is_only_noted() {
    let changed = |evidence: &mut Evidence| evidence.changed_tools.push("make".into());
    assert_uncertain(&judged(r#", "tools": {"pinned": true}"#, changed), Reason::ToolChanged);
    assert_eq!(judged("", changed).word(), VerdictWord::Verified);
}

#[test]
fn two_results_of_one_check_are_never_a_pass() {
    let verdict =
        judged("", |evidence| evidence.checks.insert(0, check_run("tests", Exit::Exited { code: 0 })));
    assert_uncertain(&verdict, Reason::StaleEvidence);
}

#[test]
fn the_base_of_the_evidence_is_the_base_of_the_plan() {
    assert_uncertain(&judged("", |evidence| evidence.capture.base = commit('d')), Reason::StaleEvidence);
}

#[test]
fn output_where_none_is_expected_is_failed() {
    let text = String::from_utf8(plan_with("").bytes().to_vec()).unwrap();
    let text = text.replacen(r#""expectEmptyOutput": false"#, r#""expectEmptyOutput": true"#, 1);
    let plan = Plan::from_bytes(text.into_bytes()).unwrap();
    assert_failed(&judge(&plan, &honest(&plan)), Reason::CheckFailed);
}
