//! What a walk remembers is what is under way, however long the run.

mod common;

use common::graph;
use kizami_graph::Graph;
use kizami_replay::{Network, Setting, learn, replay};
use kizami_testing::{Act, Costs, Script, Stencil};

/// The most that was remembered in two walks.
fn most_under_way(graph: &Graph, threads: usize) -> u64 {
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let learned = learn(graph, threads, || (), &|_| {});
    let replayed = replay(graph, [&ideal], &learned.learned, threads, || (), &|_| {});
    assert_eq!((learned.unmatched, replayed.unmatched), (0, 0));
    learned.most_under_way.max(replayed.most_under_way)
}

#[test]
fn a_long_halo_exchange_remembers_a_few_iterations() {
    let ranks = 16;
    let most = |iterations, threads| {
        let stencil = Stencil::new(ranks, iterations, Costs::default());
        let rows: Vec<_> = (0..ranks).flat_map(|rank| stencil.rank(rank)).collect();
        most_under_way(&graph(&[(0..ranks).collect()], &rows), threads)
    };
    let (short, shared, long) = (most(200, 1), most(200, 3), most(10_000, 1));
    assert!(long <= 2 * short && long.max(shared) < 1_000, "{short}, by three threads {shared}, long {long}");
}

#[test]
fn a_sender_that_never_waits_does_not_run_away() {
    let messages = 20_000;
    let sends = (0..messages).flat_map(|_| [Act::Compute(1_000), Act::Send(1, 0, 8)]).collect();
    let receives = (0..messages).map(|_| Act::Receive(0, 0)).collect();
    let rows = Script { acts: vec![sends, receives], costs: Costs::default() }.run();
    let most = most_under_way(&graph(&[vec![0, 1]], &rows), 1);
    assert!(most < 1_000, "{most} of {messages} messages remembered");
}
