//! Answers about parts of a run are those that looking at every task would give.

use kizami_rng::SplitMix64;
mod common;

use common::graph;
use kizami_model::{Length, Moment};
use kizami_tasks::{Curve, Parallelism, Part, Stretch, Survey, bucket, shortest};

/// Whether a task descends from another one, or is it.
fn descends(survey: &Survey, task: u32, from: u32) -> bool {
    std::iter::successors(Some(task), |task| survey.graph().tasks()[*task as usize].parent)
        .any(|each| each == from)
}

fn range(random: &mut SplitMix64, whole: Stretch) -> Stretch {
    let length = (whole.to - whole.from).0 as u64;
    let (one, other) = (random.below(length + 1) as i64, random.below(length + 1) as i64);
    Stretch { from: whole.from + Length(one.min(other)), to: whole.from + Length(one.max(other) + 1) }
}

#[test]
fn curves_of_parts_are_those_of_their_tasks() {
    for seed in 1..60 {
        let survey = Survey::of(graph(seed, 60));
        let mut random = SplitMix64::new(seed);
        let own = random.below(60) as u32;
        for (part, has) in [
            (Part::All, Box::new(|_| true) as Box<dyn Fn(u32) -> bool>),
            (Part::Task(own), Box::new(|task| descends(&survey, task, own))),
            (Part::Place(3), Box::new(|task| task % 5 == 3)),
        ] {
            let slow = Parallelism::of_tasks(survey.graph(), &has);
            let (fast, tasks) = survey.curve(part);
            assert_eq!(*fast, Curve::of(slow.clone()), "seed {seed}, {part}");
            assert_eq!((fast.work(), fast.peak()), (slow.work(), slow.peak()));
            assert_eq!(tasks, (0..60).filter(|task| has(*task)).count() as u64, "{part}");
            let range = range(&mut random, survey.whole());
            let work =
                (0..60).filter(|task| has(*task)).filter_map(|task| survey.part_in(&[(part, range)], task));
            assert_eq!(fast.work_between(range.from, range.to), work.sum(), "seed {seed}, {part}");
            let columns = fast.columns(range.from, range.to, 7);
            for (column, slow) in columns.iter().zip(slow.curve(range.from, range.to, 7)) {
                assert!((column - slow).abs() < 1e-9, "seed {seed}, {part}: {column} {slow}");
            }
        }
    }
}

#[test]
fn nodes_hold_all_tasks_and_add_up() {
    for seed in 1..60 {
        let survey = Survey::of(graph(seed, 80));
        let whole = survey.whole();
        let behind_all = Stretch { to: whole.to + Length(1), ..whole };
        let tree = survey.tree(behind_all, 10, usize::MAX);
        let (nodes, tasks) = (survey.folded().nodes(), survey.graph().tasks());
        let roots = || tree.iter().filter(|sum| nodes[sum.node as usize].parent.is_none());
        assert_eq!(roots().map(|sum| sum.tasks).sum::<u64>(), 80, "seed {seed}");
        assert_eq!(roots().map(|sum| sum.work).sum::<Length>(), survey.graph().work());
        assert_eq!(roots().map(|sum| sum.on_path).sum::<Length>(), survey.graph().span());
        let range = range(&mut SplitMix64::new(seed), whole);
        for sum in survey.tree(range, 10, usize::MAX) {
            let part = Part::Node(sum.node);
            let (curve, _) = survey.curve(part);
            assert_eq!(sum.work, curve.work_between(range.from, range.to), "seed {seed}, {part}");
            for (small, exact) in sum.curve.iter().zip(curve.columns(range.from, range.to, 10)) {
                assert!((small - exact).abs() < 1e-6, "seed {seed}, {part}: {small} {exact}");
            }
            let first = (0..80).find(|task| survey.folded().node_of(*task) == sum.node);
            assert_eq!(first.and_then(|task| tasks[task as usize].place), nodes[sum.node as usize].place);
        }
        // No path has a place twice, and fewer nodes are still a tree.
        for (number, node) in nodes.iter().enumerate() {
            let above = std::iter::successors(node.parent, |node| nodes[*node as usize].parent);
            assert!(above.clone().all(|other| nodes[other as usize].place != node.place));
            assert!(above.clone().all(|other| (other as usize) < number));
        }
        let few = survey.tree(behind_all, 10, 3);
        assert!(few.len() <= 3);
        let shown = |node: u32| few.iter().any(|sum| sum.node == node);
        assert!(few.iter().all(|sum| nodes[sum.node as usize].parent.is_none_or(shown)), "seed {seed}");
    }
}

#[test]
fn flows_begin_with_the_critical_path() {
    for seed in 1..60 {
        let survey = Survey::of(graph(seed, 80));
        let scope = [(Part::All, range(&mut SplitMix64::new(seed), survey.whole()))];
        let of = (0..80).filter(|task| survey.part_in(&scope, *task).is_some()).count();
        let flow = survey.flow(&scope, 30);
        assert_eq!((flow.of, flow.tasks.len()), (of as u64, of.min(30)), "seed {seed}");
        let mut path: Vec<u32> = survey.path().stretches.iter().map(|stretch| stretch.task).collect();
        path.retain(|task| survey.part_in(&scope, *task).is_some());
        path.sort_unstable();
        path.dedup();
        let (on_path, rest) = flow.tasks.split_at(flow.on_path);
        assert!(on_path == path || on_path.len() == 30, "seed {seed}");
        assert!(
            rest.len() + on_path.len() == flow.tasks.len() && rest.iter().all(|task| !path.contains(task))
                || on_path.len() == 30
        );
        for (task, need) in &flow.needs {
            assert!(flow.tasks.contains(task) && flow.tasks.contains(&need.of));
            assert!(survey.graph().needs(*task).contains(need));
        }
    }
}

#[test]
fn lengths_fall_into_their_buckets() {
    for length in (0..5_000).chain([1 << 40, (1 << 40) - 1, i64::MAX]) {
        let own = bucket(Length(length));
        assert!(shortest(own).0 <= length, "{length}");
        assert!(length == i64::MAX || shortest(own + 1).0 > length, "{length}");
    }
    let survey = Survey::of(graph(7, 80));
    let whole = survey.whole();
    let places = survey.lengths(&[(Part::All, Stretch { to: whole.to + Length(1), ..whole })]);
    assert_eq!(places.iter().map(|sum| sum.work).sum::<Length>(), survey.graph().work());
    assert_eq!(places.iter().map(|sum| sum.tasks).sum::<u64>(), 80);
    assert!(places.iter().all(|sum| sum.buckets.iter().map(|bucket| bucket.0).sum::<u64>() == sum.tasks));
    let early = [(Part::Place(1), Stretch { from: whole.from, to: Moment(5) })];
    assert!(survey.lengths(&early).iter().all(|sum| sum.place == Some(1)));
}
