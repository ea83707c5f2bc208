//! What a larger eager limit does, on runs whose times are known.

mod common;

use common::{graph, walk};
use kizami_replay::{Network, Setting};
use kizami_testing::Act::{self, *};
use kizami_testing::{Costs, Script};

const LARGE: u64 = 1 << 20;
/// How much later than the send the receive is posted.
const LATE_NS: i64 = 100_000;

/// Rank 0 sends, computes and meets rank 1, which receives late.
fn times(send: Act, settings: [&Setting; 2]) -> Vec<[(i64, i64); 2]> {
    let acts = vec![
        vec![Compute(1_000), send, Compute(30_000), Together("MPI_Barrier")],
        vec![Compute(1_000 + LATE_NS), Receive(0, 5), Together("MPI_Barrier")],
    ];
    let rows = Script { acts, costs: Costs::default() }.run();
    let walked = walk(&graph(&[vec![0, 1]], &rows), settings, 1);
    walked.times.iter().map(|step| [0, 1].map(|lane| (step.start_ns[lane], step.end_ns[lane]))).collect()
}

fn limit(bytes: u64) -> Setting {
    Setting { eager_limit_bytes: Some(bytes), ..Setting::default() }
}

#[test]
fn sends_up_to_the_limit_do_not_wait_for_their_receiver() {
    let times = times(UnbufferedSend(1, 5, LARGE), [&limit(LARGE - 1), &limit(LARGE)]);
    // The receive finds its message, and takes what a call takes. No message shows how long copying it takes, so the
    // send takes what it took once its receive was posted.
    let costs = Costs::default();
    let posted_ns = 1_000 + LATE_NS;
    let sent_ns = posted_ns + costs.message_ns;
    assert_eq!(times[0], [(1_000, sent_ns), (1_000, 1_000 + costs.message_ns)]);
    assert_eq!(times[2], [(posted_ns, posted_ns + costs.call_ns); 2]);
    // As recorded the sender comes last to the barrier; with room for the message, the receiver.
    let last_ns = [sent_ns + 30_000, posted_ns + costs.call_ns];
    let came_ns = [sent_ns + 30_000, 1_000 + costs.message_ns + 30_000];
    assert_eq!(times[1], [0, 1].map(|lane| (came_ns[lane], last_ns[lane] + costs.collective_ns)));
}

#[test]
fn synchronous_sends_wait_in_any_case() {
    let times = times(SyncSend(1, 5, LARGE), [&Setting::default(), &limit(u64::MAX)]);
    assert!(times.iter().all(|[recorded, roomy]| recorded == roomy), "{times:?}");
}

/// The limit is as good on an ideal network, where the send takes no time of its own.
#[test]
fn a_limit_goes_with_other_networks() {
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let roomy = Setting { eager_limit_bytes: Some(LARGE), ..ideal.clone() };
    let times = times(UnbufferedSend(1, 5, LARGE), [&ideal, &roomy]);
    assert_eq!(times[0], [(1_000, 1_000 + LATE_NS), (1_000, 1_000)]);
    assert_eq!(times[1].map(|(_, end_ns)| end_ns), [1_000 + LATE_NS + 30_000, 1_000 + LATE_NS]);
}

/// A call that waits for a receive and for a message still waits for the message.
#[test]
fn what_else_a_call_waits_for_is_waited_for() {
    let mut rows = vec![
        kizami_testing::call("MPI_Isend", 0, 0, 500),
        kizami_testing::call("MPI_Irecv", 0, 500, 1_000),
        kizami_testing::call("MPI_Waitall", 0, 1_000, 92_000),
        kizami_testing::call("MPI_Send", 1, 40_000, 40_500),
        kizami_testing::call("MPI_Recv", 1, 90_000, 92_000),
    ];
    let peer = |rank| kizami_model::Peer::Rank(kizami_model::Rank(rank));
    for (row, to, bytes) in [(0, 1, Some(LARGE)), (3, 0, Some(8))] {
        (rows[row].peer, rows[row].tag, rows[row].bytes_out) = (peer(to), Some(5), bytes);
    }
    for (row, from, bytes) in [(1, 1, Some(8)), (4, 0, Some(LARGE))] {
        (rows[row].peer, rows[row].tag, rows[row].bytes_in) = (peer(from), Some(5), bytes);
    }
    (rows[0].request, rows[1].request, rows[2].completes) = (Some(1), Some(2), vec![1, 2]);
    let walked = walk(&graph(&[vec![0, 1]], &rows), [&Setting::default(), &limit(LARGE)], 1);
    // The message was sent at 40 us; no other shows its transfer time.
    assert_eq!(walked.times[2].end_ns, [92_000, 40_000]);
}
