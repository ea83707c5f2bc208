//! What one rank did, stretch by stretch: its calls and the tracer's stops, in order, with nothing told twice.

use super::block::Row;
use super::kind::{Kind, RankRow};
use crate::index::category::Category;
use kizami_model::StopReason;
use kizami_trace::Stop;
use kizami_trace::disturbance::Held;
use std::ops::Range;

/// Those of one rank; all are ordered by rank.
pub(super) fn stops_of(stops: &[Stop], rank: u32) -> &[Stop] {
    let first = stops.partition_point(|stop| stop.rank.0 < rank);
    let count = stops[first..].partition_point(|stop| stop.rank.0 == rank);
    &stops[first..first + count]
}

/// The time of one rank's first thread. Rows come in the order of their start; what began first has the time that
/// another one began within. Computation is what is not told.
pub(super) struct RankTime<'a, F> {
    thread: u64,
    /// Everything before this has been told.
    until_ns: i64,
    end_ns: i64,
    run: Range<i64>,
    stops: std::iter::Peekable<std::vec::IntoIter<&'a Stop>>,
    visit: F,
}

impl<'a, F: FnMut(i64, i64, Category)> RankTime<'a, F> {
    /// Of a rank in a run from then to then.
    pub(super) fn new(row: &RankRow, run: Range<i64>, stops: &'a [Stop], mut visit: F) -> RankTime<'a, F> {
        let mut stops: Vec<&Stop> =
            stops.iter().filter(|stop| u64::from(stop.thread.0) == row.thread).collect();
        stops.sort_by_key(|stop| stop.start);
        // A rank that made no call was never seen.
        let (begin_ns, end_ns) = if row.blocks > 0 { (row.begin_ns, row.end_ns) } else { (run.end, run.end) };
        if begin_ns > run.start {
            visit(run.start, begin_ns, Category::NoRecord);
        }
        let stops = stops.into_iter().peekable();
        RankTime { thread: row.thread, until_ns: begin_ns, end_ns, run, stops, visit }
    }

    #[inline]
    pub(super) fn call(&mut self, row: &Row, kinds: &[Kind]) {
        let Some(kind) = kinds.get(row.kind as usize) else { return };
        if u64::from(kind.thread) == self.thread {
            self.stops_before(row.start_ns);
            self.add(row.start_ns, row.end_ns, kind.category());
        }
    }

    fn stops_before(&mut self, ns: i64) {
        while let Some(stop) = self.stops.next_if(|stop| stop.start.0 < ns) {
            match (Held::of(stop), stop.reason) {
                (Some(_), _) => self.add(stop.start.0, stop.end.0, Category::Tracer),
                (None, StopReason::Paused | StopReason::Lost) => {
                    self.add(stop.start.0, stop.end.0, Category::NoRecord)
                }
                _ => {}
            }
        }
    }

    #[inline]
    fn add(&mut self, from_ns: i64, to_ns: i64, category: Category) {
        let from_ns = from_ns.max(self.until_ns);
        if to_ns > from_ns {
            (self.visit)(from_ns, to_ns, category);
            self.until_ns = to_ns;
        }
    }

    /// Tells what is behind the last row.
    pub(super) fn finish(mut self) {
        self.stops_before(i64::MAX);
        self.add(self.end_ns, self.run.end, Category::NoRecord);
    }
}
