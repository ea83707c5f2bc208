//! Tasks, who made them and what they needed, in memory: about 60 bytes a task.

use crate::columns::{Groups, MISSING};
use crate::{Notice, TasksError};
use kizami_model::{Length, Moment, Rank};
use kizami_trace::run::ClockInfo;
use kizami_trace::{NeedRow, TaskKind, TaskRow, Trace, Waited};
use std::ops::Range;

/// One task, in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Place of the task that made it among all tasks; none if the program began with it.
    pub parent: Option<u32>,
    /// Index in `defs/callsites`.
    pub place: Option<u32>,
    /// When it was made.
    pub created: Moment,
    /// When all it needs was there.
    pub start: Moment,
    /// When it ended.
    pub end: Moment,
    /// Whether it is what another one does after it has waited.
    pub continued: bool,
}

impl Task {
    /// How long it runs.
    pub fn work(&self) -> Length {
        self.end - self.start
    }
}

/// Something a task needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Place of the task that made it.
    pub of: u32,
    /// When it was there.
    pub at: Moment,
}

/// What part of a task of a runtime something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Initial,
    Share,
    Explicit,
    /// It goes on, for whatever reason it was cut.
    Cut,
    AfterChildren,
    AfterGroup,
    AfterBarrier,
    AfterRegion,
    /// It belongs to no task: it stands for all that came before a barrier.
    Together,
}

impl Part {
    /// Whether it is not the first part of its task.
    pub(crate) fn goes_on(self) -> bool {
        !matches!(self, Part::Initial | Part::Share | Part::Explicit | Part::Together)
    }

    /// None if that is not known.
    pub(crate) fn of(kind: TaskKind, waited: Option<Waited>) -> Option<Part> {
        Some(match (kind, waited) {
            (TaskKind::Initial, _) => Part::Initial,
            (TaskKind::Implicit, _) => Part::Share,
            (TaskKind::Explicit, _) => Part::Explicit,
            (TaskKind::Goal, _) | (TaskKind::Continued, None) => return None,
            (TaskKind::Continued, Some(Waited::Nothing)) => Part::Cut,
            (TaskKind::Continued, Some(Waited::Children)) => Part::AfterChildren,
            (TaskKind::Continued, Some(Waited::Group)) => Part::AfterGroup,
            (TaskKind::Continued, Some(Waited::Barrier)) => Part::AfterBarrier,
            (TaskKind::Continued, Some(Waited::Region)) => Part::AfterRegion,
            (TaskKind::Continued, Some(Waited::Together)) => Part::Together,
        })
    }
}

/// How much of a task's work was done when it had run for so long, with what recording took: that is taken to be spread over
/// it evenly. All of it if no length is given.
#[inline]
pub(crate) fn own_until(work: Length, ran: Length, until: i64) -> Length {
    let ran = ran.0.max(0);
    let until = if until == MISSING { ran } else { until.clamp(0, ran) };
    if until == ran {
        return if ran == 0 { Length::ZERO } else { work };
    }
    match work.0.checked_mul(until) {
        Some(product) => Length(product / ran.max(1)),
        None => Length((i128::from(work.0) * i128::from(until) / i128::from(ran.max(1))) as i64),
    }
}

/// What a runtime knows of a part of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    /// When it was made, in the run that was recorded: the order in which a task did things.
    pub made: Moment,
    /// The group it belongs to, or that was waited for; 0 if none.
    pub group: u32,
    pub part: Part,
}

/// The tasks of a run. Whoever makes a task, or something that it needs, comes before it.
#[derive(Clone, Debug, Default)]
pub struct TaskGraph {
    tasks: Vec<Task>,
    needs: Vec<Need>,
    /// Where the needs of each task begin; one more at the end.
    first_need: Vec<u32>,
    /// What a runtime knows of each; for none of them if not for all.
    roles: Vec<Role>,
    notice: Option<Notice>,
}

