//! Links that lead out of a candidate, as the capture tells them and as the kernel sees them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use nightgate_core::evidence::{Capture, WayOut};
use nightgate_core::link::leading_out;
use nightgate_host::capture::capture_commit;
use proptest::prelude::*;
use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::fixture::*;

fn outside(capture: &Capture) -> Vec<(String, String, WayOut)> {
    let link = |link: &nightgate_core::evidence::OutsideLink| {
        (link.path.to_string(), link.target.clone(), link.leads)
    };
    capture.outside_links.iter().map(link).collect()
}

fn told(path: &str, target: &str, leads: WayOut) -> (String, String, WayOut) {
    (path.to_owned(), target.to_owned(), leads)
}

#[test]
fn links_that_lead_out_are_told_for_a_workspace_a_working_tree_and_a_commit() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("src/a", b"x");
    symlink("/usr/bin/env", user.root.join("tool")).unwrap();
    symlink("../shared", user.root.join("vendor")).unwrap();
    user.commit();
    let job = fixture.job(&user, &[]);
    let work = |root: &std::path::Path| {
        symlink("../src/a", root.join("src/inside")).unwrap();
        symlink("a/../../../up", root.join("src/above")).unwrap();
        symlink("/etc/passwd", root.join("src/absolute")).unwrap();
        symlink("../vendor/x", root.join("src/by-way-of-base")).unwrap();
    };
    let expected = [
        told("src/above", "a/../../../up", WayOut::Above),
        told("src/absolute", "/etc/passwd", WayOut::Absolute),
        told("src/by-way-of-base", "../vendor/x", WayOut::Above),
    ];
    work(&job.root);
    assert_eq!(outside(&job.capture()), expected);
    work(&user.root);
    let settings = nightgate_host::git::UserSettings::default();
    assert_eq!(outside(&job.capture_worktree(&settings)), expected);
    let commit = user.commit();
    job.job.adopt(&job.user, &commit, &job.base).unwrap();
    let capture = capture_commit(&job.job, &job.base, &job.listing, &commit, &[]).unwrap();
    assert_eq!(outside(&capture), expected);
    assert_eq!(capture.problems, []);
}

#[test]
fn links_that_base_has_are_not_told_until_they_are_changed() {
    let fixture = Fixture::new();
    let user = fixture.user();
    symlink("/usr/bin/env", user.root.join("tool")).unwrap();
    user.commit();
    let job = fixture.job(&user, &[]);
    job.write("file", b"x");
    symlink("file", job.root.join("link")).unwrap();
    assert_eq!(outside(&job.capture()), []);
    job.remove("tool");
    symlink("/usr/bin/make", job.root.join("tool")).unwrap();
    assert_eq!(outside(&job.capture()), [told("tool", "/usr/bin/make", WayOut::Absolute)]);
}

/// A small tree: folders `a`, `a/b` and `c`, a file in each, and links with these targets.
fn lay(root: &std::path::Path, links: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    for folder in ["a/b", "c"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for file in ["f", "a/f", "a/b/f", "c/f"] {
        fs::write(root.join(file), "").unwrap();
    }
    let made = |(at, target): &(&String, &String)| symlink(target, root.join(at)).is_ok();
    links.iter().filter(made).map(|(at, target)| (at.clone(), target.clone())).collect()
}

#[test]
fn no_link_that_the_kernel_follows_out_of_a_tree_is_taken_for_one_within_it() {
    let place = proptest::sample::select(vec!["l", "m", "a/l", "a/m", "a/b/l", "a/b/m", "c/l", "c/m"]);
    let target = "/?((\\.\\.|\\.|a|b|c|l|m)/){0,6}(\\.\\.|f|l|m)";
    let links = proptest::collection::btree_map(place.prop_map(str::to_owned), target, 1..7);
    runner(60)
        .run(&links, |links| {
            let temp = tempfile::tempdir().unwrap();
            let links = lay(temp.path(), &links);
            let owned: Vec<_> = links.iter().map(|(at, target)| (path(at), target.as_bytes())).collect();
            let told =
                leading_out(&BTreeMap::new(), &owned.iter().map(|(at, target)| (at, *target)).collect());
            let root = fs::File::open(temp.path()).unwrap();
            for at in links.keys() {
                let flags = OFlags::PATH | OFlags::CLOEXEC;
                let beneath = ResolveFlags::BENEATH;
                let is_told = told.iter().any(|link| link.path == path(at));
                match rustix::fs::openat2(&root, at.as_str(), flags, Mode::empty(), beneath) {
                    Ok(_) => prop_assert!(!is_told, "{at} is within {links:?}"),
                    Err(rustix::io::Errno::XDEV) => prop_assert!(is_told, "{at} leads out of {links:?}"),
                    // It leads nowhere here: names decide.
                    Err(_) => {}
                }
            }
            Ok(())
        })
        .unwrap();
}
