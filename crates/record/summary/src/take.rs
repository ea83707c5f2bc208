//! Handing over what has to leave the block: finished sums over time, and the rows of an epoch.
//!
//! A *part* is a piece of bytes that stands for itself: which entries of the log, or which rows of which epoch.
//!
//! ```text
//! sums   byte 1; number of the first entry, how many (numbers); entries as in the log
//! rows   byte 2; epoch, how many parts of it came before, how many rows (numbers);
//!        for each: class (number), state (byte: 1 certain), upper half of the threshold if not certain (number),
//!        start, duration, upper half of its number (numbers), which words follow (byte of bits), these words
//! ```
//!
//! What was handed over stays in the block until the next call of `take` says that it arrived. If the process
//! dies in between, it is in both places; entries and epochs are numbered, so it counts once.

use super::block::{ALL, CLASSES, LIVE, LOG_BYTES, SAMPLED, SLOTS, SLOW};
use super::keep::SPARE_SLOTS;
use super::reducer::Reducer;
use super::slices::LOG_DUE;
use super::writer::Writer;

/// The shortest buffer that [`Reducer::take`] can use.
pub const PART_BYTES: usize = LOG_BYTES + 64;
/// More than a row takes in a part.
const ROW_ROOM: usize = 128;

pub(super) const SUMS: u8 = 1;
pub(super) const ROWS: u8 = 2;
pub(super) const CERTAIN: u8 = 1;

impl Reducer<'_> {
    /// Writes one part of what is due into `buffer`, and returns its length; 0 when nothing is due any more.
    ///
    /// To be called until it gives 0, each part being stored before the next is asked for. `buffer` must have
    /// [`PART_BYTES`] at least.
    pub fn take(&mut self, buffer: &mut [u8]) -> usize {
        self.take_if(buffer, false)
    }

    /// The same for everything that has not been handed over, due or not: for who wants it all in one place when a run ends.
    /// Sums, quantiles and messages stay in the block alone.
    pub fn take_rest(&mut self, buffer: &mut [u8]) -> usize {
        self.take_if(buffer, true)
    }

    fn take_if(&mut self, buffer: &mut [u8], rest: bool) -> usize {
        if buffer.len() < PART_BYTES {
            return 0;
        }
        self.arrived();
        if self.block.log_length() > if rest { 0 } else { LOG_DUE } {
            return self.write_sums(buffer);
        }
        let block = &*self.block;
        let ripe = block.calls().saturating_sub(block.epoch_calls) >= block.epoch_length.max(1);
        let full = block.slots_free < SPARE_SLOTS && block.limit == 0;
        let rest = rest && block.slots_free < SLOTS as u32 - 1;
        if block.draining != 0 || ripe || full || rest {
            return self.write_rows(buffer);
        }
        self.block.due = 0;
        0
    }

    /// What was handed over last has been stored: forget it here.
    fn arrived(&mut self) {
        let block = &mut *self.block;
        if block.pending_entries != 0 {
            // Where something was added since, all of it is handed over again: entries are numbered.
            if block.pending_log == block.log {
                block.log = ((block.log >> 16) + u64::from(block.pending_entries)) << 16;
                block.log_entries = 0;
            }
            block.pending_entries = 0;
        }
        if block.draining != 0 && block.drain_next as usize >= (block.slots_used as usize).min(SLOTS) {
            block.draining = 0;
            block.next_epoch();
        }
    }

    fn write_sums(&mut self, buffer: &mut [u8]) -> usize {
        let block = &mut *self.block;
        let mut part = Writer::new(buffer);
        part.byte(SUMS);
        part.number(block.log >> 16);
        part.number(u64::from(block.log_entries));
        for &byte in &block.log_bytes[..block.log_length()] {
            part.byte(byte);
        }
        (block.pending_log, block.pending_entries) = (block.log, block.log_entries);
        part.length()
    }

    fn write_rows(&mut self, buffer: &mut [u8]) -> usize {
        let block = &mut *self.block;
        if block.draining == 0 {
            block.thin_to_wish();
            (block.draining, block.drain_next, block.drain_part) = (1, 1, 0);
        }
        let used = (block.slots_used as usize).min(SLOTS);
        let room = buffer.len() / ROW_ROOM;
        let mut part = Writer::new(buffer);
        part.byte(ROWS);
        part.number(block.epoch);
        part.number(u64::from(block.drain_part));
        let first = block.drain_next as usize;
        let live = |at: &usize| block.slots[*at].state & LIVE != 0;
        // Two rows of room are for what stands before them.
        let count = (first..used).filter(live).count().min(room.saturating_sub(2));
        part.number(count as u64);
        let mut next = first;
        for at in (first..used).filter(live).take(count) {
            let slot = &block.slots[at];
            let threshold = block.classes[usize::from(slot.class) & (CLASSES - 1)].threshold;
            let certain = slot.state & SLOW != 0 || (slot.state & SAMPLED != 0 && threshold == ALL);
            part.number(u64::from(slot.class));
            part.byte(if certain { CERTAIN } else { 0 });
            if !certain {
                part.number(threshold >> 32);
            }
            part.number(slot.start);
            part.number(slot.duration);
            part.number(slot.number >> 32);
            let words = slot.payload.iter().enumerate();
            part.byte(words.fold(0, |bits, (index, &word)| bits | u8::from(word != 0) << index));
            for &word in slot.payload.iter().filter(|&&word| word != 0) {
                part.word(word);
            }
            next = at + 1;
        }
        block.drain_next = if count == 0 { used as u32 } else { next as u32 };
        block.drain_part += 1;
        part.length()
    }
}
