//! Small programs under the LogGOPS model, with times worked out by hand.
//!
//! Latency 1,000 ns, overhead 100 ns, gap 500 ns; 2 ns per byte where messages are small, 0.01 ns where they are large.

mod common;

use common::{graph, walk};
use kizami_network::LogGops;
use kizami_replay::{Network, Setting};
use kizami_testing::{Act, Costs, Script};

const SMALL: LogGops = LogGops {
    latency_ns: 1_000.0,
    overhead_ns: 100.0,
    gap_ns: 500.0,
    per_byte_ns: 2.0,
    overhead_per_byte_ns: 0.0,
    eager_limit_bytes: 100_000,
};
const LARGE: LogGops = LogGops { per_byte_ns: 0.01, ..SMALL };

/// Start and end of each call of a program, by rank, in the model.
fn modelled(model: LogGops, acts: Vec<Vec<Act>>) -> Vec<(i64, i64)> {
    let ranks = acts.len() as u32;
    let rows = Script { acts, costs: Costs::default() }.run();
    let graph = graph(&[(0..ranks).collect()], &rows);
    let setting = Setting { network: Network::Model(model), ..Setting::default() };
    let walked = walk(&graph, [&setting], 1);
    assert_eq!(walked.unmatched, 0);
    walked.times.iter().map(|times| (times.start_ns[0], times.end_ns[0])).collect()
}

#[test]
fn a_message_there_and_back_costs_two_overheads_and_a_way_each_time() {
    use Act::{Receive, Send};
    let times =
        modelled(SMALL, vec![vec![Send(1, 0, 10), Receive(1, 0)], vec![Receive(0, 0), Send(0, 0, 10)]]);
    // Leaves at 100, is there at 100 + 1,000 + 20, taken at 1,220; back it leaves at 1,320.
    assert_eq!(times, [(0, 100), (100, 2_440), (0, 1_220), (1_220, 1_320)]);
}

#[test]
fn a_message_does_not_leave_before_the_one_before_it_is_out_of_the_way() {
    use Act::{Receive, Send};
    let times =
        modelled(SMALL, vec![vec![Send(1, 0, 10), Send(1, 0, 10)], vec![Receive(0, 0), Receive(0, 0)]]);
    // The second could leave at 200 and leaves at 100 + 500 + 20; it is there at 1,640.
    assert_eq!(times, [(0, 100), (100, 200), (0, 1_220), (1_220, 1_740)]);
}

#[test]
fn a_message_after_a_pause_does_not_wait_for_the_gap() {
    use Act::{Compute, Receive, Send};
    let times = modelled(
        SMALL,
        vec![vec![Send(1, 0, 10), Compute(5_000), Send(1, 0, 10)], vec![Receive(0, 0), Receive(0, 0)]],
    );
    assert_eq!(times, [(0, 100), (5_100, 5_200), (0, 1_220), (1_220, 6_320)]);
}

#[test]
fn a_large_message_leaves_when_its_receiver_has_said_that_it_is_ready() {
    use Act::{Compute, Receive, SyncSend};
    let times = modelled(LARGE, vec![vec![SyncSend(1, 0, 200_000)], vec![Compute(10_000), Receive(0, 0)]]);
    // Ready at 10,000, heard at 11,000; 2,000 to leave, 1,000 on the way, 100 to take.
    assert_eq!(times, [(0, 13_000), (10_000, 14_100)]);
}

#[test]
fn a_large_message_to_one_that_is_ready_asks_first() {
    use Act::{Receive, SyncSend};
    let times = modelled(LARGE, vec![vec![SyncSend(1, 0, 200_000)], vec![Receive(0, 0)]]);
    // The request leaves at 100 and arrives at 1,100; the answer arrives at 2,100.
    assert_eq!(times, [(0, 4_100), (0, 5_200)]);
}

#[test]
fn a_large_message_that_was_buffered_waits_for_its_receiver_all_the_same() {
    use Act::{Compute, Receive, Send};
    let times = modelled(LARGE, vec![vec![Send(1, 0, 200_000)], vec![Compute(10_000), Receive(0, 0)]]);
    assert_eq!(times, [(0, 13_000), (10_000, 14_100)]);
}

#[test]
fn a_broadcast_goes_down_a_tree_of_halves() {
    let times = modelled(SMALL, vec![vec![Act::Rooted("MPI_Bcast", 0)]; 4]);
    // The root sends to 2 until 100 and to 1 until 200. 2 has it at 100 + 1,016 + 100 and sends to 3 until 1,316.
    assert_eq!(times, [(0, 200), (0, 1_316), (0, 1_316), (0, 2_432)]);
}

#[test]
fn a_barrier_is_two_rounds_of_messages_for_four() {
    let late = |compute| vec![Act::Compute(compute), Act::Together("MPI_Barrier")];
    let times = modelled(SMALL, vec![late(0), late(0), late(0), late(7_000)]);
    // After a round 0 has received from 3 at 8,200 and 3 from 2 at 7,200; then 1 receives from 3 and 2 from 0.
    assert_eq!(times, [(0, 8_400), (0, 8_400), (0, 9_400), (7_000, 7_400)]);
}
