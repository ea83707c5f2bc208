//! Runs on several hosts whose clocks are off, drift apart, and were compared while the run went on.

mod place;

use kizami_model::{Call, Moment};
use kizami_records::{CallRecord, Definition};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::{ClockKind, RunInfo};
use place::Place;
use std::path::Path;

const SECOND: i64 = 1_000_000_000;

/// A host whose own clock shows `offset + (1 + drift) * t` at the true time `t`.
#[derive(Clone, Copy)]
struct HostSim {
    number: u32,
    offset_ns: i64,
    drift_ppm: f64,
    /// How wrong its wall clock is.
    wall_error_ns: i64,
    tsc: bool,
}

impl HostSim {
    fn ticks(&self, true_ns: i64) -> u64 {
        let ns = self.offset_ns + true_ns + (true_ns as f64 * self.drift_ppm * 1e-6).round() as i64;
        if self.tsc { 2 * ns as u64 } else { ns as u64 }
    }

    fn who(&self, rank: u32, ranks: u32, run_ns: i64) -> SegmentOwner {
        let real = 1_700_000_000_000_000_000i64 + self.wall_error_ns;
        SegmentOwner {
            host: format!("node{}", self.number),
            boot_id: format!("boot-{}", self.number),
            base_ticks: self.ticks(0),
            last_ticks: self.ticks(run_ns),
            realtime_ns: real as u64,
            tsc: self.tsc,
            ..SegmentOwner::rank(rank, ranks)
        }
    }

    /// What this host's representative asked another's: a round every two seconds.
    fn questions(&self, reference: &HostSim, reference_rank: u32, run_ns: i64) -> Vec<Definition> {
        let mut samples = Vec::new();
        for round in 0..=(run_ns / (2 * SECOND)) {
            for question in 0..8i64 {
                let sent = round * 2 * SECOND + question * 2_000;
                // The way there and the way back differ from question to question.
                let (there, back) = (450 + 37 * (question % 3), 450 + 41 * (question % 4));
                samples.push(Definition::ClockSample {
                    round: round as u32,
                    reference: reference_rank,
                    sent_ticks: self.ticks(sent),
                    reference_ticks: reference.ticks(sent + there),
                    received_ticks: self.ticks(sent + there + back),
                });
            }
        }
        samples
    }
}

fn hosts() -> [HostSim; 3] {
    [
        HostSim { number: 0, offset_ns: 7 * SECOND, drift_ppm: 0.0, wall_error_ns: 0, tsc: false },
        HostSim { number: 1, offset_ns: 900 * SECOND, drift_ppm: 20.0, wall_error_ns: 5_000_000, tsc: true },
        HostSim {
            number: 2,
            offset_ns: 40 * SECOND,
            drift_ppm: -35.0,
            wall_error_ns: -3_000_000,
            tsc: false,
        },
    ]
}

/// Writes calls that begin at these true times, on the host's clock.
fn write_calls(trace: &Path, host: &HostSim, who: &SegmentOwner, calls: &[(i64, i64, CallRecord)]) {
    let mut segment = SegmentWriter::create(trace, who, Some(0));
    for (start, end, call) in calls {
        let start_ticks = host.ticks(*start) - who.base_ticks;
        let duration_ticks = host.ticks(*end) - host.ticks(*start);
        segment.call(&CallRecord { start_ticks, duration_ticks, ..*call });
    }
    segment.finish();
}

