use super::*;

#[test]
fn only_plain_names_below_refs_nightgate_are_ours() {
    for name in ["refs/nightgate/j-0123abcd/candidate", "refs/nightgate/a", "refs/nightgate/a.b/c_d"] {
        assert!(is_our_ref(name), "{name}");
    }
    for name in [
        "refs/heads/main",
        "refs/nightgate/",
        "refs/nightgate/../heads/main",
        "refs/nightgate/a..b",
        "refs/nightgate/.a",
        "refs/nightgate/a.lock",
        "refs/nightgate//a",
        "refs/nightgate/a b",
        "refs/nightgate/a\n",
        "HEAD",
    ] {
        assert!(!is_our_ref(name), "{name}");
    }
}

#[test]
fn a_commit_header_is_read_whatever_its_message_says() {
    let id: CommitId = "ce013625030ba8dba906f756967f9e9ca394464a".parse().unwrap();
    let tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    let text = format!(
        "tree {tree}\nparent {id}\nauthor A <a> 1 +0000\ncommitter B > <b> 1700000000 -0100\n\ntree x\ncommitter y\n"
    );
    let header = CommitHeader(text.into_bytes());
    assert_eq!(header.tree(&id).unwrap().as_str(), tree);
    assert_eq!(header.parents(&id).unwrap(), std::slice::from_ref(&id));
    assert_eq!(header.time(&id).unwrap(), 1_700_000_000);
    assert!(CommitHeader(b"tree x\n\n".to_vec()).time(&id).is_err());
}

#[test]
fn a_path_for_alternates_is_quoted_only_where_it_must_be() {
    assert_eq!(ours::quoted(b"/a b/objects"), b"/a b/objects");
    assert_eq!(ours::quoted(b"/a\nb/objects"), b"\"/a\\012b/objects\"");
}
