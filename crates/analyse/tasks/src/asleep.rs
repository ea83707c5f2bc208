//! How much of the time that tasks ran they slept, or waited for something in the system.

use crate::TasksError;
use crate::columns::{Groups, MISSING};
use kizami_model::{Length, Rank};
use kizami_trace::{TaskRow, Trace};

/// Of all tasks of a rank; none if that is not known of any.
pub fn asleep(trace: &Trace, rank: Rank) -> Result<Option<Length>, TasksError> {
    let tasks = Groups::of::<TaskRow>(trace, rank)?;
    let mut sum: Option<Length> = None;
    for group in 0..tasks.len() {
        if !tasks.has_column(group, "asleep_ns")? {
            continue;
        }
        for asleep in tasks.int64(group, "asleep_ns", Some(MISSING))? {
            if asleep != MISSING {
                sum = Some(sum.unwrap_or(Length::ZERO).saturating_add(Length(asleep.max(0))));
            }
        }
    }
    Ok(sum)
}
