use std::io;
use std::path::Path;

use super::{BlobError, fault};

fn of(kind: io::ErrorKind) -> BlobError {
    fault("write to", Path::new("blobs"))(kind.into())
}

#[test]
fn a_full_medium_a_quota_and_a_size_limit_are_no_room() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge] {
        assert!(matches!(of(kind), BlobError::NoRoom { .. }), "{kind}");
    }
}

#[test]
fn a_missing_permission_and_a_read_only_medium_are_denied() {
    for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
        assert!(matches!(of(kind), BlobError::Denied { .. }), "{kind}");
    }
}

#[test]
fn a_fault_reads_after_failed_to_and_says_what_to_do() {
    let text = of(io::ErrorKind::StorageFull).to_string();
    assert_eq!(text, r#"write to "blobs": there is no room: no storage space: make room, then try again"#);
}
