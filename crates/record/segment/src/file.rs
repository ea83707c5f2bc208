//! The file behind a segment: its header and window, mapped, and behind them the chunks already drained.
//!
//! The window is a small ring of chunks that stay mapped for the segment's whole life, so the thread that
//! writes always writes to the same, warm memory. A full chunk is drained: written behind the others at the
//! end of the file, then used again. Draining is plain `write`, which costs a quarter of mapping and
//! faulting in fresh pages, and memory stays what it is however long the trace. Until it has been written
//! out, a chunk lies in the window, and the window lies in the file: a kill loses neither.
//!
//! Everything here may fail (a full disk, a directory that went away) and then returns the error number;
//! nothing here ever takes the process down. Space for the window is allocated before it is mapped, because
//! a hole on a full disk would kill the process by `SIGBUS`.

use crate::descriptor::{Descriptor, make};
use crate::headroom::leaves_enough;
use crate::{CHUNK_MAGIC, Cursor, HEADER_BYTES, Header, MAGIC, SLOT_BYTES, Slot};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a window is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowShape {
    /// How many chunks.
    pub chunks: usize,
    /// Bytes of each, the chunk header included; whole pages.
    pub chunk_bytes: usize,
}

impl WindowShape {
    /// For calls: small enough to stay in a core's cache, large enough that draining is rare.
    pub const CALLS: WindowShape = WindowShape { chunks: 4, chunk_bytes: 256 << 10 };
    /// For definitions, of which there are few.
    pub const DEFINITIONS: WindowShape = WindowShape { chunks: 2, chunk_bytes: 64 << 10 };

    /// None: there is room for the header alone, where at least losses can be counted.
    pub const NONE: WindowShape = WindowShape { chunks: 0, chunk_bytes: WindowShape::SMALLEST_CHUNK };

    const SMALLEST_CHUNK: usize = 4096;

    fn bytes(self) -> usize {
        self.chunks * self.chunk_bytes
    }
}

/// An open segment file with its header and window mapped.
pub struct SegmentFile {
    descriptor: Descriptor,
    base: *mut u8,
    shape: WindowShape,
    /// How many chunks were drained.
    drained: AtomicU64,
    /// Bytes of drained chunks that left the system's cache.
    let_go: AtomicU64,
}

// SAFETY: the mapping is reached through atomics; which thread fills or drains a chunk is settled by callers.
unsafe impl Send for SegmentFile {}
// SAFETY: as above.
unsafe impl Sync for SegmentFile {}

impl SegmentFile {
    /// Creates the file; on a nearly full disk, or with little memory left, the window gets smaller before it fails. The error
    /// is an `errno`.
    pub fn create(path: &CStr, mut shape: WindowShape) -> Result<SegmentFile, i32> {
        let (opened, base) = make(path, |descriptor| {
            loop {
                let bytes = HEADER_BYTES + shape.bytes();
                match allocate_and_map(descriptor, bytes) {
                    Err(_) if shape.chunk_bytes > WindowShape::SMALLEST_CHUNK => {
                        shape.chunk_bytes /= 4;
                        // What was allocated must not lie behind a smaller window.
                        // SAFETY: a plain system call on our own descriptor.
                        unsafe { libc::ftruncate(descriptor, 0) };
                    }
                    result => break result,
                }
            }
        })?;
        let file = SegmentFile {
            descriptor: Descriptor::keep(path, opened)?,
            base: base.cast(),
            shape,
            drained: AtomicU64::new(0),
            let_go: AtomicU64::new(0),
        };
        file.header().chunk_bytes.store(shape.chunk_bytes as u32, Ordering::Relaxed);
        // To readers no window is one that lies behind the end of the file.
        file.header().window_chunks.store(shape.chunks.max(1) as u32, Ordering::Relaxed);
        file.header().magic.store(MAGIC, Ordering::Release);
        Ok(file)
    }

