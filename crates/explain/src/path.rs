//! The critical path: the chain of computation and messages that made the run as long as it is.
//!
//! It is followed from the end of the last rank backwards. Where that rank waited for another, the path goes on with
//! the other, at the moment it sent, posted or came. Shortening anything that is not on it gains nothing at first.

use crate::blame::{Doing, before};
use crate::marks::ByStep;
use crate::waits::LongWait;
use crate::window::Window;
use kizami_graph::Graph;
use rustc_hash::FxHashMap;

/// The time on the path, by rank and what was done.
pub(crate) type Path = FxHashMap<(u32, Doing), i64>;

/// Follows the path within a window.
pub(crate) fn critical_path(graph: &Graph, waits: &[LongWait], by_step: &ByStep, window: Window) -> Path {
    let mut path = Path::default();
    let Some((mut strand, mut index)) = last_step(graph, window) else { return path };
    let mut now_ns = window.end_ns;
    while now_ns > window.begin_ns {
        let step = &graph.steps[index as usize];
        let rank = graph.strands[strand as usize].rank.0;
        let calling = Doing::Calling(step.op().0, step.site());
        let wait = by_step.find(index).map(|wait| &waits[wait as usize]);
        if let Some(wait) = wait.filter(|wait| wait.until_ns < now_ns) {
            *path.entry((rank, calling)).or_default() += window.part_ns(wait.until_ns, now_ns);
            (strand, index, now_ns) = (wait.of_strand, wait.of, wait.until_ns);
            continue;
        }
        if now_ns > step.start_ns {
            *path.entry((rank, calling)).or_default() += window.part_ns(step.start_ns, now_ns);
            now_ns = step.start_ns;
        }
        let first = graph.strands[strand as usize].first_step;
        let Some(before) = before(graph, index, first) else {
            *path.entry((rank, Doing::Starting)).or_default() += window.part_ns(window.begin_ns, now_ns);
            break;
        };
        let end_ns = graph.steps[before as usize].end_ns;
        *path.entry((rank, Doing::Computing(step.site()))).or_default() += window.part_ns(end_ns, now_ns);
        now_ns = now_ns.min(end_ns);
        index = before;
    }
    path
}

/// The step in which the window ends.
fn last_step(graph: &Graph, window: Window) -> Option<(u32, u64)> {
    let of_strand = |(strand, first): (u32, u64)| {
        let mut index = first;
        let mut found = None;
        loop {
            let step = &graph.steps[index as usize];
            if step.start_ns == window.end_ns || step.end_ns == window.end_ns {
                found = Some((strand, index));
            }
            if step.next == 0 || step.start_ns > window.end_ns {
                return found;
            }
            index += u64::from(step.next);
        }
    };
    (0..).zip(graph.strands.iter().map(|strand| strand.first_step)).find_map(of_strand)
}
