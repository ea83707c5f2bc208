//! The critical path: the tasks that made the run as long as it is, followed from its end backwards.

use crate::{Task, TaskGraph};
use kizami_model::{Length, Moment};

/// A stretch of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnPath {
    /// Place of the task among all tasks.
    pub task: u32,
    /// From when it was on the path.
    pub from: Moment,
    /// Until it made what comes next on it, or until the end of the run.
    pub to: Moment,
}

/// All of it, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Stretches without gaps.
    pub stretches: Vec<OnPath>,
}

impl Path {
    /// Follows what the last task waited for, and so on.
    pub fn of(graph: &TaskGraph) -> Path {
        let tasks = graph.tasks();
        let last = (0..).zip(tasks).max_by_key(|(number, task)| (task.end, std::cmp::Reverse(*number)));
        let mut next = last.map(|(number, task): (u32, &Task)| (number, task.end));
        let mut stretches = Vec::new();
        while let Some((number, until)) = next {
            let task = &tasks[number as usize];
            stretches.push(OnPath { task: number, from: task.start, to: until });
            let last_need = graph.needs(number).iter().max_by_key(|need| need.at);
            next = match last_need.filter(|need| need.at == task.start && need.at > task.created) {
                Some(need) => Some((need.of, need.at)),
                None => task.parent.map(|parent| (parent, task.created)),
            };
        }
        stretches.reverse();
        Path { stretches }
    }

    /// How long it is.
    pub fn length(&self) -> Length {
        self.stretches.iter().fold(Length::ZERO, |sum, stretch| sum + (stretch.to - stretch.from))
    }
}
