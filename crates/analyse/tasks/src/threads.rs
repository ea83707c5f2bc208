//! What the threads of a rank ran, at the times of the run: parallel regions, and the pieces of tasks in them.
//!
//! Virtual time knows no threads; this is for whoever shows what each of them did, and when. Only the columns that are
//! needed are read, of this rank alone.

use crate::TasksError;
use crate::columns::{Groups, MISSING, NO_PLACE, parts};
use crate::graph::Part;
use kizami_model::{Moment, Rank, ThreadIndex};
use kizami_trace::{ParallelRow, TaskRow, Trace};

/// One run of a parallel region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionRun {
    /// Index in `defs/callsites`: where it was begun.
    pub place: Option<u32>,
    /// The thread that began it.
    pub thread: ThreadIndex,
    /// When it began.
    pub start: Moment,
    /// When it ended.
    pub end: Moment,
    /// Tasks made in it, also those that were only counted.
    pub tasks: u64,
}

/// What a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceOf {
    /// What a thread runs outside of all regions.
    Outside,
    /// The share of a thread in a region; its first piece says when that region began.
    Share(Option<Moment>),
    /// An explicit task.
    Task,
}

/// What a thread ran without waiting. Another task may have run on top of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPiece {
    /// Of what.
    pub of: PieceOf,
    /// Index in `defs/callsites`: where its task was made, or its region begun.
    pub place: Option<u32>,
    /// The thread that ended it.
    pub thread: ThreadIndex,
    /// When it began to run.
    pub start: Moment,
    /// When it ended.
    pub end: Moment,
}

/// The parallel regions of a rank, by start.
pub fn region_runs(trace: &Trace, rank: Rank) -> Result<Vec<RegionRun>, TasksError> {
    let table = Groups::of::<ParallelRow>(trace, rank)?;
    let mut regions = Vec::with_capacity(table.rows());
    for group in 0..table.len() {
        let places = table.int32(group, "callsite", Some(NO_PLACE))?;
        let threads = table.int32(group, "thread", None)?;
        let (starts, ends) = (table.int64(group, "start_ns", None)?, table.int64(group, "end_ns", None)?);
        let tasks = table.int64(group, "tasks", None)?;
        regions.extend((0..starts.len()).map(|row| RegionRun {
            place: place(places[row]),
            thread: ThreadIndex(threads[row] as u32),
            start: Moment(starts[row]),
            end: Moment(ends[row]),
            tasks: tasks[row] as u64,
        }));
    }
    Ok(regions)
}

/// The pieces of tasks that the threads of a rank ran, in the order of the table; none if tasks were not recorded.
pub fn thread_pieces(trace: &Trace, rank: Rank) -> Result<Vec<ThreadPiece>, TasksError> {
    let table = Groups::of::<TaskRow>(trace, rank)?;
    let mut pieces = Vec::with_capacity(table.rows());
    // By task: of what it is. What goes on is of what it went on from, which has a smaller number.
    let mut all: Vec<PieceOf> = Vec::with_capacity(table.rows());
    for group in 0..table.len() {
        let parents = table.int64(group, "parent", Some(0))?;
        let places = table.int32(group, "callsite", Some(NO_PLACE))?;
        let threads = table.int32(group, "thread", None)?;
        let created = table.int64(group, "created_ns", Some(MISSING))?;
        let (starts, ends) = (table.int64(group, "start_ns", None)?, table.int64(group, "end_ns", None)?);
        for (row, (continued, part)) in parts(&table, group)?.into_iter().enumerate() {
            let before =
                usize::try_from(parents[row].wrapping_sub(1)).ok().and_then(|before| all.get(before));
            let of = match part {
                Some(Part::Initial) => PieceOf::Outside,
                Some(Part::Share) => {
                    PieceOf::Share((created[row] != MISSING).then_some(Moment(created[row])))
                }
                Some(Part::Explicit) => PieceOf::Task,
                _ if continued => match before {
                    None | Some(PieceOf::Share(_)) => PieceOf::Share(None),
                    Some(of) => *of,
                },
                _ => PieceOf::Task,
            };
            all.push(of);
            // It belongs to no thread.
            if part == Some(Part::Together) {
                continue;
            }
            pieces.push(ThreadPiece {
                of,
                place: place(places[row]),
                thread: ThreadIndex(threads[row] as u32),
                start: Moment(starts[row]),
                end: Moment(ends[row]),
            });
        }
    }
    Ok(pieces)
}

fn place(number: i32) -> Option<u32> {
    u32::try_from(number).ok()
}
