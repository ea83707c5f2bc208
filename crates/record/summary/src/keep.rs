//! Which rows are kept: those with the smallest numbers of each class, the long, and the slowest.
//!
//! A class keeps the rows with the `limit` smallest numbers (a bottom-k sample), and all with a number below the
//! common threshold. Its threshold is the smallest number that was let go. A row is in if its number is below
//! the threshold, so the threshold is the probability to be kept; what the others are decides the threshold, so
//! weights of 1 / threshold are unbiased. `limit` shrinks while rows are more than there is room or wish for.
//! It depends on how many rows there are, not on which.
//!
//! An epoch ends when its rows are written out. Of classes with many calls the next epoch looks only at rows that
//! have a chance, by what was seen in the last.

use super::block::{
    ALL, Block, CLASSES, KINDS, LIVE, LONG_DECADE, PAYLOAD_WORDS, SAMPLED, SLOTS, SLOW, SLOWEST,
};
use std::sync::atomic::{Ordering, compiler_fence};

/// A class with at most so many calls is rare: all its rows are kept, whatever was wished for.
pub const RARE_CALLS: u64 = 8;
/// Rows of a class at most, for which there must be room and wish.
pub const CLASS_ROWS: u32 = 64;
/// Rows of a class of calls above 10 ms in one epoch: so many are kept whatever was wished for.
pub const LONG_ROWS: u32 = 256;

/// A class may have so many rows too many before they are dropped, all at once.
const SLACK: u32 = 16;
/// Rows that a class can have above the common threshold.
const MOST_ROWS: usize = (LONG_ROWS + SLACK + 1) as usize;
/// With fewer free slots than this, a call is evicted.
pub(super) const SPARE_SLOTS: u32 = 64;
/// As many rows as will be kept, times this, are looked at in an epoch.
const CHANCE: u64 = 8;

pub(super) fn first_limits(block: &mut Block) {
    (block.limit, block.limit_long) = (CLASS_ROWS, LONG_ROWS);
}

/// The next lower limit.
pub(super) fn lower(limit: u32) -> u32 {
    limit * 3 / 4
}

impl Block {
    /// Keeps a call, given as start and duration, if it is sampled or slow.
    pub(super) fn keep(
        &mut self,
        (start, duration): (u64, u64),
        number: u64,
        kind_index: usize,
        class_index: usize,
        payload: [u64; PAYLOAD_WORDS],
    ) {
        // Whoever was being handed the rows of this epoch will be given all of them again.
        self.draining = 0;
        if self.slots_free < SPARE_SLOTS {
            self.make_room();
        }
        let slow = duration > self.kinds[kind_index].slow_min;
        let sampled = number < self.classes[class_index].threshold;
        if !slow && !sampled {
            return;
        }
        let Some(at) = self.free_slot() else {
            self.rows_lost += 1;
            self.due = 1;
            return;
        };
        let class = &mut self.classes[class_index];
        let slot = &mut self.slots[at];
        slot.payload = payload;
        (slot.start, slot.duration, slot.number) = (start, duration, number);
        slot.class = class_index as u16;
        slot.epoch = self.epoch as u16;
        if sampled {
            slot.next = class.head;
            class.head = at as u16;
            class.kept += 1;
        }
        // The state last: a row that is there is there as a whole.
        compiler_fence(Ordering::Release);
        slot.state = LIVE | if sampled { SAMPLED } else { 0 } | if slow { SLOW } else { 0 };
        if slow {
            self.keep_slow(kind_index, at, duration);
        }
        self.shrink(class_index, SLACK);
    }

    fn free_slot(&mut self) -> Option<usize> {
        let at = match self.free_head as usize {
            0 if (self.slots_used as usize) < SLOTS => {
                self.slots_used += 1;
                self.slots_used as usize - 1
            }
            0 => return None,
            at => {
                let at = at.min(SLOTS - 1);
                self.free_head = u32::from(self.slots[at].next);
                at
            }
        };
        self.slots_free -= 1;
        Some(at)
    }

    fn let_go(&mut self, at: usize) {
        self.slots[at].state = 0;
        self.slots[at].next = self.free_head as u16;
        self.free_head = at as u32;
        self.slots_free += 1;
    }

    /// Takes the place of the quickest of the slowest.
    fn keep_slow(&mut self, kind_index: usize, at: usize, duration: u64) {
        let kind = &mut self.kinds[kind_index];
        let quickest = (0..SLOWEST).min_by_key(|&place| kind.slow[place]).unwrap_or(0);
        let before = usize::from(kind.slow_slots[quickest]).min(SLOTS - 1);
        (kind.slow[quickest], kind.slow_slots[quickest]) = (duration, at as u16);
        kind.slow_min = kind.slow.iter().copied().min().unwrap_or(0);
        if before != 0 {
            self.slots[before].state &= !SLOW;
            if self.slots[before].state & SAMPLED == 0 {
                self.let_go(before);
            }
        }
    }

