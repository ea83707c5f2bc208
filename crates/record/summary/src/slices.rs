//! Sums over time: what was added since the last time, written to a log in the block.
//!
//! There are two series. *Marks* have calls and time inside them of the whole thread, often. *Slices* have the
//! sums of one kind by class; each kind has its own, after so many calls of that kind, so a frequent kind
//! is known finely and a rare one costs nothing. How many calls a mark or slice lasts follows from what it took to
//! write it and the bytes that were wished for.
//!
//! ```text
//! entry   what (number): 0 mark as long as the last, 1 mark, kind + 2 slice
//!         end (number): ticks since the last end of the same series
//! mark    [calls (number)]; ticks (number)
//! slice   classes with calls (byte of bits), classes with other bytes than most (byte of bits);
//!         for each of the former: calls, ticks (numbers), for the latter also bytes out and in, as far as they
//!         differ from calls times the bytes of the kind's first call (signed)
//! ```
//!
//! What is not in the log yet is the difference to the sums of the classes. So sums over all of the run are exact
//! whatever became of the log, and a log that is not emptied makes slices longer, nothing else.

use super::block::{Block, CLASSES, DECADES, KINDS, LOG_BYTES, Sums};
use super::settings;
use super::writer::Writer;
use kizami_wire::varint::Input;
use std::sync::atomic::{Ordering, compiler_fence};

/// How long a slice is before it is known what it takes to write one.
pub(super) const FIRST_LENGTH: u32 = 256;
const SHORTEST_MARK: u64 = 128;
const SHORTEST_SLICE: u64 = 256;
const LONGEST: u64 = 1 << 24;
/// What a mark takes.
const MARK_BYTES: u64 = 10;
/// More than any entry takes.
const ENTRY_ROOM: usize = 512;
/// With so much in the log it should be taken.
pub(super) const LOG_DUE: usize = LOG_BYTES * 3 / 4;

pub(super) fn first_lengths(block: &mut Block) {
    block.mark_length = length_for(MARK_BYTES, block.marks_bytes_wish, SHORTEST_MARK);
    block.mark_left = block.mark_length as u32;
}

/// Calls that may pass for an entry of so many bytes.
fn length_for(bytes: u64, wish: u64, shortest: u64) -> u64 {
    (bytes << 32).checked_div(wish).unwrap_or(LONGEST).clamp(shortest, LONGEST)
}

impl Block {
    /// Calls so far.
    pub(super) fn calls(&self) -> u64 {
        self.marked_calls.saturating_add(self.mark_length.saturating_sub(u64::from(self.mark_left)))
    }

    pub(super) fn log_length(&self) -> usize {
        (self.log as usize & 0xffff).min(LOG_BYTES)
    }

    /// Makes what was written behind the log part of it.
    fn publish_entry(&mut self, bytes: usize) {
        compiler_fence(Ordering::Release);
        self.log += bytes as u64;
        self.log_entries += 1;
        compiler_fence(Ordering::Release);
        if self.log_length() > LOG_DUE {
            self.due = 1;
        }
    }

    /// A mark that ends with a call that began at `start`.
    pub(super) fn end_mark(&mut self, start: u64) {
        let length = length_for(MARK_BYTES, self.marks_bytes_wish, SHORTEST_MARK);
        let at = self.log_length();
        if at + ENTRY_ROOM > LOG_BYTES {
            self.due = 1;
            self.mark_length += length;
            self.mark_left = length as u32;
            return;
        }
        let end = start.saturating_add(1).max(self.marked_end);
        let mut entry = Writer::new(&mut self.log_bytes[at..]);
        let as_before = self.mark_length == self.mark_length_recorded;
        entry.number(u64::from(!as_before));
        entry.number(end.wrapping_sub(self.marked_end));
        if !as_before {
            entry.number(self.mark_length);
        }
        entry.number(self.ticks.wrapping_sub(self.marked_ticks));
        let bytes = entry.length();
        self.publish_entry(bytes);
        self.mark_length_recorded = self.mark_length;
        self.marked_calls += self.mark_length;
        (self.marked_ticks, self.marked_end) = (self.ticks, end);
        (self.mark_length, self.mark_left) = (length, length as u32);
        self.keep_rate(start);
        if self.calls().saturating_sub(self.epoch_calls) >= self.epoch_length {
            self.due = 1;
        }
    }

