//! Sealing more than once, by several at once, and too early: no trace is ruined, and no segment is taken from those
//! who write it.

mod place;

use kizami_records::Definition;
use kizami_seal::{Recording, SealError, SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::Trace;
use place::Place;
use std::path::Path;

fn keep_raw() -> SealOptions {
    SealOptions { keep_raw: true, ..SealOptions::default() }
}

/// Two ranks of so many calls each, with a counter.
fn record(trace: &Path, calls: u64) {
    for rank in 0..2 {
        let who = SegmentOwner::rank(rank, 2);
        define(trace, &who, &[Definition::Counter { number: 0, errno: 0 }]);
        let mut segment = SegmentWriter::create(trace, &who, Some(0));
        for number in 0..calls {
            segment.counted(10 * number, number);
            segment.call(&call("MPI_Barrier", 100 * number, 50));
        }
        segment.finish();
    }
}

/// Files of a trace beside its segments, by name.
fn files(trace: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(trace)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "raw")
        .collect();
    names.sort();
    names
}

#[test]
fn a_recording_with_counters_can_be_sealed_again() {
    let place = Place::new();
    record(&place.trace, 3);
    let first = seal(&place.trace, &keep_raw(), &|_| {}).unwrap();
    let counted = place.open().counted().unwrap();
    assert_eq!(counted.len(), 6);
    let again = seal(&place.trace, &keep_raw(), &|_| {}).unwrap();
    assert_eq!((&again, place.open().counted().unwrap()), (&first, counted));
    assert!(place.trace.join("counters").is_dir());
}

#[test]
fn nothing_of_an_old_trace_is_left_in_a_new_one() {
    let place = Place::new();
    record(&place.trace, 3);
    seal(&place.trace, &keep_raw(), &|_| {}).unwrap();
    let whole = files(&place.trace);
    // A later version may have tables that this one does not know; one interrupted may have left some it does.
    let json = place.trace.join("run.json");
    let text = std::fs::read_to_string(&json).unwrap();
    let more = ["later/part-00000.parquet", "later.parquet", "raw/node1.1000.defs", "../outside"]
        .map(|path| format!(r#"{{ "path": "{path}", "bytes": 1, "crc32": 1 }},"#));
    std::fs::write(&json, text.replacen("\"files\": [", &format!("\"files\": [{}", more.concat()), 1))
        .unwrap();
    std::fs::create_dir(place.trace.join("later")).unwrap();
    let outside = place.trace.with_file_name("outside");
    for left in ["later/part-00000.parquet", "later.parquet", "order.bin", "sums.parquet"] {
        std::fs::write(place.trace.join(left), "old").unwrap();
    }
    std::fs::write(&outside, "not ours").unwrap();
    seal(&place.trace, &keep_raw(), &|_| {}).unwrap();
    assert_eq!(files(&place.trace), whole);
    assert!(place.trace.join("raw/node1.1000.defs").is_file(), "segments are not ours to remove");
    assert!(outside.is_file());
}

#[test]
fn one_of_several_sealing_processes_seals() {
    for _ in 0..10 {
        let place = Place::new();
        record(&place.trace, 2_000);
        let results: Vec<Result<_, SealError>> = std::thread::scope(|scope| {
            let one = || seal(&place.trace, &SealOptions::default(), &|_| {});
            let all: Vec<_> = (0..6).map(|_| scope.spawn(one)).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let done = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(done, 1, "{results:?}");
        let refused = |error: &SealError| {
            matches!(error, SealError::BeingSealed { .. } | SealError::AlreadySealed { .. })
        };
        assert!(results.iter().all(|result| result.as_ref().err().is_none_or(refused)), "{results:?}");
        assert_eq!(place.calls().len(), 4_000);
        assert_eq!(place.open().counted().unwrap().len(), 4_000);
    }
}

#[test]
fn other_processes_learn_who_seals_or_records() {
    let place = Place::new();
    record(&place.trace, 3);
    let me = std::process::id().to_string();
    let recording = Recording::begin(&place.trace);
    let also = Recording::begin(&place.trace);
    let refused = seal(&place.trace, &keep_raw(), &|_| {}).unwrap_err();
    assert!(matches!(&refused, SealError::BeingRecorded { by, .. } if by.contains(&me)), "{refused}");
    drop((recording, also));
    let sealer = std::fs::File::open(&place.trace).unwrap();
    sealer.lock().unwrap();
    let refused = seal(&place.trace, &keep_raw(), &|_| {}).unwrap_err();
    assert!(matches!(&refused, SealError::BeingSealed { by, .. } if by.contains(&me)), "{refused}");
    assert!(refused.to_string().contains("wait"), "{refused}");
    drop(sealer);
    assert_eq!(files(&place.trace), [""; 0], "whoever is refused leaves nothing");
    place.seal();
}

/// As a traced process does, this one keeps its segments mapped until it ends.
#[test]
fn a_recording_whose_processes_live_is_left_alone() {
    let place = Place::new();
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let me = std::process::id();
    let who = SegmentOwner { pid: me, boot_id: boot_id.trim().to_owned(), ..SegmentOwner::rank(0, 1) };
    define(&place.trace, &who, &[]);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    segment.call(&call("MPI_Barrier", 100, 50));
    let refused = seal(&place.trace, &SealOptions::default(), &|_| {}).unwrap_err();
    assert!(matches!(&refused, SealError::BeingRecorded { .. }), "{refused}");
    assert!(refused.to_string().contains(&format!("process {me} on this host")), "{refused}");
    assert_eq!(std::fs::read_dir(place.trace.join("raw")).unwrap().count(), 2);

    // Nobody writes to a copy, although all names and numbers in it are the same.
    let copy = place.trace.with_file_name("copy.kz");
    std::fs::create_dir_all(copy.join("raw")).unwrap();
    for entry in std::fs::read_dir(place.trace.join("raw")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join("raw").join(entry.file_name())).unwrap();
    }
    seal(&copy, &SealOptions::default(), &|_| {}).unwrap();
    assert_eq!(Trace::open(&copy).unwrap().run().totals.events, 1);
}
