//! Memory within a limit: what is large and does not fit lies in files without a name.
//!
//! A program that has [`Allocator`] as its global one, and has called [`limit`], gets memory as always until its large
//! pieces together reach the limit. From then on a piece that is made or grows has a file of its own behind it, mapped into
//! memory, so that the kernel can reclaim its pages whenever they are needed. No user of a list or a table has to
//! know, and what comes out is the same.
//!
//! Promises: nothing is left behind however the process ends. A full disk is found out when a piece is made, not when it
//! is written to (but for file systems that copy what is written over, such as Btrfs); then memory is used after all, and
//! [`beyond_limit`] reports. Without a limit it is the allocator of the system, but for huge pieces, which lie in huge pages.
//!
//! It does not bound small pieces, nor what of its files the kernel keeps in memory while it is not needed elsewhere. A folder
//! that lies in memory itself is refused.

mod files;
mod free;
mod near;
mod regions;
mod size;

pub use free::half_of_free;
pub use size::{SizeError, parse_size};

use std::alloc::{GlobalAlloc, Layout};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Smaller pieces are left to the system: there is not enough to gain by them.
const LARGE_BYTES: usize = 1 << 20;
/// The part of a limit that large pieces may have in memory is one in so many; the rest is for small ones and for files.
const NEAR_PART: usize = 2;

/// Bytes that large pieces may have in memory.
static NEAR_LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes that they have.
static NEAR: AtomicUsize = AtomicUsize::new(0);

/// Of those, at most, the ones that should have been in files.
static MOST_BEYOND: AtomicUsize = AtomicUsize::new(0);

/// Stays within so many bytes from now on, with files in this folder. The first folder that takes files counts.
pub fn limit(bytes: u64, folder: &Path) -> io::Result<()> {
    files::keep_in(folder)?;
    regions::open();
    NEAR_LIMIT.store(usize::try_from(bytes).unwrap_or(usize::MAX) / NEAR_PART, Ordering::Relaxed);
    Ok(())
}

/// The most bytes that were in memory at a time although they should have been in files, which could not be made.
pub fn beyond_limit() -> u64 {
    MOST_BEYOND.load(Ordering::Relaxed) as u64
}

/// The most bytes that were in files at a time.
pub fn most_in_files() -> u64 {
    regions::most_bytes() as u64
}

/// The allocator of a program that may have a memory limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

impl Allocator {
    /// Takes so many bytes from what large pieces may have in memory; false if there are not as many left.
    fn take(bytes: usize) -> bool {
        let (limit, before) = (NEAR_LIMIT.load(Ordering::Relaxed), NEAR.fetch_add(bytes, Ordering::Relaxed));
        let fits = before.saturating_add(bytes) <= limit;
        if !fits {
            Allocator::give_back(bytes);
        }
        fits
    }

    /// Takes them in any case: there is no room for files either.
    fn take_beyond(bytes: usize) {
        let now = NEAR.fetch_add(bytes, Ordering::Relaxed) + bytes;
        MOST_BEYOND.fetch_max(now.saturating_sub(NEAR_LIMIT.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    fn give_back(bytes: usize) {
        NEAR.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A large piece: zeros where it is in a file, since that is unwritten.
    fn large(layout: Layout, near: impl FnOnce() -> *mut u8) -> *mut u8 {
        let size = layout.size();
        if !Allocator::take(size) {
            if let Some(far) = regions::make(layout) {
                return far;
            }
            Allocator::take_beyond(size);
        }
        let piece = near();
        if piece.is_null() {
            Allocator::give_back(size);
        }
        piece
    }

    /// Makes a piece larger or smaller that is large before or afterwards, by making another one.
    ///
    /// # Safety
    ///
    /// As for [`GlobalAlloc::realloc`].
    unsafe fn remake(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the size is not zero and not too large, as the caller has promised.
        unsafe {
            let other = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !other.is_null() {
                std::ptr::copy_nonoverlapping(piece, other, layout.size().min(size));
                self.dealloc(piece, layout);
            }
            other
        }
    }
}

// SAFETY: pieces in memory are known by their size, and those in files by their address, so that each goes back to where it
// came from. Layouts are handed on as they came.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to us.
        let near = || unsafe { near::alloc(layout) };
        if layout.size() < LARGE_BYTES { near() } else { Allocator::large(layout, near) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to us.
        let near = || unsafe { near::alloc_zeroed(layout) };
        if layout.size() < LARGE_BYTES { near() } else { Allocator::large(layout, near) }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if layout.size() >= LARGE_BYTES {
            if regions::release(piece) {
                return;
            }
            Allocator::give_back(layout.size());
        }
        // SAFETY: it lies in memory.
        unsafe { near::dealloc(piece, layout) }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (was_large, large) = (layout.size() >= LARGE_BYTES, size >= LARGE_BYTES);
        if was_large
            && large
            && let Some(changed) = regions::resize(piece, size)
        {
            return changed;
        }
        if was_large && regions::has(piece) {
            // SAFETY: as promised to us.
            return unsafe { self.remake(piece, layout, size) };
        }
        let (before, after) = (if was_large { layout.size() } else { 0 }, if large { size } else { 0 });
        if after > before && !Allocator::take(after - before) {
            // SAFETY: the size is not zero and not too large, as the caller has promised.
            let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
            if let Some(far) = regions::make(wanted) {
                // SAFETY: both are at least as long, and nothing else uses the new one.
                unsafe {
                    std::ptr::copy_nonoverlapping(piece, far, layout.size().min(size));
                    self.dealloc(piece, layout);
                }
                return far;
            }
            Allocator::take_beyond(after - before);
        }
        // SAFETY: it lies in memory.
        let changed = unsafe { near::realloc(piece, layout, size) };
        match (changed.is_null(), after > before) {
            (false, false) => Allocator::give_back(before - after),
            (true, true) => Allocator::give_back(after - before),
            _ => {}
        }
        changed
    }
}
