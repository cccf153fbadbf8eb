use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::*;
use crate::base_store::BaseStore;
use crate::env::{Environment, EnvironmentSpec, Inherited, Role};
use crate::git::Git;
use crate::hash::ObjectFormat;

/// A workspace as a plain folder, with a job whose base is an empty commit.
struct Place {
    temp: TempDir,
    job: JobRepository,
    base: CommitId,
    author: Signature,
    nothing: Listing,
}

impl Place {
    fn new() -> Self {
        let temp = TempDir::with_prefix("nightgate-capture-").unwrap();
        let home = temp.path().to_owned();
        let program = ["/usr/bin/git", "/usr/local/bin/git", "/bin/git"]
            .into_iter()
            .find(|file| Path::new(file).exists());
        let program = PathBuf::from(program.unwrap_or("git"));
        let git = |args: &[&str]| {
            let output = Command::new(&program)
                .args(["-c", "user.name=u", "-c", "user.email=u@localhost"])
                .args(args)
                .current_dir(&home)
                .env_clear()
                .env("HOME", &home)
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        git(&["init", "-q", "user"]);
        git(&["-C", "user", "commit", "-q", "--allow-empty", "-m", "base"]);
        let spec =
            EnvironmentSpec { home: home.clone(), tmp: home, path: Vec::new(), pass: &[], extra: Vec::new() };
        let git = Git::new(program.clone(), Environment::build(Role::Git, &Inherited::default(), &spec));
        let user = UserRepository::discover(&git, &temp.path().join("user")).unwrap();
        let base = user.resolve("HEAD").unwrap();
        let store = BaseStore::open(&git, &temp.path().join("store.git"), ObjectFormat::Sha1).unwrap();
        store.import(&user, &base).unwrap();
        let job = JobRepository::create(&store, &temp.path().join("job.git")).unwrap();
        fs::create_dir(temp.path().join("files")).unwrap();
        let author = Signature { name: "agent <".to_owned(), email: "a\n@b".to_owned(), time: -1 };
        Self { temp, job, base, author, nothing: Listing::new() }
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("files")
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.root().join(name), content).unwrap();
    }

