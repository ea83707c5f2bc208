//! What is kept of a graph comes back as it was, and is believed only if it is whole and of the same trace.

use kizami_graph::{Graph, OffCore, RowObserver, build, read};
use kizami_model::{Call, Length};
use kizami_records::CallRecord;
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::Trace;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn make(folder: &Path, receives: u64) -> Trace {
    let path = folder.join("run.kz");
    if path.exists() {
        std::fs::remove_dir_all(&path).unwrap();
    }
    for rank in 0..2 {
        let who = SegmentOwner::rank(rank, 2);
        define(&path, &who, &[]);
        let mut segment = SegmentWriter::create(&path, &who, Some(0));
        for number in 0..receives {
            let (name, peer) = if rank == 0 { ("MPI_Send", 1) } else { ("MPI_Recv", 0) };
            let times = call(name, 100 * number, 50);
            let bytes = 8 + number;
            let (bytes_out, bytes_in) = if rank == 0 { (bytes, 0) } else { (0, bytes) };
            if number % 3 == 1 {
                segment.off_core(number, 2 * number);
            }
            segment.call(&CallRecord { comm: 0, peer, tag: 3, bytes_out, bytes_in, ..times });
        }
        segment.finish();
    }
    seal(&path, &SealOptions::default(), &|_| {}).unwrap();
    Trace::open(&path).unwrap()
}

fn parts(graph: &Graph) -> impl PartialEq + std::fmt::Debug {
    let members: Vec<_> = graph.members.of(0).collect();
    let sizes = graph.members.sizes.clone();
    let lists = (graph.steps.to_vec(), graph.ties.to_vec(), graph.strands.clone(), graph.channels.clone());
    (lists, sizes, members, graph.off_core.clone(), graph.not_followed)
}

fn built(trace: &Trace) -> Graph {
    build(trace, 1, &|_| {}).unwrap()
}

#[test]
fn a_kept_graph_is_the_same_graph() {
    let folder = tempfile::tempdir().unwrap();
    let trace = make(folder.path(), 10);
    let first = built(&trace);
    assert_eq!(first.steps.len(), 20);
    let [before, inside] = [1, 2].map(|factor| Length(7 * factor));
    assert!(first.off_core.contains(&OffCore { step: 17, before, inside }), "{:?}", first.off_core);
    assert_eq!(first.off_core.len(), 6);
    assert!(trace.path().join("derived/graph.bin").is_file());
    assert_eq!(parts(&built(&trace)), parts(&first));
}

/// All rows of a share.
#[derive(Default)]
struct Rows(Vec<Call>);

impl RowObserver for Rows {
    fn row(&mut self, call: &Call) {
        self.0.push(call.clone());
    }
}

#[test]
fn ranks_that_are_read_at_the_same_time_make_the_same_graph() {
    let folder = tempfile::tempdir().unwrap();
    // Several batches, of which the last is not full.
    let trace = make(folder.path(), 5_003);
    let with = |threads| {
        let (graph, seen) = read(&trace, threads, Rows::default, &|_| {}).unwrap();
        (graph, seen.into_iter().flat_map(|rows| rows.0).collect::<Vec<_>>())
    };
    let ((one, rows), (two, together)) = (with(1), with(2));
    assert_eq!(rows.len(), 10_006);
    assert_eq!((parts(&one), rows), (parts(&two), together));

    let part = trace.path().join("events/part-00000.parquet");
    let mut bytes = std::fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xff);
    std::fs::write(&part, bytes).unwrap();
    let failed = |threads| read(&trace, threads, || (), &|_| {}).unwrap_err().to_string();
    assert_eq!(failed(1), failed(2));
}

/// Windows, locks, roots, wildcards, threads, polls: all that is counted apart for ranks that are read apart.
#[test]
fn recorded_runs_are_the_same_graphs_with_any_number_of_threads() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../show/cli/tests/golden/schema-1");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(trace) = Trace::open(&path).ok().filter(|_| path.extension().is_some_and(|kz| kz == "kz"))
        else {
            continue;
        };
        let with = |threads| read(&trace, threads, || (), &|_| {}).map(|(graph, _)| graph).unwrap();
        let (one, ranks) = (with(1), trace.run().ranks as usize);
        for threads in [2, 3, ranks] {
            assert!(parts(&with(threads)) == parts(&one), "{} with {threads} threads", path.display());
        }
        compared += 1;
    }
    assert!(compared > 25, "{compared} runs");
}

