use super::split;

fn code(text: &str) -> Vec<String> {
    split(text).into_iter().map(|line| line.code).collect()
}

fn comments(text: &str) -> String {
    split(text).into_iter().map(|line| line.comment).collect()
}

#[test]
fn the_content_of_strings_is_left_out() {
    assert_eq!(code(r#"call("std::fs", b"x\"y", 'a');"#), [r#"call("", b"", ');"#]);
    assert_eq!(code("let a = r#\"std::fs \"quoted\" \"#; b"), ["let a = \"\"; b"]);
    assert_eq!(code("let a = \"one\nstd::fs\"; b"), ["let a = \"", "\"; b"]);
}

#[test]
fn comments_are_told_from_code() {
    assert_eq!(code("a // std::fs\nb /* std::fs\n std::env */ c"), ["a ", "b ", " c"]);
    assert_eq!(comments("a // one\n/* two /* three */ */ b"), "// one two  three  ");
    assert_eq!(code("/* a /* b */ c */ d"), [" d"]);
}

#[test]
fn a_quote_in_a_character_or_a_lifetime_opens_no_string() {
    assert_eq!(
        code("match c { '\"' => a, '\\'' => b, '\\\\' => c }"),
        ["match c { ' => a, ' => b, ' => c }"]
    );
    assert_eq!(code("fn f<'a>(x: &'a str) { \"s\" }"), ["fn f<'a>(x: &'a str) { \"\" }"]);
}

#[test]
fn a_word_that_ends_like_a_raw_string_opens_none() {
    assert_eq!(code("color\"x\" // y"), ["color\"\" "]);
}
