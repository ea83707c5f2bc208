//! Work that is done while a lock is held, and need not be: in the replay it is done before the lock is taken.

use kizami_graph::{Graph, Strand};
use kizami_model::kind::{Kind, WindowCall};
use kizami_model::{Length, Moment};
use kizami_replay::StepChange;
use kizami_whatif::each_call;

/// What changes if the computation before calls made at `sites` while a lock is held comes before the call that takes it.
pub(crate) fn out_of_locks(graph: &Graph, sites: &[u32]) -> Vec<(u64, StepChange)> {
    let mut changes = Vec::new();
    for strand in &graph.strands {
        moved(graph, strand, sites, &mut changes);
    }
    changes
}

fn moved(graph: &Graph, strand: &Strand, sites: &[u32], changes: &mut Vec<(u64, StepChange)>) {
    // Calls that took the locks that are held, in order; those of all targets are mostly held for the whole run.
    let mut held: Vec<(u64, WindowCall)> = Vec::new();
    let mut last_end: Option<Moment> = None;
    each_call(graph, strand.first_step, |index, step| {
        let gap = last_end.map_or(Length::ZERO, |end| step.start.saturating_since(end).at_least_zero());
        let first = held.iter().find(|(_, call)| *call == WindowCall::Lock);
        if let (Some((lock, _)), true) = (first, step.site().is_some_and(|site| sites.contains(&site))) {
            let before = |length| StepChange { before: length, ..StepChange::default() };
            changes.extend([(*lock, before(gap)), (index, before(Length::ZERO - gap))]);
        }
        match step.op().kind() {
            Kind::Window(call @ (WindowCall::Lock | WindowCall::LockAll)) => held.push((index, call)),
            Kind::Window(WindowCall::Unlock) => drop(held.pop()),
            _ => {}
        }
        last_end = Some(step.end);
    });
}
