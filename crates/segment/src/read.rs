//! Reading segments, also those of processes that died, and those that lie.

use crate::record::{self, PAD, Record, slot_words};
use crate::{CHUNK_MAGIC, HEADER_BYTES, HeaderView, SLOT_BYTES};
use std::ops::Range;

/// Why a file is not a readable segment.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReadError {
    /// Shorter than a header.
    #[error("only {bytes} bytes long: the process died or the disk was full before anything was recorded")]
    TooShort {
        /// How long it is.
        bytes: usize,
    },
    /// No magic.
    #[error("not a Kizami segment")]
    NotASegment,
    /// Made with another function table.
    #[error("written by another version of Kizami; seal it with the version that recorded it")]
    OtherVersion,
}

/// A stretch of a segment that could not be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Bytes of the file.
    pub bytes: Range<usize>,
    /// What is wrong.
    pub what: &'static str,
}

/// A segment over the bytes of its file.
#[derive(Debug)]
pub struct Segment<'a> {
    /// What the header says.
    pub header: HeaderView,
    bytes: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Reads the header; the records are read as they are asked for.
    pub fn parse(bytes: &'a [u8]) -> Result<Segment<'a>, ReadError> {
        Ok(Segment { header: HeaderView::read(bytes)?, bytes })
    }

    /// All whole records in order.
    pub fn records(&self) -> Records<'a> {
        Records {
            bytes: self.bytes,
            chunk: HEADER_BYTES..HEADER_BYTES,
            position: HEADER_BYTES,
            damage: Vec::new(),
        }
    }
}

/// Walks the records of a segment. Cloning it keeps a place to come back to.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    chunk: Range<usize>,
    position: usize,
    damage: Vec<Damage>,
}

impl<'a> Records<'a> {
    /// What could not be believed so far.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Byte offset in the file of the next record.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Enters the chunk that begins where the last one ended.
    fn next_chunk(&mut self) -> bool {
        let start = self.chunk.end;
        let Some(header) = self.bytes.get(start..).and_then(|rest| slot_words(rest, 0)) else { return false };
        let length = (header[1] as usize).saturating_mul(SLOT_BYTES);
        if header[0] >> 32 != u64::from(CHUNK_MAGIC) || length < 2 * SLOT_BYTES {
            // Zeros are space that was allocated and never used.
            if header != [0; 4] {
                self.damage
                    .push(Damage { bytes: start..self.bytes.len(), what: "not the beginning of a chunk" });
            }
            self.chunk = self.bytes.len()..self.bytes.len();
            self.position = self.bytes.len();
            return false;
        }
        let end = start.saturating_add(length);
        let present = end.min(self.bytes.len());
        self.chunk = start..end;
        self.position = start + SLOT_BYTES;
        let closed = header[2] >> 32 != 0;
        let records = &self.bytes[self.position..present];
        if closed && (present < end || crc32fast::hash(records) != header[2] as u32) {
            self.damage.push(Damage { bytes: start..present, what: "checksum does not match" });
            self.position = end;
        }
        true
    }

    fn leave_chunk(&mut self, what: Option<&'static str>) {
        if let Some(what) = what {
            let end = self.chunk.end.min(self.bytes.len());
            self.damage.push(Damage { bytes: self.position..end, what });
        }
        self.position = self.chunk.end;
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            let end = self.chunk.end.min(self.bytes.len());
            // A damaged chunk header can claim any length.
            if self.position.saturating_add(SLOT_BYTES) > end {
                if self.next_chunk() {
                    continue;
                }
                return None;
            }
            let rest = &self.bytes[self.position..end];
            let first = slot_words(rest, 0)?;
            match (first[0] >> 54) as u16 {
                // Nothing was committed from here on: the end of what a process wrote into this chunk.
                0 => {
                    let stray = (first[0] != 0).then_some("a record without a function");
                    self.leave_chunk(stray);
                    continue;
                }
                PAD => {
                    self.leave_chunk(None);
                    continue;
                }
                _ => {}
            }
            match record::decode(rest) {
                Some((record, slots)) => {
                    self.position += slots * SLOT_BYTES;
                    return Some(record);
                }
                None => self.leave_chunk(Some("a record that makes no sense")),
            }
        }
    }
}
