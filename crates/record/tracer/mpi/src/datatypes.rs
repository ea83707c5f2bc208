//! Sizes of datatypes, remembered per thread because every message needs one.

use crate::abi;
use crate::cancellation::Uncancelled;
use crate::real::own;
use std::sync::atomic::{AtomicU64, Ordering};

/// Changes whenever a datatype is freed: its handle may come back with another size.
static EPOCH: AtomicU64 = AtomicU64::new(1);

const CACHED: usize = 64;

/// The datatypes a thread used last. All zeros when it is empty.
pub struct Cache {
    epoch: u64,
    entries: [(usize, u64); CACHED],
}

impl Cache {
    fn clear(&mut self, epoch: u64) {
        self.entries.fill((0, 0));
        self.epoch = epoch;
    }
}

/// Bytes of `count` elements. A count of zero never looks at the datatype, which may then be anything.
#[inline(always)]
pub fn bytes(cache: &mut Cache, count: i64, datatype: usize) -> u64 {
    if count <= 0 {
        return 0;
    }
    count as u64 * size(cache, abi::get().handle(datatype))
}

/// Bytes of the datatype with this handle, as [`abi::Abi::handle`] gives it: as for communicators, that is asked first.
#[inline(always)]
pub fn size(cache: &mut Cache, handle: usize) -> u64 {
    let slot = (handle ^ handle >> 6 ^ handle >> 12) % CACHED;
    let (known, size) = cache.entries[slot];
    if known == handle && cache.epoch == EPOCH.load(Ordering::Relaxed) && handle != 0 {
        return size;
    }
    look_up(cache, slot, handle)
}

#[cold]
fn look_up(cache: &mut Cache, slot: usize, handle: usize) -> u64 {
    let epoch = EPOCH.load(Ordering::Relaxed);
    if cache.epoch != epoch {
        cache.clear(epoch);
    }
    let size = size_of_handle(handle);
    cache.entries[slot] = (handle, size);
    size
}

/// Asks MPI.
pub fn size_of_handle(handle: usize) -> u64 {
    let _uncancelled = Uncancelled::new();
    let mut size = 0i64;
    // SAFETY: a datatype that the program has just made or used; a place for a number.
    unsafe { own::MPI_Type_size_x(handle, &raw mut size) };
    // Undefined sizes are negative.
    u64::try_from(size).unwrap_or(0)
}

/// A datatype was freed.
pub fn forget() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
}
