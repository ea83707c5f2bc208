//! Shares of time: what a rank did in each of many equal stretches of the run, and in stretches twice as long, and so on.
//!
//! A cell is eight bytes, the share of each category but computation in 255 parts; computation is the rest. The finest
//! level has at most [`MOST_BINS`] cells for a rank and [`MOST_CELLS`] for the run, whatever its length: beyond that,
//! rows are looked at themselves.

use crate::index::category::{CATEGORIES, Category};

/// Cells of a rank on the finest level, at most.
const MOST_BINS: u64 = 1 << 13;
/// Cells of all ranks on the finest level, about at most.
const MOST_CELLS: u64 = 1 << 23;
/// Cells of a rank on the coarsest level, about.
const FEWEST_BINS: u64 = 16;

/// Shares of all categories but computation.
pub type Cell = [u8; CATEGORIES - 1];

/// How time is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Where the first stretch begins.
    pub begin_ns: i64,
    /// A stretch of the finest level is two to the power of this long.
    pub finest_bits: u32,
    /// How many there are on the finest level.
    pub bins: u64,
    /// How many levels.
    pub levels: u32,
}

impl Division {
    /// Of a run of so many ranks and rows: more cells than rows tell nothing more.
    pub(crate) fn of(begin_ns: i64, end_ns: i64, ranks: u64, rows: u64) -> Division {
        let length_ns = end_ns.saturating_sub(begin_ns).max(1) as u64;
        let most = (MOST_CELLS.min(rows) / ranks.max(1)).clamp(FEWEST_BINS, MOST_BINS);
        let mut finest_bits = 0;
        while length_ns.div_ceil(1 << finest_bits) > most {
            finest_bits += 1;
        }
        let bins = length_ns.div_ceil(1 << finest_bits);
        let levels = 1 + (bins / FEWEST_BINS).checked_ilog2().unwrap_or(0);
        Division { begin_ns, finest_bits, bins, levels }
    }

    /// Where the last stretch ends: at the end of the run or behind it.
    pub fn end_ns(&self) -> i64 {
        let length_ns = u128::from(self.bins) << self.finest_bits;
        self.begin_ns.saturating_add(length_ns.min(i64::MAX as u128) as i64)
    }

    /// How many stretches a level has.
    pub fn bins_of(&self, level: u32) -> u64 {
        self.bins.div_ceil(1 << level)
    }

    /// How long they are.
    pub fn width_ns(&self, level: u32) -> u64 {
        1 << (self.finest_bits + level).min(62)
    }

    /// Cells of the levels before this one, over so many ranks.
    pub(crate) fn cells_before(&self, level: u32, ranks: u64) -> u64 {
        (0..level).map(|level| self.bins_of(level) * ranks).sum()
    }

    /// Cells of all levels.
    pub(crate) fn cells(&self, ranks: u64) -> u64 {
        self.cells_before(self.levels, ranks)
    }
}

/// Time of one rank by stretch and category, being added up.
pub(crate) struct Sums {
    division: Division,
    ns: Vec<[u64; CATEGORIES - 1]>,
}

impl Sums {
    pub(crate) fn new(division: Division) -> Sums {
        Sums { division, ns: vec![[0; CATEGORIES - 1]; division.bins as usize] }
    }

    /// The rank did this from then to then. No stretch may be told twice.
    pub(crate) fn add(&mut self, from_ns: i64, to_ns: i64, category: Category) {
        let Some(place) = (category as usize).checked_sub(1) else { return };
        let inside = |ns: i64| ns.saturating_sub(self.division.begin_ns).max(0) as u64;
        let (mut from, to) = (inside(from_ns), inside(to_ns));
        let bits = self.division.finest_bits;
        while from < to {
            let bin = from >> bits;
            let Some(sums) = self.ns.get_mut(bin as usize) else { return };
            let until = to.min((bin + 1) << bits);
            sums[place] += until - from;
            from = until;
        }
    }

