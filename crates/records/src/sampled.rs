//! Calls of a thread that keeps some of each batch it collected: which batch the calls that follow were drawn from.

use crate::kind::SAMPLED;
use crate::words::{pair, unpair};
use kizami_segment::{head, ticks_of};

/// Calls that were collected, and of which some were drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledBatch {
    /// Start of the first, in ticks since the segment's base.
    pub start_ticks: u64,
    /// From there to the end of the last.
    pub duration_ticks: u64,
    /// How many were collected; none where a thread says that it will keep what it draws.
    pub collected: u32,
    /// How many of them were drawn.
    pub drawn: u32,
    /// By which importance: the number that the crate with the scheme gives it.
    pub importance: u8,
    /// Nothing more was collected by then: the thread ended, or had no more to do.
    pub rest: bool,
}

impl SampledBatch {
    /// As one slot.
    pub fn pack(&self) -> [u64; 4] {
        [
            head(SAMPLED, self.start_ticks),
            self.duration_ticks,
            pair(self.collected, self.drawn),
            u64::from(self.importance) | u64::from(self.rest) << 8,
        ]
    }

    pub(crate) fn unpack(words: [u64; 4]) -> SampledBatch {
        let (collected, drawn) = unpair(words[2]);
        SampledBatch {
            start_ticks: ticks_of(words[0]),
            duration_ticks: words[1],
            collected,
            drawn,
            importance: words[3] as u8,
            rest: words[3] >> 8 & 1 != 0,
        }
    }
}
