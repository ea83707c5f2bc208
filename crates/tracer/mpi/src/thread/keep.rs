//! A thread that does not keep every call: its calls go to the reducers, or into a window to be drawn from.
//!
//! What comes out of them goes into the segment as records, like anything else.

use super::{Thread, list_head};
use crate::clock;
use crate::reduction::{self, KeepMode, LIST_MOST, PART_BYTES, Packed, Reduction};
use kizami_model::StopReason;
use kizami_records::kind::REDUCED;
use kizami_records::{CallRecord, Completion, ListItems, call_slots};
use kizami_segment::{SLOT_BYTES, head, slot_words};

impl Thread {
    /// Whether each call becomes a record.
    pub fn keeps_every_call(&self) -> bool {
        matches!(self.keep, KeepMode::All)
    }

    /// Adds a call to what is kept of all calls, if that is how this thread records.
    #[inline(always)]
    pub(super) fn reduces(&mut self, add: impl FnOnce(&mut Reduction) -> bool) -> bool {
        let KeepMode::Reduced(reduction) = &mut self.keep else { return false };
        if add(reduction) {
            self.hand_over();
        }
        true
    }

    #[inline]
    pub(super) fn reduces_completion(&mut self, call: &CallRecord) -> bool {
        let completed = std::mem::take(&mut self.completed);
        let items = match completed.as_slice() {
            [one] => ListItems::One(one.pack()),
            // A row that is kept does without a longer list: the sequence has it.
            _ => ListItems::None,
        };
        let head = list_head(call, items);
        let mut rest = completed.as_slice();
        while rest.len() > LIST_MOST {
            // More bytes of a receive stay with it.
            let parted = matches!(rest[LIST_MOST], Completion::MoreBytes { .. });
            let (first, others) = rest.split_at(LIST_MOST - usize::from(parted));
            self.reduces(|reduction| reduction.completed(call, first, true));
            rest = others;
        }
        let reduced = self.reduces(|reduction| reduction.completion(call, rest, head))
            || self.collects(call, || reduction::short(head));
        self.completed = completed;
        reduced
    }

    pub(super) fn reduces_start(&mut self, call: &CallRecord) -> bool {
        let started = std::mem::take(&mut self.started);
        let head = list_head(call, ListItems::None);
        let mut rest = started.as_slice();
        while rest.len() > LIST_MOST {
            let (first, others) = rest.split_at(LIST_MOST);
            self.reduces(|reduction| reduction.started(call, first, true));
            rest = others;
        }
        let reduced = self.reduces(|reduction| reduction.start(call, rest, head))
            || self.collects(call, || reduction::short(head));
        self.started = started;
        reduced
    }

    /// Writes what reducers hand over into the segment.
    #[cold]
    pub(super) fn hand_over(&mut self) {
        let mut keep = std::mem::take(&mut self.keep);
        let KeepMode::Reduced(reduction) = &mut keep else {
            self.keep = keep;
            return;
        };
        // What there is no room for (the disk is full) stays with the reducers: sums get coarser, and the sequence ends.
        while self.has_room_for(1 + PART_BYTES.div_ceil(SLOT_BYTES))
            && reduction.hand_over(|by, bytes| {
                let slot = |index: usize| {
                    let mut slot = [0; SLOT_BYTES];
                    let piece = &bytes[index * SLOT_BYTES..bytes.len().min((index + 1) * SLOT_BYTES)];
                    slot[..piece.len()].copy_from_slice(piece);
                    slot_words(&slot, 0).unwrap_or_default()
                };
                let first = [head(REDUCED, 0), bytes.len() as u64, by as u64, 0];
                self.push_if_room(first, (0..bytes.len().div_ceil(SLOT_BYTES)).map(slot));
            })
        {}
        self.keep = keep;
    }

    /// Adds a call to those of which some are drawn later, if that is how this thread records.
    #[inline(never)]
    pub(super) fn collects(&mut self, call: &CallRecord, packed: impl FnOnce() -> Packed) -> bool {
        let KeepMode::Drawn(window) = &mut self.keep else { return false };
        if window.add(call, packed()) {
            self.draw(false);
        }
        true
    }

    /// Draws from what was collected so far, because the thread may make no more calls.
    pub fn draw_rest(&mut self) {
        self.draw(true);
    }

    /// Writes calls that are drawn from those collected into the segment.
    #[cold]
    pub(super) fn draw(&mut self, rest: bool) {
        let mut keep = std::mem::take(&mut self.keep);
        let KeepMode::Drawn(window) = &mut keep else {
            self.keep = keep;
            return;
        };
        let start = clock::now();
        let now = self.relative(start);
        let mut room = true;
        window.draw(rest, now, |told, call| match call {
            None if self.push_if_room(told.pack(), std::iter::empty()) => {}
            None => {
                room = false;
                self.count_lost(u64::from(told.collected));
            }
            Some(_) if !room => {}
            Some(call) => {
                let [a, b, c, d, second @ ..] = *call;
                let seconds = call_slots(a) - 1;
                self.push([a, b, c, d], [second].into_iter().take(seconds));
            }
        });
        self.keep = keep;
        self.record_stop(start, clock::now(), StopReason::Sampling, 0);
    }

    /// Says in the segment that only what is drawn will be there, so that nobody takes it for all.
    pub(super) fn say_that_it_draws(&mut self) {
        let mut keep = std::mem::take(&mut self.keep);
        if let KeepMode::Drawn(window) = &mut keep {
            let now = self.relative(clock::now());
            window.draw(false, now, |told, _| {
                self.push_if_room(told.pack(), std::iter::empty());
            });
        }
        self.keep = keep;
    }
}
