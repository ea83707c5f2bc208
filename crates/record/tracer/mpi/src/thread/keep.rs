//! A thread that does not keep every call: its calls go to the reducers.
//!
//! What comes out of them goes into the segment as records, like anything else.

use super::{Thread, list_head};
use crate::reduction::{KeepMode, LIST_MOST, PART_BYTES, Reduction};
use kizami_records::kind::REDUCED;
use kizami_records::{CallRecord, Completion, ListItems};
use kizami_segment::{SLOT_BYTES, head, slot_words};

impl Thread {
    /// Whether each call becomes a record.
    pub fn keeps_every_call(&self) -> bool {
        matches!(self.keep, KeepMode::All)
    }

    /// Adds a call to what is kept of all calls, if that is how this thread records. Whether that is all that becomes of it.
    #[inline(always)]
    pub(super) fn reduces(&mut self, add: impl FnOnce(&mut Reduction) -> bool) -> bool {
        let KeepMode::Reduced(reduction) = &mut self.keep else { return false };
        let is_recorded = reduction.records_next();
        if add(reduction) {
            self.hand_over();
        }
        !is_recorded
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
        let reduced = self.reduces(|reduction| reduction.completion(call, rest, head));
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
        let reduced = self.reduces(|reduction| reduction.start(call, rest, head));
        self.started = started;
        reduced
    }

    /// Writes what reducers hand over into the segment.
    #[cold]
    pub(super) fn hand_over(&mut self) {
        self.fold = None;
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
}
