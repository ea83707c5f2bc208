//! The needless part of early waits: an origin had made its last access to a window, but had not said so.
//!
//! A target waits until the origin it waits for calls `MPI_Win_complete`. What of that lies behind the origin's last
//! access is *late complete*, the rest stays *early wait*. Only waits that are kept one by one are divided.

use crate::back::before;
use crate::pattern::Pattern;
use crate::waits::{Key, Waits};
use kizami_graph::Graph;
use kizami_model::kind::{Kind, WindowCall};
use kizami_model::{Length, Moment};

/// Divides the early waits of a run.
pub fn divide(graph: &Graph, waits: &mut Waits) {
    for wait in waits.long.iter_mut().filter(|wait| wait.pattern == Pattern::EarlyWait) {
        let first = graph.strands[wait.of_strand as usize].first_step;
        let done = last_access(graph, wait.of, first).unwrap_or(wait.from);
        let late = wait.until - done.clamp(wait.from, wait.until);
        if late == Length::ZERO {
            continue;
        }
        let step = &graph.steps[wait.step as usize];
        let early =
            Key { pattern: Pattern::EarlyWait, strand: wait.strand, site: step.site(), op: step.op() };
        if let Some(total) = waits.totals.get_mut(&early) {
            total.time -= late;
            total.count -= u64::from(late == wait.length());
        }
        let total = waits.totals.entry(Key { pattern: Pattern::LateComplete, ..early }).or_default();
        (total.count, total.time) = (total.count + 1, total.time + late);
    }
}

/// When the last access before a complete was over, or if there was none, the start.
fn last_access(graph: &Graph, complete: u64, first: u64) -> Option<Moment> {
    let mut index = complete;
    loop {
        index = before(graph, index, first)?;
        let step = &graph.steps[index as usize];
        if matches!(step.op().kind(), Kind::Window(WindowCall::Access | WindowCall::Start)) {
            return Some(step.end);
        }
    }
}