impl TaskGraph {
    /// A graph without tasks.
    pub fn new() -> TaskGraph {
        TaskGraph { tasks: Vec::new(), needs: Vec::new(), first_need: vec![0], ..TaskGraph::default() }
    }

    /// Reads the tasks of one rank of a trace. If they were recorded, virtual times are worked out from how long each ran,
    /// without what recording took.
    pub fn of(trace: &Trace, rank: Rank) -> Result<TaskGraph, TasksError> {
        let path = || trace.path().to_path_buf();
        let damaged = |what: String| TasksError::Damaged { path: path(), what };
        let mut graph = TaskGraph::new();
        let mut needs = trace.parts_of::<NeedRow>()?;
        let mut held: std::vec::IntoIter<NeedRow> = Vec::new().into_iter();
        let mut next: Option<NeedRow> = None;
        let is_virtual = trace.run().clocks.method == ClockInfo::VIRTUAL;
        // By task: how long it ran, if times are to be worked out.
        let mut running: Vec<Length> = Vec::new();
        // By task: when it ended, as the trace has it.
        let mut ends: Vec<Moment> = Vec::new();
        for part in trace.parts_of::<TaskRow>()? {
            for mut row in part?.into_iter().filter(|row| row.rank == rank) {
                if row.task != graph.tasks.len() as u64 + 1 {
                    return Err(damaged(format!("task {} comes where {} should", row.task, graph.len() + 1)));
                }
                let end_of =
                    |task: u64| ends.get((task as usize).wrapping_sub(1)).copied().unwrap_or(Moment::START);
                let made = row.created.unwrap_or_else(|| end_of(row.parent.unwrap_or(0)));
                loop {
                    if next.is_none() {
                        next = held.find(|need| need.rank == rank);
                    }
                    match next {
                        Some(NeedRow { task, of, at, .. }) if task == row.task => {
                            if of >= task {
                                return Err(damaged(format!("task {task} needs {of}, which comes later")));
                            }
                            // What the program began with was there from the beginning.
                            if of > 0 {
                                let of = of as u32 - 1;
                                // Recorded moments are those of the run, not of virtual time.
                                let at = at.filter(|_| is_virtual).unwrap_or(graph.tasks[of as usize].end);
                                graph.needs.push(Need { of, at });
                            }
                            next = None;
                        }
                        Some(_) => break,
                        None => match needs.next() {
                            Some(part) => held = part?.into_iter(),
                            None => break,
                        },
                    }
                }
                if let Some(part) = Part::of(row.kind, row.waited) {
                    let group = u32::try_from(row.group.unwrap_or(0)).unwrap_or(0);
                    graph.roles.push(Role { made, group, part });
                }
                ends.push(row.end);
                if !is_virtual {
                    graph.in_virtual_time(&mut row, &running).map_err(damaged)?;
                    running.push(row.running);
                }
                graph.push_row(&row).map_err(damaged)?;
            }
        }
        if graph.tasks.is_empty() {
            return Err(TasksError::NoTasks { path: path(), rank });
        }
        if graph.tasks.len() > u32::MAX as usize / 2 || graph.needs.len() > u32::MAX as usize {
            return Err(TasksError::TooMany { path: path() });
        }
        if !is_virtual {
            let (tasks, needs) = (Groups::of::<TaskRow>(trace, rank)?, Groups::of::<NeedRow>(trace, rank)?);
            graph.notice = Some(Notice::of(&tasks, &needs)?);
        }
        Ok(graph)
    }

