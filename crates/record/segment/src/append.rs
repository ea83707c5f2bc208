//! A segment with one writer that drains for itself, for what is not on the hot path.

use crate::{Cursor, Header, PAD, SegmentFile, WindowShape, head};
use std::ffi::CStr;

/// Writes a segment from beginning to end.
pub struct Appender {
    file: SegmentFile,
    cursor: Cursor,
    /// Chunks begun so far.
    begun: u64,
}

impl Appender {
    /// Makes the segment's file. The error is an `errno`.
    pub fn create(path: &CStr, shape: WindowShape) -> Result<Appender, i32> {
        let file = SegmentFile::create(path, shape)?;
        // SAFETY: the first chunk of a new file, and the only cursor.
        let cursor = unsafe { file.begin(0, 1) };
        Ok(Appender { file, cursor, begun: 1 })
    }

    /// The segment's header.
    pub fn header(&self) -> &'static Header {
        self.file.header()
    }

    /// Writes a record of one or more slots. It must fit into a chunk; the error is an `errno`.
    pub fn push(
        &mut self,
        first: [u64; 4],
        rest: impl ExactSizeIterator<Item = [u64; 4]> + Clone,
    ) -> Result<(), i32> {
        if self.cursor.push_all(first, rest.clone()) {
            return Ok(());
        }
        self.cursor.push([head(PAD, 0), 0, 0, 0]);
        self.cursor = Cursor::EMPTY;
        let (index, chunks) = (self.begun as usize, self.file.window_chunks());
        if index >= chunks {
            // The ring is full: the next chunk is the oldest.
            // SAFETY: chunks are filled and drained in turn, here alone, and the one cursor was given up.
            unsafe { self.file.drain(index % chunks) }?;
        }
        self.begun += 1;
        // SAFETY: the chunk is new or was drained, and there is no other cursor.
        self.cursor = unsafe { self.file.begin(index % chunks, self.begun) };
        if self.cursor.push_all(first, rest) { Ok(()) } else { Err(libc::EFBIG) }
    }
}
