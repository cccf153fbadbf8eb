use proptest::prelude::*;

use super::*;
use crate::sample::path;

type Owned = BTreeMap<RepoPath, Vec<u8>>;

fn tree(links: &[(&str, &str)]) -> Owned {
    links.iter().map(|(at, target)| (path(at), target.as_bytes().to_vec())).collect()
}

fn borrowed(tree: &Owned) -> Links<'_> {
    tree.iter().map(|(at, target)| (at, target.as_slice())).collect()
}

/// What leads out of a tree of these links, where base has those.
fn between(base: &[(&str, &str)], candidate: &[(&str, &str)]) -> Vec<(String, WayOut)> {
    let (base, candidate) = (tree(base), tree(candidate));
    let found = leading_out(&borrowed(&base), &borrowed(&candidate));
    found.into_iter().map(|link| (link.path.to_string(), link.leads)).collect()
}

fn of(candidate: &[(&str, &str)]) -> Vec<(String, WayOut)> {
    between(&[], candidate)
}

fn found(at: &str, leads: WayOut) -> Vec<(String, WayOut)> {
    vec![(at.to_owned(), leads)]
}

#[test]
fn a_link_within_its_tree_leads_nowhere_else() {
    for (at, target) in [
        ("link", "file"),
        ("link", "folder/../file"),
        ("link", "."),
        ("a/b/link", "../../file"),
        ("a/b/link", "../.././a//b/"),
        ("a/link", "..hidden/..."),
        ("a/link", "link"),
    ] {
        assert_eq!(of(&[(at, target)]), [], "{at} -> {target}");
    }
}

#[test]
fn a_link_that_is_absolute_or_climbs_above_the_root_leads_out() {
    for (at, target, leads) in [
        ("link", "/usr/bin/env", WayOut::Absolute),
        ("a/link", "/", WayOut::Absolute),
        ("link", "..", WayOut::Above),
        ("a/link", "../../file", WayOut::Above),
        ("a/link", "b/../../../x", WayOut::Above),
        // Back again, by a name that the root has only here.
        ("a/link", "../../tree/file", WayOut::Above),
    ] {
        assert_eq!(of(&[(at, target)]), found(at, leads), "{at} -> {target}");
    }
}

#[test]
fn a_link_is_followed_through_the_other_links_of_its_tree() {
    // By way of a link of base that leads out.
    let base = [("vendor", "../shared")];
    let way = [("vendor", "../shared"), ("src/new", "../vendor/work")];
    assert_eq!(between(&base, &way), found("src/new", WayOut::Above));
    // `..` behind a link is above what the link leads to, and not above the link.
    assert_eq!(of(&[("a/b/up", "../.."), ("a/b/new", "up/..")]), found("a/b/new", WayOut::Above));
    assert_eq!(of(&[("deep", "a/b/c"), ("new", "deep/../../x")]), []);
    // Chains and rings end.
    assert_eq!(of(&[("a", "b/x"), ("b", "a/y")]), []);
    let names: Vec<_> = (0..60).map(|number| (format!("l{number}"), format!("l{}", number + 1))).collect();
    let mut chain: Vec<_> = names.iter().map(|(at, target)| (at.as_str(), target.as_str())).collect();
    chain.push(("l60", "/outside"));
    let out = of(&chain);
    assert_eq!(out.len(), LONGEST_CHAIN, "those that are followed to the end: {out:?}");
    assert!(out.iter().all(|(_, leads)| *leads == WayOut::Absolute));
}

#[test]
fn a_link_that_base_has_too_is_told_only_where_it_leads_out_now() {
    let same = [("tool", "/usr/bin/env"), ("up", "../x")];
    assert_eq!(between(&same, &same), []);
    assert_eq!(between(&same, &[("tool", "/usr/bin/evil")]), found("tool", WayOut::Absolute));
    assert_eq!(between(&same, &[("other", "/usr/bin/env")]), found("other", WayOut::Absolute));
    // The link is as it was; what it passes is not.
    let base = [("p/q/link", "d/../../../x")];
    assert_eq!(between(&base, &base), []);
    let moved = [("p/q/link", "d/../../../x"), ("p/q/d", "../e")];
    assert_eq!(between(&base, &moved), found("p/q/link", WayOut::Above));
}

#[test]
fn a_link_that_takes_too_long_is_unknown_and_never_inside() {
    let links = tree(&[("a/b/link", "../c/../d/file")]);
    let enough = Follower::new(&borrowed(&links)).way_out(&path("a/b/link"), b"../c/../d/file");
    assert_eq!(enough, None);
    for left in [0, 1, 20] {
        let mut follower = Follower { left, ..Follower::new(&borrowed(&links)) };
        let leads = follower.way_out(&path("a/b/link"), b"../c/../d/file");
        assert_eq!(leads, Some(WayOut::Unknown), "{left}");
    }
}

proptest! {
    #[test]
    fn a_climb_leads_out_exactly_where_it_is_higher_than_the_link_lies_deep(depth in 0_usize..6, climb in 0_usize..8) {
        let at = format!("{}link", "d/".repeat(depth));
        let target = format!("{}x", "../".repeat(climb));
        prop_assert_eq!(!of(&[(&at, &target)]).is_empty(), climb > depth);
    }

    #[test]
    fn nothing_is_told_of_a_tree_that_is_as_base(links in proptest::collection::btree_map("[a-c](/[a-c]){0,2}", "/?([a-c.]{1,2}/){0,4}[a-c]", 0..6)) {
        let links: Vec<_> = links.iter().map(|(at, to)| (at.as_str(), to.as_str())).collect();
        prop_assert_eq!(between(&links, &links), []);
    }
}