    /// The mapped header.
    pub fn header(&self) -> &'static Header {
        // SAFETY: mapped in `create`, page-aligned, large enough, and never unmapped: late writers at exit
        // must not fault.
        unsafe { &*self.base.cast::<Header>() }
    }

    /// How many chunks the window has.
    pub fn window_chunks(&self) -> usize {
        self.shape.chunks
    }

    /// Faults in the pages of a chunk of a large window, which takes about a millisecond for each MiB. Any thread may
    /// do so at any time.
    pub fn populate(&self, index: usize) {
        populate(self.chunk(index).as_ptr().cast_mut().cast(), self.shape.chunk_bytes);
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> usize {
        self.shape.chunk_bytes
    }

    /// Index of the chunk that is to be drained next: chunks lie on disk in the order they were filled.
    pub fn next_to_drain(&self) -> usize {
        self.drained.load(Ordering::Relaxed) as usize % self.shape.chunks
    }

    fn chunk(&self, index: usize) -> &[Slot] {
        // SAFETY: the window follows the header page; indices are taken modulo its length.
        unsafe {
            let start = self.base.add(HEADER_BYTES + index % self.shape.chunks * self.shape.chunk_bytes);
            std::slice::from_raw_parts(start.cast::<Slot>(), self.shape.chunk_bytes / SLOT_BYTES)
        }
    }

    /// The memory of a drained chunk that was not begun. What is written there is never read.
    ///
    /// # Safety
    /// No other cursor leads to this chunk any more, and it is not drained while this one is used.
    pub unsafe fn unannounced(&self, index: usize) -> Cursor {
        let chunk = self.chunk(index);
        // SAFETY: the window is mapped for ever, and by contract the cursor is the chunk's only one.
        unsafe { Cursor::new(&raw const chunk[1], chunk.len() - 1) }
    }

    /// Begins to fill the drained chunk with this index as the `sequence`th of the segment (from 1 on).
    ///
    /// # Safety
    /// As for [`SegmentFile::unannounced`].
    pub unsafe fn begin(&self, index: usize, sequence: u64) -> Cursor {
        let chunk = self.chunk(index);
        chunk[1].set_word(0, 0);
        chunk[0].commit([u64::from(CHUNK_MAGIC) << 32, sequence, chunk.len() as u64, 0]);
        // SAFETY: by the same contract.
        unsafe { self.unannounced(index) }
    }

    /// Writes a full chunk out, after which it may be filled again.
    ///
    /// # Safety
    /// Chunks are drained in their order, by one thread at a time, and only when no cursor leads to them any more.
    pub unsafe fn drain(&self, index: usize) -> Result<(), i32> {
        let chunk = self.chunk(index);
        // SAFETY: the chunk is quiet, by contract, so plain reads of its bytes see what was written.
        let bytes =
            unsafe { std::slice::from_raw_parts(chunk.as_ptr().cast::<u8>(), self.shape.chunk_bytes) };
        chunk[0].set_word(3, 1 << 32 | u64::from(crc32fast::hash(&bytes[SLOT_BYTES..])));
        let drained = self.drained.load(Ordering::Relaxed);
        let tail = (HEADER_BYTES + self.shape.bytes()) as u64 + drained * self.shape.chunk_bytes as u64;
        self.descriptor.with(|descriptor| {
            write_all(descriptor, bytes, tail).inspect_err(|_| {
                // SAFETY: a plain system call; half a chunk at the end would only be in the way.
                unsafe { libc::ftruncate(descriptor, tail as libc::off_t) };
            })
        })?;
        self.drained.store(drained + 1, Ordering::Relaxed);
        // From here on the window's copy does not count any more. Its records are left as they are: clearing
        // them would only drag the memory away from the core that writes next.
        chunk[0].commit([0; 4]);
        Ok(())
    }
}

