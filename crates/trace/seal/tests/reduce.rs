//! What a reduced trace promises: sums of all calls to the last digit, weights without bias, both ends of messages, the order
//! of calls; made from a full trace or from the segments of threads that were reduced while they ran.

mod place;
mod program;

use kizami_model::{Call, Op, Peer, Rank, ThreadIndex};
use kizami_records::{CallRecord, Completion, Definition, Started};
use kizami_reduced::{Importance, Keep, PaperImportance, PaperScheme, ReduceOptions, SequenceCall, reduce};
use kizami_segment::head;
use kizami_stats::counted_quantile;
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::reduced_tables::{SumRow, What, quantile};
use kizami_trace::{RankSelection, RunInfo, Trace};
use place::Place;
use program::{RANKS, write_full, write_reduced, write_reduced_from};
use std::collections::{BTreeMap, BTreeSet};

const ROUNDS: u64 = 3000;

fn options(keep: f64, seed: u64) -> ReduceOptions {
    ReduceOptions { keep: Keep::Fraction(keep), seed, importance: Importance::Classes, all_below: 0 }
}

fn full() -> Place {
    let place = Place::new();
    write_full(&place.trace, ROUNDS);
    place.seal();
    place
}

/// Reduces into a folder beside the trace.
fn reduced(full: &Place, options: &ReduceOptions) -> (Trace, RunInfo) {
    let output = full.trace.with_file_name(format!("{}-{}.kz", options.importance.name(), options.seed));
    let run = reduce(&full.open(), &output, options, &|_, _| {}).unwrap();
    (Trace::open(&output).unwrap(), run)
}

fn calls(trace: &Trace) -> Vec<Call> {
    trace.calls(RankSelection::All).unwrap().map(Result::unwrap).collect()
}

