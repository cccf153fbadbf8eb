use super::*;

#[test]
fn the_empty_blob_and_the_empty_tree_have_the_ids_that_git_gives_them() {
    let empty = Listing::new();
    assert_eq!(ObjectFormat::Sha1.blob_id(b"").as_str(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    assert_eq!(
        ObjectFormat::Sha256.blob_id(b"").as_str(),
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
    );
    assert_eq!(tree_id(ObjectFormat::Sha1, &empty).as_str(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    assert_eq!(
        tree_id(ObjectFormat::Sha256, &empty).as_str(),
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    );
}

#[test]
fn a_blob_fed_in_pieces_has_the_id_of_the_whole() {
    let mut hasher = ObjectFormat::Sha1.blob(6);
    hasher.update(b"hel");
    hasher.update(b"lo\n");
    assert_eq!(hasher.finish(), ObjectFormat::Sha1.blob_id(b"hello\n"));
    assert_eq!(ObjectFormat::Sha1.blob_id(b"hello\n").as_str(), "ce013625030ba8dba906f756967f9e9ca394464a");
}

#[test]
fn an_unknown_format_is_refused_by_name() {
    let error = "md5".parse::<ObjectFormat>().unwrap_err();
    assert_eq!(error.to_string(), "object format `md5` is not known: expected `sha1` or `sha256`");
}
