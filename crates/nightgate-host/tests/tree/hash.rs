//! Our ids against git's.

use std::io::Write as _;
use std::process::{Command, Stdio};

use nightgate_core::RepoPath;
use nightgate_core::tree::{Entry, EntryMode, Listing};
use nightgate_host::hash::{ObjectFormat, tree_id};
use proptest::prelude::*;

use crate::fixture::*;

fn listing(format: ObjectFormat) -> impl Strategy<Value = Listing> {
    let component = prop_oneof![
        "[ab]{1,2}",
        "[ab.\\-0/]{1,3}",
        Just("a.b".to_owned()),
        Just("a-b".to_owned()),
        Just("a0".to_owned()),
        Just("\u{e9}\n\"".to_owned()),
    ];
    let path = prop::collection::vec(component, 1..5).prop_map(|parts| parts.join("/"));
    let mode = prop_oneof![
        Just(EntryMode::File),
        Just(EntryMode::Executable),
        Just(EntryMode::Symlink),
        Just(EntryMode::Gitlink)
    ];
    prop::collection::vec((path, mode, any::<u64>()), 0..40).prop_map(move |entries| {
        let mut listing = Listing::new();
        for (path, mode, seed) in entries {
            let Ok(path) = RepoPath::from_bytes(path.as_bytes()) else { continue };
            let above = path.ancestors().any(|above| listing.contains_key(&above));
            let below = listing.keys().any(|other: &RepoPath| other.is_at_or_below(&path));
            if !above && !below {
                listing.insert(path, Entry { mode, object: format.blob_id(&seed.to_le_bytes()) });
            }
        }
        listing
    })
}

/// The tree id that git gives these entries.
fn git_tree(fixture: &Fixture, format: ObjectFormat, listing: &Listing) -> String {
    let folder = fixture.path(&format!("index-{format}"));
    if !folder.exists() {
        run_git(
            fixture.temp.path(),
            &fixture.path("home"),
            &["init", "-q", "--bare", &format!("--object-format={format}"), folder.to_str().unwrap()],
        );
    }
    let _ = std::fs::remove_file(folder.join("index"));
    let mut input = Vec::new();
    for (path, entry) in listing {
        input.extend(format!("{} {}\t", entry.mode.as_str(), entry.object).bytes());
        input.extend(path.as_bytes());
        input.push(0);
    }
    let mut child = Command::new(git_program())
        .args(["-c", "core.protectNTFS=false", "update-index", "-z", "--index-info"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&input).unwrap();
    assert!(child.wait().unwrap().success());
    run_git(&folder, &fixture.path("home"), &["write-tree", "--missing-ok"])
}

#[test]
fn tree_ids_are_gits_for_random_listings_in_both_formats() {
    let fixture = Fixture::new();
    for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
        runner(40)
            .run(&listing(format), |listing| {
                prop_assert_eq!(tree_id(format, &listing).to_string(), git_tree(&fixture, format, &listing));
                Ok(())
            })
            .unwrap();
    }
}
