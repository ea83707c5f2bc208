//! Time as counted work at measured rates, where work was counted.
//!
//! Time is the sum of the counts, each at a rate that is not negative. Rates depend on whether the data is in a cache:
//! where working sets are known, the measurements nearest to the target in working set come first, and farther ones
//! are used as long as the same rates explain them.

use super::samples::{Resamples, Values};
use super::term::seconds_text;
use super::{Outcome, Situation};
use kizami_stats::{non_negative, squared_residuals};

/// A measurement that is off by so many times the spread of a median has other rates.
const OTHER_RATES: f64 = 3.0;
/// Rates that differ by less than this are one rate.
const SAME_RATE: f64 = 0.01;

/// Fits the rates and says what they make of the targets' counts.
pub(super) fn predict(at: &[&Situation], resamples: &Resamples, targets: &[&Situation]) -> Vec<Outcome> {
    let outcome = |target: &&Situation| {
        let near = alike(at, resamples, target);
        let columns = relative_counts(at, resamples, &near);
        let mut values = Values::default();
        for ratios in &resamples.ratios {
            let some: Vec<f64> = near.iter().map(|&i| ratios[i]).collect();
            let rates = non_negative(&columns, &some);
            values.add(rates.iter().zip(&target.counts).map(|(rate, count)| rate * count).sum(), 1.0);
        }
        Outcome { values, model: text(&non_negative(&columns, &vec![1.0; near.len()])) }
    };
    targets.iter().map(outcome).collect()
}

/// Indices of the measurements whose rates the target has.
fn alike(at: &[&Situation], resamples: &Resamples, target: &Situation) -> Vec<usize> {
    let distance = |i: usize| Some((at[i].working_set_bytes? / target.working_set_bytes?).log2().abs());
    let distances: Option<Vec<f64>> = (0..at.len()).map(distance).collect();
    let mut nearest: Vec<usize> = (0..at.len()).collect();
    let Some(distances) = distances else { return nearest };
    nearest.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));

    let most_apart = (OTHER_RATES * resamples.median_spread).max(SAME_RATE);
    let kinds = target.counts.len();
    let explained = |count: usize| {
        let columns = relative_counts(at, resamples, &nearest[..count]);
        let ones = vec![1.0; count];
        let squares = squared_residuals(&columns, &non_negative(&columns, &ones), &ones);
        squares <= most_apart.powi(2) * (count - kinds) as f64
    };
    let used = (kinds + 1..=at.len()).find(|&count| !explained(count)).map_or(at.len(), |count| count - 1);
    nearest.truncate(used);
    nearest
}

/// Counts of each kind divided by the measured times, so that relative errors count alike.
fn relative_counts(at: &[&Situation], resamples: &Resamples, indices: &[usize]) -> Vec<Vec<f64>> {
    let kinds = at[0].counts.len();
    (0..kinds).map(|k| indices.iter().map(|&i| at[i].counts[k] / resamples.medians_s[i]).collect()).collect()
}

fn text(rates_s: &[f64]) -> String {
    let used = rates_s.iter().enumerate().filter(|(_, rate_s)| **rate_s > 0.0);
    let parts: Vec<String> =
        used.map(|(k, &rate_s)| format!("{} x count {}", seconds_text(rate_s), k + 1)).collect();
    parts.join(" + ")
}
