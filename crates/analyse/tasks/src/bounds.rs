//! Between which lengths the schedules of a run lie.
//!
//! No schedule is shorter than the span, or than the work divided by the processors. One that never leaves a processor idle
//! while a task is ready is no longer than both together (Graham 1966): while all processors are busy they do the work, and
//! whenever one is idle, every ready task runs, so that what is left of the longest chain becomes shorter. Runtimes do leave
//! threads idle while tasks are ready; of their schedules it is only certain that some thread runs a task at each moment,
//! but for the time in which threads have yet to notice one.

use crate::{Notice, TaskGraph};
use kizami_model::{Length, Moment};

/// What bounds are derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How long all tasks run, added up.
    pub work: Length,
    /// How long the run is with as many processors as it can use.
    pub span: Length,
    /// Whether tasks wait for something that no task does: they begin later than all they need is there. Then all processors
    /// may be idle at once.
    pub waits_for_others: bool,
    /// The most tasks at one moment of virtual time; none if that is not known exactly.
    pub peak: Option<u32>,
}

/// No run with so many processors is shorter: they have that much work, and no chain of tasks can be made shorter.
pub fn at_least(processors: u32, work: Length, span: Length) -> Length {
    span.max(divided(work, processors))
}

/// Rounded up.
fn divided(work: Length, processors: u32) -> Length {
    let processors = i64::from(processors.max(1));
    Length(work.0.div_euclid(processors) + i64::from(work.0.rem_euclid(processors) > 0))
}

impl Bounds {
    /// Those of a graph.
    pub fn of(graph: &TaskGraph) -> Bounds {
        let begin = graph.begin();
        let waits = |number: u32, task: &crate::Task| {
            let is_late = task.parent.is_none() && task.created > begin;
            is_late || graph.delay(number) > Length::ZERO
        };
        let waits_for_others = (0..).zip(graph.tasks()).any(|(number, task)| waits(number, task));
        Bounds { work: graph.work(), span: graph.span(), waits_for_others, peak: None }
    }

    /// With the most tasks at one moment.
    #[must_use]
    pub fn with_peak(self, peak: u32) -> Bounds {
        Bounds { peak: Some(peak), ..self }
    }

    /// No schedule on so many processors is shorter.
    pub fn at_least(&self, processors: u32) -> Length {
        at_least(processors, self.work, self.span)
    }

    /// No schedule that leaves no processor idle while a task is ready is longer.
    pub fn at_most(&self, processors: u32) -> Length {
        // There is always one for a task that takes no time, too.
        if self.peak.is_some_and(|peak| processors > peak) {
            return self.span;
        }
        // The longest chain is part of the work, unless there is more to it than tasks.
        let beside = if self.waits_for_others { self.work } else { self.work - self.span };
        self.span + divided(beside, processors)
    }

    /// The same if idle threads notice tasks late, so that the span is this long.
    pub(crate) fn at_most_burdened(&self, processors: u32, span: Length) -> Length {
        // One thread is never idle.
        match processors > 1 && span > self.span {
            true => span + divided(self.work, processors),
            false => self.at_most(processors),
        }
    }
}

/// No schedule in which some task runs whenever none has yet to be noticed is longer.
pub(crate) fn one_by_one(graph: &TaskGraph, notice: Notice) -> Length {
    let longest =
        [notice.task, notice.over, notice.begin, notice.pass].into_iter().fold(Length::ZERO, Length::max);
    let created_last = graph.tasks().iter().map(|task| task.created).max().unwrap_or(Moment::START);
    let waits: Length = (0..graph.len() as u32).map(|task| graph.delay(task)).sum();
    let late = if waits > Length::ZERO { created_last - graph.begin() } else { Length::ZERO };
    graph.work() + waits + late + longest * graph.len() as i64
}
