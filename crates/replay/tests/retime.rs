//! What becomes of a whole trace under another setting, on traces made by hand.

mod recordings;

use kizami_model::{Call, StopReason};
use kizami_replay::{Factor, Network, Request, Setting, retime};
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::call;
use kizami_trace::run::ReplayedFrom;
use kizami_trace::{RankSelection, Trace};
use proptest::prelude::*;
use recordings::{Deed, Place, barrier, deeds, write_deeds};
use std::path::Path;

fn retimed(trace: &Trace, setting: &Setting, output: Option<&Path>, threads: usize) -> ReplayedFrom {
    let request = Request { output, threads, words: vec!["--as-asked".to_owned()], clocks_unaligned: false };
    let replayed = retime(trace, request, |_, _| setting.clone(), &|_| {});
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

#[test]
fn a_trace_without_calls_takes_no_time() {
    let place = Place::new(1, 0);
    place.thread(0, 0, |_| {});
    seal(&place.recorded(), &SealOptions::default(), &|_| {}).unwrap();
    let trace = Trace::open(&place.recorded()).unwrap();
    assert_eq!(retimed(&trace, &Setting::default(), None, 2).replayed_ns, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever ranks claim to have done, threads only make it faster. They agree on the root of a collective, even
    /// where they do not agree on the collective.
    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads(
        ranks in proptest::collection::vec((deeds(), proptest::option::of(deeds())), 2..5),
        cost in 0u64..200,
    ) {
        let place = Place::new(ranks.len() as u32, cost);
        let rooted_at_0 = |deeds: &Vec<Deed>| -> Vec<Deed> {
            let root = |kind: u8, other: u8| if matches!(kind, 6 | 9) { 0 } else { other };
            deeds.iter().map(|(kind, gap, length, other)| (*kind, *gap, *length, root(*kind, *other))).collect()
        };
        let size = ranks.len() as u32;
        for (rank, (first, second)) in (0..).zip(&ranks) {
            let threads = std::iter::once(first).chain(second);
            for (thread, deeds) in (0..).zip(threads) {
                let deeds = rooted_at_0(deeds);
                place.thread(rank, thread, |segment| write_deeds(segment, rank, size, &deeds));
            }
        }
        seal(&place.recorded(), &SealOptions::default(), &|_| {}).unwrap();
        let trace = Trace::open(&place.recorded()).unwrap();
        let setting = Setting {
            network: Network::Changed { latency: 0.25, bandwidth: 2.0 },
            without_tracer: true,
            ..Setting::default()
        };
        let outputs = [1, 3].map(|threads| {
            let output = place.clean().with_extension(threads.to_string());
            retimed(&trace, &setting, Some(&output), threads);
            rows(&Trace::open(&output).unwrap())
        });
        prop_assert_eq!(&outputs[0], &outputs[1]);
    }
}
