//! What counters counted before and inside the call that follows.

use crate::Record;
use crate::words::{slots_behind, word};
use kizami_segment::SLOT_BYTES;

/// More than any program counts: a damaged record must not ask for much.
const MOST_COUNTERS: usize = 256;

/// Slots behind the first for so many counters.
pub fn counted_slots(count: usize) -> usize {
    count.saturating_sub(1).div_ceil(2)
}

pub(crate) fn unpack_counted(first: [u64; 4], bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let count = usize::try_from(first[1]).ok().filter(|count| (1..=MOST_COUNTERS).contains(count))?;
    let list = slots_behind(bytes, counted_slots(count))?;
    let rest = list.chunks_exact(SLOT_BYTES / 2).map(|pair| [word(pair, 0), word(pair, 1)]);
    let pairs = std::iter::once([first[2], first[3]]).chain(rest).take(count).collect();
    Some((Record::Counted(pairs), 1 + counted_slots(count)))
}
