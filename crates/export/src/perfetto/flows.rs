//! The number by which a sender's slice and a receiver's slice are tied together.
//!
//! It is made from the message's communicator, sender, receiver, tag and its number among those, so the two
//! ranks need not be looked at together. Two of a hundred million messages have the same by a chance of one
//! in four thousand; their arrows would be drawn wrong.

use kizami_model::Rank;

/// The flow of a message.
pub(super) fn flow(comm: u32, sender: Rank, receiver: Rank, tag: i32, number: u64) -> u64 {
    let route = u64::from(sender.0) << 32 | u64::from(receiver.0);
    let envelope = u64::from(comm) << 32 | u64::from(tag as u32);
    mix(mix(mix(route) ^ envelope) ^ number)
}

/// Spreads every bit over all others (the finaliser of SplitMix64).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbouring_messages_have_different_flows() {
        let mut seen = HashSet::new();
        for comm in 0..4 {
            for (sender, receiver) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
                for tag in -1..20 {
                    for number in 1..50 {
                        assert!(seen.insert(flow(comm, Rank(sender), Rank(receiver), tag, number)));
                    }
                }
            }
        }
    }
}
