use super::*;

fn why(pairs: &[(&'static str, &str)], content: &[u8], autocrlf: bool) -> Option<String> {
    let attributes = pairs.iter().map(|(name, value)| (*name, value.as_bytes().to_vec())).collect();
    let mut sniff = Sniff::default();
    sniff.update(content);
    conversion(&attributes, sniff, autocrlf)
}

#[test]
fn line_ends_are_converted_only_in_a_file_that_has_the_other_kind() {
    assert!(why(&[("text", "auto")], b"a\r\n", false).is_some());
    assert!(why(&[("text", "auto")], b"a\n", false).is_none());
    assert!(why(&[("text", "auto")], b"\x89PNG\r\n\0", false).is_none());
    assert!(why(&[("text", "set")], b"a\r\n\0", false).is_some());
    assert!(why(&[("eol", "crlf")], b"a\r\n", false).is_some());
    assert!(why(&[("text", "unset")], b"a\r\n", true).is_none());
    assert!(why(&[], b"a\r\n", true).is_some());
    assert!(why(&[], b"a\r\n", false).is_none());
}

#[test]
fn filters_encodings_and_ident_convert_whatever_the_content() {
    assert!(why(&[("filter", "lfs"), ("text", "unset")], b"", false).is_some());
    assert!(why(&[("working-tree-encoding", "UTF-16")], b"", false).is_some());
    assert!(why(&[("working-tree-encoding", "UTF-8")], b"", false).is_none());
    assert!(why(&[("ident", "set")], b"", false).is_some());
    assert!(why(&[("filter", "unset"), ("ident", "unset")], b"a\r\n", false).is_none());
}

#[test]
fn a_pair_of_line_end_bytes_is_seen_across_pieces() {
    let mut sniff = Sniff::default();
    sniff.update(b"a\r");
    sniff.update(b"");
    sniff.update(b"\nb");
    assert!(sniff.crlf && !sniff.nul);
}
