//! The simulated times, as whoever writes a trace anew asks for them.

use crate::script::Script;
use kizami_model::Rank;
use kizami_trace::rewrite::NewTimes;

/// Times of all rows, and where those of each rank lie.
pub struct Outcome<'a> {
    /// By row.
    pub times: &'a [[i64; 2]],
    /// By rank.
    pub scripts: &'a [Script],
}

impl Outcome<'_> {
    /// When the last call ends.
    pub fn end_ns(&self) -> i64 {
        self.times.iter().map(|[_, end]| *end).max().unwrap_or(0)
    }
}

impl NewTimes for Outcome<'_> {
    fn of_row(&self, row: u64) -> (i64, i64) {
        let [start, end] = self.times[row as usize];
        (start, end)
    }

    fn next_row(&self, row: u64) -> Option<u64> {
        let after = self.scripts.partition_point(|script| script.first_row <= row);
        let script = self.scripts.get(after.checked_sub(1)?)?;
        (row + 1 < script.first_row + script.steps.len() as u64).then_some(row + 1)
    }

    fn threads_of(&self, rank: Rank) -> Vec<(u32, u64)> {
        let script = self.scripts.get(rank.0 as usize).filter(|script| !script.steps.is_empty());
        script.map(|script| (script.thread, script.first_row)).into_iter().collect()
    }
}
