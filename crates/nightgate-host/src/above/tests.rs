use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::{look, sought};

/// The paths below `root` that are found from `root/a/b/c`.
fn found(root: &TempDir) -> Vec<String> {
    let findings = look(&root.path().join("a/b/c")).unwrap();
    assert_eq!(findings.unknown, [""; 0]);
    let real = root.path().canonicalize().unwrap();
    let below = |path: &std::path::Path| Some(path.strip_prefix(&real).ok()?.to_str()?.to_owned());
    findings.found.iter().filter_map(|above| below(&above.path)).collect()
}

fn folders() -> TempDir {
    let root = TempDir::new().unwrap();
    fs::create_dir_all(root.path().join("a/b/c/inside")).unwrap();
    root
}

#[test]
fn what_tools_look_for_is_found_in_the_place_and_in_each_folder_above_it_and_nowhere_else() {
    let root = folders();
    assert_eq!(found(&root), [""; 0]);
    for name in ["a/b/c/inside/package.json", "a/package.json.bak", "b", "a/cargo"] {
        fs::write(root.path().join(name), "").unwrap();
    }
    assert_eq!(found(&root), [""; 0]);
    fs::write(root.path().join("a/b/c/conftest.py"), "").unwrap();
    fs::create_dir(root.path().join("a/.cargo")).unwrap();
    fs::write(root.path().join("a/.cargo/config.toml"), "").unwrap();
    fs::create_dir(root.path().join("a/node_modules")).unwrap();
    symlink("nowhere", root.path().join("vitest.config.mts")).unwrap();
    assert_eq!(
        found(&root),
        ["a/b/c/conftest.py", "a/.cargo/config.toml", "a/node_modules", "vitest.config.mts"]
    );
}

#[test]
fn a_place_behind_a_link_is_looked_at_where_it_really_lies_and_an_unreadable_folder_hides_nothing() {
    let root = folders();
    fs::write(root.path().join("a/b/go.mod"), "").unwrap();
    let elsewhere = TempDir::new().unwrap();
    symlink(root.path().join("a/b/c"), elsewhere.path().join("link")).unwrap();
    // Only who lists it needs the right to read it.
    fs::set_permissions(root.path().join("a/b"), fs::Permissions::from_mode(0o311)).unwrap();
    let findings = look(&elsewhere.path().join("link")).unwrap();
    fs::set_permissions(root.path().join("a/b"), fs::Permissions::from_mode(0o755)).unwrap();
    let real = root.path().canonicalize().unwrap();
    let tools: Vec<_> = findings.found.iter().filter(|above| above.path.starts_with(&real)).collect();
    assert_eq!(tools.len(), 1);
    assert_eq!((tools[0].tool, &tools[0].path), ("go", &real.join("a/b/go.mod")));
}

#[test]
fn a_path_that_cannot_be_looked_up_is_unknown_and_not_absent() {
    let root = folders();
    // Whoever follows this link comes back to it.
    symlink(".cargo", root.path().join("a/.cargo")).unwrap();
    let findings = look(&root.path().join("a/b/c")).unwrap();
    assert_eq!(findings.unknown.len(), 2, "{findings:?}");
    assert!(findings.unknown.iter().all(|text| text.contains(".cargo/config")), "{findings:?}");
    assert!(look(&root.path().join("gone")).is_err());
}

#[test]
fn each_path_is_looked_for_once_and_stays_below_its_folder() {
    let names: Vec<String> = sought().map(|(_, name)| name).collect();
    let once: BTreeSet<&String> = names.iter().collect();
    assert_eq!(once.len(), names.len());
    for name in &names {
        assert!(!name.contains(['{', '}']) && !name.starts_with('/') && !name.contains(".."), "{name}");
    }
    for name in
        ["Cargo.toml", "babel.config.js", ".eslintrc.json", ".mocharc.yml", "jest.config.ts", "__init__.py"]
    {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}
