//! The number by which a row is drawn: a hash of what the row is, the same on whatever rank looks at it.
//!
//! Rows are kept by comparing this number with a threshold. Both ends of a message have the same number, and so
//! have all ranks of a collective; so they are kept or dropped together, as far as thresholds are the same.

/// The number of a message: communicator (an identity that is the same on all ranks), source and destination
/// in it, tag, and how many messages with all these the same came before.
#[inline]
pub fn message(seed: u64, communicator: u64, source: u32, destination: u32, tag: i32, before: u64) -> u64 {
    let pair = u64::from(source) << 32 | u64::from(destination);
    let state = stir(stir(stir(seed ^ communicator) ^ pair) ^ u64::from(tag as u32));
    stir(state ^ before)
}

/// The number of a collective: communicator, and how many collectives on it came before.
#[inline]
pub fn collective(seed: u64, communicator: u64, before: u64) -> u64 {
    stir(stir(seed ^ communicator.rotate_left(32)) ^ before)
}

/// The number of a call that concerns nobody else: who made it, and how many calls it made before.
#[inline]
pub fn alone(seed: u64, thread: u64, before: u64) -> u64 {
    stir(stir(seed ^ thread.rotate_left(17) ^ 0x5eed) ^ before)
}

/// Every bit of the result depends on every bit given (the finisher of SplitMix64).
#[inline]
fn stir(value: u64) -> u64 {
    let mut word = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
