//! What ranks did over time: shares of each category in equal stretches, one row for one or several ranks.
//!
//! Few rows are looked at one by one, so that shares are exact. For many, cells of the level that is just finer than
//! the stretches are added up, each with the part of it that lies within.

use crate::index::category::{CATEGORIES, Category};
use crate::index::{Cell, Index};
use rayon::prelude::*;

/// Rows are looked at one by one as long as they and the cells of the picture are at most so many together: both take
/// time, and a picture should take none to speak of.
const MOST_ROWS_AND_CELLS: u64 = 5 << 19;
/// A stretch takes parts of at most so many cells.
const MOST_CELLS: usize = 4;
/// Parts of a stretch; with 255 parts of a share the sum fits 16 bits.
const WHOLE: u16 = 256;

/// Shares by row, column and category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Stretches of time.
    pub columns: usize,
    /// The first rank of each row.
    pub first_ranks: Vec<u32>,
    /// In 255 parts, by row, column and category; each column adds up to 255.
    pub shares: Vec<u8>,
}

/// Divides the time between two moments into columns, and ranks, in this order, into rows.
pub fn timeline(
    index: &Index,
    ranks: &[u32],
    from_ns: i64,
    to_ns: i64,
    columns: usize,
    rows: usize,
) -> Timeline {
    let (weighed, pictured) = (index.weighed(ranks), rows.min(ranks.len()));
    let found: u64 = weighed.iter().map(|(rank, _)| index.rows_within(*rank, from_ns, to_ns)).sum();
    // Ranks that are alike are looked at once for each row.
    let found = if index.alike().is_some() { found * pictured as u64 } else { found };
    let to_ns = to_ns.max(from_ns.saturating_add(1));
    if found + (columns * pictured) as u64 > MOST_ROWS_AND_CELLS {
        return from_cells(index, ranks, from_ns, to_ns, columns, rows);
    }
    by_row(ranks, columns, rows, |ranks, shares| exact_row(index, ranks, from_ns, to_ns, columns, shares))
}

/// The same from cells, however few rows there are.
pub fn from_cells(
    index: &Index,
    ranks: &[u32],
    from_ns: i64,
    to_ns: i64,
    columns: usize,
    rows: usize,
) -> Timeline {
    let plan = Plan::new(index, from_ns, to_ns.max(from_ns.saturating_add(1)), columns);
    by_row(ranks, columns, rows, |ranks, shares| plan.row(index, ranks, shares))
}

/// Makes all rows; each has as many ranks, the last may have fewer.
fn by_row(ranks: &[u32], columns: usize, rows: usize, make: impl Fn(&[u32], &mut [u8]) + Sync) -> Timeline {
    let ranks_of_a_row = ranks.len().div_ceil(rows.max(1)).max(1);
    let first_ranks: Vec<u32> = ranks.chunks(ranks_of_a_row).map(|of_row| of_row[0]).collect();
    let mut shares = vec![0; first_ranks.len() * columns * CATEGORIES];
    let of_rows = shares.par_chunks_mut((columns * CATEGORIES).max(1)).zip(ranks.par_chunks(ranks_of_a_row));
    of_rows.for_each(|(shares, of_row)| make(of_row, shares));
    Timeline { columns, first_ranks, shares }
}

/// Parts of a column in which time is added up where rows are looked at one by one, as a power of two.
const COLUMN_BITS: u32 = 16;

/// Adds up the time of each category in each column.
fn exact_row(index: &Index, ranks: &[u32], from_ns: i64, to_ns: i64, columns: usize, shares: &mut [u8]) {
    let parts_per_ns = (columns << COLUMN_BITS) as f64 / to_ns.saturating_sub(from_ns) as f64;
    let mut sums = vec![[0u64; CATEGORIES - 1]; columns];
    for (rank, weight) in index.weighed(ranks) {
        let mut add = |from: i64, to: i64, category: Category| {
            let Some(place) = (category as usize).checked_sub(1) else { return };
            let part = |ns: i64| (ns.saturating_sub(from_ns) as f64 * parts_per_ns) as u64;
            let (mut from, to) = (part(from), part(to));
            while let Some(sums) = sums.get_mut((from >> COLUMN_BITS) as usize).filter(|_| from < to) {
                let until = to.min(((from >> COLUMN_BITS) + 1) << COLUMN_BITS);
                sums[place] += (until - from) * weight;
                from = until;
            }
        };
        index.time(rank, from_ns, to_ns, &mut add);
        // A picture may reach beyond the run.
        let (begin_ns, end_ns) = (index.begin_ns().max(from_ns), index.end_ns().min(to_ns));
        if begin_ns > from_ns {
            add(from_ns, begin_ns.min(to_ns), Category::NoRecord);
        }
        if end_ns < to_ns {
            add(end_ns.max(from_ns), to_ns, Category::NoRecord);
        }
    }
    // Several ranks make a share of more parts; dividing first keeps the product small.
    let several = ranks.len().max(1) as u64;
    for (sums, shares) in sums.iter().zip(shares.chunks_exact_mut(CATEGORIES)) {
        let of_one = if several == 1 { *sums } else { sums.map(|parts| parts / several) };
        put(of_one.map(|parts| ((parts * 255 + (1 << (COLUMN_BITS - 1))) >> COLUMN_BITS) as u16), shares);
    }
}

