//! Ranks in shares, one for each thread, and what is done for all shares at the same time.
//!
//! Steps of all ranks lie in one list from the moment all rows have been read. Ties lie in a list for each share until it is
//! known which of them stay: a step counts its ties from the first of its share. So each thread changes ties of its own, and
//! those of another partition are found by the step.
//!
//! The result is in the order of the partitions, whichever is done first.

use crate::step::{Step, Tie};
use std::ops::Range;

/// Bytes that are moved before their old room is given back.
const MOVED_BYTES: usize = 512 << 10;

/// What is known of some ranks, one behind the other.
pub(crate) struct Share {
    /// Their steps among those of all.
    pub steps: Range<usize>,
    /// Ties of these steps.
    pub ties: Vec<Tie>,
    /// Steps that may wait until a receiver is ready, counted from the first.
    pub waiting: Vec<u64>,
}

/// All steps, and the ties of each share.
#[derive(Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub steps: &'a [Step],
    pub shares: &'a [Share],
}

impl<'a> Lists<'a> {
    /// The ties of any step.
    pub(crate) fn ties_of(&self, step: usize) -> &'a [Tie] {
        let share = self.shares.partition_point(|share| share.steps.end <= step);
        self.shares[share].ties_of(&self.steps[step])
    }
}

impl Share {
    /// The ties of one of its steps.
    #[inline]
    pub(crate) fn ties_of(&self, step: &Step) -> &[Tie] {
        &self.ties[step.first_tie as usize..][..step.ties as usize]
    }

    /// Steps that may wait until a receiver is ready.
    pub(crate) fn waiting<'a>(&self, steps: &'a [Step]) -> impl Iterator<Item = &'a Step> {
        let own = &steps[self.steps.clone()];
        self.waiting.iter().map(|step| &own[*step as usize])
    }
}

/// Parts of a list with these lengths, one behind the other.
pub(crate) fn split<T>(
    mut list: &mut [T],
    lengths: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = &mut [T]> {
    lengths.into_iter().map(move |length| list.split_off_mut(..length).unwrap_or_default())
}

/// Moves values to where they belong, and frees their old memory meanwhile, so that both copies never exist at once.
pub(crate) fn move_into<T: Copy>(mut values: Vec<T>, place: &mut [T]) {
    let at_a_time = MOVED_BYTES / size_of::<T>();
    while !values.is_empty() {
        let rest = values.len().saturating_sub(at_a_time);
        place[rest..values.len()].copy_from_slice(&values[rest..]);
        values.truncate(rest);
        values.shrink_to_fit();
    }
}
