//! Which chunks count: those whose checksum is right, and each once.

use kizami_segment::{Appender, HEADER_BYTES, SLOT_BYTES, Segment, WindowShape, head};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Small enough to be drained often.
const WINDOW: WindowShape = WindowShape { chunks: 3, chunk_bytes: 4096 };
/// Records of one slot that fit into a chunk beside its header.
const PER_CHUNK: usize = WINDOW.chunk_bytes / SLOT_BYTES - 1;

/// A segment with so many records of one slot.
fn segment(path: &Path, count: usize) -> Vec<u8> {
    let c_path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut appender = Appender::create(&c_path, WINDOW).unwrap();
    appender.header().table.store(kizami_model::function::fingerprint(), Ordering::Relaxed);
    for index in 0..count as u64 {
        appender.push([head(7, 100 * index), 50, 0, 0], std::iter::empty()).unwrap();
    }
    std::fs::read(path).unwrap()
}

/// How many records come out, and how often something could not be believed.
fn records_and_damage(bytes: &[u8]) -> (usize, usize) {
    let mut committed = Segment::parse(bytes).unwrap().committed();
    let mut records = 0;
    while committed.rest().is_some() {
        committed.take(1);
        records += 1;
    }
    (records, committed.damage().len())
}

#[test]
fn a_drained_chunk_is_checked_by_its_checksum() {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = segment(&directory.path().join("segment"), 10 * PER_CHUNK);
    assert_eq!(records_and_damage(&bytes), (10 * PER_CHUNK, 0));
    let first_drained = HEADER_BYTES + 3 * WINDOW.chunk_bytes;
    bytes[first_drained + 10 * SLOT_BYTES + 9] ^= 1;
    assert_eq!(records_and_damage(&bytes), (9 * PER_CHUNK, 1));
}

/// A process that dies while a chunk is being written out leaves it twice: half of it behind the window, and
/// whole in the window. It counts once.
#[test]
fn a_chunk_that_was_being_drained_counts_once() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = segment(&directory.path().join("segment"), 3 * PER_CHUNK);
    assert_eq!(bytes.len(), HEADER_BYTES + 3 * WINDOW.chunk_bytes, "nothing was drained yet");
    let first = &bytes[HEADER_BYTES..HEADER_BYTES + WINDOW.chunk_bytes];
    for written in [1, 31, 32, 100, WINDOW.chunk_bytes - 1, WINDOW.chunk_bytes] {
        let dying = [&bytes[..], &first[..written]].concat();
        assert_eq!(records_and_damage(&dying), (3 * PER_CHUNK, 0), "{written} bytes written");
    }
}
