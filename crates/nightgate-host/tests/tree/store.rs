//! The store of bases.

use std::fs;

use nightgate_host::base_store::BaseStore;
use nightgate_host::candidate::JobRepository;
use nightgate_host::hash::ObjectFormat;
use nightgate_host::repository::{RepositoryError, UserRepository};
use nightgate_host::workspace::Workspace;

use crate::fixture::*;

#[test]
fn a_store_holds_what_the_base_reaches_and_nothing_else_of_the_users() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"first");
    user.commit();
    user.write("file", b"base");
    let base = user.commit();
    user.run(&["checkout", "-q", "-b", "answers"]);
    user.write("file", b"later");
    let later = user.commit();
    user.run(&["tag", "answer"]);
    user.run(&["checkout", "-q", "main"]);

    let job = fixture.job(&user, &[]);
    let store = job.store.repository().git_dir().to_owned();
    let here = |args: &[&str]| run_git(&store, &user.home, args);
    assert_eq!(here(&["for-each-ref", "--format=%(refname)"]), format!("refs/bases/{base}"));
    assert_eq!(here(&["rev-list", "--count", base.as_str()]), "2");
    let objects = here(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    assert!(!objects.contains(later.as_str()));
    assert!(!store.join("logs").exists() && !store.join("hooks").exists());
    here(&["fsck", "--full", "--strict"]);
}

#[test]
fn importing_again_or_a_descendant_works_and_costs_no_second_copy() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"one");
    let one = user.commit();
    user.write("file", b"two");
    let two = user.commit();
    let repository = user.open(&fixture.git);
    let store = BaseStore::open(&fixture.git, &fixture.path("store.git"), ObjectFormat::Sha1).unwrap();
    store.import(&repository, &one).unwrap();
    store.import(&repository, &one).unwrap();
    store.import(&repository, &two).unwrap();
    let mut expected = vec![one, two];
    expected.sort();
    assert_eq!(store.bases().unwrap(), expected);
}

#[test]
fn many_imports_at_once_all_succeed() {
    let fixture = Fixture::new();
    let user = fixture.user();
    let commits: Vec<_> = (0..6)
        .map(|number| {
            user.write("file", format!("{number}").as_bytes());
            user.commit()
        })
        .collect();
    let repository = user.open(&fixture.git);
    std::thread::scope(|scope| {
        // Two for each base, and each opens (or makes) the store itself.
        for commit in commits.iter().chain(&commits) {
            scope.spawn(|| {
                let store =
                    BaseStore::open(&fixture.git, &fixture.path("store.git"), ObjectFormat::Sha1).unwrap();
                store.import(&repository, commit).unwrap();
            });
        }
    });
    let store = BaseStore::open(&fixture.git, &fixture.path("store.git"), ObjectFormat::Sha1).unwrap();
    assert_eq!(store.bases().unwrap().len(), commits.len());
    run_git(store.repository().git_dir(), &user.home, &["fsck", "--full", "--strict"]);
    let left: Vec<_> =
        fs::read_dir(fixture.temp.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".new-")), "{left:?}");
}

#[test]
fn what_a_killed_import_left_behind_does_not_matter() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    let base = user.commit();
    let repository = user.open(&fixture.git);
    let store = BaseStore::open(&fixture.git, &fixture.path("store.git"), ObjectFormat::Sha1).unwrap();
    let folder = store.repository().git_dir();
    fs::create_dir_all(folder.join("objects/pack")).unwrap();
    fs::write(folder.join("objects/pack/tmp_pack_abc"), b"PACK").unwrap();
    fs::write(folder.join("nightgate.lock"), b"").unwrap();
    fs::create_dir(fixture.path(".new-repository-dead")).unwrap();
    store.import(&repository, &base).unwrap();
    run_git(folder, &user.home, &["fsck", "--full", "--strict"]);
}

#[test]
fn a_store_of_another_object_format_is_refused() {
    let fixture = Fixture::new();
    BaseStore::open(&fixture.git, &fixture.path("store.git"), ObjectFormat::Sha1).unwrap();
    let error = BaseStore::open(&fixture.git, &fixture.path("store.git"), ObjectFormat::Sha256).unwrap_err();
    assert!(matches!(error, RepositoryError::Formats { .. }), "{error}");
}

/// A shallow clone of a user's repository with three commits, with the user's own git.
fn shallow(fixture: &Fixture) -> User {
    let user = fixture.user();
    for content in ["one", "two", "three"] {
        user.write("file", content.as_bytes());
        user.commit();
    }
    let source = format!("file://{}", user.root.display());
    user.run(&["clone", "-q", "--depth=1", &source, "../shallow"]);
    User { root: fixture.path("shallow"), home: user.home }
}

