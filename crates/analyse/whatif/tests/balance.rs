//! What balancing ranks does, on runs whose times are known.

use kizami_graph::{Builder, Graph};
use kizami_model::{Call, Length};
use kizami_network::Fit;
use kizami_replay::{EndedStep, Observer, Setting, replay};
use kizami_testing::{Act, Costs, Script, definitions};
use kizami_whatif::{Epochs, Paces, balance};

const BARRIER: u32 = 4;

/// Ranks that compute for these times and meet, step by step.
fn graph(steps: &[[i64; 4]]) -> Graph {
    use Act::*;
    let rank = |rank: usize| {
        let mut acts = vec![Together("MPI_Barrier")];
        for step in steps {
            acts.extend([Compute(step[rank]), Together("MPI_Barrier")]);
        }
        acts
    };
    let acts = (0..4).map(rank).collect();
    let mut calls: Vec<Call> = Script { acts, costs: Costs::default() }.run();
    calls.iter_mut().for_each(|call| call.callsite = Some(BARRIER));
    let definitions = definitions(&[(0..4).collect()]);
    let mut builder = Builder::new(&definitions, &[]);
    calls.iter().for_each(|call| builder.call(call));
    builder.finish()
}

#[derive(Default)]
struct Steps(Vec<(i64, i64)>);

impl Observer<1> for Steps {
    fn step(&mut self, seen: &EndedStep<'_, 1>) {
        self.0.push((seen.start[0].0, seen.end[0].0));
    }
}

/// How long ranks compute between two barriers, by barrier; all come at the same time.
fn balanced(graph: &Graph) -> Vec<i64> {
    let setting = Setting::of_steps(graph, balance(graph, &Epochs::of(graph), &[BARRIER], false));
    let replayed = replay(graph, [&setting], &Fit::default(), 1, Steps::default, &|_| {});
    let mut times = replayed.observers[0].0.clone();
    times.sort_unstable();
    times
        .chunks(4)
        .collect::<Vec<_>>()
        .windows(2)
        .map(|pair| {
            assert!(pair[1].iter().all(|(start, _)| *start == pair[1][0].0), "{pair:?}");
            pair[1][0].0 - pair[0][0].1
        })
        .collect()
}

#[test]
fn all_ranks_enter_at_the_same_time() {
    // Who computes nothing gets as much as the others.
    assert_eq!(balanced(&graph(&[[1_000, 2_000, 9_000, 0]; 5])), [3_000; 5]);
}

/// What moves from rank to rank, or comes only now and then, is spread where it comes.
#[test]
fn every_step_is_balanced_by_itself() {
    let steps = [[8_000, 0, 0, 0], [0, 4_000, 0, 0], [400; 4], [400; 4], [0, 0, 0, 40_000]];
    assert_eq!(balanced(&graph(&steps)), [2_000, 1_000, 400, 400, 10_000]);
}

#[test]
fn ranks_are_as_fast_as_the_median_of_the_others() {
    let slow_from = |first: usize| {
        let steps: Vec<[i64; 4]> =
            (0..40).map(|step| if step < first { [800; 4] } else { [800, 800, 2_000, 800] }).collect();
        graph(&steps)
    };
    for graph in [slow_from(0), slow_from(20)] {
        let paces = Paces::of(&graph, false);
        let changes = paces.like_others(&graph, &[2]);
        let taken: i64 = changes.iter().map(|(_, change)| change.before.0).sum();
        let [(_, [own, others])] = paces.beside_others(&[2])[..] else { panic!("one place") };
        assert_eq!((taken, others), (others.0 - own.0, Length(40 * 800)));
        // Nobody is left whom all could be like.
        assert_eq!(paces.like_others(&graph, &[0, 1, 2, 3]), []);
    }
}

#[test]
fn nothing_is_moved_from_other_places() {
    let graph = graph(&[[1_000, 2_000, 9_000, 0]; 5]);
    assert!(balance(&graph, &Epochs::of(&graph), &[BARRIER + 1], false).is_empty());
}
