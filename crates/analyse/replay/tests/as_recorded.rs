//! With nothing changed, every time comes out exactly as recorded, on one thread and on several.

mod common;

use common::{Times, graph, walk};
use kizami_graph::Graph;
use kizami_model::Call;
use kizami_replay::{Network, Setting, learn};
use kizami_testing::{Act, Costs, Script, Stencil};

fn times<const LANES: usize>(
    graph: &Graph,
    settings: [&Setting; LANES],
    threads: usize,
) -> Vec<Times<LANES>> {
    assert_eq!(learn(graph, threads, || (), &|_| {}).unmatched, 0);
    let walked = walk(graph, settings, threads);
    assert_eq!(walked.unmatched, 0);
    walked.times
}

fn check(ranks: u32, calls: Vec<Call>) {
    let graph = graph(&[(0..ranks).collect()], &calls);
    let recorded = Setting::default();
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let one = times(&graph, [&recorded, &ideal], 1);
    for (Times { start_ns, end_ns }, call) in one.iter().zip(&calls) {
        assert_eq!((start_ns[0], end_ns[0]), (call.start.0, call.end.0), "{call:?}");
        assert!(end_ns[1] <= end_ns[0], "an ideal network is not slower: {call:?}");
    }
    for threads in 2..4 {
        assert_eq!(times(&graph, [&recorded, &ideal], threads), one, "{threads} threads");
    }
}

#[test]
fn a_stencil_is_replayed_as_recorded() {
    for ranks in [1, 2, 7, 64] {
        let stencil = Stencil::new(ranks, 30, Costs::default());
        check(ranks, (0..ranks).flat_map(|rank| stencil.rank(rank)).collect());
    }
}

#[test]
fn every_wait_state_is_replayed_as_recorded() {
    use Act::*;
    let acts = vec![
        vec![
            Compute(5_000),
            Send(1, 3, 8),
            StartReceive(2, 1),
            Compute(100),
            Wait(vec![2]),
            Together("MPI_Barrier"),
            Rooted("MPI_Bcast", 0),
            Compute(7_000),
            Rooted("MPI_Reduce", 0),
            Scan,
            SyncSend(2, 9, 1 << 20),
        ],
        vec![
            Receive(0, 3),
            Together("MPI_Barrier"),
            Rooted("MPI_Bcast", 0),
            Compute(50_000),
            Rooted("MPI_Reduce", 0),
            Scan,
        ],
        vec![
            Compute(90_000),
            StartSend(0, 1, 100_000),
            Wait(vec![1]),
            Together("MPI_Barrier"),
            Compute(3),
            Rooted("MPI_Bcast", 0),
            Rooted("MPI_Reduce", 0),
            Compute(30_000),
            Scan,
            Compute(400_000),
            Receive(0, 9),
        ],
    ];
    check(3, Script { acts, costs: Costs::default() }.run());
}