    /// Gives the cells of all levels, the finest first.
    pub(crate) fn levels(mut self, mut each: impl FnMut(u32, &[Cell])) {
        for level in 0..self.division.levels {
            let width_ns = self.division.width_ns(level);
            let cells: Vec<Cell> = self.ns.iter().map(|sums| cell(sums, width_ns)).collect();
            each(level, &cells);
            let pairs = self.ns.chunks(2).map(|pair| {
                let mut sums = pair[0];
                // Behind the run there is nothing.
                let mut behind = [0; CATEGORIES - 1];
                behind[Category::NoRecord as usize - 1] = width_ns;
                let other = pair.get(1).unwrap_or(&behind);
                sums.iter_mut().zip(other).for_each(|(sum, ns)| *sum += ns);
                sums
            });
            self.ns = pairs.collect();
        }
    }
}

/// Shares in 255 parts, never more than 255 together.
fn cell(sums: &[u64; CATEGORIES - 1], width_ns: u64) -> Cell {
    // Widths are powers of two, and dividing numbers of 128 bits takes long.
    debug_assert!(width_ns.is_power_of_two());
    let bits = width_ns.trailing_zeros();
    let parts = sums.map(|ns| ((u128::from(ns) * 255 + u128::from(width_ns / 2)) >> bits) as u64);
    let mut parts = parts.map(|part| part.min(255) as u8);
    let mut excess = parts.iter().map(|part| u32::from(*part)).sum::<u32>().saturating_sub(255);
    while excess > 0 {
        // Rounded up more often than down.
        let Some(largest) = parts.iter_mut().max() else { break };
        let taken = excess.min(u32::from(*largest)).min(1);
        *largest -= taken as u8;
        excess -= taken;
        if taken == 0 {
            break;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_any_length_have_few_stretches() {
        for (length_ns, ranks) in [(0, 1), (1, 1), (1_000, 4), (3_600_000_000_000, 1_024), (i64::MAX, 16_384)]
        {
            let division = Division::of(0, length_ns, ranks, 1 << 40);
            assert!(division.bins <= MOST_BINS && division.bins * ranks <= MOST_CELLS + 16 * ranks);
            let whole = u128::from(division.bins) * u128::from(division.width_ns(0));
            assert!(whole >= length_ns as u128, "{division:?}");
        }
    }

    #[test]
    fn each_level_has_the_whole_time() {
        let division = Division { begin_ns: 0, finest_bits: 4, bins: 64, levels: 3 };
        let mut sums = Sums::new(division);
        sums.add(8, 24, Category::Receive);
        sums.add(24, 28, Category::Collective);
        sums.add(1_000, 5_000, Category::NoRecord);
        let mut seen = Vec::new();
        sums.levels(|level, cells| seen.push((level, cells.to_vec())));
        assert_eq!(seen.iter().map(|(_, cells)| cells.len()).collect::<Vec<_>>(), [64, 32, 16]);
        assert_eq!(seen[0].1[0], [0, 128, 0, 0, 0, 0, 0, 0]);
        assert_eq!(seen[0].1[1], [0, 128, 64, 0, 0, 0, 0, 0]);
        assert_eq!(seen[1].1[0], [0, 128, 32, 0, 0, 0, 0, 0]);
        assert_eq!(seen[2].1[0], [0, 64, 16, 0, 0, 0, 0, 0]);
        assert_eq!(seen[0].1[63], [0, 0, 0, 0, 0, 0, 0, 255]);
    }

    #[test]
    fn shares_are_never_more_than_everything() {
        let cells = [[1, 1, 1, 1, 1, 1, 1, 1], [3, 5, 0, 0, 0, 0, 0, 0]].map(|sums| cell(&sums, 8));
        for cell in cells {
            assert_eq!(cell.iter().map(|part| u32::from(*part)).sum::<u32>(), 255);
        }
    }
}
