//! The number by which a sender's slice and a receiver's slice are tied together.
//!
//! It is made from the message's communicator, sender, receiver, tag and its number among those, so the two
//! ranks need not be looked at together. Two of a hundred million messages have the same by a chance of one
//! in four thousand; their arrows would be drawn wrong.

use kizami_model::Rank;
use kizami_rng::SplitMix64;

/// The flow of a message.
pub(super) fn flow(comm: u32, sender: Rank, receiver: Rank, tag: i32, number: u64) -> u64 {
    let route = u64::from(sender.0) << 32 | u64::from(receiver.0);
    let envelope = u64::from(comm) << 32 | u64::from(tag as u32);
    hash(hash(hash(route) ^ envelope) ^ number)
}

fn hash(value: u64) -> u64 {
    SplitMix64::new(value).bits()
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
