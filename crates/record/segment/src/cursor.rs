//! The hot path: claiming slots and committing records.

use crate::sync::{AtomicU64, Ordering, fence};

/// 32 bytes of a chunk.
#[repr(C, align(32))]
pub struct Slot([AtomicU64; 4]);

const _: () = assert!(cfg!(loom) || size_of::<Slot>() == crate::SLOT_BYTES);

impl Slot {
    /// Commits a record's slot: the first word last, so that a reader sees all of it or nothing.
    #[inline(always)]
    pub fn commit(&self, words: [u64; 4]) {
        self.fill_rest(words);
        self.0[0].store(words[0], Ordering::Release);
    }

    /// Fills a slot that is not a record's first.
    #[inline(always)]
    pub fn fill(&self, words: [u64; 4]) {
        self.0[0].store(words[0], Ordering::Relaxed);
        self.fill_rest(words);
    }

    #[inline(always)]
    fn fill_rest(&self, words: [u64; 4]) {
        self.0[1].store(words[1], Ordering::Relaxed);
        self.0[2].store(words[2], Ordering::Relaxed);
        self.0[3].store(words[3], Ordering::Relaxed);
    }

    /// Sets one word; single 8-byte stores are never torn.
    #[inline(always)]
    pub fn set_word(&self, index: usize, value: u64) {
        self.0[index].store(value, Ordering::Relaxed);
    }

    /// Adds to one word; the owner is the only writer.
    #[inline(always)]
    pub fn add_word(&self, index: usize, value: u64) {
        let sum = self.0[index].load(Ordering::Relaxed).wrapping_add(value);
        self.0[index].store(sum, Ordering::Release);
    }
}

/// Where the owning thread writes next.
#[repr(C)]
#[derive(Debug)]
pub struct Cursor {
    next: *const Slot,
    end: *const Slot,
}

// SAFETY: a cursor is a place in memory that its owner vouches for; it may move to another thread with it.
unsafe impl Send for Cursor {}

impl Cursor {
    /// A cursor with no room.
    pub const EMPTY: Cursor = Cursor { next: std::ptr::null(), end: std::ptr::null() };

    /// A cursor over `slots` slots at `first`, the first of which begins with zero.
    ///
    /// # Safety
    /// The slots must stay mapped and unshared with other writers as long as the cursor is used.
    pub unsafe fn new(first: *const Slot, slots: usize) -> Cursor {
        // SAFETY: the caller vouches for the range.
        Cursor { next: first, end: unsafe { first.add(slots) } }
    }

    /// The slots that are left, for one who divides them in another way.
    pub(crate) fn into_range(self) -> std::ops::Range<*const Slot> {
        self.next..self.end
    }

    /// Slots left.
    #[inline(always)]
    pub fn room(&self) -> usize {
        // Both ends lie in one mapping (or are both null).
        (self.end as usize - self.next as usize) / size_of::<Slot>()
    }

    /// The next `count` slots, not yet taken; `None` if there are fewer.
    #[inline(always)]
    pub fn peek(&self, count: usize) -> Option<&[Slot]> {
        if self.room() < count {
            return None;
        }
        // SAFETY: `room` says the slots lie inside the mapping the creator vouched for.
        Some(unsafe { std::slice::from_raw_parts(self.next, count) })
    }

    /// Makes the slot behind the next `count` say "nothing here yet": it may hold a record of the chunk's
    /// former life.
    #[inline(always)]
    fn terminate(&self, count: usize) {
        // SAFETY: `peek` established that the slots before it lie inside the mapping; the end is excluded.
        unsafe {
            let behind = self.next.add(count);
            if behind != self.end {
                (*behind).set_word(0, 0);
            }
        }
    }

    /// Moves on behind `count` slots that `peek` gave and that were written.
    #[inline(always)]
    fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.room());
        // SAFETY: within the mapping, by the assertion's condition, which `peek` established.
        self.next = unsafe { self.next.add(count) };
    }

    /// Writes a record of one slot; false if there is no room.
    #[inline(always)]
    pub fn push(&mut self, words: [u64; 4]) -> bool {
        match self.peek(1) {
            Some(slots) => {
                self.terminate(1);
                slots[0].commit(words);
                self.advance(1);
                true
            }
            None => false,
        }
    }

    /// Writes a record of several slots; false if there is no room.
    pub fn push_all(&mut self, first: [u64; 4], rest: impl ExactSizeIterator<Item = [u64; 4]>) -> bool {
        let count = 1 + rest.len();
        let Some(slots) = self.peek(count) else { return false };
        for (slot, words) in slots[1..].iter().zip(rest) {
            slot.fill(words);
        }
        self.terminate(count);
        fence(Ordering::Release);
        slots[0].commit(first);
        self.advance(count);
        true
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// A chunk of so many slots behind its header: all but the first hold what was there in the chunk's former life.
    fn chunk(slots: usize) -> Arc<Vec<Slot>> {
        let slot = |index| {
            let first = if index == 0 { 0 } else { head(FORMER, 1) };
            Slot([first, FORMER, FORMER, FORMER].map(AtomicU64::new))
        };
        Arc::new((0..slots).map(slot).collect())
    }

    const FORMER: u64 = 9;

    /// The first word of a record with this number, which is so many slots long. All its other words are the number.
    fn head(number: u64, slots: usize) -> u64 {
        number << 8 | slots as u64
    }

    /// Reads as readers of a live segment do, and gives how many records there are, which are whole and in their order.
    fn records(slots: &[Slot]) -> u64 {
        let (mut number, mut index) = (0, 0);
        while let Some(slot) = slots.get(index) {
            let first = slot.0[0].load(Ordering::Acquire);
            if first == 0 {
                break;
            }
            number += 1;
            assert_eq!(first >> 8, number);
            let length = (first & 0xff) as usize;
            let words = slots[index..index + length].iter().flat_map(|slot| &slot.0).skip(1);
            let others = words.map(|word| word.load(Ordering::Relaxed));
            others.enumerate().for_each(|(at, word)| assert_eq!(word, number, "word {at}"));
            index += length;
        }
        number
    }

    #[test]
    fn a_reader_sees_whole_records_in_their_order_and_nothing_of_a_former_life() {
        loom::model(|| {
            let slots = chunk(4);
            let writer = thread::spawn({
                let slots = slots.clone();
                move || {
                    // SAFETY: the slots outlive the thread, and no other thread writes them.
                    let mut cursor = unsafe { Cursor::new(slots.as_ptr(), slots.len()) };
                    assert!(cursor.push([head(1, 1), 1, 1, 1]));
                    assert!(cursor.push_all([head(2, 2), 2, 2, 2], [[2; 4]].into_iter()));
                    assert!(cursor.push([head(3, 1), 3, 3, 3]));
                    assert!(!cursor.push([head(4, 1), 4, 4, 4]));
                }
            });
            records(&slots);
            writer.join().unwrap();
            assert_eq!(records(&slots), 3);
        });
    }
}
