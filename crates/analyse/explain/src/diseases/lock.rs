//! Work that is done while a lock is held, and need not be: in the replay it is done before the lock is taken.
//!
//! Locks are replayed in the order in which they were taken. Where hardly anything is left to be done under a lock, nobody
//! waits for it: whoever asked meanwhile has it first.

use kizami_graph::{Graph, Step, Strand, TieKind};
use kizami_model::kind::{Kind, WindowCall};
use kizami_model::{Length, Moment};
use kizami_replay::StepChange;
use kizami_whatif::each_call;
use rustc_hash::FxHashSet;

/// A lock is hardly held any more if more than this part of the time it was held is spent before it is taken.
const MOST_OF_IT: f64 = 0.5;

/// A lock that is held.
struct Held {
    taken_by: u64,
    call: WindowCall,
    since: Moment,
    /// What is computed before it is taken instead.
    moved: Length,
}

/// What changes if the computation before calls made at `sites` while a lock is held comes before the call that takes it.
pub(crate) fn out_of_locks(graph: &Graph, sites: &[u32]) -> Vec<(u64, StepChange)> {
    let mut changes = Vec::new();
    // Releases of locks that are hardly held any more.
    let mut released = FxHashSet::default();
    for strand in &graph.strands {
        moved(graph, strand, sites, &mut changes, &mut released);
    }
    if released.is_empty() {
        return changes;
    }
    let waits = |step: &Step| {
        let ties = graph.ties_of(step).iter();
        ties.filter(|tie| tie.kind() == TieKind::AwaitsReady).any(|tie| released.contains(&tie.key))
    };
    for strand in &graph.strands {
        each_call(graph, strand.first_step, |index, step| {
            if waits(step) {
                changes.push((index, StepChange { left_out: true, ..StepChange::default() }));
            }
        });
    }
    changes
}

fn moved(
    graph: &Graph,
    strand: &Strand,
    sites: &[u32],
    changes: &mut Vec<(u64, StepChange)>,
    released: &mut FxHashSet<u64>,
) {
    // In the order in which they were taken; those of all targets are mostly held for the whole run.
    let mut held: Vec<Held> = Vec::new();
    let mut last_end: Option<Moment> = None;
    each_call(graph, strand.first_step, |index, step| {
        let gap = last_end.map_or(Length::ZERO, |end| step.start.saturating_since(end).at_least_zero());
        let first = held.iter_mut().find(|held| held.call == WindowCall::Lock);
        if let (Some(held), true) = (first, step.site().is_some_and(|site| sites.contains(&site))) {
            held.moved += gap;
            let before = |length| StepChange { before: length, ..StepChange::default() };
            changes.extend([(held.taken_by, before(gap)), (index, before(Length::ZERO - gap))]);
        }
        match step.op().kind() {
            Kind::Window(call @ (WindowCall::Lock | WindowCall::LockAll)) => {
                held.push(Held { taken_by: index, call, since: step.end, moved: Length::ZERO });
            }
            Kind::Window(WindowCall::Unlock) => {
                let was_held = held.pop();
                let hardly_held = |held: &Held| {
                    let time = step.start.saturating_since(held.since);
                    held.moved > Length::ZERO && held.moved.0 as f64 >= MOST_OF_IT * time.0 as f64
                };
                if was_held.is_some_and(|held| hardly_held(&held)) {
                    let posts = graph.ties_of(step).iter().filter(|tie| tie.kind() == TieKind::Posts);
                    released.extend(posts.map(|tie| tie.key));
                }
            }
            _ => {}
        }
        last_end = Some(step.end);
    });
}
