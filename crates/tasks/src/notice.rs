//! How long threads that are idle take to notice something: measured in the run that was recorded.
//!
//! Counted are tasks that began on a thread which had nothing to do when they became able to run, and tasks that went on after
//! their thread had nothing to do when what they waited for was over. The medians are told; where too little was seen, what
//! is common.

use crate::graph::Part;
use kizami_model::{Length, Moment};
use kizami_trace::TaskRow;

/// How long it takes until a thread that is idle has noticed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// That there is a task.
    pub task: Length,
    /// That what it waited for is over.
    pub over: Length,
    /// Whether both were measured.
    pub is_measured: bool,
}

impl Notice {
    /// What is taken where nothing was measured: what waking a sleeping thread takes.
    pub const COMMON: Notice = Notice { task: Length(5_000), over: Length(5_000), is_measured: false };
    /// So many times as long.
    pub fn times(self, times: f64) -> Notice {
        Notice { task: self.task.scaled(times), over: self.over.scaled(times), ..self }
    }

    /// It takes no time.
    pub const NONE: Notice = Notice { task: Length::ZERO, over: Length::ZERO, is_measured: true };
}

/// Fewer say nothing.
const LEAST: usize = 8;
/// More say nothing new.
const MOST: usize = 1 << 16;

/// Looks at tasks in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Noticing {
    /// By thread: when it was last busy.
    busy_until: Vec<Moment>,
    tasks: Vec<Length>,
    overs: Vec<Length>,
}

impl Noticing {
    /// A part of a task began; all it needs was there at this moment.
    pub(crate) fn see(&mut self, row: &TaskRow, part: Part, ready: Moment) {
        let thread = row.thread.0 as usize;
        if self.busy_until.len() <= thread {
            self.busy_until.resize(thread + 1, Moment(i64::MIN));
        }
        let was_idle = self.busy_until[thread] < ready;
        let list = match part {
            Part::Explicit => Some(&mut self.tasks),
            Part::AfterChildren | Part::AfterGroup => Some(&mut self.overs),
            _ => None,
        };
        if let Some(list) = list.filter(|list| was_idle && list.len() < MOST) {
            list.push((row.start - ready).max(Length::ZERO));
        }
        self.busy_until[thread] = self.busy_until[thread].max(row.end);
    }

    pub(crate) fn told(self) -> Notice {
        let median = |mut list: Vec<Length>, common: Length| {
            list.sort_unstable();
            list.get(list.len() / 2).copied().filter(|_| list.len() >= LEAST).unwrap_or(common)
        };
        Notice {
            is_measured: self.tasks.len().min(self.overs.len()) >= LEAST,
            task: median(self.tasks, Notice::COMMON.task),
            over: median(self.overs, Notice::COMMON.over),
        }
    }
}
