//! The part of early waits that nobody needed: an origin had made its last access to a window, but had not said so.
//!
//! A target waits until the origin it waits for calls `MPI_Win_complete`. What of that lies behind the origin's last
//! access is *late complete*, the rest stays *early wait*. Only waits that are kept one by one are divided.

use crate::blame::before;
use crate::pattern::Pattern;
use crate::waits::{Key, Waits};
use kizami_graph::Graph;

/// Divides the early waits of a run.
pub(crate) fn divide(graph: &Graph, waits: &mut Waits) {
    for wait in waits.long.iter_mut().filter(|wait| wait.pattern == Pattern::EarlyWait) {
        let first = graph.strands[wait.of_strand as usize].first_step;
        let done_ns = last_access_ns(graph, wait.of, first).unwrap_or(wait.from_ns);
        let late_ns = wait.until_ns - done_ns.clamp(wait.from_ns, wait.until_ns);
        if late_ns == 0 {
            continue;
        }
        let step = &graph.steps[wait.step as usize];
        let early =
            Key { pattern: Pattern::EarlyWait, strand: wait.strand, site: step.site(), op: step.op().0 };
        if let Some(total) = waits.totals.get_mut(&early) {
            total.ns -= late_ns;
            total.count -= u64::from(late_ns == wait.length_ns());
        }
        let total = waits.totals.entry(Key { pattern: Pattern::LateComplete, ..early }).or_default();
        (total.count, total.ns) = (total.count + 1, total.ns + late_ns);
    }
}

/// When the last access before a complete was over, or if there was none, the start.
fn last_access_ns(graph: &Graph, complete: u64, first: u64) -> Option<i64> {
    let mut index = complete;
    loop {
        index = before(graph, index, first)?;
        let step = &graph.steps[index as usize];
        let function = step.op().function()?;
        if function.shape_name.starts_with("rma_") || function.name == "MPI_Win_start" {
            return Some(step.end_ns);
        }
    }
}
