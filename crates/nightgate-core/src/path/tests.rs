use proptest::prelude::*;

use super::RepoPath;

proptest! {
    #[test]
    fn any_path_survives_its_text_form(bytes in proptest::collection::vec(1_u8..=255, 1..40)) {
        if let Ok(path) = RepoPath::from_bytes(&bytes) {
            let text = path.to_string();
            prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            prop_assert_eq!(text.parse::<RepoPath>().unwrap(), path);
        }
    }

    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text in "\\PC*") {
        if let Ok(path) = text.parse::<RepoPath>() {
            prop_assert!(!path.as_bytes().is_empty());
        }
    }
}

#[test]
fn detours_are_refused() {
    for text in ["", "/etc", "a//b", "a/", "./a", "a/../b", "..", "a\0b", "\"a", "\"\\9\""] {
        assert!(text.parse::<RepoPath>().is_err(), "{text:?} was accepted");
    }
}

#[test]
fn a_folder_holds_itself_and_what_is_below_but_not_its_namesakes() {
    let path = |text: &str| text.parse::<RepoPath>().unwrap();
    assert!(path("tests").is_at_or_below(&path("tests")));
    assert!(path("tests/a/b").is_at_or_below(&path("tests")));
    assert!(!path("tests2/a").is_at_or_below(&path("tests")));
    assert!(!path("test").is_at_or_below(&path("tests")));
    assert_eq!(path("a/b/c").ancestors().collect::<Vec<_>>(), [path("a"), path("a/b")]);
}
