//! How much memory all tasks of a rank would take, and how much may be taken where nobody says: whoever wants them in memory
//! asks first.

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

/// Half of what is free now; where the system does not tell, a gigabyte.
pub fn half_of_free() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok();
    let free_kib = told.as_deref().and_then(|told| {
        let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    free_kib.map_or(1 << 30, |kib| kib * 1024 / 2)
}
