//! How a record is made of slots.

use crate::kind::{
    COUNT, COUNTED, DEFINITION, FOLD, OFF_CORE, REDUCED, REGION_BEGIN, REGION_END, STOP, WEIGHT, WIDE,
};
use crate::{CallRecord, Record, ReducedBy, counted, fold, list};
use kizami_model::{Op, Shape, StopReason};
use kizami_segment::{SLOT_BYTES, kind_of, slot_words, ticks_of};

/// The call at the beginning of `bytes`, if there is one and it takes one slot.
#[inline]
pub(crate) fn call_of_one_slot(bytes: &[u8]) -> Option<CallRecord> {
    let first = slot_words(bytes, 0)?;
    let op = Op(kind_of(first[0]));
    match op.function()?.shape {
        Shape::Completion | Shape::Start => None,
        shape => Some(CallRecord::unpack(first, op, shape)),
    }
}

/// Decodes the record at the beginning of `bytes`; returns it and the number of slots it takes.
/// Nothing comes out if the bytes hold no whole, sensible record.
#[inline]
pub fn decode(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let first = slot_words(bytes, 0)?;
    let op = kind_of(first[0]);
    let ticks = ticks_of(first[0]);
    match op {
        DEFINITION => {
            let length = usize::try_from(first[1]).ok()?;
            let end = SLOT_BYTES.checked_add(length)?;
            Some((Record::Definition(bytes.get(SLOT_BYTES..end)?), end.div_ceil(SLOT_BYTES)))
        }
        WIDE => Some((Record::Call(CallRecord::unpack_wide(first, slot_words(bytes, 1)?)?), 2)),
        FOLD => Some((fold::unpack_fold(first, slot_words(bytes, 1)?)?, 2)),
        COUNTED => counted::unpack_counted(first, bytes),
        OFF_CORE => {
            let [_, before_ns, inside_ns, cost_ticks] = first;
            Some((Record::OffCore { before_ns, inside_ns, cost_ticks }, 1))
        }
        WEIGHT => {
            let weight =
                Some(f64::from_bits(first[1])).filter(|weight| weight.is_finite() && *weight >= 1.0)?;
            Some((Record::Weight(weight), 1))
        }
        REDUCED => {
            let end = SLOT_BYTES.checked_add(usize::try_from(first[1]).ok()?)?;
            let by = ReducedBy::from_number(first[2]);
            Some((Record::Reduced { by, bytes: bytes.get(SLOT_BYTES..end)? }, end.div_ceil(SLOT_BYTES)))
        }
        REGION_BEGIN | REGION_END => {
            let region = u32::try_from(first[1]).ok()?;
            Some((Record::Region { at_ticks: ticks, region, begins: op == REGION_BEGIN }, 1))
        }
        COUNT => {
            let (name, site) = (u32::try_from(first[1]).ok()?, u32::try_from(first[3]).ok()?);
            Some((Record::Count { at_ticks: ticks, name, amount: first[2], site }, 1))
        }
        STOP => {
            let known = u8::try_from(first[2]).ok().and_then(StopReason::from_number);
            let reason = known.filter(|reason| *reason != StopReason::Lost).unwrap_or(StopReason::Other);
            Some((Record::Stop { start_ticks: ticks, duration_ticks: first[1], reason, detail: first[3] }, 1))
        }
        _ => {
            let op = Op(op);
            match op.function()?.shape {
                Shape::Completion => {
                    let (call, completed, slots) = list::unpack_completion(first, bytes, op)?;
                    Some((Record::Completion(call, completed), slots))
                }
                Shape::Start => {
                    let (call, started, slots) = list::unpack_start(first, bytes, op)?;
                    Some((Record::Start(call, started), slots))
                }
                shape => Some((Record::Call(CallRecord::unpack(first, op, shape)), 1)),
            }
        }
    }
}
