//! How far two runs of a program differ by noise, judged by how the iterations of one scatter.
//!
//! Iterations also differ because the program does different things in them. Those with as many calls do the same:
//! only by how much they differ from each other counts. Where hardly two have as many, nothing can be compared, and all of
//! it is taken for noise.

use crate::thresholds::THRESHOLDS;
use kizami_model::Length;
use kizami_whatif::NINE_IN_TEN;
use rustc_hash::FxHashMap;

/// How far two runs differ nine times in ten at most, each a sum of lengths like these. `marks` are the steps that
/// iterations begin and end with. Noise comes in bursts, so that iterations that follow each other are alike: blocks
/// of 1, 2, 4, ... of them are looked at, and those count that scatter most.
pub(crate) fn scatter(lengths: &[Length], marks: &[u64]) -> Length {
    let lengths = as_if_alike(lengths, marks);
    let (mut block, mut variance) = (1, 0.0f64);
    while block == 1 || lengths.len() / block >= THRESHOLDS.fewest_blocks {
        let sums = lengths.chunks_exact(block).map(|block| block.iter().sum::<f64>());
        let blocks = (lengths.len() / block) as f64;
        variance = variance.max(kizami_stats::variance(sums) * blocks);
        block *= 2;
    }
    const RUNS: f64 = 2.0;
    Length::from_nanos_f64(NINE_IN_TEN * (RUNS * variance).sqrt())
}

/// By how much each differs from those that do the same.
fn as_if_alike(lengths: &[Length], marks: &[u64]) -> Vec<f64> {
    let plain = || lengths.iter().map(|length| length.0 as f64);
    if marks.len() != lengths.len() + 1 {
        return plain().collect();
    }
    let calls = || marks.windows(2).map(|pair| pair[1] - pair[0]);
    let mut alike: FxHashMap<u64, (f64, f64)> = FxHashMap::default();
    for (calls, ns) in calls().zip(plain()) {
        let (sum, count) = alike.entry(calls).or_default();
        (*sum, *count) = (*sum + ns, *count + 1.0);
    }
    let alone: f64 = alike.values().filter(|(_, count)| *count < 2.0).map(|(sum, _)| sum).sum();
    if alone > THRESHOLDS.most_alone * plain().sum::<f64>() {
        return plain().collect();
    }
    let from_the_mean = |(calls, ns): (u64, f64)| match alike[&calls] {
        (_, count) if count < 2.0 => 0.0,
        // The mean of a few is near to each of them.
        (sum, count) => (ns - sum / count) * (count / (count - 1.0)).sqrt(),
    };
    calls().zip(plain()).map(from_the_mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_does_differently_is_no_noise() {
        // Every other iteration makes ten calls more.
        let lengths: Vec<Length> =
            (0..20).map(|number| Length(if number % 2 == 0 { 900 } else { 1_100 })).collect();
        let marks: Vec<u64> = (0..21).map(|number| 5 * number + 10 * (number / 2)).collect();
        assert_eq!(scatter(&lengths, &marks), Length::ZERO);
        // If no two are alike, all may be noise.
        let marks: Vec<u64> = (0..21).map(|number| number * number).collect();
        assert_eq!(scatter(&lengths, &marks), scatter(&lengths, &[]));
    }

    #[test]
    fn iterations_that_are_all_alike_do_not_scatter() {
        assert_eq!(scatter(&[Length(100); 16], &[]), Length::ZERO);
        assert_eq!(scatter(&[Length(100)], &[]), Length::ZERO);
    }

    #[test]
    fn intermittent_noise_is_that_of_single_iterations() {
        let lengths: Vec<Length> =
            (0..20).map(|number| Length(if number % 2 == 0 { 900 } else { 1_100 })).collect();
        let variance_of_sum: f64 = 20.0 * (20.0 * 100.0 * 100.0) / 19.0;
        assert_eq!(scatter(&lengths, &[]).0, (NINE_IN_TEN * (2.0 * variance_of_sum).sqrt()).round() as i64);
    }

    #[test]
    fn a_burst_counts_for_more() {
        let burst = [[Length(100); 8], [Length(200); 8]].concat();
        // Eight blocks of two, half of them 100 below the mean and half above.
        let variance_of_sum: f64 = 8.0 * (8.0 * 100.0 * 100.0) / 7.0;
        assert_eq!(scatter(&burst, &[]).0, (NINE_IN_TEN * (2.0 * variance_of_sum).sqrt()).round() as i64);
    }
}
