//! What balancing ranks does, on a run whose times are known.

mod common;

use kizami_graph::Graph;
use kizami_model::Call;
use kizami_network::Fit;
use kizami_replay::{Observer, PlaceFactor, Seen, Setting, balance, replay};
use kizami_testing::{Act, Costs, Script};

const BARRIER: u32 = 4;

/// Four ranks that compute for different times and meet, twice. The last one computes nothing.
fn graph() -> Graph {
    use Act::*;
    let rank = |ns| vec![Together("MPI_Barrier"), Compute(ns), Together("MPI_Barrier")];
    let acts = [1_000, 2_000, 9_000, 0].map(rank).to_vec();
    let mut calls: Vec<Call> = Script { acts, costs: Costs::default() }.run();
    calls.iter_mut().for_each(|call| call.callsite = Some(BARRIER));
    common::graph(&[(0..4).collect()], &calls)
}

#[derive(Default)]
struct Starts(Vec<i64>);

impl Observer<1> for Starts {
    fn step(&mut self, seen: &Seen<'_, 1>) {
        self.0.push(seen.start[0].0);
    }
}

#[test]
fn everybody_that_computes_comes_at_the_same_time() {
    let graph = graph();
    let factors = balance(&graph, &[BARRIER], false);
    let even: Vec<f64> = factors.iter().zip([1_000.0, 2_000.0, 9_000.0]).map(|(f, ns)| f.0 * ns).collect();
    // The mean of 1, 2, 9 and 0 us; what is nothing cannot be made longer.
    assert!(even.iter().all(|ns| (ns - 3_000.0).abs() < 1e-6), "{even:?}");
    assert_eq!(factors[3].0, 1.0);
    assert!(balance(&graph, &[BARRIER + 1], false).iter().all(|factor| factor.0 == 1.0));

    let mut setting = Setting::default();
    setting.scale_place(BARRIER, 4, &PlaceFactor::ByRank(factors));
    let replayed = replay(&graph, [&setting], &Fit::default(), 1, Starts::default, &|_| {});
    let mut starts = replayed.observers[0].0.clone();
    starts.sort_unstable();
    let first_barrier_ends = graph.steps[0].end.0;
    assert_eq!(starts[4..], [0, 3_000, 3_000, 3_000].map(|ns| first_barrier_ends + ns));
}
