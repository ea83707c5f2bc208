//! Computation between calls, added up by what came before and what came after.
//!
//! A program that computes between a barrier and the first of three sends computes there, not before every send. So
//! time between two calls is added to the pair of their kinds. Pairs that find no room are added to the class of the
//! later call, as if what came before were not known.

use super::block::{Block, GAPS, GAPS_KNOWN, KEY_USED, KINDS};
use super::reducer::Reducer;

/// Bits of a kind's place in a key; the place of the kind before is above them, one more than it is, 0 for none.
const KIND_BITS: u32 = KINDS.trailing_zeros();

/// The kinds of the calls before and after a gap, by their places in the block.
pub(super) fn kinds_of(key: u64) -> (Option<usize>, usize) {
    let places = key & !KEY_USED;
    let before = ((places >> KIND_BITS) as usize).checked_sub(1);
    (before, places as usize & (KINDS - 1))
}

impl Reducer<'_> {
    /// What comes next follows nothing: another thread goes on here.
    pub fn forget_last(&mut self) {
        self.block.last_kind = 0;
    }
}

impl Block {
    /// Adds the time between the call before and one of this kind, which is in this class.
    #[inline(always)]
    pub(super) fn add_gap(&mut self, kind_index: usize, class_index: usize, ticks: u64) {
        let before = self.last_kind;
        self.last_kind = kind_index as u32 + 1;
        let key = KEY_USED | u64::from(before) << KIND_BITS | kind_index as u64;
        // Places of kinds are spread already.
        let mut at = (kind_index + 3 * before as usize) & (GAPS - 1);
        loop {
            let gap = &mut self.gaps[at];
            if gap.key == key {
                gap.calls = gap.calls.wrapping_add(1);
                gap.ticks = gap.ticks.wrapping_add(ticks);
                return;
            }
            if gap.key == 0 {
                return self.begin_gap(key, at, class_index, ticks);
            }
            at = (at + 1) & (GAPS - 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_gap(&mut self, key: u64, at: usize, class_index: usize, ticks: u64) {
        if self.gaps_used as usize >= GAPS_KNOWN {
            let class = &mut self.classes[class_index];
            class.before_ticks = class.before_ticks.wrapping_add(ticks);
            return;
        }
        self.gaps_used += 1;
        let gap = &mut self.gaps[at];
        (gap.calls, gap.ticks) = (1, ticks);
        gap.key = key;
    }
}
