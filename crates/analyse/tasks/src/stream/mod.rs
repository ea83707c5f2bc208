//! Virtual time in one pass over the tables, for runs of more tasks than fit in memory.
//!
//! Work, span, burdened span, sums by place, the critical path and how many tasks run over time, as [`crate::TaskGraph`] and
//! what is derived from it are enough; not what threads would do with the tasks, for which all must be at hand. Held are the
//! times of tasks that others may still speak of, a byte for each task, and a curve of fixed size.

mod bins;
mod live;
mod path;
#[cfg(test)]
mod tests;

pub use bins::Bins;

use crate::columns::{Groups, MISSING, Needs, Ran, TaskColumns, pairs, parts};
use crate::graph::own_until;
use crate::places::{PlaceSum, Sums};
use crate::{Bounds, Notice, TasksError};
use kizami_model::{Length, Moment, Rank};
use kizami_trace::run::ClockInfo;
use kizami_trace::{NeedRow, TaskRow, Trace, TraceError};
use live::{LastUses, Live, Times};
use path::Decided;

/// Of so few tasks all times are kept.
const ALL_KEPT: usize = 1 << 22;

/// Summary of the tasks of a run.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// How many tasks there are, each counted once however often it waited.
    pub made: u64,
    /// How long all run, added up.
    pub work: Length,
    /// How long the run is.
    pub span: Length,
    /// How long idle threads took to notice something, and the span if nothing is noticed sooner; not in virtual time.
    pub burden: Option<(Notice, Length)>,
    /// Whether tasks begin later than all they need is there.
    pub waits_for_others: bool,
    /// How many tasks run over time.
    pub bins: Bins,
    /// Sums by place, those with most of the critical path first, then with most work.
    pub places: Vec<PlaceSum>,
    /// The most tasks whose times were held at once.
    pub held: usize,
}

impl Streamed {
    /// Between which lengths schedules lie.
    pub fn bounds(&self) -> Bounds {
        let Streamed { work, span, waits_for_others, bins, .. } = self;
        // A mean is less than the most.
        let peak = (bins.width() == Length(1)).then(|| bins.peak() as u32);
        Bounds { work: *work, span: *span, waits_for_others: *waits_for_others, peak }
    }
}

/// Goes through the tasks of one rank.
pub fn stream(trace: &Trace, rank: Rank) -> Result<Streamed, TasksError> {
    stream_keeping(trace, rank, ALL_KEPT)
}

/// The same; the times of so few tasks are kept without asking who speaks of them.
fn stream_keeping(trace: &Trace, rank: Rank, kept: usize) -> Result<Streamed, TasksError> {
    let path = || trace.path().to_path_buf();
    let (tasks, needs) = (Groups::of::<TaskRow>(trace, rank)?, Groups::of::<NeedRow>(trace, rank)?);
    if tasks.rows() == 0 {
        return Err(TasksError::NoTasks { path: path(), rank });
    }
    if tasks.rows() > u32::MAX as usize / 2 {
        return Err(TasksError::TooMany { path: path() });
    }
    let is_virtual = trace.run().clocks.method == ClockInfo::VIRTUAL;
    let notice = if is_virtual { None } else { Some(Notice::of(&tasks, &needs)?) };
    let uses = if tasks.rows() > kept { Some(last_uses(&tasks, &needs)?) } else { None };
    let mut pass = Pass {
        live: Live::new(uses),
        decided: Decided::of_many(tasks.rows()),
        bins: Bins::default(),
        sums: Sums::default(),
        notice: notice.unwrap_or(Notice::NONE),
        made: 0,
        work: Length::ZERO,
        first: Moment(i64::MAX),
        last_root: Moment(i64::MIN),
        is_late: false,
        last: (Moment(i64::MIN), 0),
        last_burdened: Moment::START,
    };
    let mut needed = Needs::new(&needs, is_virtual);
    for group in 0..tasks.len() {
        let read = pass.group(&tasks, group, is_virtual, &mut needed);
        read.map_err(|failed| match failed {
            Failed::Read(error) => error,
            Failed::Damaged(what) => TasksError::Damaged { path: path(), what },
        })?;
    }
    let Pass { mut sums, decided, .. } = pass;
    path::follow(&tasks, (&needs, &needed.firsts), is_virtual, &decided, pass.last.1, |place, length| {
        sums.at(place).on_path += length;
    })?;
    Ok(Streamed {
        made: pass.made,
        work: pass.work,
        span: pass.last.0 - pass.first,
        burden: notice.map(|notice| (notice, pass.last_burdened - pass.first)),
        waits_for_others: pass.is_late || pass.last_root > pass.first,
        bins: pass.bins,
        places: sums.in_order(),
        held: pass.live.peak(),
    })
}

/// Who is last to speak of whom.
fn last_uses(tasks: &Groups, needs: &Groups) -> Result<LastUses, TraceError> {
    let mut uses = LastUses::new(tasks.rows());
    let mut spoken_of = |of: i64, by: usize| {
        // Those that are wrong, and none, are far behind the last.
        let of = of.wrapping_sub(1) as usize;
        if of < by && by < tasks.rows() {
            uses.spoken_of(of, by);
        }
    };
    for group in 0..tasks.len() {
        let parents = tasks.int64(group, "parent", Some(0))?;
        parents.iter().zip(tasks.before(group)..).for_each(|(parent, task)| spoken_of(*parent, task));
    }
    for group in 0..needs.len() {
        let (task, of) = pairs(needs, group)?;
        let by = |task: &i64| task.wrapping_sub(1) as usize;
        task.iter().zip(&of).for_each(|(task, of)| spoken_of(*of, by(task)));
    }
    Ok(uses)
}

/// Why the pass ended.
enum Failed {
    Read(TasksError),
    Damaged(String),
}