    /// Where bytes were wished for by time, what that makes of a call now.
    fn keep_rate(&mut self, start: u64) {
        let ticks = start.saturating_sub(self.first_start);
        let calls = self.calls();
        if self.bytes_rate_wish == 0 || calls == 0 || ticks == 0 {
            return;
        }
        let bytes_per_call = (u128::from(self.bytes_rate_wish) * u128::from(ticks)
            / u128::from(self.ticks_per_second))
        .min(u128::from(u64::MAX)) as u64
            / calls;
        settings::wish(self, bytes_per_call);
    }

    /// A slice of a kind that ends with a call that began at `start`.
    pub(super) fn end_slice(&mut self, kind_index: usize, start: u64) {
        let kind = &mut self.kinds[kind_index & (KINDS - 1)];
        kind.left = kind.length.max(FIRST_LENGTH);
        let at = (self.log as usize & 0xffff).min(LOG_BYTES);
        if at + ENTRY_ROOM > LOG_BYTES {
            self.due = 1;
            return;
        }
        let end = start.saturating_add(1).max(kind.recorded_end);
        let classes = kind.classes.map(|class| usize::from(class) & (CLASSES - 1));
        let sums: [Sums; DECADES] = std::array::from_fn(|decade| match classes[decade] {
            0 => Sums::default(),
            class => self.classes[class].sums.minus(self.recorded[class]),
        });
        let usual = (kind.bytes_out, kind.bytes_in);
        let mut entry = Writer::new(&mut self.log_bytes[at..]);
        entry.number(kind_index as u64 + 2);
        entry.number(end.wrapping_sub(kind.recorded_end));
        let bits = |holds: &dyn Fn(&Sums) -> bool| {
            (0..DECADES).fold(0, |bits, decade| bits | u8::from(holds(&sums[decade])) << decade)
        };
        let other_bytes = |sums: &Sums| unusual(sums, usual) != (0, 0);
        let (called, unlike) = (bits(&|sums| sums.calls > 0), bits(&other_bytes));
        entry.byte(called);
        entry.byte(unlike & called);
        for sums in sums.iter().filter(|sums| sums.calls > 0) {
            entry.number(sums.calls);
            entry.number(sums.ticks);
            if other_bytes(sums) {
                let (out, in_) = unusual(sums, usual);
                entry.signed(out);
                entry.signed(in_);
            }
        }
        let bytes = entry.length();
        self.publish_entry(bytes);
        for class in classes.into_iter().filter(|&class| class != 0) {
            self.recorded[class] = self.classes[class].sums;
        }
        let length = length_for(bytes as u64, self.slices_bytes_wish, SHORTEST_SLICE);
        let kind = &mut self.kinds[kind_index & (KINDS - 1)];
        kind.recorded_end = end;
        (kind.length, kind.left) = (length as u32, length as u32);
    }
}

/// Bytes out and in beyond the number of calls times the normal size.
fn unusual(sums: &Sums, usual: (u64, u64)) -> (i64, i64) {
    let beside = |bytes: u64, each: u64| bytes.wrapping_sub(sums.calls.wrapping_mul(each)) as i64;
    (beside(sums.bytes_out, usual.0), beside(sums.bytes_in, usual.1))
}

/// One entry of the log, as read.
pub(super) enum Entry {
    Mark { length_ticks: u64, calls: Option<u64>, ticks: u64 },
    Slice { kind: usize, length_ticks: u64, classes: Box<[Sums; DECADES]> },
}

impl Entry {
    /// `usual` is the bytes of a kind's first call.
    pub(super) fn read(reader: &mut Input, usual: impl Fn(usize) -> (u64, u64)) -> Option<Entry> {
        let what = reader.number()?;
        let length_ticks = reader.number()?;
        if what < 2 {
            let calls = if what == 1 { Some(reader.number()?) } else { None };
            return Some(Entry::Mark { length_ticks, calls, ticks: reader.number()? });
        }
        let kind = usize::try_from(what - 2).ok().filter(|&kind| kind < KINDS)?;
        let usual = usual(kind);
        let (called, unlike) = (reader.byte()?, reader.byte()?);
        let mut classes = Box::new([Sums::default(); DECADES]);
        for (decade, sums) in classes.iter_mut().enumerate() {
            if called >> decade & 1 == 0 {
                continue;
            }
            (sums.calls, sums.ticks) = (reader.number()?, reader.number()?);
            let (mut out, mut in_) = (0, 0);
            if unlike >> decade & 1 != 0 {
                (out, in_) = (reader.signed()?, reader.signed()?);
            }
            sums.bytes_out = sums.calls.wrapping_mul(usual.0).wrapping_add(out as u64);
            sums.bytes_in = sums.calls.wrapping_mul(usual.1).wrapping_add(in_ as u64);
        }
        Some(Entry::Slice { kind, length_ticks, classes })
    }
}
