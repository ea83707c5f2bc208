//! What is kept beside a trace, made up by somebody who knows the format: some words of the graph or, if the first byte is odd,
//! of the viewer's index are changed under a checksum that is right. Then everything is done with it that a report or a picture
//! does.
#![no_main]

use kizami_explain::Analysis;
use kizami_view::index::Index;
use kizami_trace::Trace;
use libfuzzer_sys::fuzz_target;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/show/cli/tests/golden/schema-1/late-sender.kz");
/// Words before what is kept; the last is the checksum.
const HEAD_WORDS: usize = 16;
/// The first of them that say nothing about which file it is.
const FIRST_WORD: usize = 4;
/// A place and a value.
const CHANGE_BYTES: usize = 12;

struct Kept {
    trace: Trace,
    graph: (PathBuf, Vec<u8>),
    index: (PathBuf, Vec<u8>),
    _folder: tempfile::TempDir,
}

static KEPT: LazyLock<Kept> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.kz");
    copy(Path::new(TRACE), &path);
    let trace = Trace::open(&path).expect("a trace");
    analyse(&trace);
    Index::build(&trace, &|_| {}).expect("an index");
    let kept = |name: &str| {
        let path = path.join("derived").join(name);
        let bytes = std::fs::read(&path).expect("a kept file");
        (path, bytes)
    };
    let (graph, index) = (kept("graph.bin"), kept("view.bin"));
    Kept { trace, graph, index, _folder: folder }
});

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a new folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => _ = std::fs::copy(entry.path(), to).expect("a copy"),
        }
    }
}

fn analyse(trace: &Trace) {
    Analysis::of(trace, 1, &|_| {}).expect("an analysis");
}

fn forged(whole: &[u8], changes: &[[u8; CHANGE_BYTES]]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for change in changes {
        let (place, value) = change.split_at(4);
        let place = u32::from_le_bytes(place.try_into().expect("four bytes")) as usize;
        let word = FIRST_WORD + place % (bytes.len() / 8 - FIRST_WORD);
        bytes[8 * word..8 * word + 8].copy_from_slice(value);
    }
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&bytes[..8 * HEAD_WORDS - 8]);
    checksum.update(&bytes[8 * HEAD_WORDS..]);
    bytes[8 * HEAD_WORDS - 8..8 * HEAD_WORDS].copy_from_slice(&u64::from(checksum.finalize()).to_le_bytes());
    bytes
}

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let kept = &*KEPT;
    let (path, whole) = if first & 1 == 1 { &kept.index } else { &kept.graph };
    std::fs::write(path, forged(whole, rest.as_chunks().0)).expect("a forged file");
    if first & 1 == 0 {
        return analyse(&kept.trace);
    }
    let Some(index) = Index::kept(&kept.trace) else { return };
    for rank in 0..index.ranks() {
        let (mut rows, mut told) = (0u64, 0u64);
        index.each(rank, i64::MIN, i64::MAX, |_| rows += 1);
        index.time(rank, i64::MIN, i64::MAX, |_, _, _| told += 1);
        assert!(rows <= index.rows(), "rank {rank} has more rows than there are");
        (0..index.division().levels).for_each(|level| assert!(!index.cells(level, rank).is_empty()));
    }
});
