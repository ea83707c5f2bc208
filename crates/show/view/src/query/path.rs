//! The critical path, stretch by stretch: what made the run as long as it is, followed from its end backwards.
//!
//! Where the rank on the path waited for another, the path goes on with the other, at the moment it sent, posted or
//! came.

use crate::insight::Insight;
use kizami_model::Moment;
use serde::Serialize;

/// A stretch of the path on one rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "PathSegment"))]
pub struct Segment {
    /// Which.
    pub rank: u32,
    /// From.
    pub start_ns: i64,
    /// To.
    pub end_ns: i64,
    /// What was done: a function or computation.
    pub what: &'static str,
}

/// The path of a run between two moments, in the order of time, and whether it has more than `limit` stretches.
pub fn path(insight: &Insight, from: Moment, to: Moment, limit: usize) -> (Vec<Segment>, bool) {
    let steps = &insight.graph.steps;
    let mut segments = Vec::new();
    let Some((mut strand, mut index)) = last_step(insight) else { return (segments, false) };
    let mut rank = insight.rank_of(strand);
    let mut now = steps[index as usize].end;
    // Each round goes back in time or to another rank; a damaged trace may go round in circles.
    for _ in 0..steps.len().saturating_mul(3) {
        if now <= from || segments.len() > limit {
            break;
        }
        let step = &steps[index as usize];
        let mut visit = |start: Moment, end: Moment, what| {
            let (start, end) = (start.max(from), end.min(to));
            if end > start {
                segments.push(Segment { rank, start_ns: start.0, end_ns: end.0, what });
            }
        };
        if let Some(wait) = insight.wait_of(index).filter(|wait| wait.until() < now) {
            visit(wait.until(), now, step.op().name());
            now = wait.until();
            (strand, index) = insight.step_waited_for(wait, rank);
            rank = insight.waited_for(wait, rank);
            continue;
        }
        let start = step.start;
        if now > start {
            visit(start, now, step.op().name());
            now = start;
        }
        let Some(before) = insight.before(strand, index) else { break };
        let end = steps[before as usize].end;
        visit(end, now, "computation");
        now = now.min(end);
        index = before;
    }
    let more = segments.len() > limit;
    segments.truncate(limit);
    segments.reverse();
    (segments, more)
}

/// The step that ends last, and its strand.
fn last_step(insight: &Insight) -> Option<(u32, u64)> {
    let steps = &insight.graph.steps;
    let last = |first: u64| {
        let mut index = first;
        while steps[index as usize].next > 0 {
            index += u64::from(steps[index as usize].next);
        }
        index
    };
    let strands = (0..).zip(&insight.graph.strands).map(|(number, strand)| (number, last(strand.first_step)));
    strands.max_by_key(|(number, step)| (steps[*step as usize].end.0, std::cmp::Reverse(*number)))
}
