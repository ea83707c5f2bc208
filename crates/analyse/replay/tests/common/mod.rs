//! Graphs of made-up programs, and the times a walk gives their steps.

// Each test takes what it needs.
#![allow(dead_code)]

use kizami_graph::{Builder, Graph};
use kizami_model::Call;
use kizami_replay::{EndedStep, Observer, Setting, learn, replay};
use kizami_testing::definitions;

/// The graph of these rows; the first communicator is the world.
pub fn graph<'a>(comms: &[Vec<u32>], rows: impl IntoIterator<Item = &'a Call>) -> Graph {
    let definitions = definitions(comms);
    let rows: Vec<&Call> = rows.into_iter().collect();
    let mut builder = Builder::new(&definitions, &[]);
    rows.into_iter().for_each(|row| builder.call(row));
    builder.finish()
}

/// The times of one step, by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times<const LANES: usize> {
    pub start_ns: [i64; LANES],
    pub end_ns: [i64; LANES],
}

/// All steps of a walk.
#[derive(Clone, Debug, PartialEq)]
pub struct Walked<const LANES: usize> {
    /// By step.
    pub times: Vec<Times<LANES>>,
    pub unmatched: u64,
    pub followed: u64,
}

#[derive(Default)]
struct Watcher<const LANES: usize>(Vec<(u64, Times<LANES>)>);

impl<const LANES: usize> Observer<LANES> for Watcher<LANES> {
    fn step(&mut self, seen: &EndedStep<'_, LANES>) {
        self.0.push((
            seen.index,
            Times { start_ns: seen.start.map(|at| at.0), end_ns: seen.end.map(|at| at.0) },
        ));
    }
}

/// Learns from the graph and walks it, both with so many threads.
pub fn walk<const LANES: usize>(graph: &Graph, settings: [&Setting; LANES], threads: usize) -> Walked<LANES> {
    let learned = learn(graph, threads, || (), &|_| {}).learned;
    let replayed = replay(graph, settings, &learned, threads, Watcher::default, &|_| {});
    let mut all: Vec<_> = replayed.observers.into_iter().flat_map(|watcher| watcher.0).collect();
    all.sort_unstable_by_key(|(index, _)| *index);
    assert!(all.iter().map(|(index, _)| *index).eq(0..graph.steps.len() as u64), "every step ends once");
    let times = all.into_iter().map(|(_, times)| times).collect();
    Walked { times, unmatched: replayed.unmatched, followed: replayed.followed }
}
