//! The number by which a row is drawn: a hash of what the row is, the same on whatever rank looks at it.
//!
//! Rows are kept by comparing this number with a threshold. Both ends of a message have the same number, and so
//! have all ranks of a collective; so they are kept or dropped together, as far as thresholds are the same.
//!
//! Rows that have all but their place in a row in common are a [`Series`]: who holds one for each kind of message has
//! the next number in a few cycles, without knowing how many came before.

/// Numbers of rows that follow each other: messages between the same two ranks, collectives of a communicator.
///
/// It is SplitMix64, begun at a hash of what the rows have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Series(u64);

impl Series {
    /// Messages in a communicator (an identity that is the same on all ranks), from one rank of it to another,
    /// with a tag.
    pub fn of_messages(seed: u64, communicator: u64, source: u32, destination: u32, tag: i32) -> Series {
        let pair = u64::from(source) << 32 | u64::from(destination);
        Series(stir(stir(stir(seed ^ communicator) ^ pair) ^ u64::from(tag as u32)))
    }

    /// Collectives of a communicator.
    pub fn of_collectives(seed: u64, communicator: u64) -> Series {
        Series(stir(seed ^ communicator.rotate_left(32)))
    }

    /// Calls of one thread that concern nobody else.
    pub fn alone(seed: u64, thread: u64) -> Series {
        Series(stir(seed ^ thread.rotate_left(17) ^ 0x5eed))
    }

    /// The number of the next row.
    #[inline(always)]
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        finish(self.0)
    }

    /// The number of the row that has so many before it.
    #[inline]
    pub fn number(self, before: u64) -> u64 {
        finish(self.0.wrapping_add(STEP.wrapping_mul(before.wrapping_add(1))))
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn stir(value: u64) -> u64 {
    finish(value.wrapping_add(STEP))
}

/// Every bit of the result depends on every bit given.
#[inline(always)]
fn finish(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other_is_the_same_as_by_place() {
        let series = Series::of_messages(1, 77, 2, 5, 4);
        let mut going = series;
        for before in 0..100 {
            assert_eq!(going.next_number(), series.number(before));
        }
    }

    #[test]
    fn numbers_of_many_short_series_are_spread_evenly() {
        let numbers = (0..1000u32).flat_map(|rank| {
            let series = Series::of_messages(1, 77, rank, rank + 1, 0);
            (0..100).map(move |before| series.number(before))
        });
        let mut bins = [0u32; 64];
        numbers.for_each(|number| bins[(number >> 58) as usize] += 1);
        let expected = 100_000.0 / 64.0;
        let chi_square: f64 = bins.iter().map(|&bin| (f64::from(bin) - expected).powi(2) / expected).sum();
        // 63 degrees of freedom: above 120 once in a hundred thousand.
        assert!(chi_square < 120.0, "{chi_square}");
    }
}
