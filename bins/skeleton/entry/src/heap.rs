//! `malloc` for a rank: a stretch of memory that is given out front to back, with lists of what was freed, and forgotten as
//! a whole when the rank ends.

use crate::reserved::Reserved;
use std::ptr;

/// Memory of which every rank has a part.
pub struct Heaps(Reserved);

impl Heaps {
    /// So many heaps of so many bytes.
    pub fn reserve(count: usize, each: usize) -> std::io::Result<Heaps> {
        Ok(Heaps(Reserved::new(count, each)?))
    }

    /// One of them.
    pub fn get(&self, index: usize) -> Heap {
        let (begin, end) = self.0.part(index);
        Heap { begin, next: begin, end, touched: begin, free: [0; CLASSES] }
    }
}

const CLASSES: usize = 128;
/// Before each block stands its size.
const HEADER: usize = 16;
/// More than this is given back to the system when a rank ends; less is faster kept.
const KEPT: usize = 4 << 20;

/// The heap of one rank.
pub struct Heap {
    begin: usize,
    next: usize,
    end: usize,
    /// Behind this nothing was ever written: it is zero.
    touched: usize,
    /// By class of size: the first free block, each of which names the next.
    free: [usize; CLASSES],
}

/// Sizes in steps of a quarter of a power of two.
fn class(bytes: usize) -> (usize, usize) {
    let bytes = bytes.max(16);
    let power = usize::BITS - 1 - ((bytes - 1) | 1).leading_zeros();
    let quarter = 1usize << power >> 2;
    let size = bytes.next_multiple_of(quarter.max(16));
    let power_of_size = usize::BITS as usize - 1 - size.leading_zeros() as usize;
    let step = (size - (1 << power_of_size)) / (1usize << power_of_size >> 2).max(1);
    (((power_of_size - 4) * 4 + step).min(CLASSES - 1), size)
}

impl Heap {
    /// Forgets everything.
    pub fn reset(&mut self) {
        if self.next - self.begin > KEPT {
            // SAFETY: memory of this heap, which the rank that ended had alone.
            unsafe { libc::madvise(self.begin as *mut _, self.next - self.begin, libc::MADV_DONTNEED) };
            self.touched = self.begin;
        } else {
            self.touched = self.touched.max(self.next);
        }
        self.next = self.begin;
        self.free = [0; CLASSES];
    }

    /// `malloc`; 0 if there is no room.
    pub fn allocate(&mut self, bytes: usize, zeroed: bool) -> usize {
        // Sizes near the largest number cannot be rounded up.
        if bytes > self.end - self.begin {
            return 0;
        }
        let (class, size) = class(bytes);
        let first = self.free[class];
        if first != 0 {
            // SAFETY: a block that was freed: it is ours, and its first word names the next one.
            unsafe {
                self.free[class] = *(first as *const usize);
                if zeroed {
                    ptr::write_bytes(first as *mut u8, 0, bytes);
                }
            }
            return first;
        }
        if size + HEADER > self.end - self.next {
            return 0;
        }
        let block = self.next + HEADER;
        self.next = block + size;
        // SAFETY: room that nobody has yet.
        unsafe {
            *((block - HEADER) as *mut usize) = size;
            if zeroed && block < self.touched {
                ptr::write_bytes(block as *mut u8, 0, bytes.min(self.touched - block));
            }
        }
        block
    }

    /// The same at a multiple of `alignment`.
    pub fn allocate_aligned(&mut self, bytes: usize, alignment: usize) -> usize {
        if alignment <= 16 {
            return self.allocate(bytes, false);
        }
        let room = self.end - self.begin;
        if bytes > room || alignment > room {
            return 0;
        }
        let block = (self.next + HEADER).next_multiple_of(alignment);
        let size = class(bytes).1;
        if block + size > self.end {
            return 0;
        }
        self.next = block + size;
        // SAFETY: room that nobody has yet; the header lies behind what was given out before.
        unsafe { *((block - HEADER) as *mut usize) = size };
        block
    }

    /// Whether a block is of this heap.
    pub fn owns(&self, block: usize) -> bool {
        block > self.begin && block < self.next
    }

    /// `free`; what is not of this heap is let alone.
    pub fn free(&mut self, block: usize) {
        if !self.owns(block) {
            return;
        }
        // SAFETY: a block that `allocate` gave out, as C asks for.
        unsafe {
            let (class, _) = class(*((block - HEADER) as *const usize));
            *(block as *mut usize) = self.free[class];
            self.free[class] = block;
        }
    }

    /// `realloc`.
    pub fn reallocate(&mut self, block: usize, bytes: usize) -> usize {
        if block == 0 {
            return self.allocate(bytes, false);
        }
        // SAFETY: as for `free`.
        let size = unsafe { *((block - HEADER) as *const usize) };
        if bytes <= size {
            return block;
        }
        let other = self.allocate(bytes, false);
        if other != 0 {
            // SAFETY: two blocks of this heap, the new one is the longer.
            unsafe { ptr::copy_nonoverlapping(block as *const u8, other as *mut u8, size) };
            self.free(block);
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_overlap_and_are_reused() {
        let heaps = Heaps::reserve(1, 1 << 24).unwrap();
        let mut heap = heaps.get(0);
        let blocks: Vec<(usize, usize)> =
            (1..300).map(|bytes| (heap.allocate(bytes * 7, false), bytes * 7)).collect();
        for pair in blocks.windows(2) {
            assert!(pair[0].0 % 16 == 0 && pair[0].0 + pair[0].1 <= pair[1].0 - HEADER);
        }
        let (first, bytes) = blocks[100];
        heap.free(first);
        assert_eq!(heap.allocate(bytes, true), first);
        heap.reset();
        let again = heap.allocate(64, true);
        // SAFETY: the block that was just given out.
        assert!(unsafe { std::slice::from_raw_parts(again as *const u8, 64) }.iter().all(|byte| *byte == 0));
    }
}
