//! Over made-up graphs of tasks: curves, paths and schedules hold together.

mod common;

use common::graph;
use kizami_model::{Length, Moment};
use kizami_tasks::{Parallelism, Path, Strategy, places, schedule};

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

#[test]
fn schedules_keep_their_bounds() {
    for seed in 1..150 {
        let graph = graph(seed, 60);
        let (parallelism, span, work) = (Parallelism::of(&graph), graph.span(), graph.work());
        for strategy in [Strategy::Oldest, Strategy::Newest, Strategy::Longest] {
            for processors in [1, 2, 3, 5, 8, 60] {
                let time = schedule(&graph, processors, strategy).length;
                assert!(time >= parallelism.at_least(processors, span), "seed {seed}: {time:?}");
                // Graham: whenever a processor is idle, some longest chain goes on.
                let most = Length(work.0 / i64::from(processors)) + span + Length(1);
                assert!(time <= most, "seed {seed}, {processors} processors: {time:?}, at most {most:?}");
            }
            assert_eq!(schedule(&graph, 60, strategy).length, span, "as many processors as tasks");
            assert_eq!(schedule(&graph, 1, strategy).length, work, "one is never idle");
        }
        // Moments in which nothing runs cannot be: some task makes what others wait for.
        assert_eq!(parallelism.at_most(1, span), work, "seed {seed}");
        assert_eq!(parallelism.at_most(60, span), span, "seed {seed}");
    }
}
