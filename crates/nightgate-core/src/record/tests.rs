use proptest::prelude::*;

use super::{FrozenAt, Record, RecordError};
use crate::event::JobKind;
use crate::evidence::Evidence;
use crate::execution::Execution;
use crate::judge::judge;
use crate::plan::Plan;
use crate::sample::{any_exit, any_loss, honest, plan_with};

fn record(alter: impl FnOnce(&mut Evidence)) -> Record {
    let plan = plan_with("");
    let mut evidence = honest(&plan);
    alter(&mut evidence);
    let job = "j-00000000".parse().unwrap();
    Record::judge(job, JobKind::Run, FrozenAt::Freeze, &plan, Some(Execution::Executed), evidence)
}

proptest! {
    #[test]
    fn a_record_read_back_judges_the_same(exit in any_exit(), losses in proptest::collection::vec(any_loss(), 0..1)) {
        let record = record(|evidence| {
            evidence.checks[0].exit = exit;
            for loss in losses {
                loss(evidence);
            }
        });
        let read = Record::from_bytes(&record.to_bytes()).unwrap();
        prop_assert_eq!(&read, &record);
        prop_assert_eq!(&judge(&read.plan().unwrap(), read.evidence()), record.verdict());
    }

    #[test]
    fn a_cut_record_is_never_read(cut in any::<proptest::sample::Index>()) {
        let bytes = record(|_| {}).to_bytes();
        let cut = cut.index(bytes.len() - 1);
        prop_assert!(Record::from_bytes(&bytes[..cut]).is_err());
    }
}

#[test]
fn a_verdict_that_its_evidence_does_not_give_is_refused() {
    let record = record(|evidence| evidence.capture.changes.clear());
    let text = String::from_utf8(record.to_bytes()).unwrap();
    let forged = text.replace("\"FAILED\"", "\"VERIFIED\"");
    assert_ne!(forged, text);
    assert!(matches!(Record::from_bytes(forged.as_bytes()), Err(RecordError::VerdictDiffers { .. })));
}

#[test]
fn a_plan_that_was_altered_in_a_record_is_refused() {
    let text = String::from_utf8(record(|_| {}).to_bytes()).unwrap();
    let forged = text.replacen("\\\"timeoutSeconds\\\": 600", "\\\"timeoutSeconds\\\": 601", 1);
    assert_ne!(forged, text);
    assert!(matches!(Record::from_bytes(forged.as_bytes()), Err(RecordError::PlanDiffers { .. })));
}

#[test]
fn a_record_stays_readable_when_a_check_of_its_plan_would_be_refused_today() {
    let text = String::from_utf8(plan_with("").bytes().to_vec()).unwrap();
    let lax = text.replacen("\"executable\": \"make\"", "\"executable\": \"true\"", 1);
    assert_ne!(lax, text);
    assert!(Plan::from_bytes(lax.clone().into_bytes()).is_err());
    let plan = Plan::kept(lax.into_bytes()).unwrap();
    let job = "j-00000000".parse().unwrap();
    let evidence = honest(&plan);
    let record =
        Record::judge(job, JobKind::Run, FrozenAt::Freeze, &plan, Some(Execution::Executed), evidence);
    assert_eq!(Record::from_bytes(&record.to_bytes()).unwrap(), record);
}
