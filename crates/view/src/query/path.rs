//! The critical path, stretch by stretch: what made the run as long as it is, followed from its end backwards.
//!
//! Where the rank on the path waited for another, the path goes on with the other, at the moment it sent, posted or
//! came.

use crate::insight::Insight;
use serde::Serialize;

/// A stretch of the path on one rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
pub fn path(insight: &Insight, from_ns: i64, to_ns: i64, limit: usize) -> (Vec<Segment>, bool) {
    let steps = &insight.graph.steps;
    let mut segments = Vec::new();
    let Some((mut strand, mut index)) = last_step(insight) else { return (segments, false) };
    let mut now_ns = steps[index as usize].end_ns;
    // Each round goes back in time or to another rank; a damaged trace may go round in circles.
    for _ in 0..steps.len().saturating_mul(3) {
        if now_ns <= from_ns || segments.len() > limit {
            break;
        }
        let step = &steps[index as usize];
        let rank = insight.rank_of(strand);
        let mut tell = |start_ns: i64, end_ns: i64, what| {
            let (start_ns, end_ns) = (start_ns.max(from_ns), end_ns.min(to_ns));
            if end_ns > start_ns {
                segments.push(Segment { rank, start_ns, end_ns, what });
            }
        };
        if let Some(wait) = insight.wait_of(index).filter(|wait| wait.until_ns < now_ns) {
            tell(wait.until_ns, now_ns, step.op().name());
            (strand, index, now_ns) = (wait.of_strand, wait.of, wait.until_ns);
            continue;
        }
        if now_ns > step.start_ns {
            tell(step.start_ns, now_ns, step.op().name());
            now_ns = step.start_ns;
        }
        let Some(before) = insight.before(strand, index) else { break };
        let end_ns = steps[before as usize].end_ns;
        tell(end_ns, now_ns, "computation");
        now_ns = now_ns.min(end_ns);
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
    strands.max_by_key(|(number, step)| (steps[*step as usize].end_ns, std::cmp::Reverse(*number)))
}
