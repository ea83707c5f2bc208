//! What the container knows of a slot: it has four words, and the first word of a record has its kind and its start.

use crate::SLOT_BYTES;

/// The kind of a record that fills the rest of a chunk, the only one of the container's own.
pub const PAD: u16 = 960;

const TICK_BITS: u32 = 54;

/// The first word of a record: its kind, which is never 0, and its start in ticks since the segment's base.
#[inline(always)]
pub fn head(kind: u16, start_ticks: u64) -> u64 {
    u64::from(kind) << TICK_BITS | ticks_of(start_ticks)
}

/// The kind in the first word of a record.
#[inline(always)]
pub fn kind_of(first: u64) -> u16 {
    (first >> TICK_BITS) as u16
}

/// The start in the first word of a record.
#[inline(always)]
pub fn ticks_of(first: u64) -> u64 {
    first & ((1 << TICK_BITS) - 1)
}

/// The words of the slot with this index, if the bytes hold it.
#[inline(always)]
pub fn slot_words(bytes: &[u8], index: usize) -> Option<[u64; 4]> {
    let slot = bytes.get(index * SLOT_BYTES..(index + 1) * SLOT_BYTES)?;
    Some(std::array::from_fn(|word| {
        u64::from_le_bytes(slot[word * 8..word * 8 + 8].try_into().expect("8 bytes"))
    }))
}