impl<E: Into<TasksError>> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed::Read(error.into())
    }
}

/// What is known while tasks go by.
struct Pass {
    live: Live,
    decided: Decided,
    bins: Bins,
    sums: Sums,
    notice: Notice,
    made: u64,
    work: Length,
    first: Moment,
    /// When the last of those was made that no other task makes.
    last_root: Moment,
    /// Whether a task began later than all it needed was there.
    is_late: bool,
    /// The end of the run, and the task that ends then.
    last: (Moment, usize),
    last_burdened: Moment,
}

impl Pass {
    fn group(
        &mut self,
        tasks: &Groups,
        group: usize,
        is_virtual: bool,
        needs: &mut Needs<'_>,
    ) -> Result<(), Failed> {
        let first = tasks.before(group);
        if let Some((wrong, right)) = tasks.misnumbered(group)? {
            return Err(Failed::Damaged(format!("task {wrong} comes where {right} should")));
        }
        let columns = TaskColumns::read(tasks, group, is_virtual)?;
        for (row, (continued, part)) in parts(tasks, group)?.into_iter().enumerate() {
            let task = first + row;
            let made = self.made(task, columns.parent[row], &columns.ran, row)?;
            let (ready, decided) = self.ready(task, made, needs)?;
            let burden = self.notice.before(part, continued, columns.parent[row] > 0);
            let times = ready.times(&columns.ran, row, burden);
            if made.at > times.start || times.start > times.end {
                return Err(Failed::Damaged(format!("task {} ends before it begins", task + 1)));
            }
            if times.start < Moment::START {
                return Err(Failed::Damaged(format!("task {} begins before the run", task + 1)));
            }
            if columns.parent[row] == 0 {
                self.last_root = self.last_root.max(made.at);
            }
            // In virtual time that others wrote, a task may begin later than it could.
            self.is_late |= ready.at < times.start;
            self.decided.push(if ready.at == times.start { decided } else { 0 });
            self.note(task, columns.place[row], continued, made.at, times);
        }
        Ok(())
    }

    /// Times of a task that must come before another one. Tasks are numbered from 1.
    #[inline]
    fn earlier(&self, number: i64, task: usize) -> Result<&Times, Failed> {
        // Numbers that are wrong are far behind the last.
        let before = number.wrapping_sub(1) as usize;
        match self.live.get(before) {
            Some(times) if before < task => Ok(times),
            _ => Err(later(number, task)),
        }
    }

    /// When a task was made.
    #[inline]
    fn made(&self, task: usize, parent: i64, ran: &Ran, row: usize) -> Result<Made, Failed> {
        let recorded_at = |created: &[i64]| Some(Moment(created[row])).filter(|at| at.0 != MISSING);
        if parent == 0 {
            let at = match ran {
                Ran::Virtual { created, .. } => recorded_at(created).unwrap_or(Moment::START),
                Ran::Recorded { .. } => Moment::START,
            };
            return Ok(Made { at, burdened: at });
        }
        let parent = self.earlier(parent, task)?;
        let at = match ran {
            Ran::Virtual { created, .. } => recorded_at(created).unwrap_or(parent.end),
            Ran::Recorded { parent_running, .. } => {
                parent.start + own_until(parent.end - parent.start, parent.running, parent_running[row])
            }
        };
        Ok(Made { at, burdened: parent.burdened + (at - parent.start) })
    }

    /// When all it needs is there, and which of these things was there last, from 1; 0 if that was before it was made.
    #[inline]
    fn ready(&self, task: usize, made: Made, needs: &mut Needs<'_>) -> Result<(Made, u32), Failed> {
        let (mut latest, mut decided, mut number) = (made, 0, 0);
        while let Some((of, at)) = needs.of(task as i64 + 1)? {
            number += 1;
            // What the program began with was there from the beginning.
            if of == 0 {
                continue;
            }
            let of = self.earlier(of, task)?;
            let at = if at == MISSING { of.end } else { Moment(at) };
            // Of several that were there last, the last decides.
            if at > made.at && at >= latest.at {
                (latest.at, decided) = (at, number);
            }
            latest.burdened = latest.burdened.max(of.burdened + (at - of.start));
        }
        Ok((latest, decided))
    }

    #[inline]
    fn note(&mut self, task: usize, place: i32, continued: bool, created: Moment, times: Times) {
        let work = times.end - times.start;
        self.made += u64::from(!continued);
        self.work += work;
        self.first = self.first.min(created);
        if times.end > self.last.0 {
            self.last = (times.end, task);
        }
        self.last_burdened = self.last_burdened.max(times.burdened + work);
        self.bins.add(times.start, times.end);
        let sum = self.sums.at(u32::try_from(place).ok());
        sum.add(continued, work, times.start - created);
        self.live.push(task, times);
    }
}

#[cold]
fn later(number: i64, task: usize) -> Failed {
    Failed::Damaged(format!("task {} comes of {number}, which comes later", task + 1))
}

/// When a task was made, or could start: in virtual time, and if nothing is noticed at once.
#[derive(Clone, Copy)]
struct Made {
    at: Moment,
    burdened: Moment,
}

impl Made {
    /// The times of a task that can start then.
    #[inline]
    fn times(self, ran: &Ran, row: usize, burden: Length) -> Times {
        let burdened = self.burdened + burden;
        match ran {
            Ran::Virtual { start, end, .. } => {
                Times { start: Moment(start[row]), end: Moment(end[row]), running: Length::ZERO, burdened }
            }
            Ran::Recorded { running, tracer, .. } => {
                let work = Length(running[row].saturating_sub(tracer[row]).max(0));
                Times { start: self.at, end: self.at + work, running: Length(running[row]), burdened }
            }
        }
    }
}