#[test]
fn a_shallow_repository_works_from_base_to_published_candidate() {
    let fixture = Fixture::new();
    let user = shallow(&fixture);
    let job = fixture.job(&user, &[]);
    run_git(job.store.repository().git_dir(), &user.home, &["fsck", "--full", "--strict"]);
    assert_eq!(job.agent_git(&["log", "--format=%s"]), "a commit");
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    job.write("file", b"four");
    let candidate = job.capture().candidate.unwrap();
    job.user.publish(job.job.repository(), &candidate, &job.base, "refs/nightgate/c", None).unwrap();
    user.run(&["fsck", "--full", "--strict", "--no-dangling"]);
    run_git(job.job.repository().git_dir(), &user.home, &["fsck", "--full", "--strict"]);
}

#[test]
fn a_commit_beyond_the_end_of_a_shallow_history_is_no_revision() {
    let fixture = Fixture::new();
    let repository = shallow(&fixture).open(&fixture.git);
    let error = repository.resolve("HEAD~1").unwrap_err();
    assert!(matches!(error, RepositoryError::NoSuchRevision { .. }), "{error}");
}

#[test]
fn a_partial_clone_without_the_blobs_is_a_clear_error_and_fetches_nothing() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"content");
    let base = user.commit();
    user.run(&["config", "uploadpack.allowFilter", "true"]);
    let source = format!("file://{}", user.root.display());
    user.run(&["clone", "-q", "--filter=blob:none", "--no-checkout", &source, "../partial"]);
    let before = snapshot(&fixture.path("partial"), &[]);
    let repository = UserRepository::discover(&fixture.git, &fixture.path("partial")).unwrap();
    let store = BaseStore::open(&fixture.git, &fixture.path("store.git"), ObjectFormat::Sha1).unwrap();
    let error = store.import(&repository, &base).unwrap_err();
    assert!(matches!(error, RepositoryError::Incomplete { .. }), "{error}");
    assert!(error.to_string().contains("git fetch --refetch"), "{error}");
    assert_eq!(store.bases().unwrap(), []);
    assert_eq!(before, snapshot(&fixture.path("partial"), &[]));
}

#[test]
fn a_bare_repository_of_the_user_works_from_base_to_published_candidate() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"old");
    user.commit();
    user.run(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = User { root: fixture.path("bare.git"), home: user.home };
    let job = fixture.job(&bare, &[]);
    job.write("file", b"new");
    let candidate = job.capture().candidate.unwrap();
    job.user.publish(job.job.repository(), &candidate, &job.base, "refs/nightgate/c", None).unwrap();
    assert_eq!(bare.run(&["show", "refs/nightgate/c:file"]), "new");
}

#[test]
fn a_sha256_repository_works_from_base_to_published_candidate() {
    let fixture = Fixture::new();
    let user = fixture.user_of_format("sha256");
    user.write("file", b"old");
    user.write("folder/kept", b"kept");
    user.commit();
    let job = fixture.job(&user, &["folder"]);
    assert_eq!(job.agent_git(&["status", "--porcelain"]), "");
    job.write("file", b"new");
    job.write("folder/new", b"new");
    let capture = job.capture();
    assert_eq!(problems(&capture), []);
    assert_eq!(changed(&capture), ["M file", "A folder/new"]);
    let candidate = capture.candidate.unwrap();
    assert_eq!(candidate.as_str().len(), 64);
    job.user.publish(job.job.repository(), &candidate, &job.base, "refs/nightgate/c", None).unwrap();
    assert_eq!(user.run(&["show", "refs/nightgate/c:file"]), "new");
    user.run(&["fsck", "--full", "--strict", "--no-dangling"]);
}

#[test]
fn what_must_be_fresh_is_refused_where_something_stands() {
    let fixture = Fixture::new();
    let user = fixture.user();
    user.write("file", b"x");
    user.commit();
    let job = fixture.job(&user, &[]);
    let again = JobRepository::create(&job.store, &fixture.path("job.git")).unwrap_err();
    assert!(matches!(again, RepositoryError::Exists { .. }), "{again}");
    let again = Workspace::create(&job.store, &job.root, &job.base, "work").unwrap_err();
    assert!(matches!(again, RepositoryError::Exists { .. }), "{again}");
    assert!(JobRepository::open(&fixture.git, &fixture.path("job.git")).is_ok());
    assert!(JobRepository::open(&fixture.git, &fixture.path("none.git")).is_err());
}
