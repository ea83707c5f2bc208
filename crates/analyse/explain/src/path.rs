//! The critical path: the chain of computation and messages that made the run as long as it is.
//!
//! It is followed from the end of the last rank backwards. Where that rank waited for another, the path goes on with
//! the other, at the moment it sent, posted or came. Shortening anything that is not on it gains nothing at first.

use crate::work_interval::WorkInterval;
use kizami_blame::ByStep;
use kizami_blame::LongWait;
use kizami_blame::{Doing, before};
use kizami_graph::Graph;
use kizami_model::Length;
use rustc_hash::FxHashMap;

/// The time on the path, by rank and what was done.
pub(crate) type Path = FxHashMap<(u32, Doing), Length>;

/// Follows the path within an interval.
pub(crate) fn critical_path(
    graph: &Graph,
    waits: &[LongWait],
    by_step: &ByStep,
    interval: WorkInterval,
) -> Path {
    let mut path = Path::default();
    let Some((mut strand, mut index)) = last_step(graph, interval) else { return path };
    let mut now = interval.end;
    while now > interval.begin {
        let step = &graph.steps[index as usize];
        let rank = graph.strands[strand as usize].rank.0;
        let calling = Doing::Calling(step.op(), step.site());
        let wait = by_step.find(index).map(|wait| &waits[wait as usize]);
        if let Some(wait) = wait.filter(|wait| wait.until < now) {
            *path.entry((rank, calling)).or_default() += interval.part(wait.until, now);
            (strand, index, now) = (wait.of_strand, wait.of, wait.until);
            continue;
        }
        if now > step.start {
            *path.entry((rank, calling)).or_default() += interval.part(step.start, now);
            now = step.start;
        }
        let first = graph.strands[strand as usize].first_step;
        let Some(before) = before(graph, index, first) else {
            *path.entry((rank, Doing::Starting)).or_default() += interval.part(interval.begin, now);
            break;
        };
        let end = graph.steps[before as usize].end;
        *path.entry((rank, Doing::Computing(step.site()))).or_default() += interval.part(end, now);
        now = now.min(end);
        index = before;
    }
    path
}

/// The step in which the interval ends.
fn last_step(graph: &Graph, interval: WorkInterval) -> Option<(u32, u64)> {
    let of_strand = |(strand, first): (u32, u64)| {
        let mut index = first;
        let mut found = None;
        loop {
            let step = &graph.steps[index as usize];
            if step.start == interval.end || step.end == interval.end {
                found = Some((strand, index));
            }
            if step.next == 0 || step.start > interval.end {
                return found;
            }
            index += u64::from(step.next);
        }
    };
    (0..).zip(graph.strands.iter().map(|strand| strand.first_step)).find_map(of_strand)
}