#[test]
fn measured_offsets_put_all_hosts_on_the_clock_of_the_first() {
    let place = Place::new();
    let hosts = hosts();
    let run_ns = 20 * SECOND;
    let moments: Vec<i64> = (1..100).map(|k| k * run_ns / 100 + 12_345).collect();
    for (host, rank) in hosts.iter().zip(0u32..) {
        let who = host.who(rank, 3, run_ns);
        // A tree that is a chain: 2 asks 1, 1 asks 0.
        let asked = match rank {
            0 => Vec::new(),
            rank => host.questions(&hosts[rank as usize - 1], rank - 1, run_ns),
        };
        define(&place.trace, &who, &asked);
        let calls: Vec<_> = moments.iter().map(|t| (*t, t + 500, call("MPI_Wtime", 0, 0))).collect();
        write_calls(&place.trace, host, &who, &calls);
    }
    let run = place.seal();
    assert!(run.clocks.aligned, "{:?}", run.clocks);
    assert_eq!(run.clocks.method, "measured");
    let bound_ns = run.clocks.bound_ns.unwrap();
    assert!((500..3_000).contains(&bound_ns), "{bound_ns}");
    assert!(run.clocks.note.contains("3 hosts"), "{}", run.clocks.note);
    // The first reading of the root is time 0, give or take what the others' clocks show at that moment.
    let calls = place.calls();
    assert_eq!(calls.len(), 3 * moments.len());
    for (row, moment) in calls.iter().zip(moments.iter().cycle()) {
        assert!((row.start.0 - moment).abs() < 150, "rank {} {} {moment}", row.rank, row.start.0);
        assert!((row.end.0 - row.start.0 - 500).abs() <= 1, "{row:?}");
    }
    assert!(calls.is_sorted_by_key(|call| (call.rank, call.start)));
}

#[test]
fn measurements_can_be_read_back() {
    let place = Place::new();
    let hosts = hosts();
    for rank in 0..2u32 {
        let host = &hosts[rank as usize];
        let who = host.who(rank, 2, 20 * SECOND);
        let asked = if rank == 1 { host.questions(&hosts[0], 0, 20 * SECOND) } else { Vec::new() };
        define(&place.trace, &who, &asked);
        write_calls(&place.trace, host, &who, &[(0, 500, call("MPI_Wtime", 0, 0))]);
    }
    place.seal();
    let rows = place.open().clocks().unwrap();
    let of_kind = |kind| rows.iter().filter(move |row| row.kind == kind);
    let epochs: Vec<_> = of_kind(ClockKind::Epoch).collect();
    assert_eq!(epochs.len(), 11);
    for (epoch, k) in epochs.iter().zip(0..) {
        assert_eq!((epoch.host, epoch.reference_host, epoch.samples), (1, Some(0), Some(8)));
        assert_eq!(epoch.rank.map(|rank| rank.0), Some(1));
        assert!((epoch.at.unwrap().0 - k * 2 * SECOND).abs() < 50_000, "{epoch:?}");
        assert!((epoch.drift_ppb.unwrap() + 20_000).abs() < 100, "{epoch:?}");
        assert!((300..700).contains(&epoch.error.unwrap().0), "{epoch:?}");
        let truth = hosts[0].offset_ns - hosts[1].offset_ns - k * 2 * 20_000;
        assert!((epoch.root_offset.unwrap().0 - truth).abs() < 300, "{epoch:?} {truth}");
    }
    let host = of_kind(ClockKind::Host).next().unwrap();
    assert_eq!((host.host, host.reference_host, host.samples), (1, Some(0), Some(88)));
    assert!((host.drift_ppb.unwrap() + 20_000).abs() < 50, "{host:?}");
    assert!((300..3_000).contains(&host.root_error.unwrap().0), "{host:?}");
    assert_eq!(of_kind(ClockKind::WallClock).count(), 1);
    assert_eq!(of_kind(ClockKind::Reading).count(), 8);
}

#[test]
fn a_host_without_clock_readings_is_aligned_by_its_wall_clock() {
    let place = Place::new();
    let hosts = hosts();
    for (host, rank) in hosts.iter().zip(0u32..) {
        let who = host.who(rank, 3, 4 * SECOND);
        let asked = if rank == 1 { host.questions(&hosts[0], 0, 4 * SECOND) } else { Vec::new() };
        define(&place.trace, &who, &asked);
        write_calls(&place.trace, host, &who, &[(SECOND, SECOND + 500, call("MPI_Wtime", 0, 0))]);
    }
    let run = place.seal();
    assert!(!run.clocks.aligned);
    assert_eq!((run.clocks.method.as_str(), run.clocks.bound_ns), ("wall-clock", None));
    assert!(run.clocks.note.contains("2 groups"), "{}", run.clocks.note);
    let starts: Vec<i64> = place.calls().iter().map(|call| call.start.0).collect();
    assert!((starts[1] - starts[0]).abs() < 150, "measured: {starts:?}");
    assert!((starts[0] - starts[2] - 3_000_000).abs() < 100_000, "by wall clock: {starts:?}");
}