#[test]
fn the_graph_of_another_run_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    built(&make(folder.path(), 10));
    let kept = std::fs::read(folder.path().join("run.kz/derived/graph.bin")).unwrap();
    let longer = make(folder.path(), 12);
    std::fs::create_dir_all(longer.path().join("derived")).unwrap();
    std::fs::write(longer.path().join("derived/graph.bin"), kept).unwrap();
    assert_eq!(built(&longer).steps.len(), 24);
}

#[test]
fn a_damaged_file_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let trace = make(folder.path(), 10);
    let first = built(&trace);
    let path = trace.path().join("derived/graph.bin");
    let kept = std::fs::read(&path).unwrap();
    for damaged in [&kept[..kept.len() / 2], &[], &[1; 4_000]] {
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(parts(&built(&trace)), parts(&first));
    }
    for at in (0..kept.len()).step_by(13) {
        let mut damaged = kept.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(parts(&built(&trace)), parts(&first), "byte {at}");
    }
}

/// Whether a kept graph was used: no progress of rows is reported then.
fn is_believed(trace: &Trace) -> bool {
    let read = AtomicBool::new(false);
    build(trace, 1, &|_| read.store(true, Ordering::Relaxed)).unwrap();
    !read.into_inner()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => _ = std::fs::copy(entry.path(), to).unwrap(),
        }
    }
}

#[test]
fn kept_graphs_of_recorded_runs_are_believed() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../show/cli/tests/golden/schema-1");
    let folder = tempfile::tempdir().unwrap();
    let (mut believed, mut doubted) = (0, Vec::new());
    for entry in std::fs::read_dir(golden).unwrap().map(Result::unwrap) {
        let path = folder.path().join(entry.file_name());
        if path.extension().is_none_or(|kz| kz != "kz") {
            continue;
        }
        copy(&entry.path(), &path);
        let Some(trace) = Trace::open(&path).ok() else { continue };
        built(&trace);
        if !path.join("derived/graph.bin").is_file() {
            continue;
        }
        match is_believed(&trace) {
            true => believed += 1,
            false => doubted.push(path),
        }
    }
    assert!(believed > 25 && doubted.is_empty(), "{believed} believed, not {doubted:?}");
}

/// Who knows the format makes a checksum that is right. Then a graph is taken only if it can be gone through.
#[test]
fn a_forged_graph_is_rejected() {
    const HEAD_WORDS: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let trace = make(folder.path(), 10);
    let first = built(&trace);
    let path = trace.path().join("derived/graph.bin");
    let whole = std::fs::read(&path).unwrap();
    let lists = HEAD_WORDS + 6 * first.steps.len() + 2 * first.ties.len();
    let mut refused = 0;
    for at in (5..HEAD_WORDS - 1).chain(HEAD_WORDS..whole.len() / 8) {
        for value in [0, 1, 1 << 31, u64::MAX] {
            let mut forged = whole.clone();
            forged[8 * at..8 * at + 8].copy_from_slice(&u64::to_le_bytes(value));
            let mut checksum = crc32fast::Hasher::new();
            checksum.update(&forged[..8 * HEAD_WORDS - 8]);
            checksum.update(&forged[8 * HEAD_WORDS..]);
            let sum = u64::from(checksum.finalize()).to_le_bytes();
            forged[8 * HEAD_WORDS - 8..8 * HEAD_WORDS].copy_from_slice(&sum);
            std::fs::write(&path, &forged).unwrap();
            let graph = built(&trace);
            refused += usize::from(std::fs::read(&path).unwrap() != forged);
            let mut passed = 0;
            for strand in &graph.strands {
                let mut step = strand.first_step as usize;
                loop {
                    passed += 1;
                    assert!(graph.ties_of(&graph.steps[step]).iter().all(|tie| tie.place() < 1), "word {at}");
                    match graph.steps[step].next {
                        0 => break,
                        next => step += next as usize,
                    }
                }
            }
            assert_eq!(passed, 20, "word {at} {value}");
        }
    }
    assert!(refused > 2 * lists, "{refused} of {} forged graphs", 4 * whole.len() / 8);
}

#[test]
fn nothing_is_written_where_a_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    let trace = make(folder.path(), 10);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, trace.path().join("derived")).unwrap();
    assert_eq!(built(&trace).steps.len(), 20);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}
