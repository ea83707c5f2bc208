//! The LogGOPS model of a network: what one message takes.
//!
//! A message of `s` bytes leaves its sender after `o + O s`, and not before the one before it has left for
//! `g + G s`; it is there `L + G s` after it left; taking it costs the receiver `o + O s`. A message larger than `S`
//! does not leave before its receiver is ready and has said so. See T. Hoefler, T. Schneider and A. Lumsdaine,
//! "LogGOPSim", 2010.

use serde::{Deserialize, Serialize};

/// The parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogGops {
    /// L: time on the way, in nanoseconds.
    pub latency_ns: f64,
    /// o: time a message costs its sender, and again its receiver.
    pub overhead_ns: f64,
    /// g: least time between two messages of one rank.
    pub gap_ns: f64,
    /// G: time per byte on the way.
    pub per_byte_ns: f64,
    /// O: time per byte that sender and receiver spend themselves.
    pub overhead_per_byte_ns: f64,
    /// S: messages above this many bytes wait for their receiver.
    pub eager_limit_bytes: u64,
}

impl LogGops {
    /// What a message costs its sender, and again its receiver.
    #[inline]
    pub fn handling_ns(&self, bytes: u64) -> f64 {
        self.overhead_ns + self.overhead_per_byte_ns * bytes as f64
    }

    /// From leaving the sender to being there.
    #[inline]
    pub fn way_ns(&self, bytes: u64) -> f64 {
        self.latency_ns + self.per_byte_ns * bytes as f64
    }

    /// From the start of a send to the end of a receive that was waiting for it.
    pub fn message_ns(&self, bytes: u64) -> f64 {
        2.0 * self.handling_ns(bytes) + self.way_ns(bytes)
    }
}
