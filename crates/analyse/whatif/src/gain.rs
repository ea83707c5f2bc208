//! What something would gain, and how far that may be off.
//!
//! A gain is the difference of two replays. What it claims to be off by is meant to hold nine times in ten: that the same
//! program, run again with the cause fixed, is faster by this much, give or take the error. It is made of three parts:
//! how far two runs differ by noise, judged by how iterations scatter that have nothing else to scatter for (those of
//! the replay, in which the cause is gone); how unevenly long the stretches are that are taken away; and what no
//! replay knows, a part of the gain and of the run.

use kizami_model::Length;
use serde::{Deserialize, Serialize};

/// What a replay does not know about the fixed program, as a part of the gain and of the run.
const UNKNOWN_PART_OF_GAIN: f64 = 0.04;
const UNKNOWN_PART_OF_RUN: f64 = 0.01;
/// The same, of a gain that is had in the best case.
const UNKNOWN_PART_OF_BEST_CASE: f64 = 0.1;
/// As a part of the run, how far two runs mostly differ, where the run itself does not show it.
const COMMON_NOISE: f64 = 0.05;
/// So many standard deviations hold nine times in ten.
pub const NINE_IN_TEN: f64 = 1.645;

/// Reduction of the run time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gain {
    /// Reduction of the run time.
    pub ns: i64,
    /// Error at 90 % confidence.
    pub error_ns: i64,
    /// Reduction as a share of the run time.
    pub share: f64,
    /// Error as a share of the run time.
    pub share_error: f64,
    /// The error does not include noise: the run has no loop that shows how far two runs differ.
    pub noise_left_out: bool,
}

impl Gain {
    /// Of a run that would take another time. Two runs differ by `noise`, which is not known if the run has no loop;
    /// what was taken away may be off by `doubt_ns`.
    pub fn of(run: Length, replayed: Length, noise: Option<Length>, doubt_ns: f64) -> Gain {
        let ns = (run - replayed).0;
        let noise_ns = noise.map(|noise| noise.0 as f64);
        let whole = run.0.max(1) as f64;
        let unknown_ns = UNKNOWN_PART_OF_GAIN * ns.abs() as f64 + UNKNOWN_PART_OF_RUN * whole;
        let error_ns = noise_ns.unwrap_or(0.0).hypot(doubt_ns) + unknown_ns;
        Gain {
            ns,
            error_ns: error_ns as i64,
            share: ns as f64 / whole,
            share_error: error_ns / whole,
            noise_left_out: noise_ns.is_none(),
        }
    }

    /// The same where the replay does not know how well it can be fixed.
    pub fn of_a_best_case(mut self) -> Gain {
        self.error_ns += (UNKNOWN_PART_OF_BEST_CASE * self.ns.abs() as f64) as i64;
        self.share_error += UNKNOWN_PART_OF_BEST_CASE * self.share.abs();
        self
    }

    /// The same where the run may be off by this much.
    pub fn off_by(mut self, off: Length, run: Length) -> Gain {
        self.error_ns = self.error_ns.max(off.0);
        self.share_error = self.share_error.max(off.0 as f64 / run.0.max(1) as f64);
        self
    }

    /// The same of a run that was reconstructed, and may be off by this much beside all else.
    pub fn of_reconstructed(mut self, off: Length, run: Length) -> Gain {
        self.error_ns = self.error_ns.saturating_add(off.0);
        self.share_error += off.0 as f64 / run.0.max(1) as f64;
        self
    }

    /// Whether the change makes a difference that is larger than its error; it may also be a loss.
    pub fn exceeds_error(&self) -> bool {
        self.ns.abs() > self.error_ns
    }

    /// Whether it is surely more than nothing. Where noise is not known, only what is more than it mostly is.
    pub fn is_sure(&self) -> bool {
        let enough = if self.noise_left_out { COMMON_NOISE } else { 0.0 };
        self.ns > 0 && self.exceeds_error() && self.share >= enough
    }
}

/// How far a sum of lengths may be off if it is taken again in another run. Each length counts for as much as it is long:
/// between the sends of a loop there are a few nanoseconds of computation, too, which say nothing about the
/// milliseconds before the first one.
pub fn sum_error_ns(lengths: impl Iterator<Item = Length>) -> f64 {
    let (mut sum, mut squares, mut cubes) = (0.0, 0.0, 0.0);
    for ns in lengths.map(|length| length.0 as f64) {
        sum += ns;
        squares += ns.powi(2);
        cubes += ns.powi(3);
    }
    if sum <= 0.0 {
        return 0.0;
    }
    let mean = squares / sum;
    let variance = (cubes / sum - mean.powi(2)).max(0.0);
    NINE_IN_TEN * (variance * sum / mean).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_ns(lengths: impl IntoIterator<Item = i64>) -> f64 {
        sum_error_ns(lengths.into_iter().map(Length))
    }

    #[test]
    fn trifles_do_not_make_a_sum_uncertain() {
        assert_eq!(error_ns([]), 0.0);
        assert_eq!(error_ns([20_000_000; 16]), 0.0);
        let with_trifles = error_ns([20_000_000; 16].into_iter().chain([100; 32]));
        assert!(with_trifles < 2e6, "{with_trifles} of 320 ms");
        // Sixteen lengths that are 1 % apart from their mean: that much of a length, four times.
        let uneven = error_ns((0..16).map(|number| if number % 2 == 0 { 19_800_000 } else { 20_200_000 }));
        assert!((uneven - NINE_IN_TEN * 4.0 * 0.2e6).abs() < 1e3, "{uneven}");
    }
}
