//! All records of a segment, also of one whose process died, and of one that lies.

use crate::CallRecord;
use crate::Record;
use crate::decode::{call_of_one_slot, decode};
use kizami_segment::{Committed, Damage, Segment};

/// Walks the records of a segment. Cloning it keeps a place to come back to.
#[derive(Clone, Debug)]
pub struct Records<'a>(Committed<'a>);

impl<'a> Records<'a> {
    /// All whole records of a segment in order.
    pub fn of(segment: &Segment<'a>) -> Records<'a> {
        Records(segment.committed())
    }

    /// What could not be believed so far.
    pub fn damage(&self) -> &[Damage] {
        self.0.damage()
    }

    /// Byte offset in the file of the next record.
    pub fn position(&self) -> usize {
        self.0.position()
    }

    /// The slots of the record that was given last.
    pub fn last_slots(&self) -> &'a [u8] {
        self.0.last_slots()
    }
}

impl Records<'_> {
    /// The next record, if it is a call that takes one slot, as nearly all do: without the moves of one that may be anything.
    #[inline]
    pub fn next_call(&mut self) -> Option<CallRecord> {
        let call = call_of_one_slot(self.0.rest()?)?;
        self.0.take(1);
        Some(call)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            match decode(self.0.rest()?) {
                Some((record, slots)) => {
                    self.0.take(slots);
                    return Some(record);
                }
                None => self.0.give_up_chunk("a record that makes no sense"),
            }
        }
    }
}
