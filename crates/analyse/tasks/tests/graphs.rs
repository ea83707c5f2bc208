//! Over made-up graphs of tasks: curves, paths and schedules hold together.

mod common;

use common::{graph, late_graph};
use kizami_model::{Length, Moment};
use kizami_tasks::{Bound, Bounds, Parallelism, Path, Strategy, Task, TaskGraph, places, schedule};
use proptest::prelude::*;

#[test]
fn the_area_below_the_curve_is_the_work() {
    for seed in 1..200 {
        let graph = graph(seed, 1 + (seed % 60) as u32);
        let parallelism = Parallelism::of(&graph);
        assert_eq!(parallelism.work(), graph.work(), "seed {seed}");
        let span = graph.span();
        let curve = parallelism.curve(Moment::START, Moment::START + span, 7);
        let area = curve.iter().sum::<f64>() * span.0 as f64 / 7.0;
        assert!((area - graph.work().0 as f64).abs() < 1e-6, "seed {seed}: {area}");
        let of_five: Length =
            (0..5).map(|five| Parallelism::of_tasks(&graph, |task| task % 5 == five).work()).sum();
        assert_eq!(of_five, graph.work());
        let sums = places(&graph, &Path::of(&graph));
        assert_eq!(sums.iter().map(|sum| sum.work).sum::<Length>(), graph.work());
        assert_eq!(sums.iter().map(|sum| sum.on_path).sum::<Length>(), span);
    }
}

#[test]
fn the_path_leads_from_the_beginning_to_the_end_without_a_gap() {
    for seed in 1..200 {
        let graph = graph(seed, 50);
        let path = Path::of(&graph);
        assert_eq!(path.length(), graph.span(), "seed {seed}");
        assert_eq!(path.stretches[0].from, Moment::START);
        assert!(path.stretches.windows(2).all(|pair| pair[0].to == pair[1].from));
    }
}

proptest! {
    /// Also where tasks begin later than they could, as in tables that others wrote.
    #[test]
    fn schedules_lie_within_their_bounds(seed: u64, tasks in 1u32..70, late in 0i64..2) {
        let graph = late_graph(seed, tasks, late * 30);
        let bounds = Bounds::of(&graph).with_peak(Parallelism::of(&graph).peak());
        let (span, work) = (graph.span(), graph.work());
        prop_assert!(late > 0 || !bounds.waits_for_others);
        for strategy in [Strategy::Oldest, Strategy::Newest, Strategy::Longest] {
            for processors in [1, 2, 3, 5, 8, 60] {
                let told = schedule(&graph, processors, strategy);
                prop_assert_eq!(told.bound, Bound::Busy);
                prop_assert_eq!(told.at_least, bounds.at_least(processors));
                prop_assert_eq!(told.at_most, bounds.at_most(processors));
                prop_assert!(told.at_least <= told.length && told.length <= told.at_most, "{:?}", told);
            }
            prop_assert_eq!(schedule(&graph, tasks, strategy).length, span, "as many processors as tasks");
            if !bounds.waits_for_others {
                prop_assert_eq!(schedule(&graph, 1, strategy).length, work, "one is never idle");
                prop_assert_eq!(bounds.at_most(1), work);
            }
        }
    }
}

/// A bound for schedules that go through virtual time moment by moment does not hold for others.
#[test]
fn a_task_that_is_not_interrupted_may_hold_up_the_longest_chain() {
    // On two processors, two short tasks come first; then the long one is alone.
    let mut graph = TaskGraph::new();
    for length in [10, 10, 20] {
        let end = Moment::START + Length(length);
        let (created, start) = (Moment::START, Moment::START);
        graph.push(Task { parent: None, place: None, created, start, end, continued: false }, &[]);
    }
    let told = schedule(&graph, 2, Strategy::Oldest);
    assert_eq!((told.length, told.at_least, told.at_most), (Length(30), Length(20), Length(30)));
}
