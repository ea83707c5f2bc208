//! How too much computation is spread over ranks and time: always the same ranks, moving, growing, now and then, or
//! without any order.

use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use crate::who::Who;
use kizami_blame::{Excess, middle};
use kizami_graph::Graph;
use kizami_model::{Length, Moment};
use rustc_hash::FxHashMap;

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
        let baseline = middle(&mut lengths);
        late.retain(|(_, ns, _)| *ns >= THRESHOLDS.worth_counting * baseline.0 as f64);
        late.sort_unstable_by_key(|(iteration, ..)| *iteration);
        Shape { late, by_rank, iterations: begins.len() + 1 }
    }

    /// Of nothing.
    #[cfg(test)]
    pub(super) fn none() -> Shape {
        Shape { late: Vec::new(), by_rank: FxHashMap::default(), iterations: 0 }
    }

    /// Whether each of these ranks is late in most iterations with late ranks.
    pub(super) fn always(&self, ranks: &[u32]) -> bool {
        let times = |rank: &u32| self.by_rank.get(rank).copied().unwrap_or(0);
        let mostly = THRESHOLDS.late_mostly * self.late.len().max(1) as f64;
        !ranks.is_empty() && ranks.iter().all(|rank| times(rank) as f64 >= mostly)
    }

    /// What that is called, of those who do it.
    pub(super) fn diagnosis(&self, who: Who) -> Diagnosis {
        if self.iterations < THRESHOLDS.fewest_iterations {
            return Diagnosis::Imbalance { who };
        }
        if who == Who::InTurns {
            return match self.stays() {
                true => Diagnosis::MovingImbalance { who },
                false => Diagnosis::RandomImbalance { who },
            };
        }
        let (times, iterations) = (self.late.len(), self.iterations);
        match times as f64 / iterations as f64 {
            _ if self.grows() => Diagnosis::GrowingImbalance { who },
            part if part < THRESHOLDS.rare => Diagnosis::RareImbalance { who, times, iterations },
            _ => Diagnosis::Imbalance { who },
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
        self.late.len() as f64 >= THRESHOLDS.stays * runs as f64
            || highest > THRESHOLDS.in_order_beyond_rank
                && neighbours as f64 >= THRESHOLDS.in_order * self.late.len() as f64
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
        first <= middle
            && middle < last * THRESHOLDS.growing_middle
            && last > THRESHOLDS.growing * first
            && last_third.count() as f64 > THRESHOLDS.growing_in_last_third * third as f64
    }
}
