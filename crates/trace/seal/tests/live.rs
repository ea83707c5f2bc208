//! Runs that have not ended, or ended inside a call: what of them can be read, and that reading changes nothing.

mod place;

use kizami_model::{Ending, Moment, Peer, Rank};
use kizami_records::{Definition, PEER_ANY};
use kizami_seal::{RunEnd, SealOptions, seal, separate, snapshot};
use kizami_segment::{CallNoteView, WindowShape};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define, op};
use kizami_trace::Trace;
use kizami_trace::definitions::UnderWay;
use place::Place;
use std::collections::BTreeMap;
use std::path::Path;

const WORLD: u64 = 0x4400_0000;

/// What the MPI library calls the world, and one call site.
fn handles() -> Vec<Definition> {
    vec![
        Definition::CommunicatorHandle { local: 0, handle: WORLD },
        Definition::Site { local: 1, address: 0x1234, module: 0, caller: 0 },
    ]
}

/// A rank that vanished inside a call.
fn vanished(rank: u32, name: &str, note: CallNoteView) -> SegmentOwner {
    let note = CallNoteView { site: 1, ..note };
    SegmentOwner {
        ending: Ending::Vanished,
        in_call: Some((op(name), 900)),
        note,
        ..SegmentOwner::rank(rank, 4)
    }
}

fn record(trace: &Path, who: &SegmentOwner) {
    define(trace, who, &handles());
    let mut segment = SegmentWriter::create(trace, who, Some(0));
    segment.call(&call("MPI_Wtime", 10, 5));
    segment.finish();
}

#[test]
fn a_call_that_never_returned_is_stored_with_its_arguments() {
    let place = Place::new();
    let message =
        CallNoteView { handle: 0xdead_beef << 32 | WORLD, peer: 1, tag: 7, ..CallNoteView::default() };
    let both = CallNoteView { recv_peer: PEER_ANY, recv_tag: -1, ..message };
    let kinds = [
        vanished(0, "MPI_Recv", message),
        vanished(1, "MPI_Sendrecv", both),
        vanished(2, "MPI_Waitall", CallNoteView { requests: 3, ..CallNoteView::default() }),
        vanished(3, "MPI_Reduce", CallNoteView { handle: WORLD, peer: 2, ..CallNoteView::default() }),
    ];
    kinds.iter().for_each(|who| record(&place.trace, who));
    seal(&place.trace, &SealOptions::default(), &|_| {}).unwrap();
    let calls = place.open().definitions().unwrap().under_way;
    let rank = |rank| Some(Peer::Rank(Rank(rank)));
    let blank = |n: usize, name| UnderWay {
        callsite: Some(0),
        ..UnderWay::new(Rank(n as u32), calls[n].thread, op(name), Moment(900))
    };
    assert_eq!(calls[0], UnderWay { comm: Some(0), peer: rank(1), tag: Some(7), ..blank(0, "MPI_Recv") });
    let sent = UnderWay { comm: Some(0), peer: rank(1), tag: Some(7), ..blank(1, "MPI_Sendrecv") };
    assert_eq!(calls[1], UnderWay { recv_peer: Some(Peer::Any), recv_tag: None, ..sent });
    assert_eq!(calls[2], UnderWay { requests: Some(3), ..blank(2, "MPI_Waitall") });
    assert_eq!(calls[3], UnderWay { comm: Some(0), root: rank(2), ..blank(3, "MPI_Reduce") });
}

/// Segments of older versions have no note, and the last call made where others have the one being made.
#[test]
fn without_a_note_only_the_function_is_stored() {
    let place = Place::new();
    let old = |rank| SegmentOwner {
        ending: Ending::Vanished,
        in_call: Some((op("MPI_Recv"), 900)),
        ..SegmentOwner::rank(rank, 2)
    };
    record(&place.trace, &old(0));
    let returned = SegmentOwner { in_call: Some((op("MPI_Wtime"), 10)), ..old(1) };
    record(&place.trace, &returned);
    seal(&place.trace, &SealOptions::default(), &|_| {}).unwrap();
    let calls = place.open().definitions().unwrap().under_way;
    assert_eq!((calls.len(), calls[0].rank, calls[0].op.name()), (1, Rank(0), "MPI_Recv"));
    assert_eq!((calls[0].peer, calls[0].tag, calls[0].comm, calls[0].callsite), (None, None, None, None));
}

/// This process, which has the segments mapped.
fn here(rank: u32) -> SegmentOwner {
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned();
    let window = WindowShape { chunks: 2, chunk_bytes: 4096 };
    let (ending, pid) = (Ending::Vanished, std::process::id());
    SegmentOwner { boot_id, pid, ending, window, host: format!("node{rank}"), ..SegmentOwner::rank(rank, 2) }
}

