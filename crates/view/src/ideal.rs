//! The run on a network that costs nothing, as rows an index can be made of.

use crate::index::Source;
use crate::insight::Insight;
use kizami_graph::{List, StepKind};
use kizami_replay::{Network, Observer, Seen, Setting, replay, shares};
use kizami_store::{NO_SITE, Span, StoreError};
use std::path::Path;

/// Ranks that are read at a time.
const RANKS_OF_A_GROUP: u32 = 16;
/// Bytes times may have in memory.
const MEMORY_LIMIT: usize = 512 << 20;

/// The rows of a run at other times.
pub(crate) struct Ideal<'a> {
    insight: &'a Insight,
    times: List<[i64; 2]>,
    ranks: u32,
}

impl<'a> Ideal<'a> {
    /// Replays a run.
    pub(crate) fn of(
        insight: &'a Insight,
        folder: &Path,
        threads: usize,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Ideal<'a>, StoreError> {
        let graph = &insight.graph;
        let mut times = List::new(folder, MEMORY_LIMIT);
        for step in graph.steps.iter() {
            times.push([step.start_ns, step.end_ns])?;
        }
        let setting = Setting { network: Network::Ideal, ..Setting::default() };
        let mut shares = shares(graph, threads).into_iter();
        let mut rest = times.as_mut_slice();
        let observer = || {
            let share = shares.next().unwrap_or(0..0);
            let (own, others) = std::mem::take(&mut rest).split_at_mut((share.end - share.start) as usize);
            rest = others;
            Writer { first: share.start, times: own }
        };
        let steps = graph.steps.len().max(1) as f64;
        replay(graph, [&setting], &insight.fit, threads, observer, &|done| progress(done as f64 / steps));
        let ranks = graph.strands.last().map_or(0, |strand| strand.rank.0 + 1);
        Ok(Ideal { insight, times, ranks })
    }

    fn rank(&self, rank: u32, each: &mut impl FnMut(Span)) {
        let graph = &self.insight.graph;
        let begin = graph.strands.partition_point(|strand| strand.rank.0 < rank);
        let of_rank = graph.strands[begin..].iter().take_while(|strand| strand.rank.0 == rank);
        let mut spans = Vec::new();
        for strand in of_rank {
            let mut index = strand.first_step;
            loop {
                let (step, [start_ns, end_ns]) = (&graph.steps[index as usize], self.times[index as usize]);
                spans.push(Span {
                    rank,
                    thread: strand.thread,
                    start_ns,
                    end_ns,
                    op: step.op(),
                    site: step.site().unwrap_or(NO_SITE),
                    part: step.kind() == StepKind::Part,
                });
                if step.next == 0 {
                    break;
                }
                index += u64::from(step.next);
            }
        }
        spans.sort_by_key(|span| span.start_ns);
        spans.into_iter().for_each(each);
    }
}

impl Source for Ideal<'_> {
    fn groups(&self) -> usize {
        self.ranks.div_ceil(RANKS_OF_A_GROUP) as usize
    }

    fn read(&self, group: usize, mut each: impl FnMut(Span)) -> Result<(), StoreError> {
        let first = group as u32 * RANKS_OF_A_GROUP;
        (first..(first + RANKS_OF_A_GROUP).min(self.ranks)).for_each(|rank| self.rank(rank, &mut each));
        Ok(())
    }
}

/// Writes the times of one share of the steps.
struct Writer<'a> {
    first: u64,
    times: &'a mut [[i64; 2]],
}

impl Observer<1> for Writer<'_> {
    fn step(&mut self, seen: &Seen<'_, 1>) {
        let place = seen.index.checked_sub(self.first).and_then(|index| self.times.get_mut(index as usize));
        if let Some(place) = place {
            *place = [seen.start_ns[0], seen.end_ns[0]];
        }
    }
}
