//! Identities that all ranks compute alike without talking to each other.
//!
//! A communicator's identity is a hash of how it was made: from which parent, with which index, with which members.
//! All its ranks took part in making it, so they all know the same.

use kizami_rng::mix;

/// Mixes words into one number that is the same on every rank.
#[derive(Clone, Copy)]
pub struct Identity(u64);

impl Identity {
    /// Nothing mixed in yet but what kind of thing it is.
    pub fn new(kind: u64) -> Identity {
        Identity(0x9e37_79b9_7f4a_7c15).with(kind)
    }

    /// One word more.
    #[must_use]
    pub fn with(self, word: u64) -> Identity {
        Identity(mix(self.0.rotate_left(23) ^ word.wrapping_mul(0xff51_afd7_ed55_8ccd)))
    }

    /// The number; never 0, which means "none".
    pub fn number(self) -> u64 {
        self.0.max(1)
    }
}
