//! A segment that is still being written, as it was at one moment.
//!
//! Its front (the header and the window) changes all the time, so it is copied; chunks behind the window were drained and
//! do not change any more, so they are mapped as they are, and however long the run is, a snapshot takes the memory of
//! the windows. The copy is taken again if meanwhile a chunk was drained or another call began: what is read is what a
//! kill at that moment would have left. Nothing is written to the file, and no lock is taken.

use kizami_segment::{HEADER_BYTES, Header, HeaderView, SLOT_BYTES, named};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::null_mut;

/// How often the front is copied until it holds still.
const TRIES: usize = 8;
/// Fronts larger than this are damage: no tracer maps as much.
const LARGEST_FRONT: usize = 1 << 34;

/// The copied front of a segment, and how much of the rest counts.
#[derive(Debug)]
pub struct Frozen {
    front: Vec<u8>,
    /// Bytes of drained chunks behind it.
    drained: usize,
}

impl Frozen {
    /// Copies the front of a segment.
    pub fn of(path: &Path) -> io::Result<Frozen> {
        if let Some(front) = path.file_name().and_then(OsStr::to_str).and_then(named::page) {
            return Ok(Frozen { front, drained: 0 });
        }
        let file = File::open(path)?;
        let mut page = vec![0; HEADER_BYTES];
        read_up_to(&file, &mut page, 0)?;
        let (front_bytes, chunk_bytes) = match HeaderView::read(&page) {
            Ok(header) => {
                let window = header.chunk_bytes.saturating_mul(header.window_chunks);
                (HEADER_BYTES.saturating_add(window), header.chunk_bytes)
            }
            Err(_) => (HEADER_BYTES, 0),
        };
        let mut front = vec![0; front_bytes.min(LARGEST_FRONT).min(file.metadata()?.len() as usize)];
        let mut still = false;
        for _ in 0..TRIES {
            read_up_to(&file, &mut front, 0)?;
            still = is_still_so(&file, &front, chunk_bytes)?;
            if still {
                break;
            }
        }
        if !still && front.len() >= HEADER_BYTES {
            // A rank that moves on as fast as it is looked at is in no call for long.
            front[offset_of!(Header, in_call)..][..8].fill(0);
        }
        // Counted after the copy: a chunk that was drained meanwhile is there twice, and never missing.
        let behind = (file.metadata()?.len() as usize).saturating_sub(front.len());
        let drained = behind.checked_div(chunk_bytes).map_or(0, |chunks| chunks * chunk_bytes);
        Ok(Frozen { front, drained })
    }

    /// The header and the window.
    pub fn front(&self) -> &[u8] {
        &self.front
    }

    /// Bytes of all of it.
    pub fn bytes(&self) -> u64 {
        (self.front.len() + self.drained) as u64
    }

    /// The front and the drained chunks one behind the other.
    pub fn map(&self, path: &Path) -> io::Result<FrozenMap> {
        let file = File::open(path)?;
        let length = (self.front.len() + self.drained).max(1);
        let writable = libc::PROT_READ | libc::PROT_WRITE;
        let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, wherever the kernel likes.
        let base = unsafe { libc::mmap(null_mut(), length, writable, anonymous, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = FrozenMap { base: base.cast(), length };
        // SAFETY: the mapping is ours, writable and at least that long.
        unsafe { std::ptr::copy_nonoverlapping(self.front.as_ptr(), map.base, self.front.len()) };
        if self.drained > 0 {
            let shared = libc::MAP_SHARED | libc::MAP_FIXED;
            // SAFETY: replaces the end of our own mapping, which is not in use yet. A front is whole pages. Whole chunks
            // are never cut off again by their writer, so reading them cannot fault.
            let tail = unsafe {
                let place = map.base.add(self.front.len()).cast();
                let offset = self.front.len() as libc::off_t;
                libc::mmap(place, self.drained, libc::PROT_READ, shared, file.as_raw_fd(), offset)
            };
            if tail == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(map)
    }
}

/// A frozen segment in memory.
#[derive(Debug)]
pub struct FrozenMap {
    base: *mut u8,
    length: usize,
}

// SAFETY: it is never written to once it is made.
unsafe impl Send for FrozenMap {}
// SAFETY: as above.
unsafe impl Sync for FrozenMap {}

impl FrozenMap {
    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped in `map`, and unmapped only when this value goes.
        unsafe { std::slice::from_raw_parts(self.base, self.length) }
    }
}

impl Drop for FrozenMap {
    fn drop(&mut self) {
        // SAFETY: our own mapping, of which no slice is left.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}

/// Whether the call that is being made and the order of chunks are what a copy says.
fn is_still_so(file: &File, front: &[u8], chunk_bytes: usize) -> io::Result<bool> {
    let calls = offset_of!(Header, in_call)..offset_of!(Header, in_call) + 8;
    let notes = offset_of!(Header, in_call_note)..offset_of!(Header, launch);
    let heads =
        (HEADER_BYTES..front.len()).step_by(chunk_bytes.max(SLOT_BYTES)).map(|at| at..at + SLOT_BYTES);
    let mut now = [0; 64];
    for range in [calls, notes].into_iter().chain(heads) {
        let Some(copy) = front.get(range.clone()) else { continue };
        let now = &mut now[..copy.len()];
        read_up_to(file, now, range.start)?;
        if now != copy {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Fills as much as the file has; the rest stays as it is.
fn read_up_to(file: &File, mut bytes: &mut [u8], mut offset: usize) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.read_at(bytes, offset as u64) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                offset += count;
                bytes = &mut bytes[count..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
