//! Answers about tasks, as the page gets them. Times are nanoseconds, or units of virtual time.

use serde::Serialize;

/// How many tasks run over time: of the whole run, and of parts of it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskCurves {
    /// What the columns are of.
    pub from: i64,
    pub to: i64,
    /// When the run begins and ends.
    pub begin: i64,
    pub end: i64,
    /// Whether times are units, not nanoseconds.
    pub units: bool,
    /// How many ranks there are: tasks are those of one.
    pub ranks: u32,
    /// Whether it is known what tasks waited for, so that a runtime can be followed.
    pub follows_runtime: bool,
    /// The first is of the whole run.
    pub curves: Vec<TaskCurve>,
}

/// One of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskCurve {
    /// `all`, or a letter and a number: `n` a node, `t` a task and all that descend from it, `p` a place.
    pub part: String,
    /// Index of the place it is named by.
    pub place: Option<u32>,
    pub tasks: u64,
    pub work: i64,
    pub peak: u32,
    /// When its first task starts and its last ends.
    pub begin: i64,
    pub end: i64,
    /// Mean parallelism in equal parts of the range. Of curves that are aligned, the range is so much later.
    pub shift: i64,
    pub columns: Vec<f32>,
    /// Work between the markers.
    pub marked_work: i64,
}

/// Tasks folded by path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskTree {
    /// Parents come before their children; those with most work.
    pub nodes: Vec<TaskNode>,
    /// How many nodes there are.
    pub of: usize,
}

/// Tasks with one path, and all below them, in a range.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskNode {
    pub node: u32,
    pub parent: Option<u32>,
    pub place: Option<u32>,
    pub tasks: u64,
    pub work: i64,
    /// How much of the critical path is theirs.
    pub on_path: i64,
    pub columns: Vec<f32>,
}

/// Tasks one by one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskFlow {
    /// Those on the critical path first.
    pub tasks: Vec<FlowTask>,
    pub needs: Vec<FlowNeed>,
    /// How many tasks there are in the range.
    pub of: u64,
}

/// One of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct FlowTask {
    pub task: u32,
    pub parent: Option<u32>,
    pub place: Option<u32>,
    pub created: i64,
    pub start: i64,
    pub end: i64,
    pub on_path: bool,
}

/// Something a task needed of another one, and when it was there.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct FlowNeed {
    pub task: u32,
    pub of: u32,
    pub at: i64,
}

/// Tasks by place and length.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskLengths {
    pub tasks: u64,
    pub work: i64,
    /// Lengths at which buckets begin, and behind them where the last one ends.
    pub borders: Vec<i64>,
    /// Those with most work.
    pub places: Vec<TaskPlace>,
    /// How many places there are.
    pub of: usize,
}

/// Tasks of one place.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskPlace {
    pub place: Option<u32>,
    pub tasks: u64,
    pub work: i64,
    pub longest: i64,
    /// By bucket: how many, and how long they run.
    pub counts: Vec<u64>,
    pub works: Vec<i64>,
}

/// What so many processors do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TaskSchedule {
    pub at_least: i64,
    pub at_most: i64,
    /// None while it is being worked out.
    pub simulated: Option<i64>,
    /// The shortest and the longest of several tries; none if there was one.
    pub low: Option<i64>,
    pub high: Option<i64>,
    /// How tasks are given out.
    pub strategy: String,
}
