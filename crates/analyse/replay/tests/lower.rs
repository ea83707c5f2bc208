//! Collectives in which a rank needs only some of the others, while one of the rest waits for what the rank does next.

mod common;

use common::{Times, graph, walk};
use kizami_network::LogGops;
use kizami_replay::{Factor, Network, Setting};
use kizami_testing::Act::{self, *};
use kizami_testing::{Costs, Script};

const LARGE: u64 = 1 << 20;
const COMPUTES_NS: i64 = 50_000;

fn slow() -> Setting {
    Setting { cpu: Factor(2.0), ..Setting::default() }
}

fn model() -> Setting {
    let model = LogGops {
        latency_ns: 1_000.0,
        overhead_ns: 100.0,
        gap_ns: 100.0,
        per_byte_ns: 0.1,
        overhead_per_byte_ns: 0.0,
        eager_limit_bytes: 1_000,
    };
    Setting { network: Network::Model(model), ..slow() }
}

/// Rank 2 enters the collective behind a send that waits for what rank 1 receives behind it. Rank 1 needs only
/// rank 0. Returns the steps of the collective, the receive and the send.
fn times<const LANES: usize>(
    collective: Act,
    settings: [&Setting; LANES],
    threads: usize,
) -> [Times<LANES>; 3] {
    let acts = vec![
        vec![collective.clone(), Together("MPI_Barrier")],
        vec![collective.clone(), Compute(COMPUTES_NS), Receive(2, 5), Together("MPI_Barrier")],
        vec![UnbufferedSend(1, 5, LARGE), collective, Together("MPI_Barrier")],
    ];
    let rows = Script { acts, costs: Costs::default() }.run();
    let walked = walk(&graph(&[vec![0, 1, 2]], &rows), settings, threads);
    assert_eq!(walked.unmatched, 0, "{threads} threads");
    [walked.times[2], walked.times[3], walked.times[5]]
}

#[test]
fn a_prefix_sum_does_not_wait_for_ranks_behind() {
    let costs = Costs::default();
    for threads in 1..4 {
        let [scan, receive, send] = times(Scan, [&slow()], threads);
        assert_eq!(scan.end_ns, [costs.collective_ns]);
        assert_eq!(receive.start_ns, [costs.collective_ns + 2 * COMPUTES_NS]);
        assert_eq!(send.end_ns, [receive.start_ns[0] + costs.message_ns], "{threads} threads");
    }
}

#[test]
fn waits_do_not_end_because_a_model_holds_others() {
    for collective in [Scan, Rooted("MPI_Bcast", 0)] {
        let [_, _, alone] = times(collective.clone(), [&slow()], 1);
        for threads in 1..4 {
            let [_, receive, send] = times(collective.clone(), [&slow(), &model()], threads);
            assert_eq!(send.end_ns[0], alone.end_ns[0], "{collective:?}, {threads} threads");
            assert!(send.end_ns[1] > receive.start_ns[1], "{collective:?}, {threads} threads");
        }
    }
}