type Sums = BTreeMap<(u32, &'static str), [i128; 4]>;

fn add(sums: &mut Sums, rank: Rank, op: Op, add: [i128; 4]) {
    let entry = sums.entry((rank.0, op.name())).or_default();
    *entry = std::array::from_fn(|index| entry[index] + add[index]);
}

fn duration_ns(call: &Call) -> i128 {
    i128::from(call.inside.map_or((call.end - call.start).0, |inside| inside.0))
}

/// Calls, time, bytes out and in, by rank and function.
fn sums_of_rows(rows: &[Call]) -> Sums {
    let mut sums = Sums::new();
    for call in rows {
        let bytes = |bytes: Option<u64>| i128::from(bytes.unwrap_or(0));
        let row = [i128::from(call.calls), duration_ns(call), bytes(call.bytes_out), bytes(call.bytes_in)];
        add(&mut sums, call.rank, call.op, row);
    }
    sums
}

fn sums_of_table(rows: &[SumRow]) -> Sums {
    let mut sums = Sums::new();
    for row in rows.iter() {
        let calls = if row.what == What::Call { i128::from(row.calls) } else { 0 };
        let row_sums = [calls, i128::from(row.total.0), i128::from(row.bytes_out), i128::from(row.bytes_in)];
        add(&mut sums, row.rank, row.op.unwrap(), row_sums);
    }
    sums
}

#[test]
fn sums_are_those_of_all_rows() {
    let full = full();
    let (small, run) = reduced(&full, &options(0.01, 1));
    let rows = full.calls();
    assert_eq!(sums_of_table(&small.sums().unwrap()), sums_of_rows(&rows));
    let recorded = full.open().run().clone();
    assert_eq!(run.functions, recorded.functions);
    assert_eq!(run.totals.calls, recorded.totals.calls);
    assert_eq!(
        (run.totals.bytes_out, run.totals.bytes_in),
        (recorded.totals.bytes_out, recorded.totals.bytes_in)
    );
    assert_eq!((run.totals.mpi_ns, run.span_ns), (recorded.totals.mpi_ns, recorded.span_ns));
    assert_eq!(run.rank_summaries, recorded.rank_summaries);
    let kept = run.reduced.unwrap();
    assert!(kept.sums_exact && kept.missing == Default::default());
    assert_eq!((kept.rows_kept, kept.calls), (calls(&small).len() as u64, recorded.totals.calls));
    assert!(kept.rows_kept * 10 < recorded.totals.events, "{} rows kept", kept.rows_kept);
    assert_eq!(small.definitions().unwrap(), full.open().definitions().unwrap());
}

/// Failed polls of one row are that many calls, and the requests of a start are bytes but no calls.
#[test]
fn polls_and_parts_count_as_they_are() {
    let place = Place::new();
    let who = SegmentOwner { last_ticks: 1 << 40, ..SegmentOwner::rank(0, 1) };
    define(&place.trace, &who, &[]);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    let on_world = |record: CallRecord| CallRecord { comm: 0, ..record };
    for (request, start) in [(1, 10), (2, 30)] {
        let init = on_world(call("MPI_Send_init", start, 5));
        segment.call(&CallRecord { peer: 0, tag: 1, bytes_out: 100, request, ..init });
    }
    for round in 0..500 {
        let at = 1000 + round * 10_000;
        let started =
            [1, 2].map(|persistent| Started { persistent, request: 2 * round as u32 + 2 + persistent });
        segment.start(&call("MPI_Startall", at, 700), &started);
        segment.fold(&on_world(call("MPI_Test", at + 1000, 90)), 37, at + 8003, 3701);
        let completed = Completion::AsPosted { request: 2 * round as u32 + 3, count: 2 };
        segment.completion(&call("MPI_Waitall", at + 9000, 400), &[completed]);
    }
    segment.finish();
    place.seal();
    let (small, run) = reduced(&place, &options(0.01, 1));
    assert_eq!(sums_of_table(&small.sums().unwrap()), sums_of_rows(&place.calls()));
    assert_eq!(run.functions, place.open().run().functions);
    let polls = calls(&small).into_iter().filter(|call| call.op.name() == "MPI_Test");
    assert!(polls.clone().count() > 0 && polls.clone().all(|poll| poll.calls == 1 && poll.inside.is_none()));
    let sequence = kizami_reduced::sequences_of(&small)
        .unwrap()
        .unwrap()
        .sequence(Rank(0), ThreadIndex(0))
        .unwrap()
        .unwrap();
    let found: Vec<SequenceCall> = sequence.calls().map(Result::unwrap).collect();
    assert!(found == place.calls().iter().map(SequenceCall::of).collect::<Vec<_>>());
}

#[test]
fn computation_before_calls_is_all_the_time_between_them() {
    let full = full();
    let (small, _) = reduced(&full, &options(0.01, 1));
    let mut expected: BTreeMap<u32, i64> = BTreeMap::new();
    let mut last_end: BTreeMap<u32, i64> = BTreeMap::new();
    for call in full.calls().iter().filter(|call| call.calls > 0) {
        let rank = call.rank.0;
        let gap = last_end.get(&rank).map_or(0, |end| call.start.0 - end);
        let between_polls = (call.end - call.start).0 - duration_ns(call) as i64;
        *expected.entry(rank).or_default() += gap + between_polls;
        last_end.insert(rank, call.end.0);
    }
    let mut found: BTreeMap<u32, i64> = BTreeMap::new();
    for row in small.gaps().unwrap() {
        *found.entry(row.rank.0).or_default() += row.total.0;
    }
    assert_eq!(found, expected);
}

#[test]
fn messages_between_ranks_are_exact() {
    let full = full();
    let (small, _) = reduced(&full, &options(0.001, 1));
    let mut expected: BTreeMap<(u32, u32), [u64; 4]> = BTreeMap::new();
    for call in full.calls() {
        if let (Peer::Rank(peer), Some(bytes), Some(_)) = (call.peer, call.bytes_out, call.tag) {
            let entry = expected.entry((call.rank.0, peer.0)).or_default();
            (entry[0], entry[1]) = (entry[0] + 1, entry[1] + bytes);
        }
        let source = if call.recv_tag.is_some() { call.recv_peer } else { call.peer };
        if let (Peer::Rank(peer), Some(bytes), Some(_)) = (source, call.bytes_in, call.tag) {
            let entry = expected.entry((call.rank.0, peer.0)).or_default();
            (entry[2], entry[3]) = (entry[2] + 1, entry[3] + bytes);
        }
    }
    let rows = small.peers().unwrap();
    let found = rows.iter().map(|row| {
        let key = (row.rank.0, row.peer.unwrap().0);
        (key, [row.messages_out, row.bytes_out, row.messages_in, row.bytes_in])
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
}

#[test]
fn quantiles_are_within_one_percent() {
    let full = full();
    let (small, _) = reduced(&full, &options(0.001, 1));
    let (rows, sketches) = (full.calls(), small.sketches().unwrap());
    for name in ["MPI_Isend", "MPI_Waitall", "MPI_Allreduce"] {
        let mut durations: Vec<i128> =
            rows.iter().filter(|call| call.op.name() == name).map(duration_ns).collect();
        durations.sort_unstable();
        for share in [0.5, 0.9, 0.99] {
            let of_name = sketches
                .iter()
                .filter(|row| row.what == What::Call && row.op.is_some_and(|op| op.name() == name));
            let found = quantile(of_name, share).unwrap();
            let exact = counted_quantile(durations.iter().map(|ns| (*ns, 1)), share).unwrap() as f64;
            assert!((found / exact - 1.0).abs() <= 0.011, "{name} {share}: {found} for {exact}");
        }
    }
}

/// The mean over seeds of what rows and their weights say about a function comes close to the truth. Enough is kept for
/// every class to have some rows: with fewer, rows that all ranks keep stand for a thousand, and means scatter widely.
#[test]
fn weights_are_without_bias() {
    const SEEDS: u64 = 24;
    let full = full();
    let truth = |name: &str| {
        let rows = full.calls();
        let of_name = rows.into_iter().filter(|call| call.op.name() == name);
        let durations: Vec<f64> = of_name.map(|call| duration_ns(&call) as f64).collect();
        (durations.len() as f64, durations.iter().sum::<f64>())
    };
    for name in ["MPI_Isend", "MPI_Waitall"] {
        let (mut counts, mut times) = (Vec::new(), Vec::new());
        for seed in 0..SEEDS {
            let (small, _) = reduced(&full, &options(0.2, seed));
            let rows = calls(&small);
            let of_name: Vec<&Call> = rows.iter().filter(|call| call.op.name() == name).collect();
            assert!(of_name.iter().any(|call| call.weight > 5.0));
            counts.push(of_name.iter().map(|call| call.weight).sum::<f64>());
            times.push(of_name.iter().map(|call| call.weight * duration_ns(call) as f64).sum::<f64>());
            std::fs::remove_dir_all(small.path()).unwrap();
        }
        let (count, time) = truth(name);
        for (estimates, truth) in [(counts, count), (times, time)] {
            let mean = estimates.iter().sum::<f64>() / SEEDS as f64;
            let variance = estimates.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
            let error = (variance / SEEDS as f64).sqrt();
            assert!((mean - truth).abs() < 4.0 * error, "{name}: {mean} +- {error} for {truth}");
            assert!(error < 0.1 * truth);
        }
    }
}

/// A message is kept on both sides wherever both sides keep as much of its class.
#[test]
fn kept_receives_have_their_sends() {
    let full = full();
    let (small, _) = reduced(&full, &options(0.01, 3));
    let rows = calls(&small);
    // What each class keeps: the weight of its rows that are not kept in any case.
    type Class = (u32, Op, u32);
    let class = |call: &Call| -> Class { (call.rank.0, call.op, (call.end - call.start).0.ilog10()) };
    let mut weights: BTreeMap<Class, f64> = BTreeMap::new();
    for call in &rows {
        let weight = weights.entry(class(call)).or_insert(1.0);
        *weight = weight.max(call.weight);
    }
    // Messages are distinguished by their place in the sequence of their route.
    let mut routes: BTreeMap<(u32, u32, i32, &str), u64> = BTreeMap::new();
    let mut number: BTreeMap<(u32, i64), (u32, u32, i32, u64)> = BTreeMap::new();
    let mut sends = BTreeMap::new();
    let mut receives = BTreeMap::new();
    for call in full.calls() {
        let (Peer::Rank(peer), Some(tag)) = (call.peer, call.tag) else { continue };
        let (own, peer) = (call.rank.0, peer.0);
        let (source, destination, table) = match call.op.name() {
            "MPI_Isend" => (own, peer, &mut sends),
            "MPI_Irecv" => (peer, own, &mut receives),
            _ => continue,
        };
        let count = routes.entry((source, destination, tag, call.op.name())).or_default();
        *count += 1;
        let message = (source, destination, tag, *count);
        number.insert((own, call.start.0), message);
        table.insert(message, call.clone());
    }
    let kept: BTreeSet<(u32, i64)> = rows.iter().map(|call| (call.rank.0, call.start.0)).collect();
    let (mut both, mut one) = (0, 0);
    for call in &rows {
        let Some(message) = number.get(&(call.rank.0, call.start.0)) else { continue };
        let other = if call.op.name() == "MPI_Isend" { &receives[message] } else { &sends[message] };
        let has_other = kept.contains(&(other.rank.0, other.start.0));
        if call.weight > 1.0 && !has_other {
            one += 1;
            let weight = weights.get(&class(other)).copied().unwrap_or(f64::INFINITY);
            assert!(weight > call.weight, "{message:?} of {call:?} is kept on one side only");
        }
        both += u64::from(has_other);
    }
    assert!(both > 20, "{both} rows with their other side, {one} without");
}

#[test]
fn the_order_of_calls_is_that_of_the_rows() {
    let full = full();
    let (small, run) = reduced(&full, &options(0.001, 1));
    let order = kizami_reduced::sequences_of(&small).unwrap().unwrap();
    assert_eq!(order.threads().count(), RANKS as usize);
    for rank in 0..RANKS {
        let sequence = order.sequence(Rank(rank), ThreadIndex(0)).unwrap().unwrap();
        let found: Vec<SequenceCall> = sequence.calls().map(Result::unwrap).collect();
        let rows = full.open().calls(RankSelection::One(Rank(rank))).unwrap();
        let expected: Vec<SequenceCall> = rows.map(|call| SequenceCall::of(&call.unwrap())).collect();
        assert!(found == expected, "rank {rank}");
    }
    let bytes = run.files.iter().find(|file| file.path == "order.bin").unwrap().bytes;
    assert!(bytes < 4000, "{bytes} bytes for {} calls", run.totals.calls);
}

/// The first calls of a thread have a record besides: of a short run those are all, and nothing was reduced.
#[test]
fn short_runs_that_were_reduced_have_every_call() {
    const SHORT: u64 = 100;
    let full = Place::new();
    write_full(&full.trace, SHORT);
    full.seal();
    let longest =
        (0..RANKS).map(|rank| full.open().calls(RankSelection::One(Rank(rank))).unwrap().count()).max();
    let longest = longest.unwrap() as u32;
    let [all, reduced, sums] = [longest + 1, longest, 0].map(|all_below| {
        let place = Place::new();
        write_reduced_from(&place.trace, SHORT, all_below);
        let run = place.seal();
        assert_eq!(run.health.problems, Vec::<String>::new());
        place
    });
    let of_all = all.open();
    assert!(of_all.run().reduced.is_none() && of_all.sums().unwrap().is_empty());
    assert_eq!(of_all.run().totals, full.open().run().totals);
    assert_eq!((all.calls(), of_all.stops().unwrap()), (full.calls(), full.open().stops().unwrap()));
    // One more, and these records are left out.
    assert_eq!(reduced.open().run().totals, sums.open().run().totals);
    assert_eq!(
        (reduced.calls(), reduced.open().sums().unwrap()),
        (sums.calls(), sums.open().sums().unwrap())
    );
    assert!(reduced.open().run().reduced.is_some() && reduced.calls().len() < full.calls().len());
}

#[test]
fn the_papers_scheme_keeps_rows_and_says_that_it_keeps_no_sums() {
    let full = full();
    for f in [PaperImportance::One, PaperImportance::H, PaperImportance::H2] {
        let importance = Importance::Paper(PaperScheme { f, n: 1000, x: 10 });
        let (small, run) = reduced(&full, &ReduceOptions { importance, ..options(0.01, 5) });
        let rows = calls(&small);
        let all = full.open().run().totals.clone();
        assert!((rows.len() as f64 / (0.01 * all.events as f64) - 1.0).abs() < 0.1);
        assert!(rows.iter().all(|call| call.weight == 1.0));
        assert!(!run.reduced.unwrap().sums_exact && small.sums().unwrap().is_empty());
        assert_eq!(run.totals.calls, all.calls);
        assert!(kizami_reduced::sequences_of(&small).unwrap().is_none());
    }
}

/// Rows are in order, and every one of them is one of the full trace.
#[test]
fn kept_rows_are_rows_of_the_trace() {
    let full = full();
    let (small, _) = reduced(&full, &options(0.05, 9));
    let rows = calls(&small);
    assert!(rows.is_sorted_by_key(|call| (call.rank, call.start)));
    let all = full.calls();
    for call in rows.iter().filter(|call| !call.op.name().starts_with("MPI_Test")) {
        let found = all.iter().find(|row| (row.rank, row.start) == (call.rank, call.start)).unwrap();
        assert_eq!(Call { weight: 1.0, ..call.clone() }, *found);
        assert!(call.weight >= 1.0);
    }
    // All calls above 10 ms are there, for any seed.
    let long = |calls: &[Call]| calls.iter().filter(|call| (call.end - call.start).0 > 10_000_000).count();
    assert!(long(&all) > 5);
    assert_eq!(long(&rows), long(&all));
}

#[test]
fn segments_that_were_reduced_give_the_same_sums() {
    let full = full();
    let place = Place::new();
    write_reduced(&place.trace, ROUNDS);
    let run = place.seal();
    assert_eq!(run.health.problems, Vec::<String>::new());
    let recorded = full.open().run().clone();
    assert_eq!(run.functions, recorded.functions);
    assert_eq!(run.rank_summaries, recorded.rank_summaries);
    assert_eq!(run.totals.mpi_ns, recorded.totals.mpi_ns);
    let trace = place.open();
    assert_eq!(sums_of_table(&trace.sums().unwrap()), sums_of_rows(&full.calls()));
    let kept = run.reduced.unwrap();
    assert!(kept.sums_exact && kept.rows_kept == run.totals.events);
    assert!(kept.rows_kept > 0 && kept.rows_kept * 10 < recorded.totals.events);
    let rows = calls(&trace);
    assert!(rows.iter().any(|call| call.weight > 5.0) && rows.iter().any(|call| call.weight == 1.0));
    assert!(rows.is_sorted_by_key(|call| (call.rank, call.start)));
    assert!(!place.trace.join("raw").exists());
    // Regions and stops are as they were.
    assert_eq!(trace.region_spans().unwrap(), full.open().region_spans().unwrap());
    assert_eq!(trace.stops().unwrap(), full.open().stops().unwrap());
    let order = kizami_reduced::sequences_of(&trace).unwrap().unwrap();
    for rank in 0..RANKS {
        let sequence = order.sequence(Rank(rank), ThreadIndex(0)).unwrap().unwrap();
        let found: Vec<SequenceCall> = sequence.calls().map(Result::unwrap).collect();
        let rows = full.open().calls(RankSelection::One(Rank(rank))).unwrap();
        let expected = rows.map(|call| SequenceCall::of(&call.unwrap()));
        assert_eq!(found, expected.collect::<Vec<_>>(), "rank {rank}");
    }
}

/// Whatever companions of a killed process look like, sealing reports what is missing and keeps the segments.
#[test]
fn torn_companions_are_reported() {
    type Damage = fn(&std::path::Path);
    let cases: [(&str, Damage, &str); 6] = [
        (".sample", |path| std::fs::remove_file(path).unwrap(), "companion is not there"),
        (
            ".order",
            |path| std::fs::remove_file(path).unwrap(),
            "the order of calls of the thread are missing",
        ),
        (".sample", |path| std::fs::write(path, []).unwrap(), "sums and kept rows of the thread are missing"),
        (".sample", |path| std::fs::write(path, vec![0; 600_000]).unwrap(), "sums and kept rows"),
        (".order", |path| std::fs::write(path, vec![7; 100_000]).unwrap(), "the order of calls"),
        (
            ".sample",
            |path| {
                let mut bytes = std::fs::read(path).unwrap();
                let range = bytes.len() / 2..;
                bytes[range].iter_mut().for_each(|byte| *byte ^= 0x5a);
                std::fs::write(path, bytes).unwrap();
            },
            "",
        ),
    ];
    for (ending, damage, words) in cases {
        let place = Place::new();
        write_reduced(&place.trace, 200);
        let segment = place.trace.join("raw").join(format!("node1.1001.0.calls{ending}"));
        damage(&segment);
        let run = place.seal();
        let problems = run.health.problems.join("; ");
        assert!(problems.contains("rank 1") && problems.contains(words), "{ending}: {problems}");
        assert!(place.trace.join("raw").exists());
        let trace = place.open();
        calls(&trace);
        // The others are whole.
        assert!(trace.sums().unwrap().iter().any(|row| row.rank == Rank(0)));
        assert!(
            kizami_reduced::sequences_of(&trace)
                .unwrap()
                .unwrap()
                .sequence(Rank(2), ThreadIndex(0))
                .unwrap()
                .is_some()
        );
    }
    // Without both companions, what was handed over shows that calls are missing.
    let place = Place::new();
    write_reduced(&place.trace, 4 * ROUNDS);
    for ending in [".sample", ".order"] {
        let companion = place.trace.join("raw").join(format!("node1.1001.0.calls{ending}"));
        std::fs::remove_file(companion).unwrap();
    }
    let problems = place.seal().health.problems.join("; ");
    assert!(problems.contains("companions of its segment are missing"), "{problems}");
}

/// Older versions sampled calls while they were recorded, and wrote that as records of a kind that is not known any more.
#[test]
fn segments_of_sampled_calls_are_left_to_older_versions() {
    const SAMPLE: u16 = 970;
    let place = Place::new();
    let who = SegmentOwner::rank(0, 1);
    let amount_bits = 0.01f64.to_bits();
    define(
        &place.trace,
        &who,
        &[Definition::Keep { per_second: false, amount_bits, seed: 9, sampled: true, all_below: 0 }],
    );
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    segment.slots([head(SAMPLE, 1), 0, 0, 3], Vec::new());
    segment.call(&call("MPI_Barrier", 1_000, 100));
    segment.finish();
    let run = place.seal();
    let problems = run.health.problems.join("\n");
    assert!(problems.contains("with the version that recorded them"), "{problems}");
    assert!(!run.health.complete && run.totals.calls == 0, "{run:?}");
    assert!(place.trace.join("raw").exists(), "nothing is taken away");
}