    /// Gives a recorded task the times it has in virtual time: it is made as long after its parent started as that had run
    /// then, starts when all it needs is there, and ends after its own running time. What recording took is left out.
    fn in_virtual_time(&self, row: &mut TaskRow, running: &[Length]) -> Result<(), String> {
        let made = |parent: u64| {
            let parent = usize::try_from(parent).ok()?.checked_sub(1)?;
            let (task, ran) = (self.tasks.get(parent)?, running.get(parent)?.0);
            let until = row.parent_running.map_or(ran, |until| until.0);
            Some(task.start + own_until(task.work(), Length(ran), until))
        };
        let created = match row.parent {
            None => Moment::START,
            Some(parent) => made(parent)
                .ok_or_else(|| format!("task {} is made by {parent}, which is not there", row.task))?,
        };
        let needs = &self.needs[self.first_need[self.tasks.len()] as usize..];
        row.start = needs.iter().map(|need| need.at).fold(created, Moment::max);
        row.created = Some(created);
        row.end = row.start + (row.running - row.tracer).max(Length::ZERO);
        Ok(())
    }

    fn push_row(&mut self, row: &TaskRow) -> Result<(), String> {
        let parent = match row.parent {
            Some(parent) if parent >= row.task => {
                return Err(format!("task {} is made by {parent}", row.task));
            }
            Some(parent) if parent > 0 => Some(parent as u32 - 1),
            _ => None,
        };
        let before = parent.map_or(Moment::START, |parent| self.tasks[parent as usize].end);
        let (created, start, end) = (row.created.unwrap_or(before), row.start, row.end);
        if created > start || start > end {
            return Err(format!("task {} ends before it begins", row.task));
        }
        let continued = row.kind == TaskKind::Continued;
        self.tasks.push(Task { parent, place: row.callsite, created, start, end, continued });
        self.first_need.push(self.needs.len() as u32);
        Ok(())
    }

    /// Adds a task and what it needed, all of which must be there already.
    pub fn push(&mut self, task: Task, needs: &[Need]) {
        self.needs.extend(needs);
        self.tasks.push(task);
        self.first_need.push(self.needs.len() as u32);
    }

    #[cfg(test)]
    pub(crate) fn push_role(&mut self, role: Role) {
        self.roles.push(role);
    }

    #[cfg(test)]
    pub(crate) fn lengthen(&mut self, task: u32, length: Length) {
        self.tasks[task as usize].end += length;
    }

    /// What a runtime knows of each part of a task; none if it is not known of all.
    pub(crate) fn roles(&self) -> Option<&[Role]> {
        (self.roles.len() == self.tasks.len()).then_some(&self.roles)
    }

    /// Whether the schedule of a runtime can be followed: the tasks record what they waited for.
    pub fn can_follow_runtime(&self) -> bool {
        self.roles().is_some()
    }

    /// How long threads that are idle took to notice something; none where threads were not recorded.
    pub fn notice(&self) -> Option<Notice> {
        self.notice
    }

    /// How many tasks there are, each counted once however often it waited.
    pub fn made(&self) -> usize {
        self.tasks.iter().filter(|task| !task.continued).count()
    }

    /// How many tasks there are; what one does after it has waited counts as another.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// All tasks.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// What a task needed.
    pub fn needs(&self, task: u32) -> &[Need] {
        &self.needs[self.range(task)]
    }

    fn range(&self, task: u32) -> Range<usize> {
        let task = task as usize;
        self.first_need[task] as usize..self.first_need[task + 1] as usize
    }

    /// How long all tasks run, added up.
    pub fn work(&self) -> Length {
        self.tasks.iter().fold(Length::ZERO, |sum, task| sum + task.work())
    }

    /// How long the run is.
    pub fn span(&self) -> Length {
        let end = self.tasks.iter().map(|task| task.end).max().unwrap_or(Moment::START);
        end - self.begin()
    }

    /// When the first task is made.
    pub(crate) fn begin(&self) -> Moment {
        self.tasks.iter().map(|task| task.created).min().unwrap_or(Moment::START)
    }

    /// How much later a task begins than all it needs is there: tables that others wrote may have that.
    pub(crate) fn delay(&self, number: u32) -> Length {
        let task = &self.tasks[number as usize];
        task.start - self.needs(number).iter().map(|need| need.at).fold(task.created, Moment::max)
    }
}
