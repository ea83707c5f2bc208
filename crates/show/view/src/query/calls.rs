//! Calls one by one, when there are few enough to be told apart.

use super::{Selection, TooMany};
use crate::index::Index;
use rayon::prelude::*;

/// Calls as columns, by rank as selected, then by start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// When each began.
    pub start_ns: Vec<i64>,
    /// When it returned.
    pub end_ns: Vec<i64>,
    /// Whose it was.
    pub rank: Vec<u32>,
    /// Number of the function.
    pub op: Vec<u16>,
    /// Index of the place it was called from; `u32::MAX` if that is not known.
    pub site: Vec<u32>,
    /// Which thread of the rank.
    pub thread: Vec<u32>,
}

/// The calls of a selection, unless there are more than `limit`.
pub fn calls(index: &Index, selection: &Selection, limit: u64) -> Result<Calls, TooMany> {
    let wanted = selection.kinds(index);
    let is_wanted = |kind: u32| wanted.get(kind as usize).copied().unwrap_or(false);
    let (from_ns, to_ns) = (selection.from.0, selection.to.0);
    let count_of = |(rank, weight): &(u32, u64)| {
        let mut count = 0u64;
        index.each(*rank, from_ns, to_ns, |row| count += u64::from(is_wanted(row.kind)));
        count * weight
    };
    let count: u64 = index.weighed(&selection.ranks).par_iter().map(count_of).sum();
    if count > limit {
        return Err(TooMany { count });
    }
    let mut calls = Calls::default();
    for rank in &selection.ranks {
        index.each(*rank, from_ns, to_ns, |row| {
            let Some(kind) = index.kinds().get(row.kind as usize).filter(|_| is_wanted(row.kind)) else {
                return;
            };
            calls.start_ns.push(row.start_ns);
            calls.end_ns.push(row.end_ns);
            calls.rank.push(*rank);
            calls.op.push(kind.op().0);
            calls.site.push(kind.site().unwrap_or(u32::MAX));
            calls.thread.push(kind.thread);
        });
    }
    Ok(calls)
}
