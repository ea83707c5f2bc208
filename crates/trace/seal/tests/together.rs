//! Sealing by several processes leaves what one leaves.

mod place;
#[allow(dead_code, reason = "only reduced runs are needed here")]
mod program;

use kizami_seal::{SealError, SealOptions, seal_together};
use kizami_testing::process_group::played;
use kizami_testing::segments::{self, RingTimes, SegmentOwner};
use kizami_trace::RunInfo;
use place::Place;
use std::path::Path;

const RANKS: u32 = 6;
/// A part has more than a megabyte of them.
const MESSAGES: u64 = 20_000;
const EVERY_NS: u64 = 10_000;

/// A ring on two hosts, of which one has a wall clock that is wrong. One rank was killed, and one left damage.
fn write_ring(trace: &Path) {
    for rank in 0..RANKS {
        let mut who =
            SegmentOwner { last_ticks: MESSAGES * EVERY_NS + 5_000_000, ..SegmentOwner::rank(rank, RANKS) };
        if rank >= RANKS / 2 {
            (who.host, who.boot_id) = ("node2".to_owned(), "boot-2".to_owned());
            who.realtime_ns += 3_000_000;
        }
        if rank == 4 {
            who.ending = kizami_model::Ending::Vanished;
            who.in_call = Some((kizami_testing::segments::op("MPI_Recv"), MESSAGES * EVERY_NS + 1));
        }
        let times = RingTimes { every: EVERY_NS, receives_after: 1_000, call: 700 };
        segments::write_ring(trace, &who, (rank, RANKS), MESSAGES, times);
    }
    let raw = trace.join("raw");
    let names = std::fs::read_dir(raw).unwrap().map(|entry| entry.unwrap().path());
    let damaged = names
        .filter(|path| path.to_string_lossy().contains(".1001."))
        .find(|path| path.extension().is_some_and(|extension| extension == "calls"));
    let path = damaged.expect("the calls of rank 1");
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..half + 64].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
}

fn sealed_by(count: usize, write: impl Fn(&Path)) -> (Place, RunInfo) {
    let place = Place::new();
    write(&place.trace);
    let options = SealOptions::default();
    let runs = played(count, |group| seal_together(&place.trace, &options, group, &|_| {}).unwrap());
    assert!(runs[1..].iter().all(Option::is_none), "who helps has nothing to tell");
    let run = runs.into_iter().next().flatten().expect("the first tells");
    (place, run)
}

/// All that `run.json` says, but for how rows are divided into files.
fn described(run: &RunInfo) -> String {
    format!("{:#?}", RunInfo { files: Vec::new(), ..run.clone() })
}

#[track_caller]
fn assert_alike(write: impl Fn(&Path) + Copy) -> Place {
    let (one, run) = sealed_by(1, write);
    let (trace, calls) = (one.open(), one.calls());
    for count in [2, 3, 8] {
        let (several, run_of_several) = sealed_by(count, write);
        assert_eq!(described(&run_of_several), described(&run), "{count}");
        assert!(several.calls() == calls, "{count}");
        let other = several.open();
        assert_eq!(
            format!("{:?}", other.definitions().unwrap()),
            format!("{:?}", trace.definitions().unwrap())
        );
        assert_eq!(format!("{:?}", other.stops().unwrap()), format!("{:?}", trace.stops().unwrap()));
        assert_eq!(format!("{:?}", other.repairs().unwrap()), format!("{:?}", trace.repairs().unwrap()));
        assert_eq!(several.trace.join("raw").exists(), one.trace.join("raw").exists());
        assert!(!several.trace.join("sealing.tmp").exists());
    }
    one
}

#[test]
fn rows_damage_and_repairs_are_those_of_one() {
    let place = assert_alike(write_ring);
    let trace = place.open();
    assert!(!trace.repairs().unwrap().is_empty(), "messages across hosts must be moved");
    assert!(trace.definitions().unwrap().ranks[1].damage.is_some());
    assert_eq!(trace.definitions().unwrap().under_way.len(), 1);
    assert!(std::fs::read_dir(place.trace.join("events")).unwrap().count() > 2);
}

#[test]
fn a_run_that_was_reduced_is_that_of_one() {
    let place = assert_alike(|trace| program::write_reduced(trace, 300));
    assert!(place.open().run().reduced.is_some());
}

#[test]
fn differing_segments_are_reported() {
    let (place, other) = (Place::new(), Place::new());
    write_ring(&place.trace);
    write_ring(&other.trace);
    let raw = other.trace.join("raw");
    let first = std::fs::read_dir(&raw).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(first).unwrap();
    let options = SealOptions::default();
    let outcomes = played(2, |group| {
        let trace = if group.is_first() { &place.trace } else { &other.trace };
        let outcome = seal_together(trace, &options, group, &|_| {});
        if let Err(SealError::OtherSegments { .. }) = outcome {
            // As the carrier of messages would end the other.
            group.gather(vec![1]);
        }
        outcome.map(|_| ()).unwrap_err()
    });
    assert!(outcomes[0].to_string().contains("process 1"), "{}", outcomes[0]);
    assert!(matches!(outcomes[1], SealError::OtherSegments { .. }), "{}", outcomes[1]);
    assert!(place.trace.join("raw").exists() && !place.trace.join("run.json").exists());
}
