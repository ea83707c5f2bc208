//! What taking the tracer out of a run promises, on traces made by hand in which the undisturbed run is known.

mod recordings;

use kizami_model::{Call, Moment, StopReason};
use kizami_records::{CallRecord, Completion};
use kizami_replay::{ReplayError, undisturb};
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::call;
use kizami_trace::{RankSelection, RunInfo, Trace, TraceError};
use proptest::prelude::*;
use recordings::{Place, WORLD, barrier, deeds, receive, send, write_deeds};

const THREADS: usize = 2;

impl Place {
    /// Seals, takes the tracer out, and gives both traces.
    fn undisturb(&self) -> (Vec<Call>, Vec<Call>, RunInfo) {
        seal(&self.recorded(), &SealOptions::default(), &|_| {}).unwrap();
        let recorded = Trace::open(&self.recorded()).unwrap();
        let run = undisturb(&recorded, &self.clean(), THREADS, &|_| {}).unwrap();
        let clean = Trace::open(&self.clean()).unwrap();
        assert_eq!(clean.run(), &run);
        let rows = |trace: &Trace| trace.calls(RankSelection::All).unwrap().map(Result::unwrap).collect();
        (rows(&recorded), rows(&clean), run)
    }
}

fn times(calls: &[Call], rank: u32) -> Vec<(i64, i64)> {
    calls.iter().filter(|call| call.rank.0 == rank).map(|call| (call.start.0, call.end.0)).collect()
}

#[test]
fn a_rank_that_waited_in_a_barrier_for_one_that_was_held_up_waits_less() {
    let place = Place::new(2, 0);
    place.thread(0, 0, |segment| {
        segment.call(&barrier(100, 130));
        segment.stop(150, 400, StopReason::ChunkWait, 0);
        segment.call(&barrier(1_000, 1_020));
    });
    place.thread(1, 0, |segment| {
        segment.call(&barrier(110, 130));
        segment.call(&barrier(500, 1_030));
    });
    let (_, clean, run) = place.undisturb();
    assert_eq!(times(&clean, 0), [(100, 130), (600, 620)]);
    assert_eq!(times(&clean, 1), [(110, 130), (500, 630)]);
    assert_eq!(run.span_ns, 630);
    let undisturbed = run.undisturbed.unwrap();
    assert_eq!((undisturbed.recorded_ns, undisturbed.undisturbed_ns), (1_030, 630));
    // Rank 1 lost nothing itself, so taking out its own losses alone changes nothing.
    assert_eq!(undisturbed.direct_only_ns, 1_030);
    assert_eq!(undisturbed.error_ns, 100);
    assert_eq!((undisturbed.removed.spills.total_ns, undisturbed.removed.spills.worst_rank), (400, Some(0)));
    assert_eq!((undisturbed.followed, undisturbed.not_followed), (4, 0));
}

#[test]
fn a_rank_that_waited_for_a_message_of_one_that_was_held_up_waits_less() {
    let place = Place::new(2, 0);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(20, 300, StopReason::Suspended, 0);
        segment.stop(330, 50, StopReason::ClockRound, 0);
        segment.call(&send(500, 520, 1, 8));
        segment.call(&receive(530, 940, 1, 8));
    });
    place.thread(1, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.call(&receive(100, 540, 0, 8));
        segment.call(&send(900, 915, 0, 8));
    });
    let (_, clean, run) = place.undisturb();
    assert_eq!(times(&clean, 0), [(0, 10), (150, 170), (180, 590)]);
    assert_eq!(times(&clean, 1), [(0, 10), (100, 190), (550, 565)]);
    let removed = run.undisturbed.unwrap().removed;
    assert_eq!((removed.suspensions.total_ns, removed.clock_rounds.total_ns), (300, 50));
}

#[test]
fn requests_wait_where_they_are_completed() {
    let place = Place::new(2, 0);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(20, 500, StopReason::ChunkWait, 0);
        let isend = CallRecord { request: 1, ..send(600, 610, 1, 8) };
        segment.call(&CallRecord { op: kizami_testing::segments::op("MPI_Isend"), ..isend });
        segment.completion(&call("MPI_Wait", 620, 5), &[Completion::AsPosted { request: 1, count: 1 }]);
    });
    place.thread(1, 0, |segment| {
        let irecv = CallRecord { request: 7, ..receive(50, 60, 0, 8) };
        segment.call(&CallRecord { op: kizami_testing::segments::op("MPI_Irecv"), ..irecv });
        segment.completion(&call("MPI_Wait", 70, 580), &[Completion::AsPosted { request: 7, count: 1 }]);
    });
    let (_, clean, _) = place.undisturb();
    assert_eq!(times(&clean, 0), [(0, 10), (100, 110), (120, 125)]);
    assert_eq!(times(&clean, 1), [(50, 60), (70, 150)]);
}

