//! The sampling key of a row: a hash of what the row is, the same on every rank.
//!
//! Rows are kept by comparing this number with a threshold. Both ends of a message have the same number, and so
//! have all ranks of a collective; so they are kept or dropped together, as far as thresholds are the same.
//!
//! Rows that have all but their place in a row in common are a [`Series`]: who holds one for each kind of message has
//! the next number in a few cycles, without knowing how many came before.

use kizami_rng::SplitMix64;

/// Numbers of rows that follow each other: messages between the same two ranks, collectives of a communicator.
///
/// It is a generator, begun at a hash of what the rows have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Series(SplitMix64);

impl Series {
    /// Messages in a communicator (an identity that is the same on all ranks), from one rank of it to another,
    /// with a tag.
    pub fn of_messages(seed: u64, communicator: u64, source: u32, destination: u32, tag: i32) -> Series {
        let pair = u64::from(source) << 32 | u64::from(destination);
        Series(SplitMix64::new(stir(stir(stir(seed ^ communicator) ^ pair) ^ u64::from(tag as u32))))
    }

    /// Collectives of a communicator.
    pub fn of_collectives(seed: u64, communicator: u64) -> Series {
        Series(SplitMix64::new(stir(seed ^ communicator.rotate_left(32))))
    }

    /// Calls of one thread that concern no other.
    pub fn alone(seed: u64, thread: u64) -> Series {
        Series(SplitMix64::new(stir(seed ^ thread.rotate_left(17) ^ 0x5eed)))
    }

    /// The number of the next row.
    #[inline(always)]
    pub fn next_number(&mut self) -> u64 {
        self.0.bits()
    }

    /// The number of the row that has so many before it.
    #[inline]
    pub fn number(self, before: u64) -> u64 {
        self.0.bits_after(before)
    }
}

/// Keys that are independent of all others of a run.
impl From<Series> for SplitMix64 {
    fn from(series: Series) -> SplitMix64 {
        series.0
    }
}

/// A hash of one word.
fn stir(value: u64) -> u64 {
    SplitMix64::new(value).bits()
}
