use super::writable;

#[test]
fn a_writer_waits_for_the_medium_and_keeps_references_whole() {
    let folder = tempfile::tempdir().unwrap();
    let conn = writable(&folder.path().join("store")).unwrap();
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    // 2 is FULL: each commit is on the medium before it is reported.
    assert_eq!(number("synchronous"), 2);
    assert_eq!(number("foreign_keys"), 1);
    assert_eq!(number("busy_timeout"), 30_000);
}
