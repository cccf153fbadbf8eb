use super::*;

fn ignored(patterns: &str, path: &str) -> bool {
    let is_folder = path.ends_with('/');
    Rules::default()
        .with_file(b"", patterns.as_bytes())
        .ignore(path.trim_end_matches('/').as_bytes(), is_folder)
}

#[test]
fn the_examples_of_gitignore_5_mean_what_its_text_says() {
    assert!(ignored("hello.*", "a/hello.txt"));
    assert!(ignored("/hello.*", "hello.c") && !ignored("/hello.*", "a/hello.java"));
    assert!(ignored("foo/", "foo/") && !ignored("foo/", "foo") && ignored("foo/", "a/foo/"));
    assert!(ignored("doc/frotz", "doc/frotz") && !ignored("doc/frotz", "a/doc/frotz"));
    assert!(ignored("foo/*", "foo/test.json") && !ignored("foo/*", "foo/bar/hello.c"));
    assert!(ignored("**/foo/bar", "a/b/foo/bar") && ignored("**/foo/bar", "foo/bar"));
    assert!(ignored("a/**/b", "a/b") && ignored("a/**/b", "a/x/y/b"));
    assert!(ignored("abc/**", "abc/x/y") && !ignored("abc/**", "abc/"));
}

#[test]
fn the_last_matching_line_decides_and_the_innermost_file_before_the_outer() {
    assert!(!ignored("*.log\n!keep.log", "keep.log"));
    assert!(ignored("!keep.log\n*.log", "keep.log"));
    let rules = Rules::default().with_file(b"", b"*.log").with_file(b"sub", b"!keep.log\n");
    assert!(!rules.ignore(b"sub/keep.log", false));
    assert!(rules.ignore(b"sub/other.log", false));
}

#[test]
fn line_ends_comments_escapes_and_spaces_are_read_as_git_reads_them() {
    assert!(ignored("\u{feff}name\r\n", "name"));
    assert!(!ignored("#name", "#name") && ignored("\\#name", "#name") && ignored("\\!name", "!name"));
    assert!(ignored("name  ", "name") && ignored("name\\ ", "name ") && !ignored("name\t", "name"));
    assert!(ignored("{a,b}", "{a,b}") && !ignored("{a,b}", "a"));
}

#[test]
fn a_pattern_of_many_stars_ends() {
    let stars = "*a".repeat(60) + "b";
    assert!(!ignored(&stars, &"a".repeat(240)));
    let folders = "**/a/".repeat(20) + "b";
    assert!(!ignored(&folders, &"a/".repeat(100)));
}

#[test]
fn a_pattern_that_is_longer_than_any_name_ignores_nothing_and_takes_no_deep_stack() {
    let deep = "a/".repeat(100) + "x";
    for endless in ["**/", "*", "[*]", "?", "\\*", "!**/"].map(|piece| piece.repeat(600_000) + "x") {
        assert!(!ignored(&endless, "x") && !ignored(&endless, &deep), "{}", &endless[..6]);
        assert!(ignored(&format!("x\n{endless}"), "x"), "{}", &endless[..6]);
    }
    let longest = "**/".repeat(LONGEST_PATTERN / 3) + "x";
    assert_eq!(longest.len(), LONGEST_PATTERN);
    assert!(ignored(&longest, "x") && ignored(&longest, &deep) && !ignored(&longest, "y"));
    assert!(!ignored(&format!("/{longest}"), "x"));
}

#[test]
fn names_of_caches_are_told_apart_by_type() {
    assert!(is_cache_name(b"node_modules", false) && !is_cache_name(b"node_modules", true));
    assert!(is_cache_name(b"m.pyc", true) && !is_cache_name(b"m.pyc", false));
    assert!(!is_cache_name(b"target", false));
}