#[test]
fn hosts_that_ask_each_other_in_a_circle_still_make_a_trace() {
    let place = Place::new();
    let hosts = hosts();
    for (host, rank) in hosts.iter().zip(0u32..) {
        let who = host.who(rank, 3, 4 * SECOND);
        let reference = (rank + 1) % 3;
        let asked = host.questions(&hosts[reference as usize], reference, 4 * SECOND);
        define(&place.trace, &who, &asked);
        write_calls(&place.trace, host, &who, &[(SECOND, SECOND + 500, call("MPI_Wtime", 0, 0))]);
    }
    assert!(place.seal().clocks.aligned);
    let starts: Vec<Moment> = place.calls().iter().map(|call| call.start).collect();
    assert!(starts.iter().all(|start| (*start - starts[0]).0.abs() < 300), "{starts:?}");
}

const ROUND_TRIPS: i64 = 300;
const EVERY_NS: i64 = 10_000_000;
const ONE_WAY_NS: i64 = 1_500;

/// Rank 0 on one host and rank 1 on another play ping-pong; rank 2, beside rank 1, gets a message after every round.
fn ping_pong(rank: u32) -> Vec<(i64, i64, CallRecord)> {
    let with = |name: &str, peer: i32, tag: i32| CallRecord {
        comm: 0,
        peer,
        tag,
        bytes_out: 8,
        bytes_in: 8,
        ..call(name, 0, 0)
    };
    let mut calls = Vec::new();
    for k in 0..ROUND_TRIPS {
        let there = 1_000_000 + k * EVERY_NS;
        let (arrived, sent_back) = (there + ONE_WAY_NS, there + ONE_WAY_NS + 300);
        let back = sent_back + ONE_WAY_NS;
        match rank {
            0 => {
                calls.push((there, there + 200, with("MPI_Send", 1, 7)));
                calls.push((there + 250, back, with("MPI_Recv", 1, 7)));
            }
            1 => {
                calls.push((there - 5_000, arrived, with("MPI_Recv", 0, 7)));
                calls.push((sent_back, sent_back + 200, with("MPI_Send", 0, 7)));
                calls.push((sent_back + 300, sent_back + 400, with("MPI_Send", 2, 9)));
            }
            _ => calls.push((there, sent_back + 900, with("MPI_Recv", 1, 9))),
        }
    }
    calls
}

/// Records the ping-pong on two hosts, with or without questions about clocks.
fn record_ping_pong(hosts: [HostSim; 2], measured: bool) -> (Place, RunInfo) {
    let place = Place::new();
    let run_ns = ROUND_TRIPS * EVERY_NS + SECOND;
    for rank in 0..3u32 {
        let host = &hosts[rank.min(1) as usize];
        let who = host.who(rank, 3, run_ns);
        let asked = if measured && rank == 1 { host.questions(&hosts[0], 0, run_ns) } else { Vec::new() };
        define(&place.trace, &who, &asked);
        write_calls(&place.trace, host, &who, &ping_pong(rank));
    }
    let run = place.seal();
    (place, run)
}

/// Messages that end before they begin, matched by hand: rounds come in order.
fn violations(calls: &[Call]) -> usize {
    let of = |rank: u32, name: &'static str, peer: u32| {
        let op = kizami_testing::segments::op(name);
        let wanted = move |call: &&Call| {
            call.rank.0 == rank
                && call.op == op
                && call.peer == kizami_model::Peer::Rank(kizami_model::Rank(peer))
        };
        calls.iter().filter(wanted)
    };
    [(0, 1), (1, 0), (1, 2)]
        .into_iter()
        .map(|(from, to)| {
            let pairs = of(from, "MPI_Send", to).zip(of(to, "MPI_Recv", from));
            pairs.filter(|(send, receive)| receive.end < send.start).count()
        })
        .sum()
}

