//! What becomes of a whole trace under another setting, on traces made by hand.

mod recordings;

use kizami_model::{Call, StopReason};
use kizami_replay::{Factor, Network, ReplayError, Request, Setting, retime};
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::call;
use kizami_trace::run::ReplayedFrom;
use kizami_trace::{RankSelection, Trace};
use proptest::prelude::*;
use recordings::{Deed, Place, barrier, deeds, write_deeds};
use std::path::Path;

fn retimed(trace: &Trace, setting: &Setting, output: Option<&Path>, threads: usize) -> ReplayedFrom {
    let words = vec!["--as-asked".to_owned()];
    let request = Request { output, threads, words, ..Request::default() };
    let replayed = retime(trace, request, |_, _| Ok::<_, ReplayError>(setting.clone()), &|_| {});
    replayed.unwrap()
}

fn rows(trace: &Trace) -> Vec<Call> {
    trace.calls(RankSelection::All).unwrap().map(Result::unwrap).collect()
}

#[test]
fn on_faster_processors_gaps_shrink_with_all_that_is_in_them() {
    let place = Place::new(2, 40);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(110, 400, StopReason::ChunkWait, 0);
        segment.stop(610, 100, StopReason::Paused, 0);
        segment.call(&barrier(2_010, 2_030));
    });
    place.thread(1, 0, |segment| segment.call(&barrier(500, 2_030)));
    seal(&place.recorded(), &SealOptions::default(), &|_| {}).unwrap();
    let recorded = Trace::open(&place.recorded()).unwrap();
    let setting = Setting { cpu: Factor(0.5), ..Setting::default() };
    let made = retimed(&recorded, &setting, Some(&place.clean()), 1);
    assert_eq!((made.recorded_ns, made.replayed_ns), (2_030, 1_030));
    assert_eq!(retimed(&recorded, &setting, None, 2), made, "the same without writing it");

    let fast = Trace::open(&place.clean()).unwrap();
    let times: Vec<_> = rows(&fast).iter().map(|call| (call.start.0, call.end.0)).collect();
    assert_eq!(times, [(0, 10), (1_010, 1_030), (500, 1_030)]);
    let stops: Vec<_> = fast.stops().unwrap().iter().map(|stop| (stop.start.0, stop.end.0)).collect();
    assert_eq!(stops, [(60, 260), (310, 360)]);
    // The tracer is still in it.
    assert_eq!(fast.run().totals.overhead_ns, recorded.run().totals.overhead_ns);
    assert_eq!(fast.run().disturbance, recorded.run().disturbance);
    assert_eq!(fast.run().replayed, Some(made));
}

/// Starting and ending MPI is part of the run, but not of the work: what the program could gain is a part of the latter.
#[test]
fn the_work_is_separated_from_startup_and_shutdown() {
    let place = Place::new(2, 0);
    for rank in [0, 1] {
        place.thread(rank, 0, |segment| {
            segment.call(&call("MPI_Init", 0, 5_000));
            segment.call(&barrier(6_000 + 1_000 * u64::from(rank), 7_020));
            segment.call(&call("MPI_Finalize", 8_020, 980));
        });
    }
    seal(&place.recorded(), &SealOptions::default(), &|_| {}).unwrap();
    let recorded = Trace::open(&place.recorded()).unwrap();
    let setting = Setting { cpu: Factor(0.5), ..Setting::default() };
    let made = retimed(&recorded, &setting, Some(&place.clean()), 1);
    assert_eq!((made.recorded_ns, made.replayed_ns), (9_000, 7_500));
    assert_eq!((made.recorded_work_ns, made.replayed_work_ns), (Some(3_020), Some(1_520)));
    assert_eq!(retimed(&recorded, &setting, None, 2), made, "the same without writing it");
}

#[test]
fn a_trace_without_calls_takes_no_time() {
    let place = Place::new(1, 0);
    place.thread(0, 0, |_| {});
    seal(&place.recorded(), &SealOptions::default(), &|_| {}).unwrap();
    let trace = Trace::open(&place.recorded()).unwrap();
    assert_eq!(retimed(&trace, &Setting::default(), None, 2).replayed_ns, 0);
}

/// The recording in which each rank has done so, in one thread or two, and its rows as replayed by one walker and by
/// several.
fn by_one_and_by_several(ranks: &[(Vec<Deed>, Option<Vec<Deed>>)], cost: u64) -> [Vec<Call>; 2] {
    let place = Place::new(ranks.len() as u32, cost);
    let size = ranks.len() as u32;
    for (rank, (first, second)) in (0..).zip(ranks) {
        let threads = std::iter::once(first).chain(second);
        for (thread, deeds) in (0..).zip(threads) {
            place.thread(rank, thread, |segment| write_deeds(segment, rank, size, deeds));
        }
    }
    seal(&place.recorded(), &SealOptions::default(), &|_| {}).unwrap();
    let trace = Trace::open(&place.recorded()).unwrap();
    let setting = Setting {
        network: Network::Changed { latency: 0.25, bandwidth: 2.0 },
        without_tracer: true,
        ..Setting::default()
    };
    [1, 3].map(|threads| {
        let output = place.clean().with_extension(threads.to_string());
        retimed(&trace, &setting, Some(&output), threads);
        rows(&Trace::open(&output).unwrap())
    })
}

#[test]
fn two_threads_may_look_for_one_message() {
    const PROBE: u8 = 8;
    let sender = vec![(3, 0, 0, 0), (2, 1_206, 0, 19)];
    let ranks = [(sender, None), (vec![(PROBE, 0, 2_806, 20)], Some(vec![(PROBE, 0, 0, 134)]))];
    let [one, several] = by_one_and_by_several(&ranks, 1);
    assert_eq!(one, several);
}

/// Ranks agree on the root of a collective, even where they do not agree on the collective.
fn rooted_at_0(deeds: Vec<Deed>) -> Vec<Deed> {
    let root = |kind: u8, other: u8| if matches!(kind, 6 | 9) { 0 } else { other };
    deeds.into_iter().map(|(kind, gap, length, other)| (kind, gap, length, root(kind, other))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever ranks claim to have done, threads only make it faster.
    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads(
        ranks in proptest::collection::vec((deeds(), proptest::option::of(deeds())), 2..5),
        cost in 0u64..200,
    ) {
        let ranks: Vec<_> = ranks
            .into_iter()
            .map(|(first, second)| (rooted_at_0(first), second.map(rooted_at_0)))
            .collect();
        let [one, several] = by_one_and_by_several(&ranks, cost);
        prop_assert_eq!(&one, &several);
    }
}
