//! Pieces that lie in memory: those of the system, and huge ones in huge pages.
//!
//! A walk over all ranks touches something of each in turn. With pages of the normal size that is more than a
//! processor knows its way to, and finding it again takes longer than reading what is there. So what is huge is mapped apart,
//! on borders and with lengths that huge pages fit. When it grows the kernel moves pages, not what is in them. Where there are
//! no huge pages these are mappings like any other. Each is up to a huge page longer than was asked for, which no limit counts.
//!
//! Called by the allocator, so nothing here may allocate.

use crate::files;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;

/// Smaller pieces are left to the system: they come and go, and clearing a huge page for each would cost more.
const HUGE_BYTES: usize = 8 << 20;
/// Bytes of a huge page; where they are larger, there are hardly any in what is mapped here.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Whether a piece is mapped apart: its layout alone decides.
fn is_huge(layout: Layout) -> bool {
    layout.size() >= HUGE_BYTES && layout.align() <= files::page_bytes()
}

/// As [`GlobalAlloc::alloc`].
///
/// # Safety
/// As there.
pub(crate) unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as promised to us.
    if is_huge(layout) { map(layout.size()) } else { unsafe { System.alloc(layout) } }
}

/// As [`GlobalAlloc::alloc_zeroed`].
///
/// # Safety
/// As there.
pub(crate) unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as promised to us.
    if is_huge(layout) { map(layout.size()) } else { unsafe { System.alloc_zeroed(layout) } }
}

/// As [`GlobalAlloc::dealloc`].
///
/// # Safety
/// As there, for pieces from here.
pub(crate) unsafe fn dealloc(piece: *mut u8, layout: Layout) {
    // SAFETY: as promised to us: one that was mapped, or one of the system.
    unsafe {
        match is_huge(layout) {
            true => unmap(piece, whole(layout.size()).unwrap_or_default()),
            false => System.dealloc(piece, layout),
        }
    }
}

/// As [`GlobalAlloc::realloc`].
///
/// # Safety
/// As there, for pieces from here.
pub(crate) unsafe fn realloc(piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the size is not zero and not too large, as the caller has promised.
    let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
    match (is_huge(layout), is_huge(wanted)) {
        // SAFETY: it is a piece of the system.
        (false, false) => unsafe { System.realloc(piece, layout, size) },
        // SAFETY: it was mapped here, and as long.
        (true, true) => unsafe { remap(piece, layout.size(), size) },
        // SAFETY: both are at least as long as what is copied, and nothing else uses the new one.
        _ => unsafe {
            let other = alloc(wanted);
            if !other.is_null() {
                std::ptr::copy_nonoverlapping(piece, other, layout.size().min(size));
                dealloc(piece, layout);
            }
            other
        },
    }
}

fn whole(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(HUGE_PAGE_BYTES).filter(|bytes| *bytes <= isize::MAX as usize)
}

/// Zeros; null if there is no room.
fn map(size: usize) -> *mut u8 {
    let Some(bytes) = whole(size) else { return null_mut() };
    let at = on_border(bytes).unwrap_or_else(|| mapped(bytes));
    if !at.is_null() {
        // SAFETY: the mapping is ours. Where there are no huge pages nothing changes.
        unsafe { libc::madvise(at.cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    at
}

/// A mapping that begins where a huge page can; nothing if there is no room to look for such a place.
fn on_border(bytes: usize) -> Option<*mut u8> {
    let at = mapped(bytes.checked_add(HUGE_PAGE_BYTES)?);
    if at.is_null() {
        return None;
    }
    let before = at.addr().next_multiple_of(HUGE_PAGE_BYTES) - at.addr();
    let begin = at.wrapping_add(before);
    // SAFETY: nothing uses the surplus at either end.
    unsafe {
        unmap(at, before);
        unmap(begin.wrapping_add(bytes), HUGE_PAGE_BYTES - before);
    }
    Some(begin)
}

/// Null if there is no room.
fn mapped(bytes: usize) -> *mut u8 {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel says where.
    let at = unsafe { libc::mmap(null_mut(), bytes, access, flags, -1, 0) };
    if at == libc::MAP_FAILED { null_mut() } else { at.cast() }
}

/// Makes a mapping longer or shorter, elsewhere if it must be; null if there is no room. Where to is left to the kernel, which
/// keeps to the borders of huge pages if it is a new one: MPI libraries stand between us and the system, and some do not hand
/// on more than the first four arguments.
///
/// # Safety
/// It must be a mapping from here, as long, and must not be used any more.
unsafe fn remap(piece: *mut u8, old: usize, new: usize) -> *mut u8 {
    let (Some(old), Some(new)) = (whole(old), whole(new)) else { return null_mut() };
    if new == old {
        return piece;
    }
    // SAFETY: as promised to us.
    let moved = unsafe { libc::mremap(piece.cast(), old, new, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED { null_mut() } else { moved.cast() }
}

/// # Safety
/// It must be of a mapping from here, and must not be used any more.
unsafe fn unmap(at: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: as promised to us.
        unsafe { libc::munmap(at.cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn a_piece_keeps_what_is_in_it_however_long_it_becomes() {
        let sizes =
            [1000, HUGE_BYTES, HUGE_BYTES - 1, 40 << 20, (90 << 20) + 5, 200 << 20, HUGE_BYTES + 7, 64];
        let mut size = 512;
        // SAFETY: each piece is used as long as it is said to be, and given back once.
        unsafe {
            let mut piece = alloc(layout(size));
            piece.write_bytes(7, size);
            // In the way of those that grow where they are.
            let mut others = Vec::new();
            for next in sizes {
                others.push(map(HUGE_BYTES));
                piece = realloc(piece, layout(size), next);
                assert!(!piece.is_null());
                let kept = std::slice::from_raw_parts(piece, next.min(size));
                assert!(kept.iter().all(|byte| *byte == 7), "{next} bytes");
                size = next;
                piece.write_bytes(7, size);
            }
            dealloc(piece, layout(size));
            others.into_iter().for_each(|other| dealloc(other, layout(HUGE_BYTES)));
        }
    }

    #[test]
    fn new_pieces_are_zeros_and_too_large_ones_are_none() {
        // SAFETY: as above.
        unsafe {
            for size in [100, 50 << 20] {
                let piece = alloc_zeroed(layout(size));
                assert!(size < HUGE_BYTES || piece.align_offset(HUGE_PAGE_BYTES) == 0);
                assert!(std::slice::from_raw_parts(piece, size).iter().all(|byte| *byte == 0));
                dealloc(piece, layout(size));
            }
        }
        assert!(map(isize::MAX as usize).is_null() && map(1 << 50).is_null());
    }
}