#[test]
fn a_large_message_waits_for_its_receiver() {
    let large = 1 << 20;
    let place = Place::new(2, 0);
    place.thread(0, 0, |segment| {
        segment.call(&send(100, 900, 1, large));
        segment.call(&send(1_000, 1_100, 1, large));
    });
    place.thread(1, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(20, 400, StopReason::ChunkWait, 0);
        segment.call(&receive(700, 910, 0, large));
        // Posted after the second send had ended: that one did not wait.
        segment.call(&receive(2_000, 2_100, 0, large));
    });
    let (_, clean, run) = place.undisturb();
    assert_eq!(times(&clean, 0), [(100, 500), (600, 700)]);
    assert_eq!(times(&clean, 1), [(0, 10), (300, 510), (1_600, 1_700)]);
    assert_eq!(run.undisturbed.unwrap().not_followed, 0);
}

#[test]
fn rooted_collectives_wait_for_their_root_or_at_their_root() {
    let place = Place::new(2, 0);
    let rooted = |name, start: u64, end: u64| CallRecord {
        comm: WORLD,
        peer: 0,
        bytes_out: 8,
        ..call(name, start, end - start)
    };
    place.thread(0, 0, |segment| {
        segment.call(&rooted("MPI_Bcast", 0, 10));
        segment.stop(20, 200, StopReason::ChunkWait, 0);
        segment.call(&rooted("MPI_Bcast", 300, 310));
        segment.call(&rooted("MPI_Reduce", 400, 420));
    });
    place.thread(1, 0, |segment| {
        segment.call(&rooted("MPI_Bcast", 0, 12));
        segment.call(&rooted("MPI_Bcast", 50, 320));
        segment.call(&rooted("MPI_Reduce", 330, 335));
    });
    let (_, clean, _) = place.undisturb();
    assert_eq!(times(&clean, 0), [(0, 10), (100, 110), (200, 220)]);
    assert_eq!(times(&clean, 1), [(0, 12), (50, 120), (130, 135)]);
}

#[test]
fn what_the_gap_has_no_room_for_is_taken_out_of_the_call() {
    let place = Place::new(1, 60);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 30));
        segment.call(&call("MPI_Comm_rank", 70, 30));
        segment.call(&call("MPI_Comm_rank", 1_000, 30));
    });
    let (_, clean, run) = place.undisturb();
    // The gap of 40 gives all it has, the call behind it the other 20.
    assert_eq!(times(&clean, 0), [(0, 30), (30, 40), (880, 910)]);
    assert_eq!((run.totals.overhead_ns, run.disturbance), (0, Some(Default::default())));
    assert_eq!(run.undisturbed.unwrap().removed.overhead.total_ns, 180);
}

#[test]
fn polls_end_earlier_when_their_message_does() {
    let place = Place::new(2, 0);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(20, 50_000, StopReason::ChunkWait, 0);
        segment.call(&send(60_000, 60_010, 1, 8));
    });
    place.thread(1, 0, |segment| {
        let irecv = CallRecord { request: 7, ..receive(50, 60, 0, 8) };
        segment.call(&CallRecord { op: kizami_testing::segments::op("MPI_Irecv"), ..irecv });
        segment.fold(&call("MPI_Test", 100, 40), 1_000, 60_100, 40_000);
        segment.completion(&call("MPI_Test", 60_120, 30), &[Completion::AsPosted { request: 7, count: 1 }]);
    });
    let (_, clean, _) = place.undisturb();
    assert_eq!(times(&clean, 1), [(50, 60), (100, 10_100), (10_120, 10_150)]);
}

#[test]
fn threads_begin_with_the_one_that_started_them_and_rows_stay_in_order() {
    let place = Place::new(1, 0);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(20, 1_000, StopReason::ChunkWait, 0);
        segment.call(&call("MPI_Comm_rank", 2_000, 10));
        segment.call(&call("MPI_Comm_rank", 4_000, 10));
    });
    place.thread(0, 1, |segment| {
        segment.call(&call("MPI_Comm_size", 2_500, 10));
        segment.stop(2_600, 700, StopReason::ChunkWait, 0);
        segment.call(&call("MPI_Comm_size", 4_100, 10));
    });
    let (_, clean, _) = place.undisturb();
    assert_eq!(times(&clean, 0), [(0, 10), (1_000, 1_010), (1_500, 1_510), (2_400, 2_410), (3_000, 3_010)]);
}

#[test]
fn ranks_that_are_missing_leave_calls_as_long_as_they_were() {
    let place = Place::new(3, 0);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(20, 100, StopReason::ChunkWait, 0);
        segment.call(&receive(200, 300, 2, 8));
        segment.call(&barrier(400, 500));
        segment.call(&send(600, 610, 1, 8));
    });
    place.thread(1, 0, |segment| {
        segment.call(&barrier(350, 500));
        segment.call(&receive(550, 630, 0, 8));
    });
    let (_, clean, run) = place.undisturb();
    assert_eq!(times(&clean, 0), [(0, 10), (100, 200), (300, 400), (500, 510)]);
    assert_eq!(times(&clean, 1), [(350, 500), (550, 580)]);
    assert!(run.undisturbed.unwrap().not_followed > 0);
}

