//! A trace made ready for replays: its graph, what its messages cost, and what the tracer took from it.

use crate::fit::Fit;
use crate::walk::learn;
use kizami_graph::{Builder, Graph};
use kizami_store::disturbance::{Disturbance, RankLoss};
use kizami_store::{RankSelection, Stop, StoreError, Trace};
use std::path::Path;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Rows done, as part of the rows of the trace, over all passes.
    pub rows: u64,
    /// Rows of the trace.
    pub total: u64,
}

/// Counts the passes that are made over the rows of a trace.
pub(crate) struct Passes<'a> {
    rows: u64,
    passes: u64,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Passes<'a> {
    pub(crate) fn new(trace: &Trace, passes: u64, progress: &'a (dyn Fn(Progress) + Sync)) -> Passes<'a> {
        Passes { rows: trace.run().totals.events, passes, progress }
    }

    /// So many rows of one pass are done.
    pub(crate) fn tell(&self, pass: u64, rows: u64) {
        let rows = self.rows.saturating_mul(pass).saturating_add(rows) / self.passes;
        (self.progress)(Progress { rows: rows.min(self.rows), total: self.rows });
    }
}

/// What must be known of a trace before it can be replayed.
pub(crate) struct Learned {
    pub graph: Graph,
    pub fit: Fit,
    /// What the tracer took from each rank.
    pub losses: Disturbance,
}

impl Learned {
    /// Reads all rows and walks them once: the first two passes. `folder` is for what does not fit into memory.
    pub(crate) fn from(
        trace: &Trace,
        folder: &Path,
        threads: usize,
        passes: &Passes<'_>,
    ) -> Result<Learned, StoreError> {
        let definitions = trace.definitions()?;
        let mut stops = trace.stops()?;
        stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
        let mut builder = Builder::new(&definitions, &stops, folder);
        let mut losses: Vec<RankLoss> = Vec::new();
        for (row, call) in (1u64..).zip(trace.calls(RankSelection::All)?) {
            let call = call?;
            if losses.last().is_none_or(|loss| loss.rank != call.rank.0) {
                losses.push(held(call.rank.0, &stops));
            }
            if let Some(loss) = losses.last_mut() {
                loss.add_call(u64::from(call.calls), call.overhead.0);
            }
            builder.call(&call)?;
            if row.is_multiple_of(1 << 16) {
                passes.tell(0, row);
            }
        }
        let graph = builder.finish();
        let fit = learn(&graph, threads, || (), &|steps| passes.tell(1, steps)).learned;
        Ok(Learned { graph, fit, losses: Disturbance::of(&losses) })
    }
}

/// What a rank lost to being held.
fn held(rank: u32, stops: &[Stop]) -> RankLoss {
    let begin = stops.partition_point(|stop| stop.rank.0 < rank);
    let of_rank = stops[begin..].iter().take_while(|stop| stop.rank.0 == rank);
    let mut loss = RankLoss::new(rank);
    of_rank.for_each(|stop| loss.add_stop(stop));
    loss
}
