//! Reading segments, also those of processes that died, and those that lie.

use crate::{CHUNK_MAGIC, HEADER_BYTES, HeaderView, PAD, SLOT_BYTES, kind_of, slot_words};
use std::ops::Range;
use std::sync::Arc;

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

    /// Whatever was committed, in order: the chunks that were drained, then those still in the window.
    pub fn committed(&self) -> Committed<'a> {
        let HeaderView { chunk_bytes, window_chunks, .. } = self.header;
        let window_end = chunk_bytes.saturating_mul(window_chunks).saturating_add(HEADER_BYTES);
        let (chunks, damage) = chunks_in_order(self.bytes, chunk_bytes, window_chunks);
        Committed {
            bytes: self.bytes,
            window_end,
            chunks: chunks.into(),
            upcoming: 0,
            end: 0,
            position: 0,
            last: 0..0,
            damage,
        }
    }
}

/// Where the chunks lie, in the order they were filled.
fn chunks_in_order(
    bytes: &[u8],
    chunk_bytes: usize,
    window_chunks: usize,
) -> (Vec<Range<usize>>, Vec<Damage>) {
    let window_end = chunk_bytes.saturating_mul(window_chunks).saturating_add(HEADER_BYTES);
    let sensible = chunk_bytes >= 2 * SLOT_BYTES && chunk_bytes.is_multiple_of(SLOT_BYTES);
    if !sensible || window_chunks == 0 || window_chunks > MOST_WINDOW_CHUNKS {
        let damage =
            Damage { bytes: HEADER_BYTES..bytes.len(), what: "the header's chunk sizes make no sense" };
        return (Vec::new(), vec![damage]);
    }
    let ranges = |from: usize, to: usize| {
        let to = to.min(bytes.len());
        (from..to).step_by(chunk_bytes).map(move |start| start..start.saturating_add(chunk_bytes).min(to))
    };
    let sequence_of = |range: &Range<usize>| {
        let header = slot_words(&bytes[range.clone()], 0)?;
        (header[0] == u64::from(CHUNK_MAGIC) << 32 && header[1] != 0).then_some(header[1])
    };
    let mut window: Vec<(u64, Range<usize>)> =
        ranges(HEADER_BYTES, window_end).filter_map(|range| Some((sequence_of(&range)?, range))).collect();
    window.sort_by_key(|(sequence, _)| *sequence);
    let (mut chunks, mut damage) = (Vec::new(), Vec::new());
    let mut last = 0;
    for range in ranges(window_end, bytes.len()) {
        let expected = last + 1;
        let still_in_window = window.iter().any(|(sequence, _)| *sequence == expected);
        let whole = range.len() == chunk_bytes && sequence_of(&range) == Some(expected);
        // Checksums of the others are compared when their turn comes: a reader must not touch the whole file.
        if whole && (!still_in_window || checksum_matches(&bytes[range.clone()])) {
            chunks.push(range);
        } else if still_in_window {
            // The process died while it wrote this chunk out.
            break;
        } else {
            damage.push(Damage { bytes: range, what: "a drained chunk is cut or not the one expected" });
        }
        last = expected;
    }
    window.retain(|(sequence, _)| *sequence > last);
    for (sequence, range) in window {
        if sequence != last.wrapping_add(1) {
            damage.push(Damage { bytes: range.clone(), what: "chunks before this one are missing" });
        }
        last = sequence;
        chunks.push(range);
    }
    (chunks, damage)
}

/// More than any writer makes: a damaged header must not make the reader look for millions.
const MOST_WINDOW_CHUNKS: usize = 1024;

fn checksum_matches(chunk: &[u8]) -> bool {
    let stored = slot_words(chunk, 0).map_or(0, |header| header[3]);
    stored == 1 << 32 | u64::from(crc32fast::hash(&chunk[SLOT_BYTES..]))
}

/// Walks through the slots that were committed. How many of them a record takes is for others to say. Cloning it keeps a
/// place to come back to.
#[derive(Clone, Debug)]
pub struct Committed<'a> {
    bytes: &'a [u8],
    /// Chunks from here on were drained and have a checksum.
    window_end: usize,
    chunks: Arc<[Range<usize>]>,
    /// Index of the chunk after the present one.
    upcoming: usize,
    /// End of the present chunk.
    end: usize,
    position: usize,
    /// Where the record lies that was given last.
    last: Range<usize>,
    damage: Vec<Damage>,
}

impl<'a> Committed<'a> {
    /// What could not be believed so far.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Byte offset in the file of the next record.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The slots of the record that was given last.
    pub fn last_slots(&self) -> &'a [u8] {
        &self.bytes[self.last.clone()]
    }

    /// From the next record to the end of its chunk; nothing behind the last record.
    #[inline]
    pub fn rest(&mut self) -> Option<&'a [u8]> {
        loop {
            if self.position + SLOT_BYTES > self.end {
                if self.next_chunk() {
                    continue;
                }
                return None;
            }
            let rest = &self.bytes[self.position..self.end];
            let first = slot_words(rest, 0)?[0];
            match kind_of(first) {
                // Nothing was committed from here on: the end of what a process wrote into this chunk.
                0 if first == 0 => self.leave_chunk(),
                0 => self.give_up_chunk("a record without a function"),
                PAD => self.leave_chunk(),
                _ => return Some(rest),
            }
        }
    }

    /// The next chunk that can be believed, without its header: for chunks that are filled by words. Whoever reads it
    /// stops where the first word of a record would be zero.
    pub fn next_words(&mut self) -> Option<&'a [u8]> {
        while self.next_chunk() {
            if self.position < self.end {
                let words = &self.bytes[self.position..self.end];
                self.leave_chunk();
                return Some(words);
            }
        }
        None
    }

    /// Goes on behind the next record, which takes so many slots.
    #[inline]
    pub fn take(&mut self, slots: usize) {
        let end = (self.position + slots * SLOT_BYTES).min(self.end);
        self.last = self.position..end;
        self.position = end;
    }

    /// Goes on with the next chunk, because what is left of this one cannot be believed.
    pub fn give_up_chunk(&mut self, what: &'static str) {
        self.damage.push(Damage { bytes: self.position..self.end, what });
        self.leave_chunk();
    }

    fn leave_chunk(&mut self) {
        self.position = self.end;
    }

    fn next_chunk(&mut self) -> bool {
        let Some(range) = self.chunks.get(self.upcoming) else { return false };
        self.upcoming += 1;
        self.position = range.start + SLOT_BYTES;
        self.end = range.end;
        if range.start >= self.window_end && !checksum_matches(&self.bytes[range.clone()]) {
            self.give_up_chunk("the checksum of a drained chunk does not match");
        }
        true
    }
}
