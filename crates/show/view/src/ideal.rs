//! The run on a network that costs nothing, as rows an index can be made of.

use crate::index::Source;
use crate::insight::Insight;
use kizami_graph::StepKind;
use kizami_model::Rank;
use kizami_replay::{Network, Setting, Times};
use kizami_trace::rewrite::NewTimes;
use kizami_trace::{NO_SITE, Span, TraceError};

/// Ranks that are read at a time.
const RANKS_OF_A_GROUP: u32 = 16;
/// The rows of a run at other times.
pub(crate) struct Ideal<'a> {
    insight: &'a Insight,
    times: Times<'a>,
    ranks: u32,
}

impl<'a> Ideal<'a> {
    /// Replays a run.
    pub(crate) fn of(insight: &'a Insight, threads: usize, progress: &(dyn Fn(f64) + Sync)) -> Ideal<'a> {
        let (graph, fit) = (&insight.graph, &insight.fit);
        let setting = Setting { network: Network::Ideal, ..Setting::default() };
        let steps = graph.steps.len().max(1) as f64;
        let report = |done| progress(done as f64 / steps);
        let (times, _) = Times::under(&setting, graph, fit, threads, &report);
        let ranks = graph.strands.last().map_or(0, |strand| strand.rank.0 + 1);
        Ideal { insight, times, ranks }
    }

    fn rank(&self, rank: u32, each: &mut impl FnMut(Span)) {
        let mut spans = Vec::new();
        for (thread, first) in self.times.threads_of(Rank(rank)) {
            let mut next = Some(first);
            while let Some(row) = next {
                let step = &self.insight.graph.steps[row as usize];
                let (start_ns, end_ns) = self.times.of_row(row);
                spans.push(Span {
                    rank,
                    thread,
                    start_ns,
                    end_ns,
                    op: step.op(),
                    site: step.site().unwrap_or(NO_SITE),
                    part: step.kind() == StepKind::Part,
                });
                next = self.times.next_row(row);
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

    fn read(&self, group: usize, mut each: impl FnMut(Span)) -> Result<(), TraceError> {
        let first = group as u32 * RANKS_OF_A_GROUP;
        (first..(first + RANKS_OF_A_GROUP).min(self.ranks)).for_each(|rank| self.rank(rank, &mut each));
        Ok(())
    }
}