/// Names and contents of all files below a folder.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_run_that_goes_on_is_read_as_it_is_and_left_alone() {
    let place = Place::new();
    let mut segments: Vec<SegmentWriter> = (0..2)
        .map(|rank| {
            define(&place.trace, &here(rank), &[]);
            SegmentWriter::create(&place.trace, &here(rank), Some(0))
        })
        .collect();
    let mut written = 0;
    // Chunks have room for 127 records: what was drained counts, too.
    for calls in [10, 1000, 1000] {
        for number in written..written + calls {
            segments.iter_mut().for_each(|segment| segment.call(&call("MPI_Barrier", 100 * number, 50)));
        }
        written += calls;
        let before = contents(&place.trace);
        let output = place.trace.with_file_name(format!("snapshot-{written}.kz"));
        let run = snapshot(&place.trace, &output, &|_| {}).unwrap();
        assert_eq!((run.totals.events, run.ranks), (2 * written, 2));
        assert!(run.watched.unwrap().running);
        assert_eq!(run.health.problems, ["the run goes on (all ranks): this is a snapshot of it"]);
        let ranks = Trace::open(&output).unwrap().definitions().unwrap().ranks;
        assert!(
            ranks.iter().all(|rank| rank.ending == Ending::Running && rank.damage.is_none()),
            "{ranks:?}"
        );
        assert!(contents(&place.trace) == before, "a snapshot changes nothing");
    }
}

#[test]
fn the_end_is_stored_where_it_was_observed() {
    let place = Place::new();
    record(&place.trace, &vanished(0, "MPI_Recv", CallNoteView::default()));
    let options = SealOptions { run_end: Some(RunEnd::now()), ..SealOptions::default() };
    assert_eq!(seal(&place.trace, &options, &|_| {}).unwrap().watched, None, "on another host");
    let place = Place::new();
    let begun_ns = {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        (text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e9) as u64
    };
    let who = SegmentOwner { base_ticks: begun_ns, last_ticks: begun_ns + 1000, pid: 1, ..here(0) };
    record(&place.trace, &who);
    let watched = seal(&place.trace, &SealOptions { run_end: Some(RunEnd::now()), ..options }, &|_| {})
        .unwrap()
        .watched;
    let watched = watched.expect("this host");
    assert!(!watched.running && (0..10_000_000_000).contains(&watched.until_ns), "{watched:?}");
}

/// Two programs after each other, and one beside them.
#[test]
fn every_launch_gets_a_recording_of_its_own() {
    let place = Place::new();
    let who = |launch: u64, pid: u32, rank: u32| SegmentOwner {
        launch,
        pid: pid + rank,
        realtime_ns: SegmentOwner::rank(0, 1).realtime_ns + launch,
        ..SegmentOwner::rank(rank, 2)
    };
    for (launch, pid) in [(5, 10), (6, 20), (7, 30)] {
        (0..2).for_each(|rank| record(&place.trace, &who(launch, pid, rank)));
    }
    let occupied = place.trace.with_file_name("run.2.kz");
    std::fs::create_dir(&occupied).unwrap();
    std::fs::write(occupied.join("precious"), "data").unwrap();
    let more = separate(&place.trace).unwrap();
    let names: Vec<_> = more.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["run.3.kz", "run.4.kz"]);
    for directory in [&place.trace, &more[0], &more[1]] {
        let run = seal(directory, &SealOptions::default(), &|_| {}).unwrap();
        assert_eq!((run.ranks, run.totals.events, run.health.complete), (2, 2, true), "{directory:?}");
    }
    assert_eq!(std::fs::read_to_string(occupied.join("precious")).unwrap(), "data");
}

/// A move that was interrupted is finished where it began.
#[test]
fn half_a_launch_follows_the_other_half() {
    let place = Place::new();
    for (launch, pid) in [(5, 10), (6, 20)] {
        for rank in 0..2 {
            record(&place.trace, &SegmentOwner { launch, pid: pid + rank, ..SegmentOwner::rank(rank, 2) });
        }
    }
    let beside = place.trace.with_file_name("run.2.kz");
    std::fs::create_dir_all(beside.join("raw")).unwrap();
    for name in ["node1.20.defs", "node1.20.0.calls"] {
        std::fs::rename(place.trace.join("raw").join(name), beside.join("raw").join(name)).unwrap();
    }
    // What is left has rank 1 of the second launch alone; its number says that it is not the first's.
    assert_eq!(separate(&place.trace).unwrap(), std::slice::from_ref(&beside));
    assert_eq!(seal(&beside, &SealOptions::default(), &|_| {}).unwrap().ranks, 2);
    assert_eq!(seal(&place.trace, &SealOptions::default(), &|_| {}).unwrap().ranks, 2);
}
