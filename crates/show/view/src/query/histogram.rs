//! How long calls took: counts and times by length, ten buckets to a factor of ten, and the calls of a bucket.

use super::Selection;
use crate::index::Index;
use kizami_model::{Length, Moment, Op};
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;

const BUCKETS_PER_DECADE: f64 = 10.0;

/// Lengths of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Histogram {
    /// Those with calls and all between them, the shortest first.
    pub buckets: Vec<Bucket>,
    /// Calls in all.
    pub count: u64,
    /// Time in them.
    pub total_ns: i64,
}

/// Calls of about one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Bucket {
    /// Shortest.
    pub low_ns: i64,
    /// Longer than any.
    pub high_ns: i64,
    /// How many.
    pub count: u64,
    /// How long in all.
    pub total_ns: i64,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "ListedCall"))]
pub struct Located {
    /// Whose.
    pub rank: u32,
    /// Which thread.
    pub thread: u32,
    /// When it began.
    pub start_ns: i64,
    /// When it returned.
    pub end_ns: i64,
    /// Number of the function.
    pub op: u16,
    /// Index of its place.
    pub site: Option<u32>,
}

/// Borders of buckets: whole nanoseconds, each once.
fn borders() -> Vec<i64> {
    let mut borders = vec![0];
    let border = |number: i32| 10f64.powf(f64::from(number) / BUCKETS_PER_DECADE).round();
    borders.extend((0..).map(border).take_while(|ns| *ns < 9e18).map(|ns| ns as i64));
    borders.dedup();
    borders
}

/// Lengths of the calls of a selection; of one function if it is given.
pub fn histogram(index: &Index, selection: &Selection, op: Option<Op>) -> Histogram {
    let wanted = wanted(index, selection, op);
    let borders = borders();
    let zero = || vec![(0u64, 0i64); borders.len()];
    let of_rank = |mut sums: Vec<(u64, i64)>, (rank, weight): &(u32, u64)| {
        index.each(*rank, selection.from.0, selection.to.0, |row| {
            if wanted.get(row.kind as usize).copied().unwrap_or(false) {
                let length_ns = row.end_ns - row.start_ns;
                let sum = &mut sums[borders.partition_point(|border| *border <= length_ns) - 1];
                *sum = (sum.0 + weight, sum.1.saturating_add(length_ns.saturating_mul(*weight as i64)));
            }
        });
        sums
    };
    let both = |mut one: Vec<(u64, i64)>, other: Vec<(u64, i64)>| {
        let pairs = one.iter_mut().zip(other);
        pairs.for_each(|(sum, other)| *sum = (sum.0 + other.0, sum.1.saturating_add(other.1)));
        one
    };
    let sums = index.weighed(&selection.ranks).par_iter().fold(zero, of_rank).reduce(zero, both);
    let first = sums.iter().position(|sum| sum.0 > 0).unwrap_or(0);
    let end = sums.iter().rposition(|sum| sum.0 > 0).map_or(0, |last| last + 1);
    let bucket = |place: usize| Bucket {
        low_ns: borders[place],
        high_ns: borders.get(place + 1).copied().unwrap_or(i64::MAX),
        count: sums[place].0,
        total_ns: sums[place].1,
    };
    Histogram {
        buckets: (first..end).map(bucket).collect(),
        count: sums.iter().map(|sum| sum.0).sum(),
        total_ns: sums.iter().fold(0, |all, sum| all.saturating_add(sum.1)),
    }
}

/// The longest calls of a selection of these lengths, at most so many.
pub fn calls_of_length(
    index: &Index,
    selection: &Selection,
    op: Option<Op>,
    lengths: Range<Length>,
    limit: usize,
) -> Vec<Located> {
    let wanted = wanted(index, selection, op);
    let of_rank = |rank: &u32| {
        let mut found = Vec::new();
        index.each(*rank, selection.from.0, selection.to.0, |row| {
            let fits = lengths.contains(&(Moment(row.end_ns) - Moment(row.start_ns)));
            let Some(kind) =
                index.kinds().get(row.kind as usize).filter(|_| fits && wanted[row.kind as usize])
            else {
                return;
            };
            let (start_ns, end_ns, thread) = (row.start_ns, row.end_ns, kind.thread);
            found.push(Located { rank: *rank, thread, start_ns, end_ns, op: kind.op().0, site: kind.site() });
            if found.len() > 2 * limit + 1024 {
                shorten(&mut found, limit);
            }
        });
        shorten(&mut found, limit);
        found
    };
    let ranks = index.first_of_each(&selection.ranks, limit);
    let mut found: Vec<Located> = ranks.par_iter().flat_map_iter(of_rank).collect();
    shorten(&mut found, limit);
    found
}

/// Keeps the longest.
fn shorten(found: &mut Vec<Located>, limit: usize) {
    found.sort_unstable_by_key(|call| {
        (std::cmp::Reverse(call.end_ns - call.start_ns), call.rank, call.start_ns)
    });
    found.truncate(limit);
}

fn wanted(index: &Index, selection: &Selection, op: Option<Op>) -> Vec<bool> {
    let mut wanted = selection.kinds(index);
    let of_op = |kind: &crate::index::Kind| op.is_none_or(|op| kind.op() == op);
    wanted.iter_mut().zip(index.kinds()).for_each(|(wanted, kind)| *wanted &= of_op(kind));
    wanted
}
