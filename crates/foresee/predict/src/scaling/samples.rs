//! Samples of one situation: their median, how sure it is, and quantiles of what follows from it.

use super::Measured;
use kizami_rng::SplitMix64;
use kizami_stats::{median, sorted, variance};

/// How often the measured samples are resampled.
const RESAMPLES: usize = 30;
/// Of more samples than this, evenly spaced ones stand for all: drawing them anew must not take long.
const MOST_SAMPLES: usize = 64;
/// Relative standard deviation where nothing was repeated, so that it is unknown.
const UNKNOWN_SPREAD: f64 = 0.02;
/// No machine repeats itself better than this.
const LEAST_SPREAD: f64 = 0.001;

/// What samples say, as numbers relative to the medians where noted.
pub(super) struct Resamples {
    /// Median of each measurement, in seconds.
    pub(super) medians_s: Vec<f64>,
    /// For each resampling, the median of each measurement divided by that of all its samples.
    pub(super) ratios: Vec<Vec<f64>>,
    /// Relative standard deviation of a median over the resamplings, of all measurements together.
    pub(super) median_spread: f64,
}

impl Resamples {
    pub(super) fn new(measured: &[Measured], seed: u64) -> Resamples {
        let mut random = SplitMix64::new(seed);
        let samples: Vec<Vec<f64>> = measured.iter().map(|measured| some(&measured.samples_s)).collect();
        let medians_s: Vec<f64> = samples.iter().map(|sorted| known_median(sorted)).collect();
        let mut resample = || {
            let ratio = |(some, all): (&Vec<f64>, &f64)| {
                let again: Vec<f64> = some.iter().map(|_| some[random.index(some.len())]).collect();
                known_median(&sorted(&again)) / all
            };
            samples.iter().zip(&medians_s).map(ratio).collect()
        };
        let ratios: Vec<Vec<f64>> = (0..RESAMPLES).map(|_| resample()).collect();

        let repeated: Vec<usize> = (0..samples.len()).filter(|&i| samples[i].len() > 1).collect();
        let variances = repeated.iter().map(|&i| variance(ratios.iter().map(|ratios| ratios[i])));
        let pooled = variances.sum::<f64>() / repeated.len() as f64;
        let median_spread =
            if repeated.is_empty() { UNKNOWN_SPREAD } else { pooled.sqrt().max(LEAST_SPREAD) };
        Resamples { medians_s, ratios, median_spread }
    }

    /// The same of the first measurements alone, with one resampling, the medians, which is enough for a trial.
    pub(super) fn first(&self, count: usize) -> Resamples {
        Resamples { medians_s: self.medians_s[..count].to_vec(), ratios: vec![vec![1.0; count]], ..*self }
    }
}

/// A measurement has at least one sample.
fn known_median(sorted: &[f64]) -> f64 {
    median(sorted).expect("at least one sample")
}

/// Ascending, and no more than are needed.
fn some(samples: &[f64]) -> Vec<f64> {
    let mut sorted = sorted(samples);
    if sorted.len() > MOST_SAMPLES {
        let place = |i: usize| (2 * i + 1) * sorted.len() / (2 * MOST_SAMPLES);
        sorted = (0..MOST_SAMPLES).map(|i| sorted[place(i)]).collect();
    }
    sorted
}

/// Values with weights, of which quantiles are asked.
#[derive(Default)]
pub(super) struct Values(Vec<(f64, f64)>);

impl Values {
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        self.0.push((value, weight));
    }

    /// The values below which these parts of the weight are. The parts ascend.
    pub(super) fn quantiles<const N: usize>(mut self, parts: [f64; N]) -> [f64; N] {
        self.0.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let whole: f64 = self.0.iter().map(|(_, weight)| weight).sum();
        let (mut index, mut below) = (0, 0.0);
        parts.map(|part| {
            while index + 1 < self.0.len() && below + self.0[index].1 < part * whole {
                below += self.0[index].1;
                index += 1;
            }
            self.0[index].0
        })
    }
}