#[test]
fn with_measured_offsets_no_message_arrives_before_it_was_sent() {
    let [first, second, _] = hosts();
    let (place, run) = record_ping_pong([first, second], true);
    let order = run.clocks.messages.clone().unwrap();
    assert_eq!(order.matched, 3 * ROUND_TRIPS as u64, "{order:?}");
    assert_eq!(order.violations_wall_clock, ROUND_TRIPS as u64, "all of one direction: {order:?}");
    assert_eq!((order.violations, order.repairs, order.violations_left), (0, 0, 0));
    assert_eq!(violations(&place.calls()), 0);
    assert!(place.open().repairs().unwrap().is_empty());
    assert!(!place.trace.join("repairs.parquet").exists() && !place.trace.join("messages.tmp").exists());
}

#[test]
fn what_wall_clocks_get_wrong_is_repaired_and_said() {
    let [first, second, _] = hosts();
    let (place, run) = record_ping_pong([first, second], false);
    let order = run.clocks.messages.clone().unwrap();
    assert_eq!((order.violations, order.violations_wall_clock), (ROUND_TRIPS as u64, ROUND_TRIPS as u64));
    assert_eq!((order.violations_left, order.doubtful), (0, 0), "{order:?}");
    let calls = place.calls();
    assert_eq!(violations(&calls), 0);
    assert!(calls.is_sorted_by_key(|call| (call.rank, call.start)));
    let repairs = place.open().repairs().unwrap();
    assert_eq!(repairs.len() as u64, order.repairs);
    assert!(repairs.iter().all(|repair| repair.rank.0 == 0), "the rank whose clock is behind");
    let largest = repairs.iter().map(|repair| repair.shift.0).max().unwrap();
    assert_eq!(largest, order.largest_repair_ns);
    assert!((4_990_000..5_100_000).contains(&largest), "{largest}");
    // Nothing is cut: what took 200 ns still does, and the time between two sends is about what it was.
    let sends: Vec<&Call> =
        calls.iter().filter(|c| c.rank.0 == 0 && c.op == kizami_testing::segments::op("MPI_Send")).collect();
    assert!(sends.iter().all(|send| ((send.end - send.start).0 - 200).abs() <= 1));
    let gaps = sends.windows(2).map(|pair| (pair[1].start - pair[0].start).0);
    assert!(
        gaps.skip(1).all(|gap| (gap - EVERY_NS).abs() < EVERY_NS / 500),
        "only the first gap is stretched"
    );
}

#[test]
fn a_repair_is_passed_on_to_dependent_hosts() {
    let [first, second, _] = hosts();
    // Now the host of ranks 1 and 2 is behind: rank 1 is moved, so its messages to rank 2 are too.
    let second = HostSim { wall_error_ns: -5_000_000, ..second };
    let (place, run) = record_ping_pong([first, second], false);
    let order = run.clocks.messages.clone().unwrap();
    assert_eq!(order.violations_left, 0, "{order:?}");
    assert_eq!(violations(&place.calls()), 0);
    let moved: Vec<u32> = place.open().repairs().unwrap().iter().map(|repair| repair.rank.0).collect();
    assert!(moved.contains(&1) && moved.contains(&2) && !moved.contains(&0), "{moved:?}");
}

#[test]
fn ranks_that_lost_calls_are_not_matched() {
    let place = Place::new();
    let [first, second, _] = hosts();
    let run_ns = ROUND_TRIPS * EVERY_NS + SECOND;
    for rank in 0..3u32 {
        let host = if rank == 0 { &first } else { &second };
        let who = SegmentOwner { lost_calls: u64::from(rank == 0), ..host.who(rank, 3, run_ns) };
        define(&place.trace, &who, &[]);
        write_calls(&place.trace, host, &who, &ping_pong(rank));
    }
    let order = place.seal().clocks.messages.unwrap();
    assert_eq!((order.matched, order.doubtful), (ROUND_TRIPS as u64, 0), "only those from 1 to 2: {order:?}");
}
