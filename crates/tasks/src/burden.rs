//! The burdened span: the longest chain of tasks where handing a task over costs something, as Cilkview has it.
//!
//! Every task that is made, and every task that goes on after it has waited, begins as much later as a thread takes to notice
//! it. Parallelism by that span says how many processors are worth having, not only how many there could be work for.

use crate::graph::Part;
use crate::{Notice, TaskGraph};
use kizami_model::{Length, Moment};

/// The span if nothing is noticed at once. None where tasks do not tell what they waited for.
pub fn burdened_span(graph: &TaskGraph, notice: Notice) -> Option<Length> {
    let roles = graph.roles()?;
    let mut starts: Vec<Moment> = Vec::with_capacity(graph.len());
    let mut last = Moment::START;
    for (number, (task, role)) in (0..).zip(graph.tasks().iter().zip(roles)) {
        let later = |of: u32, at: Moment| starts[of as usize] + (at - graph.tasks()[of as usize].start);
        let created = task.parent.map_or(task.created, |parent| later(parent, task.created));
        let ready = graph.needs(number).iter().map(|need| later(need.of, need.at)).fold(created, Moment::max);
        let start = match role.part {
            Part::Initial | Part::Cut | Part::Together => ready,
            Part::Share | Part::Explicit => ready + notice.task,
            Part::AfterChildren | Part::AfterGroup | Part::AfterBarrier | Part::AfterRegion => {
                ready + notice.over
            }
        };
        starts.push(start);
        last = last.max(start + task.work());
    }
    let begin = graph.tasks().iter().map(|task| task.created).min().unwrap_or(Moment::START);
    Some(last - begin)
}
