//! Pieces of words and slots.

use kizami_segment::SLOT_BYTES;

/// Two 32-bit numbers in one word.
#[inline(always)]
pub fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

pub(crate) fn unpair(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// The slots behind the first, if they are all there.
pub(crate) fn slots_behind(bytes: &[u8], slots: usize) -> Option<&[u8]> {
    let end = slots.checked_add(1)?.checked_mul(SLOT_BYTES)?;
    bytes.get(SLOT_BYTES..end)
}

pub(crate) fn word(bytes: &[u8], index: usize) -> u64 {
    u64::from_le_bytes(bytes[index * 8..index * 8 + 8].try_into().expect("8 bytes"))
}