    fn limit_of(&self, class_index: usize) -> u32 {
        let class = &self.classes[class_index];
        if class.sums.calls <= RARE_CALLS {
            u32::MAX
        } else if usize::from(class.decade) >= LONG_DECADE {
            self.limit_long
        } else {
            self.limit
        }
    }

    /// Lets rows of a class go once there are `slack` more than may be: then all that are too many at once.
    fn shrink(&mut self, class_index: usize, slack: u32) {
        let limit = self.limit_of(class_index);
        let class = &self.classes[class_index];
        // At the common threshold there is nothing left that may go.
        if u32::from(class.kept) <= limit.saturating_add(slack) || class.threshold <= self.base {
            return;
        }
        let (mut numbers, mut count) = ([0; MOST_ROWS], 0);
        let mut at = usize::from(class.head);
        while at != 0 && count < MOST_ROWS {
            numbers[count] = self.slots[at].number;
            count += 1;
            at = usize::from(self.slots[at].next);
        }
        let limit = limit as usize;
        if limit >= count {
            return;
        }
        let (_, &mut first_to_go, _) = numbers[..count].select_nth_unstable(limit);
        // The threshold first: a reader leaves out what is not below it.
        self.classes[class_index].threshold = first_to_go.max(self.base);
        compiler_fence(Ordering::Release);
        self.drop_above(class_index);
    }

    /// Drops the rows of a class that are not below its threshold.
    fn drop_above(&mut self, class_index: usize) {
        let threshold = self.classes[class_index].threshold;
        let (mut before, mut at) = (0, usize::from(self.classes[class_index].head));
        while at != 0 {
            let next = self.slots[at].next;
            if self.slots[at].number < threshold {
                before = at;
            } else {
                match before {
                    0 => self.classes[class_index].head = next,
                    before => self.slots[before].next = next,
                }
                self.classes[class_index].kept -= 1;
                self.slots[at].state &= !SAMPLED;
                if self.slots[at].state & SLOW == 0 {
                    self.let_go(at);
                }
            }
            at = usize::from(next);
        }
    }

    fn shrink_all(&mut self) {
        for class_index in 1..(self.classes_used as usize).min(CLASSES) {
            self.shrink(class_index, 0);
        }
    }

    fn make_room(&mut self) {
        while self.slots_free < SPARE_SLOTS && self.limit > 0 {
            self.limit = lower(self.limit);
            self.shrink_all();
        }
        if self.slots_free < SPARE_SLOTS {
            self.due = 1;
        }
    }

    /// Lets rows go until no more are kept than were wished for, or only those are left that are kept anyway.
    pub(super) fn thin_to_wish(&mut self) {
        let calls = self.calls().saturating_sub(self.epoch_calls);
        let wish = rows_wished(self.rows_wish, calls);
        while u64::from(SLOTS as u32 - 1 - self.slots_free) > wish && self.limit > 0 {
            self.limit = lower(self.limit);
            self.shrink_all();
        }
    }

    /// Empties the rows and begins the next epoch.
    pub(super) fn next_epoch(&mut self) {
        self.epoch += 1;
        // The number of the epoch first: from here on a reader takes these rows from where they were written to.
        compiler_fence(Ordering::Release);
        self.limit = (2 * self.limit).clamp(4, CLASS_ROWS);
        self.limit_long = LONG_ROWS;
        for class_index in 1..(self.classes_used as usize).min(CLASSES) {
            let (limit, base) = (u64::from(self.limit), self.base);
            let class = &mut self.classes[class_index];
            let calls = class.sums.calls.saturating_sub(class.epoch_calls);
            let rare = class.sums.calls <= RARE_CALLS || usize::from(class.decade) >= LONG_DECADE;
            let looked_at = CHANCE * limit;
            class.threshold =
                if rare || calls <= looked_at { ALL } else { (ALL / calls * looked_at).max(base) };
            class.epoch_calls = class.sums.calls;
            (class.head, class.kept) = (0, 0);
        }
        for kind in &mut self.kinds[..KINDS] {
            kind.slow_slots = [0; SLOWEST];
        }
        for slot in &mut self.slots[..(self.slots_used as usize).min(SLOTS)] {
            slot.state = 0;
        }
        (self.slots_used, self.free_head) = (1, 0);
        self.slots_free = SLOTS as u32 - 1;
        self.epoch_calls = self.calls();
    }
}

/// Rows that were wished for of so many calls.
pub(super) fn rows_wished(wish: u64, calls: u64) -> u64 {
    ((u128::from(wish) * u128::from(calls)) >> 32) as u64
}
