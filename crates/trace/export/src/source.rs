//! What an exporter reads: the rows and tables of a trace, wherever they come from.
//!
//! Exporters take this instead of a [`Trace`], so each can be tested with a few rows made by hand.

use super::ExportProgress;
use crate::ExportError;
use kizami_model::Call;
use kizami_rank_classes::ExpandedCalls;
use kizami_trace::{Definitions, RankSelection, RegionSpan, Trace};

/// Rows between two reports of progress.
const ROWS_PER_REPORT: u64 = 1 << 16;

/// A trace as exporters see it.
pub(super) struct Source<'a> {
    /// What ran, for people.
    pub title: String,
    /// Wall-clock time of the run's first recorded moment, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// How long the run lasted.
    pub span_ns: i64,
    /// There is a row for every call, so that the n-th send of a route belongs to its n-th receive.
    pub whole: bool,
    /// What the numbers in rows stand for.
    pub definitions: Definitions,
    /// The rows.
    pub rows: Rows<'a>,
}

/// What is read from beginning to end, once.
pub(super) struct Rows<'a> {
    /// How many calls there are.
    pub count: u64,
    /// The calls, by rank, then by start.
    pub calls: Box<dyn Iterator<Item = Result<Call, ExportError>> + 'a>,
    /// Stays in regions, by rank, then by start.
    pub region_spans: Vec<RegionSpan>,
}

impl<'a> Source<'a> {
    /// Everything of a sealed trace.
    pub fn of(trace: &'a Trace) -> Result<Source<'a>, ExportError> {
        let run = trace.run();
        let title = if run.command.is_empty() { run.executable.clone() } else { run.command.join(" ") };
        Ok(Source {
            title,
            started_unix_ns: run.started_unix_ns,
            span_ns: run.span_ns,
            whole: run.reduced.is_none(),
            definitions: trace.definitions()?,
            rows: Rows {
                count: run.totals.events,
                calls: Box::new(
                    ExpandedCalls::of(trace, RankSelection::All)?.map(|call| call.map_err(ExportError::from)),
                ),
                region_spans: trace.region_spans()?,
            },
        })
    }
}

/// Counts rows and reports now and then.
pub(super) struct RowCounter<'a> {
    done: u64,
    total: u64,
    progress: ExportProgress<'a>,
}

impl<'a> RowCounter<'a> {
    /// For a trace of `total` rows.
    pub fn new(total: u64, progress: ExportProgress<'a>) -> RowCounter<'a> {
        RowCounter { done: 0, total, progress }
    }

    /// One more row is done.
    pub fn row(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(ROWS_PER_REPORT) {
            (self.progress)(self.done, self.total);
        }
    }

    /// All rows are done; returns their number.
    pub fn finish(self) -> u64 {
        (self.progress)(self.done, self.total);
        self.done
    }
}
