//! A trace made ready for replays: its graph, and what its messages cost.

use crate::walk::learn;
use kizami_graph::Graph;
use kizami_network::Fit;
use kizami_trace::Trace;

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
    pub(crate) fn report(&self, pass: u64, rows: u64) {
        let rows = self.rows.saturating_mul(pass).saturating_add(rows) / self.passes;
        (self.progress)(Progress { rows: rows.min(self.rows), total: self.rows });
    }
}

/// What must be known of a trace before it can be replayed.
pub(crate) struct Learned {
    pub graph: Graph,
    pub fit: Fit,
}

impl Learned {
    /// Walks a graph once: the second pass, after the one it was made in.
    pub(crate) fn of(graph: Graph, threads: usize, passes: &Passes<'_>) -> Learned {
        let fit = learn(&graph, threads, || (), &|steps| passes.report(1, steps)).learned;
        Learned { graph, fit }
    }
}
