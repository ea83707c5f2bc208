//! Converts a counter's ticks to run time and back, by piecewise linear interpolation of measured clock offsets.
//!
//! Points are equidistant, a power of two of ticks apart, so converting a timestamp takes a shift and a
//! multiplication anywhere in the run. Beyond the ends, the first and the last piece are extrapolated.

use crate::Point;

/// Points at most; a very long run has them further apart.
const MOST_POINTS: u64 = 1 << 16;
/// Distances are at most 2 to this power.
const LARGEST_SHIFT: u32 = 48;

/// The points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickGrid {
    origin_ticks: u64,
    shift: u32,
    /// Run time at each point; strictly growing, at least two.
    times_ns: Vec<i64>,
}

impl TickGrid {
    /// Points from `from` to `to`, no further apart than `straight_ticks` if that many are allowed. None if
    /// `points` does not give a time for each.
    pub fn new(
        from: u64,
        to: u64,
        straight_ticks: u64,
        points: impl FnOnce(&mut dyn Iterator<Item = u64>) -> Vec<Point>,
    ) -> Option<TickGrid> {
        let length = to.checked_sub(from)?;
        let wanted = straight_ticks.max(1).ilog2().min(LARGEST_SHIFT);
        let allowed = (length / MOST_POINTS + 1).next_power_of_two().ilog2().min(LARGEST_SHIFT);
        let shift = wanted.max(allowed);
        let count = (length >> shift) + 2;
        let mut ticks = (0..count).map(|index| from.wrapping_add(index << shift));
        let times_ns: Vec<i64> = points(&mut ticks).iter().map(|point| point.root_ns).collect();
        let whole = times_ns.len() as u64 == count;
        whole.then_some(TickGrid { origin_ticks: from, shift, times_ns })
    }

    /// The same with all times later by so much.
    pub fn later_by(mut self, ns: i64) -> TickGrid {
        self.times_ns.iter_mut().for_each(|time| *time = time.saturating_add(ns));
        self
    }

    /// Ticks of all points.
    pub fn all_ticks(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.times_ns.len() as u64).map(|index| self.origin_ticks.wrapping_add(index << self.shift))
    }

    /// Run time at which the counter stood at `ticks`.
    #[inline]
    pub fn at(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.origin_ticks) as i64;
        let index = (since >> self.shift).clamp(0, self.times_ns.len() as i64 - 2) as usize;
        let from = self.times_ns[index];
        let rise = self.times_ns[index + 1].wrapping_sub(from) as f64;
        let part = since.wrapping_sub((index as i64) << self.shift) as f64;
        let ns = part * (rise / (1u64 << self.shift) as f64);
        from.saturating_add((ns + 0.5f64.copysign(ns)) as i64)
    }

    /// The other way round: what the counter showed at a moment of run time.
    pub fn ticks(&self, run_ns: i64) -> u64 {
        let index = self.times_ns.partition_point(|time| *time <= run_ns).saturating_sub(1);
        let index = index.min(self.times_ns.len() - 2);
        let from = self.times_ns[index];
        let rise = self.times_ns[index + 1].wrapping_sub(from) as f64;
        let part = run_ns.saturating_sub(from) as f64 / rise * (1u64 << self.shift) as f64;
        let begin = self.origin_ticks.wrapping_add((index as u64) << self.shift);
        begin.wrapping_add(part.round() as i64 as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ticks a nanosecond, then three.
    fn bent() -> TickGrid {
        let time = |ticks: u64| if ticks < 9_000 { ticks / 2 } else { 4_500 + (ticks - 9_000) / 3 };
        TickGrid::new(1_000, 20_000, 600, |ticks| {
            let point = |ticks| Point { own_ns: ticks as i64, root_ns: time(ticks) as i64 };
            ticks.map(point).collect()
        })
        .unwrap()
    }

    #[test]
    fn moments_are_found_both_ways() {
        let grid = bent();
        for ticks in [1_000, 1_001, 5_003, 7_777, 12_345, 19_999] {
            assert!(grid.ticks(grid.at(ticks)).abs_diff(ticks) <= 3, "{ticks}");
        }
        assert_eq!((grid.at(1_000), grid.at(5_000)), (500, 2_500));
    }

    #[test]
    fn beyond_its_ends_it_goes_on_straight() {
        let grid = bent();
        assert_eq!(grid.at(0), 0);
        assert!(grid.at(30_000).abs_diff(4_500 + 7_000) <= 30);
        assert!(grid.at(u64::MAX) < 0, "a moment before the origin");
    }

    #[test]
    fn very_long_runs_have_points_further_apart() {
        let grid = TickGrid::new(0, 1 << 60, 1, |ticks| {
            ticks.map(|ticks| Point { own_ns: ticks as i64, root_ns: ticks as i64 }).collect()
        });
        assert!(grid.is_some_and(|grid| grid.times_ns.len() as u64 <= MOST_POINTS + 2));
    }
}
