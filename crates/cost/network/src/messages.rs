//! What one message costs, from any source: a model with a few parameters, or a table that was measured.
//!
//! A message costs its sender [`Messages::sending_ns`], is on its way for [`Messages::way_ns`], and costs its receiver
//! [`Messages::receiving_ns`]; the next message of the same sender leaves [`Messages::occupied_ns`] later at the earliest.
//! Above [`Messages::eager_limit_bytes`] it does not leave before its receiver is ready.

use crate::LogGops;
use crate::curve::Curve;
use serde::{Deserialize, Serialize};

/// Knows what a message costs.
pub trait Messages {
    /// What a message costs its sender.
    fn sending_ns(&self, bytes: u64) -> f64;
    /// What a message that is there costs its receiver.
    fn receiving_ns(&self, bytes: u64) -> f64;
    /// From leaving the sender to being there.
    fn way_ns(&self, bytes: u64) -> f64;
    /// How long after it left the next one of the same sender can leave.
    fn occupied_ns(&self, bytes: u64) -> f64;
    /// Messages above this many bytes wait for their receiver.
    fn eager_limit_bytes(&self) -> u64;
    /// What asking a receiver whether it is ready takes, one way.
    fn asking_ns(&self) -> f64;
    /// From when a sender learned that its receiver is ready, to when the sender is free again.
    fn leaving_ns(&self, bytes: u64) -> f64;
    /// What a receiver of several messages spends on each of them, while the others are on their way.
    fn taking_ns(&self, bytes: u64) -> f64 {
        self.receiving_ns(bytes)
    }
    /// How much later than the one before it a message of several that leave at once is there.
    fn spaced_ns(&self, bytes: u64) -> f64 {
        self.occupied_ns(bytes)
    }
    /// From the start of both calls to their end, when two ranks send to each other, or all to the next.
    fn exchange_ns(&self, bytes: u64) -> f64 {
        self.message_ns(bytes)
    }
    /// From the start of a send to the end of a receive that was waiting for it.
    fn message_ns(&self, bytes: u64) -> f64 {
        self.sending_ns(bytes) + self.way_ns(bytes) + self.receiving_ns(bytes)
    }
}

impl Messages for LogGops {
    #[inline]
    fn sending_ns(&self, bytes: u64) -> f64 {
        self.handling_ns(bytes)
    }

    #[inline]
    fn receiving_ns(&self, bytes: u64) -> f64 {
        self.handling_ns(bytes)
    }

    #[inline]
    fn way_ns(&self, bytes: u64) -> f64 {
        LogGops::way_ns(self, bytes)
    }

    #[inline]
    fn occupied_ns(&self, bytes: u64) -> f64 {
        self.gap_ns + self.per_byte_ns * bytes as f64
    }

    #[inline]
    fn eager_limit_bytes(&self) -> u64 {
        self.eager_limit_bytes
    }

    #[inline]
    fn asking_ns(&self) -> f64 {
        self.latency_ns
    }

    #[inline]
    fn leaving_ns(&self, bytes: u64) -> f64 {
        self.per_byte_ns * bytes as f64
    }
}

/// Messages as they were measured between two ranks, by size. Asking for the receiver is in what was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredMessages {
    /// Half of a round trip.
    pub round_trip_half: Curve,
    /// Time inside the send.
    pub send: Curve,
    /// Time inside a receive whose message was there.
    pub receive: Curve,
    /// Time a message takes when many follow each other.
    pub stream: Curve,
    /// Time of an exchange: all send to the next one and receive from the one before.
    pub exchange: Curve,
    /// Messages above this many bytes wait for their receiver.
    pub eager_limit_bytes: u64,
}

impl MeasuredMessages {
    /// The same as parameters of a model: a line through the smallest and the largest message.
    pub fn model(&self) -> LogGops {
        let points = self.round_trip_half.points();
        let (Some((small, low)), Some((large, high))) = (points.first(), points.last()) else {
            return LogGops { eager_limit_bytes: self.eager_limit_bytes, ..LogGops::default() };
        };
        let per_byte_ns = if large > small { (high - low) / (large - small) as f64 } else { 0.0 };
        let overhead_ns = self.sending_ns(0);
        LogGops {
            latency_ns: (low - 2.0 * overhead_ns).max(0.0),
            overhead_ns,
            gap_ns: 0.0,
            per_byte_ns,
            overhead_per_byte_ns: 0.0,
            eager_limit_bytes: self.eager_limit_bytes,
        }
    }
}

/// How many messages follow each other where that is measured.
pub(crate) const IN_A_STREAM: f64 = 16.0;

impl Messages for MeasuredMessages {
    fn sending_ns(&self, bytes: u64) -> f64 {
        // A send that waits for its receiver takes as long as the message; that is no work of the sender.
        self.send.at_within(bytes, self.eager_limit_bytes).min(self.round_trip_half.at(bytes) / 2.0)
    }

    fn receiving_ns(&self, bytes: u64) -> f64 {
        // Some libraries move a message only when its receive is there; then receiving is all of its way.
        let most = self.round_trip_half.at(bytes) - self.sending_ns(bytes);
        self.receive.at_within(bytes, self.eager_limit_bytes).min(most)
    }

    fn way_ns(&self, bytes: u64) -> f64 {
        self.round_trip_half.at(bytes) - self.sending_ns(bytes) - self.receiving_ns(bytes)
    }

    fn occupied_ns(&self, bytes: u64) -> f64 {
        if self.stream.is_empty() { 0.0 } else { self.stream.at(bytes) }
    }

    fn eager_limit_bytes(&self) -> u64 {
        self.eager_limit_bytes
    }

    fn asking_ns(&self) -> f64 {
        0.0
    }

    fn leaving_ns(&self, bytes: u64) -> f64 {
        self.way_ns(bytes)
    }

    fn taking_ns(&self, bytes: u64) -> f64 {
        // A library that moves data only when it is asked for it spends the way in the receive; several are on it together.
        let alone = self.receiving_ns(bytes).min(self.round_trip_half.at(bytes) / 2.0);
        if self.stream.is_empty() { alone } else { alone.min(self.spaced_ns(bytes)) }
    }

    fn spaced_ns(&self, bytes: u64) -> f64 {
        // Of those that follow each other only the first has to come all the way alone.
        let others = IN_A_STREAM * self.occupied_ns(bytes) - self.round_trip_half.at(bytes);
        (others / (IN_A_STREAM - 1.0)).max(0.0)
    }

    fn exchange_ns(&self, bytes: u64) -> f64 {
        if self.exchange.is_empty() { self.message_ns(bytes) } else { self.exchange.at(bytes) }
    }
}
