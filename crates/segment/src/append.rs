//! A segment with one writer that drains for itself, for what is not on the hot path.

use crate::record::{DEFINITION, PAD, head, slot_words};
use crate::{Cursor, Definition, Header, SLOT_BYTES, SegmentFile, WindowShape};
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
        let cursor = file.begin(0, 1);
        Ok(Appender { file, cursor, begun: 1 })
    }

    /// The segment's header.
    pub fn header(&self) -> &Header {
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
            self.file.drain(index % chunks)?;
        }
        self.begun += 1;
        self.cursor = self.file.begin(index % chunks, self.begun);
        if self.cursor.push_all(first, rest) { Ok(()) } else { Err(libc::EFBIG) }
    }

    /// Writes a definition. The error is an `errno`.
    pub fn define(&mut self, definition: &Definition) -> Result<(), i32> {
        let mut bytes = Vec::with_capacity(4 * SLOT_BYTES);
        definition.encode(&mut bytes);
        let first = [head(DEFINITION, 0), bytes.len() as u64, 0, 0];
        bytes.resize(bytes.len().next_multiple_of(SLOT_BYTES), 0);
        self.push(
            first,
            (0..bytes.len() / SLOT_BYTES).map(|slot| slot_words(&bytes, slot).unwrap_or_default()),
        )
    }
}
