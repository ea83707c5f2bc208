//! Why nothing was recorded, or why a rank stood still: stops of the tracer, and the time before a rank's first call
//! and behind its last one.

use super::Selection;
use crate::index::Index;
use serde::Serialize;

/// A stretch that shows no call, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Stop"))]
pub struct Gap {
    /// Whose.
    pub rank: u32,
    /// From.
    pub start_ns: i64,
    /// To.
    pub end_ns: i64,
    /// As the table of stops has it, or `before-first-call`, `after-last-call` or `never-seen`.
    pub reason: String,
    /// Calls that were not stored in it.
    pub lost_calls: u64,
}

/// The gaps of a selection, the longest first, and whether there are more than `limit`. Only the first thread of a rank
/// is looked at: it is the one that is drawn.
pub fn gaps(index: &Index, selection: &Selection, limit: usize) -> (Vec<Gap>, bool) {
    let mut gaps = Vec::new();
    for rank in &*index.first_of_each(&selection.ranks, limit.saturating_add(1)) {
        let mut add = |start_ns: i64, end_ns: i64, reason: &str, lost_calls: u64| {
            // One in which calls were lost counts even if it takes no time.
            if start_ns < selection.to.0 && end_ns > selection.from.0 && (end_ns > start_ns || lost_calls > 0)
            {
                gaps.push(Gap { rank: *rank, start_ns, end_ns, reason: reason.to_owned(), lost_calls });
            }
        };
        let (run_begin, run_end) = (index.begin_ns(), index.end_ns());
        let Some((begin_ns, end_ns, thread)) = index.seen(*rank) else {
            add(run_begin, run_end, "never-seen", 0);
            continue;
        };
        add(run_begin, begin_ns, "before-first-call", 0);
        add(end_ns, run_end, "after-last-call", 0);
        for stop in index.stops(*rank).iter().filter(|stop| stop.thread.0 == thread) {
            add(stop.start.0, stop.end.0, stop.reason.name(), stop.lost_calls);
        }
    }
    gaps.sort_by_key(|gap| (gap.start_ns - gap.end_ns, gap.rank, gap.start_ns));
    let more = gaps.len() > limit;
    gaps.truncate(limit);
    (gaps, more)
}
