//! How long messages take, learned from those that were waited for.
//!
//! A receive that began before its message was sent shows the whole way of the message. One that began later
//! shows only what was left of it; without the tracer it might have begun earlier and waited for the rest. The
//! median of the last ways of messages of about the same size says how long that would have been.

/// Sizes are told apart by their number of bits.
const CLASSES: usize = 65;
/// Ways that are remembered of each class.
const REMEMBERED: usize = 33;

/// The ways of messages seen so far.
pub(super) struct Latencies(Vec<Ways>);

#[derive(Clone, Default)]
struct Ways {
    last_ns: Vec<i64>,
    next: usize,
    median_ns: i64,
}

impl Latencies {
    pub(super) fn new() -> Latencies {
        Latencies(vec![Ways::default(); CLASSES])
    }

    /// A message of this size took so long.
    pub(super) fn learn(&mut self, bytes: u64, way_ns: i64) {
        let ways = &mut self.0[class(bytes)];
        if ways.last_ns.len() < REMEMBERED {
            ways.last_ns.push(way_ns);
        } else {
            ways.last_ns[ways.next % REMEMBERED] = way_ns;
        }
        ways.next += 1;
        let mut sorted = ways.last_ns.clone();
        sorted.sort_unstable();
        ways.median_ns = sorted[sorted.len() / 2];
    }

    /// How long a message of this size takes; 0 if none was seen.
    pub(super) fn expected_ns(&self, bytes: u64) -> i64 {
        self.0[class(bytes)].median_ns
    }
}

fn class(bytes: u64) -> usize {
    (u64::BITS - bytes.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_follows_the_last_ways_of_its_size() {
        let mut latencies = Latencies::new();
        assert_eq!(latencies.expected_ns(8), 0);
        for way in [900, 1_000, 50_000] {
            latencies.learn(8, way);
        }
        assert_eq!(latencies.expected_ns(9), 1_000);
        assert_eq!(latencies.expected_ns(4_096), 0);
        for _ in 0..REMEMBERED {
            latencies.learn(8, 700);
        }
        assert_eq!(latencies.expected_ns(8), 700);
        latencies.learn(u64::MAX, 5);
        assert_eq!(latencies.expected_ns(u64::MAX), 5);
    }
}
