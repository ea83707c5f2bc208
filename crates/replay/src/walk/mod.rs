//! The walk: strands in happened-before order, on one thread or several.
//!
//! With several threads each has the strands of some ranks. They walk in turns: everybody walks until nobody of its
//! own can go on, then letters are exchanged. When there are none left, either the horizon moves on, or, if
//! everything before it has been walked, the strand whose call ended first in the recorded run goes on without what
//! it waits for: nothing it waited for can come from calls that ended later. All of that is decided by what the whole
//! graph says, never by which thread was faster.

mod board;
mod lane;
mod meeting;
pub mod observer;
mod rounds;
mod strand;
mod worker;

use crate::fit::Fit;
use crate::setting::Setting;
use kizami_graph::Graph;
use lane::Lane;
use observer::Observer;
use rounds::walk;
use std::ops::Range;
use worker::Worker;

/// Steps of a strand within one slice of recorded time, about.
const STEPS_IN_A_SLICE: u64 = 64;

/// What came of a walk.
#[derive(Clone, Debug)]
pub struct Replayed<O> {
    /// Of each thread of the walk, in the order of ranks.
    pub observers: Vec<O>,
    /// Calls whose waiting was followed.
    pub followed: u64,
    /// Calls whose partners did not come, and messages nobody took.
    pub unmatched: u64,
    /// The last end of all, with what the tracer took taken out of each strand alone.
    pub direct_only_ns: i64,
    /// What was learned about the network.
    pub learned: Fit,
    /// The most messages, receives and collectives that had to be remembered at a time.
    pub most_under_way: u64,
}

impl<O> Replayed<O> {
    /// The same when the observers have done their work.
    pub fn without_observers(self) -> Replayed<()> {
        let Replayed { followed, unmatched, direct_only_ns, learned, most_under_way, .. } = self;
        Replayed { observers: Vec::new(), followed, unmatched, direct_only_ns, learned, most_under_way }
    }
}

/// Walks a graph once as recorded, and learns what messages cost.
pub fn learn<O: Observer<0>>(
    graph: &Graph,
    threads: usize,
    observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Replayed<O> {
    replay(graph, [], &Fit::default(), threads, observer, progress)
}

/// Walks a graph under several settings at once. `fit` is what a first walk has learned; `observer` is asked for one
/// observer for each of the shares of ranks, in their order; `progress` hears how many steps are done.
pub fn replay<const LANES: usize, O: Observer<LANES>>(
    graph: &Graph,
    settings: [&Setting; LANES],
    fit: &Fit,
    threads: usize,
    mut observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Replayed<O> {
    let lanes = settings.map(|setting| Lane::new(setting, fit));
    let borders = borders(graph, threads);
    let workers: Vec<Worker<'_, LANES, O>> =
        (0..borders.len()).map(|own| Worker::new(graph, &borders, own, &lanes, fit, observer())).collect();
    let workers = walk(workers, slice_ns(graph), progress);
    let mut replayed = Replayed {
        observers: Vec::new(),
        followed: 0,
        unmatched: 0,
        direct_only_ns: i64::MIN,
        learned: Fit::default(),
        most_under_way: 0,
    };
    for worker in workers {
        replayed.followed += worker.counts.followed;
        replayed.unmatched += worker.counts.unmatched + worker.left();
        replayed.direct_only_ns = replayed.direct_only_ns.max(worker.counts.direct_only_ns);
        replayed.most_under_way += worker.counts.most_under_way;
        replayed.learned.merge(&worker.learned);
        replayed.observers.push(worker.observer);
    }
    replayed.learned.finish();
    replayed
}

/// The steps each thread of a walk sees: those of some ranks, one share behind the other.
pub fn shares(graph: &Graph, threads: usize) -> Vec<Range<u64>> {
    let borders = borders(graph, threads);
    let first_step = |border: &u32| {
        let strand = graph.strands.partition_point(|strand| strand.rank.0 < *border);
        graph.strands.get(strand).map_or(0, |strand| strand.first_step)
    };
    let firsts: Vec<u64> = borders.iter().map(first_step).collect();
    let ends = firsts.iter().skip(1).copied().chain([graph.steps.len() as u64]);
    firsts.iter().copied().zip(ends).map(|(first, end)| first..end).collect()
}

/// The first rank of each thread: about as many steps for each.
fn borders(graph: &Graph, threads: usize) -> Vec<u32> {
    let mut borders = vec![0];
    let total = graph.steps.len() as u64;
    for thread in 1..threads.max(1) as u64 {
        let step = total / threads as u64 * thread;
        let strand = graph.strands.partition_point(|strand| strand.first_step < step);
        if let Some(strand) = graph.strands.get(strand)
            && borders.last().is_none_or(|last| *last < strand.rank.0)
        {
            borders.push(strand.rank.0);
        }
    }
    borders
}

/// How much recorded time strands may be apart.
fn slice_ns(graph: &Graph) -> i64 {
    if graph.apart {
        return i64::MAX;
    }
    let strands = (graph.strands.len() as u64).max(1);
    let slices = (graph.steps.len() as u64 / strands / STEPS_IN_A_SLICE).clamp(1, 1 << 20);
    let end_ns = graph.steps.iter().map(|step| step.end_ns).max().unwrap_or(0);
    (end_ns.saturating_sub(graph.begin_ns()) / slices as i64).max(1)
}
