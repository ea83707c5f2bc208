//! Chunks that are filled word by word, for streams whose records are too short for slots.
//!
//! A record is one or more words, the first of which is never zero. It is committed as slots are: its first word last,
//! after the word behind it was made zero.

use crate::Cursor;
use crate::sync::{AtomicU64, Ordering, fence};

/// Where the owning thread writes its next word.
#[derive(Debug)]
pub struct WordCursor {
    next: *const AtomicU64,
    end: *const AtomicU64,
}

// SAFETY: as a cursor of slots, a place in memory that its owner vouches for.
unsafe impl Send for WordCursor {}

impl WordCursor {
    /// A cursor with no room.
    pub const EMPTY: WordCursor = WordCursor { next: std::ptr::null(), end: std::ptr::null() };

    /// Takes over what is left of a chunk.
    pub fn of(cursor: Cursor) -> WordCursor {
        let range = cursor.into_range();
        WordCursor { next: range.start.cast(), end: range.end.cast() }
    }

    /// Gives up the chunk: it can be handed in.
    pub fn give_up(&mut self) -> Cursor {
        *self = WordCursor::EMPTY;
        Cursor::EMPTY
    }

    /// Words left.
    #[inline(always)]
    pub fn room(&self) -> usize {
        (self.end as usize - self.next as usize) / size_of::<AtomicU64>()
    }

    /// Writes a record; false if there is no room.
    #[inline(always)]
    pub fn push<const WORDS: usize>(&mut self, words: [u64; WORDS]) -> bool {
        if self.room() < WORDS {
            return false;
        }
        // SAFETY: `room` says that so many words lie inside the mapping the creator of the cursor vouched for.
        unsafe {
            // Counted by hand: adapters of iterators are called here, not inlined, and that is half of a record's cost.
            let mut index = 1;
            while index < WORDS {
                (*self.next.add(index)).store(words[index], Ordering::Relaxed);
                index += 1;
            }
            self.commit(words[0], WORDS);
        }
        true
    }

    /// Writes a record whose length is not known beforehand; false if there is no room.
    pub fn push_list(&mut self, first: u64, rest: impl ExactSizeIterator<Item = u64>) -> bool {
        let words = 1 + rest.len();
        if self.room() < words {
            return false;
        }
        // SAFETY: as above; an iterator that gives more than it said is cut.
        unsafe {
            for (index, word) in rest.take(words - 1).enumerate() {
                (*self.next.add(1 + index)).store(word, Ordering::Relaxed);
            }
            self.commit(first, words);
        }
        true
    }

    /// # Safety
    /// There is room for so many words, and all but the first were written.
    #[inline(always)]
    unsafe fn commit(&mut self, first: u64, words: usize) {
        // SAFETY: by contract; the end is excluded.
        unsafe {
            let behind = self.next.add(words);
            if behind != self.end {
                (*behind).store(0, Ordering::Relaxed);
            }
            fence(Ordering::Release);
            (*self.next).store(first, Ordering::Relaxed);
            self.next = behind;
        }
    }
}

/// The word with this index, if the bytes hold it.
#[inline(always)]
pub fn word_at(bytes: &[u8], index: usize) -> Option<u64> {
    let word = bytes.get(index * 8..index * 8 + 8)?;
    Some(u64::from_le_bytes(word.try_into().expect("8 bytes")))
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn a_reader_sees_whole_records_in_their_order_and_nothing_of_a_former_life() {
        const FORMER: u64 = 9;
        loom::model(|| {
            let words: Arc<Vec<AtomicU64>> =
                Arc::new([0, FORMER, FORMER, FORMER, FORMER].into_iter().map(AtomicU64::new).collect());
            let writer = thread::spawn({
                let words = words.clone();
                move || {
                    let range = words.as_ptr_range();
                    let mut cursor = WordCursor { next: range.start, end: range.end };
                    assert!(cursor.push([1, 1]));
                    assert!(cursor.push_list(2, [2, 2].into_iter()));
                    assert!(!cursor.push([3]));
                }
            });
            // The first record has two words, the second three, and each is its number.
            let read = || {
                let mut index = 0;
                for (number, length) in [(1, 2), (2, 3)] {
                    match words[index].load(Ordering::Acquire) {
                        0 => return number - 1,
                        first => assert_eq!(first, number),
                    }
                    (index..index + length)
                        .for_each(|at| assert_eq!(words[at].load(Ordering::Relaxed), number, "word {at}"));
                    index += length;
                }
                2
            };
            read();
            writer.join().unwrap();
            assert_eq!(read(), 2);
        });
    }
}
