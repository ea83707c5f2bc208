//! Tasks, who made them and what they needed, in memory: about 60 bytes a task.

use crate::TasksError;
use kizami_model::{Length, Moment};
use kizami_trace::{NeedRow, TaskRow, Trace};
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

/// The tasks of a run. Whoever makes a task, or something that it needs, comes before it.
#[derive(Clone, Debug, Default)]
pub struct TaskGraph {
    tasks: Vec<Task>,
    needs: Vec<Need>,
    /// Where the needs of each task begin; one more at the end.
    first_need: Vec<u32>,
}

impl TaskGraph {
    /// A graph without tasks.
    pub fn new() -> TaskGraph {
        TaskGraph { tasks: Vec::new(), needs: Vec::new(), first_need: vec![0] }
    }

    /// Reads the tasks of a trace.
    pub fn of(trace: &Trace) -> Result<TaskGraph, TasksError> {
        let path = || trace.path().to_path_buf();
        let damaged = |what: String| TasksError::Damaged { path: path(), what };
        let mut graph = TaskGraph::new();
        let mut needs = trace.parts_of::<NeedRow>()?;
        let mut held: std::vec::IntoIter<NeedRow> = Vec::new().into_iter();
        let mut next = None;
        for part in trace.parts_of::<TaskRow>()? {
            for row in part? {
                if row.task != graph.tasks.len() as u64 + 1 {
                    return Err(damaged(format!("task {} comes where {} should", row.task, graph.len() + 1)));
                }
                loop {
                    if next.is_none() {
                        next = held.next();
                    }
                    match next {
                        Some(NeedRow { task, of, at, .. }) if task == row.task => {
                            if of >= task {
                                return Err(damaged(format!("task {task} needs {of}, which comes later")));
                            }
                            // What the program began with was there from the beginning.
                            if of > 0 {
                                graph.needs.push(Need { of: of as u32 - 1, at });
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
                graph.push_row(&row).map_err(damaged)?;
            }
        }
        if graph.tasks.is_empty() {
            return Err(TasksError::NoTasks { path: path() });
        }
        if graph.tasks.len() > u32::MAX as usize / 2 || graph.needs.len() > u32::MAX as usize {
            return Err(TasksError::TooMany { path: path() });
        }
        Ok(graph)
    }

    fn push_row(&mut self, row: &TaskRow) -> Result<(), String> {
        let parent = match row.parent {
            Some(parent) if parent >= row.task => {
                return Err(format!("task {} is made by {parent}", row.task));
            }
            Some(parent) if parent > 0 => Some(parent as u32 - 1),
            _ => None,
        };
        let (created, start, end) = (row.created, row.start, row.end);
        if created > start || start > end {
            return Err(format!("task {} ends before it begins", row.task));
        }
        self.tasks.push(Task { parent, place: row.callsite, created, start, end });
        self.first_need.push(self.needs.len() as u32);
        Ok(())
    }

    /// Adds a task and what it needed, all of which must be there already.
    pub fn push(&mut self, task: Task, needs: &[Need]) {
        self.needs.extend(needs);
        self.tasks.push(task);
        self.first_need.push(self.needs.len() as u32);
    }

    /// How many tasks there are.
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
        end - self.tasks.iter().map(|task| task.created).min().unwrap_or(Moment::START)
    }
}
