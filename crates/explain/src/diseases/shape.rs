//! How too much computation is spread over ranks and time: always the same ranks, moving, growing, now and then, or
//! without any order.

use crate::disease::Disease;
use crate::who::Who;
use kizami_blame::{Excess, middle};
use kizami_graph::Graph;
use kizami_model::{Length, Moment};
use rustc_hash::FxHashMap;

/// What comes in fewer than this part of the iterations is rare.
const RARE: f64 = 0.34;
/// What is so many times as much in the last third of a run as in the first grows.
const GROWING: f64 = 2.0;
/// A rank that is late this many times in a row on average, before another is, stays for some time.
const STAYS: f64 = 2.5;
/// If so many of those who are late follow their neighbour, it moves.
const IN_ORDER: f64 = 0.7;
/// Iterations in which less than this part of what is usually found is found do not count.
const WORTH_COUNTING: f64 = 0.1;

/// What is too long in each iteration.
pub(super) struct Shape {
    /// By iteration: the rank that has most, and how much. Iterations without any are left out.
    late: Vec<(usize, f64, u32)>,
    /// In how many iterations each rank has some.
    by_rank: FxHashMap<u32, usize>,
    iterations: usize,
}

impl Shape {
    /// Of these stretches, in a run whose iterations begin at these moments.
    pub(super) fn of<'a>(
        graph: &Graph,
        begins: &[Moment],
        excesses: impl Iterator<Item = &'a Excess>,
    ) -> Shape {
        let mut by_iteration: FxHashMap<usize, FxHashMap<u32, f64>> = FxHashMap::default();
        for excess in excesses {
            let start = graph.steps[excess.step as usize].start;
            // A step that marks an iteration ends what leads up to it.
            let iteration = begins.partition_point(|begin| *begin < start);
            let ranks = by_iteration.entry(iteration).or_default();
            *ranks.entry(excess.rank).or_default() += excess.length.0 as f64;
        }
        let mut by_rank: FxHashMap<u32, usize> = FxHashMap::default();
        for rank in by_iteration.values().flat_map(FxHashMap::keys) {
            *by_rank.entry(*rank).or_default() += 1;
        }
        let mut late: Vec<(usize, f64, u32)> = by_iteration
            .into_iter()
            .filter_map(|(iteration, ranks)| {
                let most = ranks.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
                most.map(|(rank, ns)| (iteration, ns, rank))
            })
            .collect();
        // Neither trifles between nor one that was long by accident say how much there usually is.
        let mut lengths: Vec<Length> = late.iter().map(|(_, ns, _)| Length(*ns as i64)).collect();
        let usual = middle(&mut lengths);
        late.retain(|(_, ns, _)| *ns >= WORTH_COUNTING * usual.0 as f64);
        late.sort_unstable_by_key(|(iteration, ..)| *iteration);
        Shape { late, by_rank, iterations: begins.len() + 1 }
    }

    /// Of nothing.
    #[cfg(test)]
    pub(super) fn none() -> Shape {
        Shape { late: Vec::new(), by_rank: FxHashMap::default(), iterations: 0 }
    }

    /// Whether these ranks are late in most iterations in which anybody is, each of them.
    pub(super) fn always(&self, ranks: &[u32]) -> bool {
        let times = |rank: &u32| self.by_rank.get(rank).copied().unwrap_or(0);
        !ranks.is_empty() && ranks.iter().all(|rank| 2 * times(rank) >= self.late.len().max(1))
    }

    /// In how many iterations it is found, and of how many.
    pub(super) fn times(&self) -> (usize, usize) {
        (self.late.len(), self.iterations)
    }

    /// What that is called.
    pub(super) fn disease(&self, who: &Who) -> Disease {
        if self.iterations < 8 {
            return Disease::Imbalance;
        }
        if *who == Who::InTurns {
            return if self.stays() { Disease::MovingImbalance } else { Disease::RandomImbalance };
        }
        match self.late.len() as f64 / self.iterations as f64 {
            _ if self.grows() => Disease::GrowingImbalance,
            part if part < RARE => Disease::RareImbalance,
            _ => Disease::Imbalance,
        }
    }

    /// Whether the same rank is late for some time before another is, or one is late right after its neighbour.
    fn stays(&self) -> bool {
        let runs = self.late.chunk_by(|a, b| a.2 == b.2).count();
        let highest = self.late.iter().map(|(.., rank)| *rank).max().unwrap_or(0);
        let near = |pair: &&[(usize, f64, u32)]| {
            let apart = pair[0].2.abs_diff(pair[1].2);
            apart <= 1 || apart == highest
        };
        let neighbours = self.late.windows(2).filter(near).count();
        self.late.len() as f64 >= STAYS * runs as f64
            || highest >= 4 && neighbours as f64 >= IN_ORDER * self.late.len() as f64
    }

    fn grows(&self) -> bool {
        let third = self.iterations / 3;
        let sum = |from: usize, to: usize| -> f64 {
            let there = self.late.iter().filter(|(iteration, ..)| (from..to).contains(iteration));
            there.map(|(_, ns, _)| *ns).sum()
        };
        let (first, last) = (sum(0, third), sum(self.iterations - third, self.iterations + 1));
        let middle = sum(third, self.iterations - third);
        // What comes now and then comes in all thirds; what grows is there from some time on.
        let last_third = self.late.iter().filter(|(iteration, ..)| *iteration >= self.iterations - third);
        first <= middle && middle < last * 1.5 && last > GROWING * first && 2 * last_third.count() > third
    }
}