/// Writes shares; computation is the rest.
#[inline(always)]
fn put(others: [u16; CATEGORIES - 1], shares: &mut [u8]) {
    let (computation, rest) = shares.split_at_mut(1);
    let sum: u16 = others.iter().sum();
    if sum <= 255 {
        computation[0] = (255 - sum) as u8;
        rest.iter_mut().zip(others).for_each(|(share, other)| *share = other as u8);
        return;
    }
    // Rounded up more often than down: the last ones give way.
    let mut left = 255;
    for (share, other) in rest.iter_mut().zip(others) {
        let other = other.min(left);
        *share = other as u8;
        left -= other;
    }
    computation[0] = left as u8;
}

/// Which cells make up each column, and how much of it each is: the same for all ranks.
struct Plan {
    level: u32,
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Default)]
struct Column {
    first: u32,
    parts: [u16; MOST_CELLS],
    /// Part beyond the run.
    outside: u16,
}

impl Plan {
    fn new(index: &Index, from_ns: i64, to_ns: i64, columns: usize) -> Plan {
        let division = index.division();
        let width_ns = to_ns.saturating_sub(from_ns) as f64 / columns as f64;
        let fits = |level: &u32| division.width_ns(*level) as f64 <= width_ns;
        let level = (0..division.levels).rev().find(fits).unwrap_or(0);
        let (cell_ns, cells) = (division.width_ns(level) as f64, division.bins_of(level));
        // What is left over on the coarsest level does not fit and is not needed: runs are not drawn that small.
        let begin = (from_ns - division.begin_ns) as f64 / cell_ns;
        let step = (width_ns / cell_ns).min((MOST_CELLS - 1) as f64);
        let column = |column: usize| {
            let from = begin + column as f64 * width_ns / cell_ns;
            let first = from.floor();
            let mut made = Column { first: first.clamp(0.0, u32::MAX as f64) as u32, ..Column::default() };
            let mut done = 0;
            for part in 0..MOST_CELLS {
                let until = (first + part as f64 + 1.0 - from).min(step) / step;
                let until = (until * f64::from(WHOLE)).round() as u16;
                let cell = first + part as f64;
                match cell >= 0.0 && cell < cells as f64 {
                    true if first >= 0.0 => made.parts[part] = until - done,
                    _ => made.outside += until - done,
                }
                done = until;
            }
            made
        };
        Plan { level, columns: (0..columns).map(column).collect() }
    }

    fn row(&self, index: &Index, ranks: &[u32], shares: &mut [u8]) {
        if let [rank] = ranks {
            let cells = index.cells(self.level, *rank);
            for (column, shares) in self.columns.iter().zip(shares.chunks_exact_mut(CATEGORIES)) {
                put(column.of(cells).map(|share| share.saturating_add(128) >> 8), shares);
            }
            return;
        }
        let mut sums = vec![[0u32; CATEGORIES - 1]; self.columns.len()];
        for (rank, weight) in index.weighed(ranks) {
            let cells = index.cells(self.level, rank);
            for (column, sums) in self.columns.iter().zip(&mut sums) {
                let own = column.of(cells);
                sums.iter_mut()
                    .zip(own)
                    .for_each(|(sum, share)| *sum += (u32::from(share) >> 4) * weight as u32);
            }
        }
        let whole = ranks.len() as u32 * u32::from(WHOLE >> 4);
        for (sums, shares) in sums.iter().zip(shares.chunks_exact_mut(CATEGORIES)) {
            put(sums.map(|sum| ((sum + whole / 2) / whole) as u16), shares);
        }
    }
}

impl Column {
    /// Shares in 255 times [`WHOLE`] parts.
    #[inline(always)]
    fn of(&self, cells: &[Cell]) -> [u16; CATEGORIES - 1] {
        let mut sums = [0u16; CATEGORIES - 1];
        let first = (self.first as usize).min(cells.len());
        for (cell, part) in cells[first..].iter().zip(self.parts) {
            for (sum, share) in sums.iter_mut().zip(cell) {
                *sum += u16::from(*share) * part;
            }
        }
        sums[Category::NoRecord as usize - 1] += self.outside * 255;
        sums
    }
}
