//! Memory for the tracer where the program has used up all it may have.
//!
//! A program under a limit (`ulimit -v`, a batch system) may live on when an allocation fails; Rust ends the process. So
//! whatever the tracer still needs then, to say that it records no more, comes from a piece that was set aside when the library was
//! loaded. It is used only then, and where little is left: there the system gives each piece as a mapping of its own, and
//! libraries that watch mappings end the program when they find no memory for that. Of what is taken from it, only the last
//! piece can be given back.

use kizami_segment::headroom;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What some eighty threads need to begin. Nothing of it is touched before it is needed.
const BYTES: usize = 2 << 20;
/// With less than this left the system's allocator has no room for what it gives a thread to take pieces from.
const LITTLE: u64 = 64 << 20;

/// The allocator of the system, with something set aside.
pub struct Reserve {
    aside: UnsafeCell<[u8; BYTES]>,
    used: AtomicUsize,
}

// SAFETY: every byte of what is set aside is given out once.
unsafe impl Sync for Reserve {}

impl std::fmt::Debug for Reserve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reserve").field("used", &self.used).finish_non_exhaustive()
    }
}

impl Default for Reserve {
    fn default() -> Reserve {
        Reserve::new()
    }
}

impl Reserve {
    /// With nothing used.
    pub const fn new() -> Reserve {
        Reserve { aside: UnsafeCell::new([0; BYTES]), used: AtomicUsize::new(0) }
    }

    fn has(&self, piece: *mut u8) -> bool {
        let first = self.aside.get() as usize;
        (first..first + BYTES).contains(&(piece as usize))
    }

    /// A piece of what is set aside, if little else is left.
    fn take_early(&self, layout: Layout) -> *mut u8 {
        match headroom::left_bytes() {
            Some(left) if left < LITTLE => self.take(layout),
            _ => std::ptr::null_mut(),
        }
    }

    /// A piece of what is set aside; nothing if there is not enough left.
    fn take(&self, layout: Layout) -> *mut u8 {
        let first = self.aside.get() as usize;
        let place = |used: usize| {
            let at = (first + used).checked_next_multiple_of(layout.align())? - first;
            let end = at.checked_add(layout.size())?;
            (end <= BYTES).then_some((at, end))
        };
        let next = |used| place(used).map(|(_, end)| end);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(used) => place(used).map_or(std::ptr::null_mut(), |(at, _)| (first + at) as *mut u8),
            Err(_) => std::ptr::null_mut(),
        }
    }
}

// SAFETY: pieces are those of the system, or of what is set aside, which their address shows.
unsafe impl GlobalAlloc for Reserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let early = self.take_early(layout);
        if !early.is_null() {
            return early;
        }
        // SAFETY: as promised to us.
        let piece = unsafe { System.alloc(layout) };
        if piece.is_null() { self.take(layout) } else { piece }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to us; a piece of ours is as long.
        unsafe {
            let mut piece = self.take_early(layout);
            if piece.is_null() {
                piece = System.alloc_zeroed(layout);
                if !piece.is_null() {
                    return piece;
                }
                piece = self.take(layout);
            }
            if !piece.is_null() {
                piece.write_bytes(0, layout.size());
            }
            piece
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if self.has(piece) {
            let begin = piece as usize - self.aside.get() as usize;
            let end = begin + layout.size();
            // Nobody else can give back what this one has.
            let _ = self.used.compare_exchange(end, begin, Ordering::Relaxed, Ordering::Relaxed);
        } else {
            // SAFETY: it is a piece of the system.
            unsafe { System.dealloc(piece, layout) }
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if self.has(piece) && size <= layout.size() {
            return piece;
        }
        // SAFETY: as promised to us: the size is not zero and not too large, and the piece is of the system unless it is ours.
        unsafe {
            if !self.has(piece) {
                let changed = System.realloc(piece, layout, size);
                if !changed.is_null() {
                    return changed;
                }
            }
            let other = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !other.is_null() {
                std::ptr::copy_nonoverlapping(piece, other, layout.size().min(size));
                self.dealloc(piece, layout);
            }
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_set_aside_lie_apart_and_end() {
        static RESERVE: Reserve = Reserve::new();
        let layout = Layout::from_size_align(1000, 64).unwrap();
        let pieces: Vec<usize> = std::iter::repeat_with(|| RESERVE.take(layout) as usize)
            .take_while(|piece| *piece != 0)
            .collect();
        assert!(pieces.len() > 1000 && pieces.iter().all(|piece| piece % 64 == 0));
        assert!(pieces.windows(2).all(|pair| pair[1] - pair[0] >= 1000));
        let last = *pieces.last().unwrap() as *mut u8;
        assert!(
            RESERVE.has(last) && RESERVE.has(last.wrapping_add(999)) && !RESERVE.has(std::ptr::null_mut())
        );
        // SAFETY: it was taken from there with this layout.
        unsafe { RESERVE.dealloc(last, layout) };
        assert_eq!(RESERVE.take(layout), last, "the last piece can be taken again");
    }
}