#[test]
fn regions_move_with_the_calls_around_them_and_held_stops_are_gone() {
    let place = Place::new(1, 0);
    place.thread(0, 0, |segment| {
        segment.call(&call("MPI_Comm_rank", 0, 10));
        segment.stop(20, 400, StopReason::ChunkWait, 0);
        segment.stop(500, 100, StopReason::Paused, 0);
        segment.call(&call("MPI_Comm_rank", 1_000, 10));
    });
    place.undisturb();
    let stops = Trace::open(&place.clean()).unwrap().stops().unwrap();
    assert_eq!(stops.len(), 1);
    assert_eq!(
        (stops[0].start, stops[0].end, stops[0].reason),
        (Moment(100), Moment(200), StopReason::Paused)
    );
}

#[test]
fn nothing_that_exists_is_overwritten() {
    let place = Place::new(1, 0);
    place.thread(0, 0, |segment| segment.call(&call("MPI_Comm_rank", 0, 10)));
    place.undisturb();
    let trace = Trace::open(&place.recorded()).unwrap();
    let again = undisturb(&trace, &place.clean(), THREADS, &|_| {}).unwrap_err();
    assert!(matches!(again, ReplayError::Trace(TraceError::File { .. })), "{again}");
    assert!(Trace::open(&place.clean()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever ranks claim to have done, with nothing to take out nothing changes.
    #[test]
    fn with_nothing_to_take_out_nothing_changes(
        ranks in proptest::collection::vec((deeds(), proptest::option::of(deeds())), 1..5)
    ) {
        let place = Place::new(ranks.len() as u32, 0);
        for (rank, (first, second)) in (0..).zip(&ranks) {
            let size = ranks.len() as u32;
            place.thread(rank, 0, |segment| write_deeds(segment, rank, size, first));
            if let Some(second) = second {
                place.thread(rank, 1, |segment| write_deeds(segment, rank, size, second));
            }
        }
        let (recorded, clean, run) = place.undisturb();
        prop_assert_eq!(recorded, clean);
        let undisturbed = run.undisturbed.unwrap();
        prop_assert_eq!(undisturbed.recorded_ns, undisturbed.undisturbed_ns);
        prop_assert_eq!(undisturbed.error_ns, 0);
    }

    /// A program of computation and barriers comes out exactly as it would have been, whatever was added.
    #[test]
    fn barriers_are_replayed_as_without_the_tracer(
        computed in proptest::collection::vec(proptest::collection::vec((200u64..5_000, 0u64..3_000), 3), 1..40),
        cost in 0u64..100,
    ) {
        let place = Place::new(3, cost);
        let honest = run_barriers(&computed, None);
        let disturbed = run_barriers(&computed, Some(cost));
        for (rank, calls) in (0..).zip(&disturbed) {
            place.thread(rank, 0, |segment| {
                for (start, end, stop) in calls {
                    if let Some((at, length)) = stop {
                        segment.stop(*at, *length, StopReason::ChunkWait, 0);
                    }
                    segment.call(&barrier(*start, *end));
                }
            });
        }
        let (_, clean, _) = place.undisturb();
        for (rank, calls) in (0..).zip(&honest) {
            let expected: Vec<_> = calls.iter().map(|(start, end, _)| (*start as i64, *end as i64)).collect();
            prop_assert_eq!(times(&clean, rank), expected);
        }
    }
}

/// Start and end of each barrier, and the stop before it.
type Barriers = Vec<(u64, u64, Option<(u64, u64)>)>;

/// Ranks compute, are delayed (if there is a tracer) and meet. A barrier ends 50 ns after the last came.
fn run_barriers(computed: &[Vec<(u64, u64)>], cost: Option<u64>) -> Vec<Barriers> {
    let mut ranks: Vec<Barriers> = vec![Vec::new(); 3];
    let mut at = [0u64; 3];
    for (round, work) in computed.iter().enumerate() {
        let starts: Vec<u64> = (0..3)
            .map(|rank| {
                let (work_ns, held_ns) = work[rank];
                let around = cost.filter(|_| round > 0).unwrap_or(0);
                let held = cost.filter(|_| round > 0).map_or(0, |_| held_ns);
                at[rank] + work_ns + around + held
            })
            .collect();
        let end = starts.iter().max().unwrap() + 50;
        for rank in 0..3 {
            let stop = cost.filter(|_| round > 0).map(|_| (at[rank] + 60, work[rank].1));
            ranks[rank].push((starts[rank], end, stop));
            at[rank] = end;
        }
    }
    ranks
}
