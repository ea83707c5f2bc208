//! The file behind a segment: making it, growing it chunk by chunk, closing chunks.
//!
//! Everything here may fail (a full disk, a directory that went away) and then returns the error number;
//! nothing here ever takes the process down. None of it belongs on the hot path: chunks are made ahead of
//! use by a helper thread.

use crate::{CHUNK_MAGIC, Cursor, HEADER_BYTES, Header, MAGIC, SLOT_BYTES, Slot};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Smallest chunk worth making, in bytes.
pub const SMALLEST_CHUNK: usize = 16 << 10;
/// Size of every chunk after the first two.
pub const FULL_CHUNK: usize = 1 << 20;

/// An open segment file with its header mapped.
pub struct SegmentFile {
    descriptor: i32,
    header: *const Header,
    length: AtomicU64,
    chunks: AtomicU64,
}

// SAFETY: the header is all atomics, the rest is plain numbers; growing is serialised by the caller.
unsafe impl Send for SegmentFile {}
// SAFETY: as above.
unsafe impl Sync for SegmentFile {}

/// A mapped chunk, not yet closed.
#[derive(Debug)]
pub struct Chunk {
    base: *mut libc::c_void,
    bytes: usize,
    file_offset: u64,
}

// SAFETY: a chunk is a range of memory handed from the helper thread to its one writer and back.
unsafe impl Send for Chunk {}

impl SegmentFile {
    /// Makes the file and maps its header. The error is an `errno`.
    pub fn create(path: &CStr) -> Result<SegmentFile, i32> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: a plain system call with a valid C string.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags, 0o644) };
        if descriptor < 0 {
            return Err(errno());
        }
        let mapped = allocate(descriptor, 0, HEADER_BYTES).and_then(|()| map(descriptor, 0, HEADER_BYTES));
        match mapped {
            Ok(header) => {
                let header = header.cast::<Header>().cast_const();
                // SAFETY: just mapped, zeroed, page-aligned and as large as `Header`.
                unsafe { &*header }.magic.store(MAGIC, Ordering::Release);
                Ok(SegmentFile {
                    descriptor,
                    header,
                    length: AtomicU64::new(HEADER_BYTES as u64),
                    chunks: AtomicU64::new(0),
                })
            }
            Err(error) => {
                // SAFETY: the descriptor is ours and the path is valid; a useless empty file is not left behind.
                unsafe {
                    libc::close(descriptor);
                    libc::unlink(path.as_ptr());
                }
                Err(error)
            }
        }
    }

    /// The mapped header.
    pub fn header(&self) -> &Header {
        // SAFETY: mapped in `create` and never unmapped: late writers at exit must not fault.
        unsafe { &*self.header }
    }

    /// Allocates, maps and pre-faults the next chunk. On a full disk smaller ones are tried first.
    /// Only one thread at a time may call this for one file.
    pub fn grow(&self) -> Result<Chunk, i32> {
        let index = self.chunks.load(Ordering::Relaxed);
        let mut bytes = if index == 0 { FULL_CHUNK / 16 } else { FULL_CHUNK };
        let offset = self.length.load(Ordering::Relaxed);
        loop {
            match allocate(self.descriptor, offset, bytes) {
                Ok(()) => break,
                Err(_) if bytes > SMALLEST_CHUNK => bytes /= 4,
                Err(error) => return Err(error),
            }
        }
        let base = map(self.descriptor, offset, bytes)?;
        self.length.store(offset + bytes as u64, Ordering::Relaxed);
        self.chunks.store(index + 1, Ordering::Relaxed);
        let chunk = Chunk { base, bytes, file_offset: offset };
        let slots = (bytes / SLOT_BYTES) as u64;
        chunk.header_slot().commit([u64::from(CHUNK_MAGIC) << 32 | index & 0xffff_ffff, slots, 0, 0]);
        Ok(chunk)
    }

    /// Gives back file space behind the last record of the last chunk.
    pub fn truncate(&self, end: u64) {
        // SAFETY: a plain system call; failure only leaves the file longer.
        unsafe { libc::ftruncate(self.descriptor, end as libc::off_t) };
    }
}

impl Chunk {
    fn header_slot(&self) -> &Slot {
        // SAFETY: the mapping begins with the header slot.
        unsafe { &*self.base.cast::<Slot>() }
    }

    /// A cursor over the chunk's record slots.
    ///
    /// # Safety
    /// The chunk must outlive the cursor's use, and only one cursor may write.
    pub unsafe fn cursor(&self) -> Cursor {
        // SAFETY: the mapping holds `bytes`, the first slot being the header.
        unsafe { Cursor::new(self.base.cast::<Slot>().add(1), self.bytes / SLOT_BYTES - 1) }
    }

    /// File offset of the slot at which `cursor`, a cursor of this chunk, stands.
    pub fn offset_of(&self, cursor: &Cursor) -> u64 {
        self.file_offset + (self.bytes - cursor.left() * SLOT_BYTES) as u64
    }

    /// Writes the checksum of a chunk that nobody writes to any more, and unmaps it: its pages leave the
    /// process and reach the disk when the kernel sees fit.
    pub fn close(self) {
        let records = self.bytes - SLOT_BYTES;
        // SAFETY: the mapping is whole and, by contract, quiet.
        let bytes = unsafe { std::slice::from_raw_parts(self.base.cast::<u8>().add(SLOT_BYTES), records) };
        let checksum = crc32fast::hash(bytes);
        self.header_slot().set_word(2, 1 << 32 | u64::from(checksum));
        // SAFETY: mapped by `grow`, never used again.
        unsafe { libc::munmap(self.base, self.bytes) };
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn allocate(descriptor: i32, offset: u64, bytes: usize) -> Result<(), i32> {
    loop {
        // SAFETY: a plain system call. Unlike ftruncate it reserves the space: a later store cannot fault.
        let error = unsafe { libc::posix_fallocate(descriptor, offset as libc::off_t, bytes as libc::off_t) };
        match error {
            0 => return Ok(()),
            libc::EINTR => {}
            error => return Err(error),
        }
    }
}

fn map(descriptor: i32, offset: u64, bytes: usize) -> Result<*mut libc::c_void, i32> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a plain system call on our own descriptor.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            protection,
            libc::MAP_SHARED,
            descriptor,
            offset as libc::off_t,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(errno());
    }
    const MADV_POPULATE_WRITE: libc::c_int = 23;
    // SAFETY: our own mapping. Kernels before 5.14 refuse; then pages fault in one by one.
    unsafe {
        libc::madvise(base, bytes, MADV_POPULATE_WRITE);
        libc::madvise(base, bytes, libc::MADV_DONTFORK);
    }
    Ok(base)
}
