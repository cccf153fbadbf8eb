//! Blobs: what has a name is whole.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;

use nightgate_core::Digest;
use nightgate_store::{BlobError, Blobs};
use proptest::prelude::*;

use crate::file::{listing, mode};
use crate::powerless::powerless;

fn place(root: &Path, digest: &Digest) -> PathBuf {
    root.join(&digest.hex()[..2]).join(&digest.hex()[2..])
}

fn files(root: &Path) -> Vec<PathBuf> {
    listing(root).into_iter().filter(|path| path.is_file()).collect()
}

#[test]
fn a_blob_lies_under_its_digest_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a").join("blobs");
    let blobs = Blobs::open(&root).unwrap();
    let digest = blobs.put(b"bytes").unwrap();
    assert_eq!(digest, Digest::of(b"bytes"));
    assert_eq!(files(&root), [place(&root, &digest)]);
    for path in listing(folder.path()) {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{path:?}");
    }
    assert!(blobs.contains(&digest).unwrap());
    assert_eq!(blobs.get(&digest).unwrap(), b"bytes");
    let mut text = String::new();
    blobs.open_file(&digest).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "bytes");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_and_its_bytes_are_the_same_blob(bytes in prop::collection::vec(any::<u8>(), 0..300), times in 0..900_usize) {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path().join("blobs")).unwrap();
        // Up to some pieces more than are copied at a time.
        let bytes = bytes.repeat(times);
        let source = folder.path().join("source");
        fs::write(&source, &bytes).unwrap();
        let (digest, length) = blobs.put_file(&source).unwrap();
        prop_assert_eq!((digest, length), (Digest::of(&bytes), bytes.len() as u64));
        prop_assert_eq!(&blobs.get(&digest).unwrap(), &bytes);
        prop_assert_eq!(blobs.put(&bytes).unwrap(), digest);
        prop_assert_eq!(files(&folder.path().join("blobs")).len(), 1);
    }
}

#[test]
fn many_can_keep_the_same_blob_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("blobs");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for byte in 0..20 {
                    // Opening sweeps, and must not take what the others are at.
                    Blobs::open(&root).unwrap().put(&[byte]).unwrap();
                }
            });
        }
    });
    assert_eq!(files(&root).len(), 20);
}

#[test]
fn a_blob_that_was_altered_or_cut_is_not_given_and_is_mended_by_keeping_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path()).unwrap();
    let digest = blobs.put(b"what was written").unwrap();
    for (bytes, cut) in [(b"what was wrItten".as_slice(), 16), (b"what was", 8), (b"", 0)] {
        fs::write(place(folder.path(), &digest), bytes).unwrap();
        let BlobError::Damaged { digest: named, found, length } = blobs.get(&digest).unwrap_err() else {
            panic!("it was given")
        };
        assert_eq!((named, found, length), (digest, Digest::of(bytes), cut));
        blobs.put(b"what was written").unwrap();
        assert_eq!(blobs.get(&digest).unwrap(), b"what was written");
    }
}

#[test]
fn a_blob_that_was_never_kept_is_absent() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path()).unwrap();
    let digest = Digest::of(b"never");
    assert!(matches!(blobs.get(&digest).unwrap_err(), BlobError::Absent { .. }));
    assert!(matches!(blobs.open_file(&digest).unwrap_err(), BlobError::Absent { .. }));
    assert!(!blobs.contains(&digest).unwrap());
}

#[test]
fn what_a_dead_writer_left_is_swept_and_what_a_living_one_writes_is_not() {
    let folder = tempfile::tempdir().unwrap();
    Blobs::open(folder.path()).unwrap();
    let [dead, living] = ["dead", "living"].map(|name| folder.path().join("incoming").join(name));
    fs::write(&dead, "half a bl").unwrap();
    let writer = File::create(&living).unwrap();
    writer.lock().unwrap();
    Blobs::open(folder.path()).unwrap();
    assert_eq!(files(folder.path()), std::slice::from_ref(&living));
    drop(writer);
    Blobs::open(folder.path()).unwrap();
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_failed_put_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path()).unwrap();
    let digest = Digest::of(b"bytes");
    let shard = folder.path().join(&digest.hex()[..2]);
    fs::write(&shard, "a file where the folder belongs").unwrap();
    assert!(matches!(blobs.put(b"bytes").unwrap_err(), BlobError::Io { .. }));
    assert_eq!(files(folder.path()), [shard]);
}

#[test]
fn a_folder_that_can_not_be_written_is_denied() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path()).unwrap();
    let kept = blobs.put(b"kept").unwrap();
    let seal = |mode| {
        for path in [folder.path().to_owned(), folder.path().join("incoming")] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    seal(0o500);
    let (refused, read) = powerless(|| (blobs.put(b"new"), blobs.get(&kept)));
    seal(0o700);
    assert!(matches!(refused, Err(BlobError::Denied { .. })), "{refused:?}");
    assert_eq!(read.unwrap(), b"kept");
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn a_reader_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("blobs");
    let blobs = Blobs::read_only(&root);
    let digest = Digest::of(b"bytes");
    assert!(matches!(blobs.put(b"bytes").unwrap_err(), BlobError::ReadOnly));
    assert!(matches!(blobs.get(&digest).unwrap_err(), BlobError::Absent { .. }));
    assert!(!blobs.contains(&digest).unwrap());
    assert!(listing(folder.path()).is_empty());
    Blobs::open(&root).unwrap().put(b"bytes").unwrap();
    assert_eq!(blobs.get(&digest).unwrap(), b"bytes");
}

#[test]
fn only_a_regular_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(folder.path().join("blobs")).unwrap();
    let [file, link, socket] = ["file", "link", "socket"].map(|name| folder.path().join(name));
    fs::write(&file, "").unwrap();
    symlink(&file, &link).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    for path in [link.as_path(), &socket, folder.path(), Path::new("/dev/null")] {
        assert!(matches!(blobs.put_file(path).unwrap_err(), BlobError::NotAFile { .. }), "{path:?}");
    }
    assert!(matches!(blobs.put_file(folder.path().join("none")).unwrap_err(), BlobError::Io { .. }));
    assert!(files(&folder.path().join("blobs")).is_empty());
}
