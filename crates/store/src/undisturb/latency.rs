//! How long messages take, learned from those that were waited for.
//!
//! A receive that began before its message was sent shows the whole way of the message. One that began later
//! shows only what was left of it; without the tracer it might have begun earlier and waited for the rest. The
//! fastest of the last ways of messages of about the same size says how long that would have been. Not a typical
//! one: ranks mostly wait for each other when something else went wrong, and that does not belong to the message.

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
    fastest_ns: i64,
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
        ways.fastest_ns = ways.last_ns.iter().copied().min().unwrap_or(0);
    }

    /// How long a message of this size takes at least; 0 if none was seen.
    pub(super) fn least_ns(&self, bytes: u64) -> i64 {
        self.0[class(bytes)].fastest_ns
    }
}

fn class(bytes: u64) -> usize {
    (u64::BITS - bytes.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_of_the_last_ways_of_its_size_counts() {
        let mut latencies = Latencies::new();
        assert_eq!(latencies.least_ns(8), 0);
        for way in [1_000, 900, 50_000] {
            latencies.learn(8, way);
        }
        assert_eq!(latencies.least_ns(9), 900);
        assert_eq!(latencies.least_ns(4_096), 0);
        for _ in 0..REMEMBERED {
            latencies.learn(8, 1_200);
        }
        assert_eq!(latencies.least_ns(8), 1_200);
        latencies.learn(u64::MAX, 5);
        assert_eq!(latencies.least_ns(u64::MAX), 5);
    }
}