impl SegmentFile {
    /// Has drained chunks leave the system's cache, all but the last `keep` bytes. Waits for the disk if it is
    /// behind. By the thread that drains.
    pub fn let_go(&self, keep: u64) {
        let drained = self.drained.load(Ordering::Relaxed) * self.shape.chunk_bytes as u64;
        let gone = self.let_go.load(Ordering::Relaxed);
        let window = (HEADER_BYTES + self.shape.bytes()) as libc::off64_t;
        let end = drained.saturating_sub(keep);
        // In steps, so that the disk has something to do while records are made.
        if end < gone + LET_GO_STEP {
            return;
        }
        let bytes = (end - gone) as libc::off64_t;
        let start = window + gone as libc::off64_t;
        let whole = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        // Refused, it costs memory and nothing else.
        let _ = self.descriptor.with(|descriptor| {
            // SAFETY: plain system calls on our own descriptor.
            unsafe {
                libc::sync_file_range(
                    descriptor,
                    start + bytes,
                    keep as libc::off64_t,
                    libc::SYNC_FILE_RANGE_WRITE,
                );
                libc::sync_file_range(descriptor, start, bytes, whole);
                libc::posix_fadvise(descriptor, start, bytes, libc::POSIX_FADV_DONTNEED);
            }
            Ok(())
        });
        self.let_go.store(end, Ordering::Relaxed);
    }
}

/// Bytes that leave the cache at a time.
const LET_GO_STEP: u64 = 4 << 20;

/// Whether files may grow that far: beyond the limit a write would end the process by `SIGXFSZ`.
fn may_reach(bytes: u64) -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a valid place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    bytes <= limit.rlim_cur
}

pub(crate) fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Creates a file of zeros so long and maps it.
pub(crate) fn allocate_and_map(descriptor: i32, bytes: usize) -> Result<*mut libc::c_void, i32> {
    if !leaves_enough(bytes) {
        return Err(libc::ENOMEM);
    }
    allocate(descriptor, bytes).and_then(|()| map(descriptor, bytes))
}

fn allocate(descriptor: i32, bytes: usize) -> Result<(), i32> {
    if !may_reach(bytes as u64) {
        return Err(libc::EFBIG);
    }
    loop {
        // SAFETY: a plain system call. Unlike ftruncate it reserves the space: a later store cannot fault.
        match unsafe { libc::posix_fallocate(descriptor, 0, bytes as libc::off_t) } {
            0 => return Ok(()),
            libc::EINTR => {}
            error => return Err(error),
        }
    }
}

fn map(descriptor: i32, bytes: usize) -> Result<*mut libc::c_void, i32> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a plain system call on our own descriptor.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, descriptor, 0) };
    if base == libc::MAP_FAILED {
        return Err(errno());
    }
    // SAFETY: our own mapping.
    unsafe { libc::madvise(base, bytes, libc::MADV_DONTFORK) };
    populate(base, bytes.min(POPULATED_AT_ONCE));
    Ok(base)
}

/// A window of normal size is populated at once; the chunks of a larger one shortly before they are used.
const POPULATED_AT_ONCE: usize = HEADER_BYTES + 4 * (256 << 10);

/// Faults pages in.
fn populate(start: *mut libc::c_void, bytes: usize) {
    const MADV_POPULATE_WRITE: libc::c_int = 23;
    // SAFETY: our own mapping. Kernels before 5.14 refuse; then pages fault in one by one.
    unsafe { libc::madvise(start, bytes, MADV_POPULATE_WRITE) };
}

fn write_all(descriptor: i32, mut bytes: &[u8], mut offset: u64) -> Result<(), i32> {
    if !may_reach(offset + bytes.len() as u64) {
        return Err(libc::EFBIG);
    }
    while !bytes.is_empty() {
        // SAFETY: a plain system call on our own descriptor and memory.
        let written =
            unsafe { libc::pwrite(descriptor, bytes.as_ptr().cast(), bytes.len(), offset as libc::off_t) };
        match written {
            1.. => {
                bytes = &bytes[written as usize..];
                offset += written as u64;
            }
            0 => return Err(libc::EIO),
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
    Ok(())
}
