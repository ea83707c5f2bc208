//! Which ranks are walked together: shares of about as many steps each.

use kizami_graph::Graph;
use kizami_model::Rank;
use std::ops::Range;

/// Stretches of ranks, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// First rank of each.
    first_ranks: Vec<u32>,
}

impl Shares {
    /// At most so many.
    pub fn of(graph: &Graph, most: usize) -> Shares {
        let mut first_ranks = vec![0];
        if graph.unfolding.is_some() {
            // Strands have their steps in common: ranks are taken to be alike.
            let (ranks, most) = (u64::from(graph.ranks()), most.max(1) as u64);
            first_ranks.extend((1..most.min(ranks)).map(|share| (ranks * share / most) as u32));
            return Shares { first_ranks };
        }
        // Rank classes are few, and tied to ranks that have no strands.
        let most = if graph.folding.is_some() { 1 } else { most.max(1) as u64 };
        let total = graph.steps.len() as u64;
        for share in 1..most {
            let step = total / most * share;
            let strand = graph.strands.partition_point(|strand| strand.first_step < step);
            if let Some(strand) = graph.strands.get(strand)
                && first_ranks.last().is_none_or(|last| *last < strand.rank.0)
            {
                first_ranks.push(strand.rank.0);
            }
        }
        Shares { first_ranks }
    }

    /// How many there are; at least one.
    pub fn count(&self) -> usize {
        self.first_ranks.len()
    }

    /// Which one a rank belongs to.
    #[inline]
    pub fn of_rank(&self, rank: Rank) -> usize {
        match self.first_ranks.len() {
            1 => 0,
            _ => self.first_ranks.partition_point(|first| *first <= rank.0) - 1,
        }
    }

    /// The ranks of one.
    pub(super) fn ranks(&self, share: usize) -> Range<u32> {
        self.first_ranks[share]..self.first_ranks.get(share + 1).copied().unwrap_or(u32::MAX)
    }

    /// The strands of one.
    pub fn strands(&self, graph: &Graph, share: usize) -> Range<u32> {
        let first = |share: usize| match self.first_ranks.get(share) {
            Some(rank) => graph.strands.partition_point(|strand| strand.rank.0 < *rank) as u32,
            None => graph.strands.len() as u32,
        };
        first(share)..first(share + 1)
    }

    /// The steps of each, in the order of shares.
    pub fn steps(&self, graph: &Graph) -> Vec<Range<u64>> {
        let first_step = |strand: u32| match graph.strands.get(strand as usize) {
            Some(strand) => strand.first_step,
            None => graph.steps.len() as u64,
        };
        let of_share = |share| {
            let strands = self.strands(graph, share);
            first_step(strands.start)..first_step(strands.end)
        };
        (0..self.count()).map(of_share).collect()
    }
}
