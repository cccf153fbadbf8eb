use super::*;

fn rules(patterns: &str) -> Rules {
    Rules::default().with_file(b"", patterns.as_bytes()).unwrap()
}

fn ignored(patterns: &str, path: &str) -> bool {
    let is_folder = path.ends_with('/');
    let mut effort = Effort::new(u64::MAX);
    rules(patterns).ignore(path.trim_end_matches('/').as_bytes(), is_folder, &mut effort).unwrap()
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
    let rules = rules("*.log").with_file(b"sub", b"!keep.log\n").unwrap();
    let mut effort = Effort::new(u64::MAX);
    assert_eq!(rules.ignore(b"sub/keep.log", false, &mut effort), Ok(false));
    assert_eq!(rules.ignore(b"sub/other.log", false, &mut effort), Ok(true));
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

/// How many of so many steps are left after asking for this name.
fn left_of(steps: u64, patterns: &str, name: &str) -> Result<u64, Exhausted> {
    let mut effort = Effort::new(steps);
    rules(patterns).ignore(name.as_bytes(), false, &mut effort)?;
    Ok(effort.left)
}

#[test]
fn patterns_that_take_too_many_steps_are_given_up_and_honest_ones_are_far_from_it() {
    const STEPS: u64 = 1 << 19;
    let name = "a".repeat(250);
    for pattern in ["*a".repeat(500) + "b\n", "[[:alpha:]]*".repeat(8) + "!\n"] {
        assert!(left_of(STEPS, &pattern, &name).is_ok());
        assert_eq!(left_of(STEPS, &pattern.repeat(250), &name), Err(Exhausted), "{pattern}");
    }
    let folders = "*/".repeat(100) + "**/".repeat(100).as_str() + "b\n";
    assert_eq!(left_of(STEPS, &folders.repeat(250), &"a/".repeat(1000)), Err(Exhausted));
    let honest = "*.log\nbuild/\n/target\n**/*.tmp\ndoc/**/generated\n[Bb]in\n".repeat(500);
    assert!(left_of(STEPS, &honest, "source/of/a/module_of_some_length.rs").is_ok());
}

#[test]
fn one_name_takes_no_more_than_its_share_of_the_steps() {
    let mut effort = Effort::new(u64::MAX);
    let share = usize::try_from(MOST_STEPS_OF_A_NAME).unwrap();
    effort.begin_name();
    assert_eq!(effort.take(share), Ok(()));
    assert_eq!(effort.take(1), Err(Exhausted));
    effort.begin_name();
    assert_eq!(effort.take(1), Ok(()));
}

#[test]
fn the_steps_of_all_names_together_are_limited() {
    let rules = rules("*.log");
    let mut effort = Effort::new(100);
    let asked = (0..100).take_while(|_| rules.ignore(b"a.txt", false, &mut effort).is_ok()).count();
    assert!((1..100).contains(&asked), "{asked}");
    assert_eq!(rules.ignore(b"a.log", false, &mut effort), Err(Exhausted));
}

#[test]
fn patterns_in_force_are_limited_in_number() {
    let most = "a\n".repeat(MOST_PATTERNS);
    let full = rules(&most);
    assert!(Rules::default().with_file(b"", format!("{most}b\n").as_bytes()).is_none());
    assert!(full.with_file(b"sub", b"b\n").is_none());
    assert!(full.with_file(b"sub", b"# nothing\n\n").is_some());
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
