//! How many ranks compute at each moment: the area below the curve is work.

use super::Selection;
use crate::index::Index;
use crate::index::category::{CATEGORIES, Category};
use rayon::prelude::*;

/// Rows that are looked at one by one, at most, where cells will do.
const MOST_ROWS: u64 = 3 << 20;

/// Mean number of the selected ranks that compute in each of so many equal stretches. With places selected, only
/// computation that leads up to calls made there counts.
pub fn parallelism(index: &Index, selection: &Selection, columns: usize) -> Vec<f32> {
    let columns = columns.max(1);
    let (from_ns, to_ns) = (selection.from.0, selection.to.0.max(selection.from.0.saturating_add(1)));
    let weighed = index.weighed(&selection.ranks);
    let rows: u64 = weighed.iter().map(|(rank, _)| index.rows_within(*rank, from_ns, to_ns)).sum();
    if selection.sites.is_empty() && rows > MOST_ROWS {
        let lines = super::timeline::timeline(
            index,
            &selection.ranks,
            from_ns,
            to_ns,
            columns,
            selection.ranks.len(),
        );
        let mut sums = vec![0f32; columns];
        for row in lines.shares.chunks_exact(columns * CATEGORIES) {
            let shares = row.iter().step_by(CATEGORIES);
            sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += f32::from(*share) / 255.0);
        }
        return sums;
    }
    let zero = || vec![0f64; columns];
    let of_rank = |mut sums: Vec<f64>, (rank, weight): &(u32, u64)| {
        let mut visit = |from, to| spread(&mut sums, *weight as f64, (from, to), (from_ns, to_ns));
        gaps(index, selection, *rank, &mut visit);
        sums
    };
    let both = |mut one: Vec<f64>, other: Vec<f64>| {
        one.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
        one
    };
    let sums = weighed.par_iter().fold(zero, of_rank).reduce(zero, both);
    sums.into_iter().map(|sum| sum as f32).collect()
}

/// Tells when a rank computes.
fn gaps(index: &Index, selection: &Selection, rank: u32, visit: &mut impl FnMut(i64, i64)) {
    let Some((begin_ns, end_ns, thread)) = index.seen(rank) else { return };
    let (from_ns, to_ns) = (selection.from.0.max(begin_ns), selection.to.0.min(end_ns));
    let mut until_ns = from_ns;
    if selection.sites.is_empty() {
        index.time(rank, from_ns, to_ns, |from, to, category| {
            debug_assert!(category != Category::Compute);
            if from > until_ns {
                visit(until_ns, from);
            }
            until_ns = until_ns.max(to);
        });
        if to_ns > until_ns {
            visit(until_ns, to_ns);
        }
        return;
    }
    // The call that ends a gap may begin behind the selection.
    index.each(rank, from_ns, end_ns, |row| {
        let Some(kind) = index.kinds().get(row.kind as usize).filter(|kind| kind.thread == thread) else {
            return;
        };
        if row.start_ns > until_ns && until_ns < to_ns && selection.has(kind) {
            visit(until_ns, row.start_ns.min(to_ns));
        }
        until_ns = until_ns.max(row.end_ns);
    });
}

/// Adds a stretch of so many ranks to the columns it lies in.
fn spread(sums: &mut [f64], weight: f64, (from, to): (i64, i64), (from_ns, to_ns): (i64, i64)) {
    let width_ns = to_ns.saturating_sub(from_ns) as f64 / sums.len() as f64;
    let (from, to) = ((from - from_ns) as f64 / width_ns, (to - from_ns) as f64 / width_ns);
    let last = (to as usize).min(sums.len() - 1);
    for (column, sum) in sums.iter_mut().enumerate().take(last + 1).skip(from as usize) {
        *sum += weight * (to.min(column as f64 + 1.0) - from.max(column as f64)).max(0.0);
    }
}
