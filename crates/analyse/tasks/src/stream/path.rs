//! The critical path of a run that is not in memory: followed backwards through the tables, by what was noted of each task.

use crate::TasksError;
use crate::columns::{Groups, MISSING, Ran, TaskColumns, pairs};
use crate::graph::own_until;
use kizami_model::Length;
use kizami_trace::TraceError;
use rustc_hash::FxHashMap;

/// What each task started for: one byte a task.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// 0: it was made then. Otherwise which of the things that it needed came last, from 1.
    by: Vec<u8>,
    /// Those that do not fit.
    far: FxHashMap<u32, u32>,
}

const FAR: u32 = u8::MAX as u32;

impl Decided {
    /// With room for so many.
    pub(super) fn of_many(tasks: usize) -> Decided {
        Decided { by: Vec::with_capacity(tasks), ..Decided::default() }
    }

    #[inline]
    pub(super) fn push(&mut self, need: u32) {
        if need >= FAR {
            self.far.insert(self.by.len() as u32, need);
        }
        self.by.push(need.min(FAR) as u8);
    }

    fn of(&self, task: usize) -> u32 {
        match u32::from(self.by[task]) {
            FAR => self.far.get(&(task as u32)).copied().unwrap_or(0),
            near => near,
        }
    }
}

/// Until when a task is on the path.
enum Until {
    /// Until it ends.
    End,
    /// Until it has run for so long, or was at this moment of virtual time.
    Made(i64),
}

/// A row group of tasks that was read.
struct Held {
    group: usize,
    first: usize,
    columns: TaskColumns,
}

/// Follows the path from its last task; `each` is called with places, and for how long each is on it.
pub(super) fn follow(
    tasks: &Groups,
    (needs, firsts): (&Groups, &[i64]),
    is_virtual: bool,
    decided: &Decided,
    last: usize,
    mut each: impl FnMut(Option<u32>, Length),
) -> Result<(), TasksError> {
    let mut held: Option<Held> = None;
    let mut lookup = Lookup { needs, firsts, is_virtual, held: None };
    let (mut task, mut until) = (last, Until::End);
    loop {
        let group = tasks.group_of(task);
        let of_group = match held.take_if(|held| held.group == group) {
            Some(same) => held.insert(same),
            None => {
                let columns = TaskColumns::read(tasks, group, is_virtual)?;
                held.insert(Held { group, first: tasks.before(group), columns })
            }
        };
        let (row, columns) = (task - of_group.first, &of_group.columns);
        let (length, made) = match &columns.ran {
            Ran::Recorded { running, parent_running, tracer } => {
                let work = Length(running[row].saturating_sub(tracer[row]).max(0));
                let length = match until {
                    Until::End => work,
                    Until::Made(at) => own_until(work, Length(running[row]), at),
                };
                (length, parent_running[row])
            }
            Ran::Virtual { created, start, end } => {
                let to = match until {
                    Until::Made(at) if at != MISSING => at,
                    _ => end[row],
                };
                (Length(to - start[row]), created[row])
            }
        };
        let place = columns.place[row];
        each(u32::try_from(place).ok(), length);
        let (earlier, at) = match decided.of(task) {
            0 => match columns.parent[row] {
                0 => return Ok(()),
                parent => (parent, Until::Made(made)),
            },
            need => {
                let (of, at) = lookup.find(task as i64 + 1, need as usize - 1)?;
                (of, if is_virtual { Until::Made(at) } else { Until::End })
            }
        };
        // The pass has seen to that; if it were not so, this would not end.
        let earlier = usize::try_from(earlier.wrapping_sub(1)).ok().filter(|earlier| *earlier < task);
        task = earlier.ok_or_else(|| tasks.damaged(group, "it has changed while it was read"))?;
        until = at;
    }
}

/// Finds what a task needed.
struct Lookup<'a> {
    needs: &'a Groups,
    /// The first task of each group.
    firsts: &'a [i64],
    is_virtual: bool,
    held: Option<HeldNeeds>,
}

/// A row group of needs that was read.
struct HeldNeeds {
    group: usize,
    task: Vec<i64>,
    of: Vec<i64>,
    /// Empty if not requested.
    at: Vec<i64>,
}

impl Lookup<'_> {
    fn hold(&mut self, group: usize) -> Result<&HeldNeeds, TraceError> {
        let held = match self.held.take_if(|held| held.group == group) {
            Some(same) => same,
            None => {
                let (task, of) = pairs(self.needs, group)?;
                let at = match self.is_virtual {
                    true => self.needs.int64(group, "at_ns", Some(MISSING))?,
                    false => Vec::new(),
                };
                HeldNeeds { group, task, of, at }
            }
        };
        Ok(self.held.insert(held))
    }

    /// One of the things a task needed, by its number: who made it, and when it was there, if that is said.
    fn find(&mut self, task: i64, number: usize) -> Result<(i64, i64), TraceError> {
        // What it needs may begin at the end of the group before the first that begins with it.
        let group = self.firsts.partition_point(|first| *first < task).saturating_sub(1);
        let within = self.hold(group)?.task.partition_point(|other| *other < task);
        let row = self.needs.before(group) + within + number;
        let group = self.needs.group_of(row);
        let place = row - self.needs.before(group);
        let held = self.hold(group)?;
        Ok((held.of[place], held.at.get(place).copied().unwrap_or(MISSING)))
    }
}
