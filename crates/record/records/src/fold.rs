//! Polls that found nothing, folded into one record: while it is the segment's last, one more poll only changes it.

use crate::Record;
use crate::call::CallRecord;
use crate::kind::FOLD;
use crate::words::{pair, unpair};
use kizami_model::Op;
use kizami_segment::{Slot, head, ticks_of};

/// The first slot and the rest of a fold record; see [`fold_update`].
#[inline(always)]
pub fn pack_fold(call: &CallRecord) -> [[u64; 4]; 2] {
    let end = call.start_ticks + call.duration_ticks;
    [
        [
            head(FOLD, call.start_ticks),
            pair(u32::from(call.op.0), call.site),
            pair(call.peer as u32, call.tag as u32),
            1,
        ],
        [call.duration_ticks, end, u64::from(call.comm), 0],
    ]
}

/// Adds one more failed poll to the fold record in `slots`, which must be the segment's last record.
#[inline(always)]
pub fn fold_update(slots: &[Slot; 2], end_ticks: u64, inside_ticks: u64) {
    slots[1].add_word(0, inside_ticks);
    slots[1].set_word(1, end_ticks);
    slots[0].add_word(3, 1);
}

pub(crate) fn unpack_fold(first: [u64; 4], second: [u64; 4]) -> Option<Record<'static>> {
    let (op, site) = unpair(first[1]);
    let op = Op(u16::try_from(op).ok()?);
    op.function()?;
    let start = ticks_of(first[0]);
    let mut call = CallRecord::new(op, start, second[1].checked_sub(start)?);
    call.site = site;
    call.comm = second[2] as u32;
    let (peer, tag) = unpair(first[2]);
    (call.peer, call.tag) = (peer as i32, tag as i32);
    Some(Record::Fold { call, count: first[3], inside_ticks: second[0] })
}