    fn request<'a>(&'a self, root: &'a Path) -> CaptureRequest<'a> {
        CaptureRequest {
            root,
            source: FileSource::Workspace,
            base: &self.base,
            base_listing: &self.nothing,
            criteria: &[],
            limits: Limits::default(),
            cancel: None,
            job: &self.job,
            author: &self.author,
            message: "",
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope::new(&self.nothing, &[], ObjectFormat::Sha1, Limits::default(), None, false)
    }

    fn read(&self) -> Reading {
        Reading::take(&Folder::open(&self.root()).unwrap(), &self.scope())
    }
}

fn path(text: &str) -> RepoPath {
    text.parse().unwrap()
}

#[test]
fn two_equal_readings_are_enough_and_are_taken() {
    let place = Place::new();
    let mut count = 0;
    let reading = steady(|| {
        count += 1;
        // Changed once, between the first and the second.
        place.write("file", if count == 1 { "one" } else { "two" });
        place.read()
    });
    assert_eq!(count, 3);
    assert_eq!(reading.problems, []);
    assert_eq!(reading.members[&path("file")].entry.object, ObjectFormat::Sha1.blob_id(b"two"));
}

#[test]
fn files_that_differ_in_each_reading_are_unstable() {
    let place = Place::new();
    let mut count = 0;
    let reading = steady(|| {
        count += 1;
        place.write("file", &"x".repeat(count));
        place.read()
    });
    assert_eq!(count, MOST_READINGS);
    assert_eq!(reading.problems.len(), 1);
    assert_eq!(reading.problems[0].kind, CaptureProblemKind::Unstable);
}

#[test]
fn a_file_that_changes_between_reading_and_writing_is_given_up_alone() {
    let place = Place::new();
    place.write("changes", "read");
    place.write("grows", "read");
    place.write("stays", "read");
    let mut reading = place.read();
    place.write("changes", "late");
    place.write("grows", "read and more");
    let root = place.root();
    let request = place.request(&root);
    let folder = Folder::open(&root).unwrap();
    let mut lost = HashSet::new();
    let (commit, listing, changes) = make_candidate(&request, &folder, &mut reading, &mut lost).unwrap();
    assert_eq!(listing.keys().cloned().collect::<Vec<_>>(), [path("stays")]);
    assert_eq!(changes.len(), 1);
    let unstable: Vec<_> =
        reading.problems.iter().map(|problem| (problem.kind, problem.path.clone())).collect();
    let expected = |name: &str| (CaptureProblemKind::Unstable, Some(path(name)));
    assert_eq!(unstable, [expected("changes"), expected("grows")]);
    assert_eq!(place.job.read_back(&commit.unwrap(), &place.base, &listing).unwrap(), None);
}

#[test]
fn a_candidate_that_reads_back_as_something_else_is_a_problem() {
    let place = Place::new();
    place.write("file", "x");
    let root = place.root();
    let capture = capture(&place.request(&root)).unwrap();
    let candidate = capture.candidate.unwrap();
    let real = place.job.repository().listing(&capture.tree.unwrap()).unwrap();
    assert_eq!(place.job.read_back(&candidate, &place.base, &real).unwrap(), None);
    let read_back =
        |base: &CommitId, listing: &Listing| place.job.read_back(&candidate, base, listing).unwrap();
    let problem = read_back(&place.base, &place.nothing).unwrap();
    assert_eq!((problem.kind, problem.path), (CaptureProblemKind::NotReadBack, Some(path("file"))));
    assert!(read_back(&candidate, &real).is_some());
}

#[test]
fn what_could_not_be_read_is_kept_from_base_where_nothing_took_its_place() {
    let entry = |content: &[u8]| nightgate_core::tree::Entry {
        mode: EntryMode::File,
        object: ObjectFormat::Sha1.blob_id(content),
    };
    let base: Listing =
        ["a/file", "b", "c", "d/x"].into_iter().map(|name| (path(name), entry(b"base"))).collect();
    let mut reading = Reading::default();
    reading.unknown = vec![path("a"), path("b")];
    let member =
        |content: &[u8]| reading::Member { entry: entry(content), digest: None, sniff: Default::default() };
    reading.members.insert(path("b/inner"), member(b"new"));
    let kept = |reading: &Reading| {
        listing_of(reading, &base, &HashSet::new()).keys().map(RepoPath::to_string).collect::<Vec<_>>()
    };
    assert_eq!(kept(&reading), ["a/file", "b/inner"]);
    reading.members.insert(path("d"), member(b"new"));
    reading.cut = true;
    assert_eq!(kept(&reading), ["a/file", "b/inner", "c", "d"]);
}

#[test]
fn an_interruption_before_or_between_the_readings_gives_no_capture() {
    let place = Place::new();
    place.write("file", "x");
    let root = place.root();
    let cancel = Cancel::new().unwrap();
    let request = CaptureRequest { cancel: Some(&cancel), ..place.request(&root) };
    assert!(capture(&request).is_ok());
    let scope = Scope::new(&place.nothing, &[], ObjectFormat::Sha1, Limits::default(), Some(&cancel), false);
    let folder = Folder::open(&root).unwrap();
    let mut count = 0;
    let reading = steady(|| {
        count += 1;
        let reading = Reading::take(&folder, &scope);
        cancel.cancel();
        reading
    });
    // The second sees the flag at its first entry, and nobody asks for a third.
    assert_eq!((count, reading.cut, reading.members.len()), (2, true, 0));
    assert!(matches!(capture(&request), Err(CaptureError::Cancelled)));
}

#[test]
fn an_interruption_while_the_candidate_is_written_leaves_none() {
    let place = Place::new();
    place.write("file", "x");
    let mut reading = place.read();
    let root = place.root();
    let cancel = Cancel::new().unwrap();
    cancel.cancel();
    let request = CaptureRequest { cancel: Some(&cancel), ..place.request(&root) };
    let folder = Folder::open(&root).unwrap();
    let made = make_candidate(&request, &folder, &mut reading, &mut HashSet::new());
    assert!(matches!(made, Err(CaptureError::Cancelled)));
    assert_eq!(reading.problems, []);
    // Capturing again is safe.
    assert!(capture(&place.request(&root)).unwrap().candidate.is_some());
}
