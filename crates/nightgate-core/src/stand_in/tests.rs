use super::{Sources, is_dependency_folder};
use crate::sample::{change, path};
use crate::tree::{Change, Entry, EntryMode};

fn entry(mode: EntryMode, digit: char) -> Option<Entry> {
    Some(Entry { mode, object: digit.to_string().repeat(40).parse().unwrap() })
}

fn deleted(at: &str) -> Change {
    Change { path: path(at), before: entry(EntryMode::File, '1'), after: None }
}

fn stands_in(product: &str, source: &str) -> bool {
    let changes = [deleted(source)];
    Sources::of(&changes).stood_in_for(&path(product), None) == Some(&path(source))
}

#[test]
fn a_product_is_known_by_its_name_up_to_the_first_dot() {
    for (product, source) in [
        ("src/foo.pyc", "src/foo.py"),
        ("src/__pycache__/foo.cpython-311.pyc", "src/foo.py"),
        ("src/foo.o", "src/foo.c"),
        ("foo", "src/foo.c"),
        ("dist/foo.js", "src/foo.ts"),
        ("dist/foo.js.map", "src/foo.ts"),
        ("dist/foo.min.js", "src/foo.js"),
        ("out/com/shop/Foo.class", "src/com/shop/Foo.java"),
        ("out/Foo$Inner.class", "src/Foo.java"),
        ("out/FooKt.class", "src/Foo.kt"),
        (".env", ".env.example"),
        ("Makefile", "Makefile.in"),
    ] {
        assert!(stands_in(product, source), "{product} for {source}");
    }
    for (product, source) in [
        ("src/food.o", "src/foo.c"),
        ("src/fo", "src/foo.c"),
        ("foo/bar.o", "src/foo.c"),
        ("dist/Foo$Inner.js", "src/Foo.ts"),
        (".env", ".eslintrc.json"),
        ("...", "src/foo.c"),
    ] {
        assert!(!stands_in(product, source), "{product} for {source}");
    }
}

#[test]
fn only_what_base_had_and_the_candidate_has_otherwise_can_be_stood_in_for() {
    let product = path("out/a.o");
    let of = |before, after| {
        let changes = [Change { path: path("src/a.c"), before, after }];
        Sources::of(&changes).stood_in_for(&product, None).is_some()
    };
    let file = |digit| entry(EntryMode::File, digit);
    assert!(of(file('1'), None));
    assert!(of(file('1'), file('2')));
    assert!(of(file('1'), entry(EntryMode::Symlink, '1')));
    assert!(!of(file('1'), entry(EntryMode::Executable, '1')));
    assert!(!of(None, file('1')));
    assert!(Sources::of(&[change("src/new.c")]).is_empty());
}

#[test]
fn what_lies_among_dependencies_stands_in_for_nothing_outside_of_them() {
    let changes = [deleted("src/index.js"), deleted("vendor/index.php")];
    let sources = Sources::of(&changes);
    let among = |folder: &str, product: &str| sources.stood_in_for(&path(product), Some(&path(folder)));
    assert_eq!(among("node_modules", "node_modules/dep/index.js"), None);
    assert_eq!(among("vendor", "vendor/dep/index.php"), Some(&path("vendor/index.php")));
    assert!(sources.are_below(&path("vendor")) && !sources.are_below(&path("node_modules")));
    assert!(is_dependency_folder(b"node_modules") && !is_dependency_folder(b"dist"));
}

#[test]
fn what_was_fetched_into_a_submodule_stands_in_for_the_commit_that_the_candidate_names_instead() {
    let changes = [Change {
        path: path("lib/sub"),
        before: entry(EntryMode::Gitlink, '1'),
        after: entry(EntryMode::Gitlink, '2'),
    }];
    let sources = Sources::of(&changes);
    let fetched = path("lib/sub/src/x.c");
    assert_eq!(sources.stood_in_for(&fetched, Some(&path("lib/sub"))), Some(&path("lib/sub")));
    assert_eq!(sources.stood_in_for(&fetched, Some(&path("lib/other"))), None);
}
