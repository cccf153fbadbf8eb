use super::*;

use proptest::prelude::*;

const SMALL: Limits = Limits { head: 10, tail: 8 };

fn written(limits: Limits, chunks: &[&[u8]]) -> (tempfile::TempDir, LogFiles, LogWriter) {
    let folder = tempfile::tempdir().unwrap();
    let files = LogFiles::new(folder.path(), "out", limits);
    let mut writer = files.create().unwrap();
    for chunk in chunks {
        writer.write(chunk).unwrap();
    }
    (folder, files, writer)
}

#[test]
fn a_short_stream_is_kept_whole() {
    let (_folder, files, writer) = written(SMALL, &[b"hello ", b"world"]);
    let whole = Assembled { bytes: b"hello world".to_vec(), total: 11, truncated: false };
    assert_eq!(files.assemble().unwrap(), whole);
    assert_eq!((writer.total(), writer.truncated()), (11, false));
}

#[test]
fn an_empty_stream_is_an_empty_log() {
    let (_folder, files, _writer) = written(SMALL, &[]);
    assert_eq!(files.assemble().unwrap(), Assembled { bytes: vec![], total: 0, truncated: false });
}

#[test]
fn a_log_that_was_never_begun_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(LogFiles::new(folder.path(), "out", SMALL).assemble().is_err());
}

#[test]
fn of_a_long_stream_head_and_tail_are_kept_and_the_gap_is_named() {
    let (_folder, files, writer) = written(SMALL, &[b"0123456789", &[b'x'; 100], b"abcdefgh"]);
    let bytes = b"0123456789\n[nightgate: 100 bytes left out]\nabcdefgh".to_vec();
    assert_eq!(files.assemble().unwrap(), Assembled { bytes, total: 118, truncated: true });
    assert!(writer.truncated());
}

#[test]
fn a_second_stream_never_shares_a_log() {
    let (_folder, files, _writer) = written(SMALL, &[b"first"]);
    assert_eq!(files.create().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn the_disk_holds_a_bounded_part_of_one_line_of_64_mib() {
    let chunk = [b'a'; 65536];
    let chunks: Vec<&[u8]> = (0..1024).map(|_| &chunk[..]).collect();
    let (folder, files, writer) = written(Limits::default(), &chunks);
    let on_disk: u64 =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(on_disk <= (256 << 10) + 2 * (1 << 20), "{on_disk}");
    assert_eq!(writer.total(), 64 << 20);
    let assembled = files.assemble().unwrap();
    assert_eq!((assembled.total, assembled.truncated), (64 << 20, true));
}

#[test]
fn a_log_without_a_tail_keeps_its_head() {
    let (_folder, files, writer) = written(Limits { head: 4, tail: 0 }, &[b"abcdef", b"gh"]);
    assert_eq!((writer.total(), writer.truncated()), (8, true));
    assert_eq!(files.assemble().unwrap().bytes, b"abcd");
}

#[test]
fn a_killed_writer_leaves_all_that_it_wrote() {
    let (_folder, files, writer) = written(SMALL, &[b"0123456789", b"abcdefgh", b"ijk"]);
    std::mem::forget(writer);
    let bytes = b"0123456789\n[nightgate: 3 bytes left out]\ndefghijk".to_vec();
    assert_eq!(files.assemble().unwrap(), Assembled { bytes, total: 21, truncated: true });
}

#[test]
fn a_writer_killed_between_making_and_deleting_a_file_leaves_a_readable_log() {
    let (folder, files, _writer) = written(SMALL, &[b"0123456789", b"abcdefgh", b"ijklmnop"]);
    File::create(folder.path().join(format!("out.tail.{:020}", 26))).unwrap();
    let bytes = b"0123456789\n[nightgate: 8 bytes left out]\nijklmnop".to_vec();
    assert_eq!(files.assemble().unwrap(), Assembled { bytes, total: 26, truncated: true });
}

proptest! {
    #[test]
    fn what_is_kept_does_not_depend_on_how_the_stream_was_cut(
        stream in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(0usize..40, 0..20),
    ) {
        let mut chunks = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            chunks.push(now);
            rest = later;
        }
        chunks.push(rest);
        let (_folder, files, writer) = written(SMALL, &chunks);
        let mut wanted = stream[..stream.len().min(10)].to_vec();
        if stream.len() > 18 {
            wanted.extend(format!("\n[nightgate: {} bytes left out]\n", stream.len() - 18).into_bytes());
        }
        wanted.extend(&stream[stream.len().saturating_sub(8).max(stream.len().min(10))..]);
        let assembled = files.assemble().unwrap();
        prop_assert_eq!(assembled.bytes, wanted);
        prop_assert_eq!(assembled.total, stream.len() as u64);
        prop_assert_eq!(assembled.truncated, stream.len() > 18);
        prop_assert_eq!(writer.truncated(), assembled.truncated);
    }
}
