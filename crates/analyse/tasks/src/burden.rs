//! The burdened span: the longest chain of tasks where handing a task over costs something, as Cilkview has it.
//!
//! Every task that is made, and every task that goes on after it has waited, begins as much later as a thread takes to notice
//! it. Parallelism by that span says how many processors are worth having, not only how many there could be work for.

use crate::graph::Part;
use crate::{Notice, TaskGraph};
use kizami_model::{Length, Moment};

impl Notice {
    /// How much later than it could a task begins.
    #[inline]
    pub(crate) fn before(self, part: Option<Part>, continued: bool, was_made: bool) -> Length {
        match part {
            // What stands for all that came before a barrier has no thread, and one that was cut goes on at once.
            Some(Part::Cut | Part::Together) => Length::ZERO,
            Some(Part::Share) => self.begin,
            Some(Part::AfterBarrier | Part::AfterRegion) => self.pass,
            _ if continued => self.over,
            _ if was_made => self.task,
            _ => Length::ZERO,
        }
    }
}

/// The span if nothing is noticed at once.
pub fn burdened_span(graph: &TaskGraph, notice: Notice) -> Length {
    let roles = graph.roles();
    let mut starts: Vec<Moment> = Vec::with_capacity(graph.len());
    let mut last = Moment::START;
    for (number, task) in (0..).zip(graph.tasks()) {
        let later = |of: u32, at: Moment| starts[of as usize] + (at - graph.tasks()[of as usize].start);
        let created = task.parent.map_or(task.created, |parent| later(parent, task.created));
        let ready = graph.needs(number).iter().map(|need| later(need.of, need.at)).fold(created, Moment::max);
        let part = roles.map(|roles| roles[number as usize].part);
        let start = ready + notice.before(part, task.continued, task.parent.is_some());
        starts.push(start);
        last = last.max(start + task.work());
    }
    last - graph.begin()
}
