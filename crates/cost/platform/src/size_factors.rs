//! What makes messages of some sizes slower or faster than the links say.
//!
//! SimGrid's SMPI corrects bandwidth and latency by a message's size, adds an envelope, lets every message take a
//! little of the way back, and gives messages with a longer way a smaller share. All that is off unless asked for: it
//! was measured on one old cluster with TCP. It is here so that both can be compared. Left out is SimGrid's window of
//! TCP (4 MiB on the way there and back), which slows messages only where latencies are milliseconds.

/// Corrections of the plain model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeFactors {
    /// Above so many bytes, the bandwidth is multiplied by this; the largest sizes first.
    pub bandwidth: &'static [(u64, f64)],
    /// The same of the latency.
    pub latency: &'static [(u64, f64)],
    /// The share of its rate that a message takes on the links of the way back.
    pub way_back: f64,
    /// What is sent along with every message: its tag, source and communicator.
    pub envelope_bytes: u64,
    /// A message's share falls with its latency and with this many bytes on every link of its way; no message is
    /// treated differently if it is None.
    pub far_bytes: Option<f64>,
}

impl SizeFactors {
    /// Nothing is corrected.
    pub const NONE: SizeFactors =
        SizeFactors { bandwidth: &[], latency: &[], way_back: 0.0, envelope_bytes: 0, far_bytes: None };

    /// What SMPI of SimGrid 3.32 does by default: its `smpi/bw-factor` and `smpi/lat-factor`, cross-traffic
    /// and `network/weight-S`.
    pub const SMPI: SizeFactors = SizeFactors {
        bandwidth: &[
            (65_472, 0.940694),
            (15_424, 0.697866),
            (9_376, 0.58729),
            (5_776, 1.08739),
            (3_484, 0.77493),
            (1_426, 0.608902),
            (732, 0.341987),
            (257, 0.338112),
            (0, 0.812084),
        ],
        latency: &[
            (65_472, 11.6436),
            (15_424, 3.48845),
            (9_376, 2.59299),
            (5_776, 2.18796),
            (3_484, 1.88101),
            (1_426, 1.61075),
            (732, 1.9503),
            (257, 1.95341),
            (0, 2.01467),
        ],
        way_back: 0.05,
        envelope_bytes: 16,
        far_bytes: Some(8_775.0),
    };

    /// The factor of the bandwidth for so many bytes on the way.
    pub fn bandwidth(&self, bytes: u64) -> f64 {
        factor(self.bandwidth, bytes)
    }

    /// The factor of the latency for so many bytes on the way.
    pub fn latency(&self, bytes: u64) -> f64 {
        factor(self.latency, bytes)
    }
}

impl Default for SizeFactors {
    fn default() -> SizeFactors {
        SizeFactors::NONE
    }
}

fn factor(table: &[(u64, f64)], bytes: u64) -> f64 {
    table.iter().find(|(above, _)| bytes > *above).map_or(1.0, |(_, factor)| *factor)
}
