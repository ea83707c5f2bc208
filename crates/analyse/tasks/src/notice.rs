//! How long threads that are idle take to notice something: measured in the run that was recorded.
//!
//! Counted are tasks that began on a thread which had nothing to do when they became able to run, and tasks that went on after
//! their thread had nothing to do when what they waited for was over. The medians are used; where too little was observed, what
//! is common. Of threads that begin or end a region or a barrier the lower quartile is used: programs do so all the time, and
//! on a machine with too few cores most of that is waiting for a core, which threads with cores of their own do not.

use crate::TasksError;
use crate::columns::{Groups, MISSING, Needs, parts};
use crate::graph::Part;
use kizami_model::{Length, Moment};
use kizami_stats::upper_median;

/// How long it takes until a thread that is idle has noticed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// That there is a task.
    pub task: Length,
    /// That what it waited for is over.
    pub over: Length,
    /// That there is a region to be run.
    pub begin: Length,
    /// That all others have come to a barrier or to the end of a region.
    pub pass: Length,
    /// Whether the first two were measured.
    pub is_measured: bool,
    /// Whether the last two were.
    pub are_regions_measured: bool,
}

impl Notice {
    /// What is taken where nothing was measured: what waking a sleeping thread takes.
    pub const COMMON: Notice = Notice {
        task: Length(5_000),
        over: Length(5_000),
        begin: Length(5_000),
        pass: Length(5_000),
        is_measured: false,
        are_regions_measured: false,
    };

    /// As it was in the run of one rank: in its beginning, if that is long.
    pub(crate) fn of(tasks: &Groups, needs: &Groups) -> Result<Notice, TasksError> {
        let (mut needs, mut noticing) = (Needs::new(needs, true), Noticing::default());
        // By task: when it ended.
        let mut ends: Vec<i64> = Vec::new();
        for group in (0..tasks.len()).take_while(|group| tasks.before(*group) < MOST_ROWS) {
            let threads = tasks.int32(group, "thread", None)?;
            let [starts, own_ends] = ["start_ns", "end_ns"].map(|name| tasks.int64(group, name, None));
            let (starts, own_ends) = (starts?, own_ends?);
            let created = tasks.int64(group, "created_ns", Some(MISSING))?;
            let parents = tasks.int64(group, "parent", Some(0))?;
            for (row, (_, part)) in parts(tasks, group)?.into_iter().enumerate() {
                let end_of = |task: i64| {
                    let task = usize::try_from(task.wrapping_sub(1)).ok();
                    task.and_then(|task| ends.get(task)).copied().unwrap_or(Moment::START.0)
                };
                let or_end = |at: i64, task: i64| if at == MISSING { end_of(task) } else { at };
                let mut ready = or_end(created[row], parents[row]);
                while let Some((of, at)) = needs.of(ends.len() as i64 + 1)? {
                    if of > 0 {
                        ready = ready.max(or_end(at, of));
                    }
                }
                if let Some(part) = part {
                    let (start, end) = (Moment(starts[row]), Moment(own_ends[row]));
                    noticing.see(part, threads[row], Moment(ready), (start, end));
                }
                ends.push(own_ends[row]);
            }
        }
        Ok(noticing.finish())
    }

    /// So many times as long, each by what holds for those that were measured, or by what holds for the others.
    pub(crate) fn times(self, measured: f64, unknown: f64) -> Notice {
        let tasks = if self.is_measured { measured } else { unknown };
        let regions = if self.are_regions_measured { measured } else { unknown };
        Notice {
            task: self.task.scaled(tasks),
            over: self.over.scaled(tasks),
            begin: self.begin.scaled(regions),
            pass: self.pass.scaled(regions),
            ..self
        }
    }

    /// It takes no time.
    pub const NONE: Notice = Notice {
        task: Length::ZERO,
        over: Length::ZERO,
        begin: Length::ZERO,
        pass: Length::ZERO,
        is_measured: true,
        are_regions_measured: true,
    };
}

/// Fewer say nothing.
const LEAST: usize = 8;
/// More say nothing new.
const MOST: usize = 1 << 16;
/// Threads from here on are taken for one.
const MOST_THREADS: i32 = 1 << 16;
/// Nor do more tasks, whether or not threads were idle: they are not looked at.
const MOST_ROWS: usize = 1 << 18;

/// Looks at tasks in the order in which they began.
#[derive(Debug, Default)]
struct Noticing {
    /// By thread: when it was last busy.
    busy_until: Vec<Moment>,
    tasks: Vec<Length>,
    overs: Vec<Length>,
    begins: Vec<Length>,
    passes: Vec<Length>,
}

impl Noticing {
    /// A part of a task began; all it needs was there at this moment.
    fn see(&mut self, part: Part, thread: i32, ready: Moment, (start, end): (Moment, Moment)) {
        // No number of a table is believed so far that room is made for it.
        let thread = thread.clamp(0, MOST_THREADS) as usize;
        if self.busy_until.len() <= thread {
            self.busy_until.resize(thread + 1, Moment(i64::MIN));
        }
        let was_idle = self.busy_until[thread] < ready;
        let list = match part {
            Part::Explicit => Some(&mut self.tasks),
            Part::AfterChildren | Part::AfterGroup => Some(&mut self.overs),
            Part::Share => Some(&mut self.begins),
            Part::AfterBarrier | Part::AfterRegion => Some(&mut self.passes),
            _ => None,
        };
        if let Some(list) = list.filter(|list| was_idle && list.len() < MOST) {
            list.push((start - ready).max(Length::ZERO));
        }
        self.busy_until[thread] = self.busy_until[thread].max(end);
    }

    fn finish(mut self) -> Notice {
        let [of_tasks, of_regions] = [[&self.tasks, &self.overs], [&self.begins, &self.passes]]
            .map(|lists| lists.iter().all(|list| list.len() >= LEAST));
        let median = |list: &mut Vec<Length>, common: Length| {
            list.sort_unstable();
            upper_median(list).filter(|_| list.len() >= LEAST).unwrap_or(common)
        };
        let quartile = |list: &mut Vec<Length>, common: Length| {
            list.sort_unstable();
            list.get(list.len() / 4).copied().filter(|_| list.len() >= LEAST).unwrap_or(common)
        };
        Notice {
            task: median(&mut self.tasks, Notice::COMMON.task),
            over: median(&mut self.overs, Notice::COMMON.over),
            begin: quartile(&mut self.begins, Notice::COMMON.begin),
            pass: quartile(&mut self.passes, Notice::COMMON.pass),
            is_measured: of_tasks,
            are_regions_measured: of_regions,
        }
    }
}
