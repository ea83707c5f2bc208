//! How much memory all tasks of a rank would take, to decide before they are read.

use crate::TasksError;
use crate::columns::Groups;
use kizami_model::Rank;
use kizami_trace::{TaskRow, Trace};

/// What a task takes in memory, with all that schedules need.
pub(crate) const BYTES_A_TASK: u64 = 250;

/// How many bytes all tasks of a rank take in memory, with what is made of them.
pub fn memory_needed(trace: &Trace, rank: Rank) -> Result<u64, TasksError> {
    Ok(BYTES_A_TASK.saturating_mul(Groups::of::<TaskRow>(trace, rank)?.rows() as u64))
}
