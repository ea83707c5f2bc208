//! Streams of the C library (`FILE`), as far as their buffers show what a call moves.
//!
//! A call that only copies from or to the buffer is no I/O. Whether it will be more than that, and how many bytes really
//! went to or came from the file, follows from where the buffer's pointers stand before and after. The layout is that of
//! glibc, which programs have compiled in and which therefore cannot change.

use std::ffi::{c_int, c_void};

/// The beginning of glibc's `FILE`.
#[repr(C)]
pub struct Stream {
    flags: c_int,
    read_ptr: usize,
    read_end: usize,
    read_base: usize,
    write_base: usize,
    write_ptr: usize,
    write_end: usize,
}

/// How much a stream's buffer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffered {
    /// Bytes that were read and not yet asked for.
    pub to_read: u64,
    /// Bytes that were given and not yet written.
    pub to_write: u64,
    /// Bytes that can be given before any is written.
    pub room: u64,
}

impl Buffered {
    /// Of a stream.
    ///
    /// # Safety
    /// The address is that of an open stream, which no other thread uses at the moment; if one does, numbers are wrong.
    pub unsafe fn of(stream: usize) -> Buffered {
        // SAFETY: the caller's promise; only words are read.
        let stream = unsafe { &*(stream as *const Stream) };
        let bytes = |from: usize, to: usize| to.saturating_sub(from) as u64;
        Buffered {
            to_read: bytes(stream.read_ptr, stream.read_end),
            to_write: bytes(stream.write_base, stream.write_ptr),
            room: bytes(stream.write_ptr, stream.write_end),
        }
    }

    /// Bytes that went to the file when the program gave so many.
    pub fn written(self, given: u64, after: Buffered) -> u64 {
        (self.to_write + given).saturating_sub(after.to_write)
    }

    /// Bytes that came from the file when the program got so many.
    pub fn read(self, got: u64, after: Buffered) -> u64 {
        (after.to_read + got).saturating_sub(self.to_read)
    }
}

/// Whether the buffer of a stream holds the rest of a line.
///
/// # Safety
/// As for [`Buffered::of`].
pub unsafe fn holds_line(stream: usize) -> bool {
    // SAFETY: the caller's promise; between the two pointers lies what was read.
    unsafe {
        let Stream { read_ptr, read_end, .. } = *(stream as *const Stream);
        let bytes = read_end.saturating_sub(read_ptr);
        bytes > 0 && !libc::memchr(read_ptr as *const c_void, c_int::from(b'\n'), bytes).is_null()
    }
}

/// The descriptor of a stream; -1 if it has none.
///
/// # Safety
/// The address is that of an open stream.
pub unsafe fn descriptor(stream: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { libc::fileno(stream as *mut libc::FILE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of the C library's own, with a buffer of 4,096 bytes.
    fn temporary() -> *mut libc::FILE {
        // SAFETY: the stream is fresh, and keeps the buffer to itself.
        unsafe {
            let stream = libc::tmpfile();
            assert!(!stream.is_null());
            libc::setvbuf(stream, std::ptr::null_mut(), libc::_IOFBF, 4096);
            stream
        }
    }

    #[test]
    fn the_bytes_that_moved_follow_from_the_buffer() {
        let stream = temporary();
        let bytes = [7u8; 5000];
        let mut moved = 0;
        // SAFETY: an open stream, and as many bytes as are there.
        unsafe {
            for given in [1, 4000, 95, 1, 5000, 0] {
                let before = Buffered::of(stream as usize);
                libc::fwrite(bytes.as_ptr().cast(), 1, given, stream);
                let written = before.written(given as u64, Buffered::of(stream as usize));
                assert!(written == 0 || given as u64 > before.room, "{given} bytes into {before:?}");
                moved += written;
            }
            let before = Buffered::of(stream as usize);
            libc::fflush(stream);
            moved += before.written(0, Buffered::of(stream as usize));
            assert_eq!(moved, 9097);
            libc::rewind(stream);
            let mut place = [0u8; 5000];
            let before = Buffered::of(stream as usize);
            assert_eq!(libc::fread(place.as_mut_ptr().cast(), 1, 10, stream), 10);
            assert_eq!(before.read(10, Buffered::of(stream as usize)), 4096);
            let before = Buffered::of(stream as usize);
            assert_eq!(before.to_read, 4086);
            assert_eq!(libc::fread(place.as_mut_ptr().cast(), 1, 4086, stream), 4086);
            assert_eq!(before.read(4086, Buffered::of(stream as usize)), 0);
            libc::fclose(stream);
        }
    }
}
