//! Pieces of memory that lie in files: made, made larger, and given back.
//!
//! Everything here is called by the allocator, so nothing here may allocate.

use crate::files;
use kizami_parallel::lock;
use std::alloc::Layout;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Pieces at most; each needs a descriptor.
const MOST: usize = 256;
/// The more there are, the larger the next must be: small ones must not take the places of large ones.
const LEAST_BYTES: [(usize, usize); 3] = [(64, 1 << 20), (128, 16 << 20), (MOST, 256 << 20)];

/// One piece.
#[derive(Clone, Copy)]
struct Region {
    at: usize,
    /// Whole pages.
    bytes: usize,
    file: i32,
}

struct Regions {
    list: [Region; MOST],
    count: usize,
}

static REGIONS: Mutex<Regions> =
    Mutex::new(Regions { list: [Region { at: 0, bytes: 0, file: -1 }; MOST], count: 0 });
/// How many there are, for those who need not look further.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// How many there may be.
static PLACES: AtomicUsize = AtomicUsize::new(0);
/// Bytes in files now, and at most.
static FAR: AtomicUsize = AtomicUsize::new(0);
static MOST_FAR: AtomicUsize = AtomicUsize::new(0);

fn regions() -> MutexGuard<'static, Regions> {
    lock(&REGIONS)
}

impl Regions {
    fn find(&self, piece: *mut u8) -> Option<usize> {
        self.list[..self.count].iter().position(|region| region.at == piece as usize)
    }

    /// False if there is no place for it.
    fn add(&mut self, region: Region) -> bool {
        let room = self.count < PLACES.load(Ordering::Relaxed);
        if room {
            self.list[self.count] = region;
            self.count += 1;
            COUNT.store(self.count, Ordering::Relaxed);
        }
        room
    }

    fn remove(&mut self, index: usize) -> Region {
        let region = self.list[index];
        self.count -= 1;
        self.list[index] = self.list[self.count];
        COUNT.store(self.count, Ordering::Relaxed);
        region
    }
}

/// There may be pieces from now on, as many as leave descriptors for others.
pub(crate) fn open() {
    PLACES.store(MOST.min(files::most_descriptors() / 4), Ordering::Relaxed);
}

/// Whether there are any.
fn any() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

pub(crate) fn most_bytes() -> usize {
    MOST_FAR.load(Ordering::Relaxed)
}

/// Whether it is one of the pieces.
pub(crate) fn has(piece: *mut u8) -> bool {
    any() && regions().find(piece).is_some()
}

/// A piece of zeros in a file of its own; nothing if there can be no more.
pub(crate) fn make(layout: Layout) -> Option<*mut u8> {
    let (bytes, count) = (files::whole_pages(layout.size())?, COUNT.load(Ordering::Relaxed));
    let least = LEAST_BYTES.iter().find(|(places, _)| count < *places).map(|(_, bytes)| *bytes)?;
    if bytes < least || count >= PLACES.load(Ordering::Relaxed) || layout.align() > files::page_bytes() {
        return None;
    }
    // What takes time is done while others can go on.
    let (file, at) = files::mapped(bytes)?;
    if !regions().add(Region { at, bytes, file }) {
        files::unmap(at, bytes, file);
        return None;
    }
    count_bytes(bytes as isize);
    Some(at as *mut u8)
}

/// Makes a piece larger or smaller; nothing if it is none, or there is no room. Its owner is here, so nothing else
/// changes it meanwhile.
pub(crate) fn resize(piece: *mut u8, size: usize) -> Option<*mut u8> {
    let bytes = files::whole_pages(size).filter(|_| any())?;
    let Region { bytes: old, file, .. } = {
        let regions = regions();
        regions.list[regions.find(piece)?]
    };
    if bytes > old && !files::enlarge(file, old, bytes) {
        return None;
    }
    let mut regions = regions();
    let index = regions.find(piece)?;
    let at = files::remap(piece as usize, old, bytes)?;
    regions.list[index] = Region { at, bytes, file };
    drop(regions);
    if bytes < old {
        files::shorten(file, bytes);
    }
    count_bytes(bytes as isize - old as isize);
    Some(at as *mut u8)
}

/// Frees a piece; false if it is none.
pub(crate) fn release(piece: *mut u8) -> bool {
    if !any() {
        return false;
    }
    let mut regions = regions();
    let Some(index) = regions.find(piece) else { return false };
    let Region { at, bytes, file } = regions.remove(index);
    // Nobody can be given the same address before it is unmapped.
    drop(regions);
    count_bytes(-(bytes as isize));
    files::unmap(at, bytes, file);
    true
}

fn count_bytes(more: isize) {
    let now = FAR.fetch_add(more as usize, Ordering::Relaxed).wrapping_add(more as usize);
    MOST_FAR.fetch_max(now, Ordering::Relaxed);
}
