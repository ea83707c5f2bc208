//! Phases: stretches of a run that repeat, found without help of the program.
//!
//! A place that is called again and again marks the borders of iterations. Of the places the first rank calls at
//! least a few times, the one whose calls span most of the run with the fewest repetitions is taken: the outermost
//! loop.

use crate::source_line::SourceLine;
use crate::work_interval::WorkInterval;
use kizami_graph::{Graph, StepKind};
use kizami_model::{Length, Moment};
use kizami_trace::Definitions;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Fewer repetitions are no loop.
const FEWEST: usize = 4;
/// Fewer blocks of iterations do not tell how far blocks scatter.
const FEWEST_BLOCKS: usize = 5;
/// Part of the run the repetitions must span.
const MOST_OF_THE_RUN: f64 = 0.5;

/// A loop of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Where each iteration makes the call that marks it.
    pub place: SourceLine,
    /// How many iterations there are, not counting what comes after the last mark.
    pub iterations: usize,
    /// Length of the middle one.
    pub median_ns: i64,
    /// Length of the shortest.
    pub shortest_ns: i64,
    /// Length of the longest.
    pub longest_ns: i64,
    /// Which one that is, counted from 0.
    pub longest: usize,
    /// By how much all of them together may differ between two runs, judged by how they scatter in this one.
    pub scatter_ns: i64,
}

/// Looks at the first rank.
pub(crate) fn phases(graph: &Graph, definitions: &Definitions, interval: WorkInterval) -> Vec<Phase> {
    let Some(strand) = graph.strands.first() else { return Vec::new() };
    let mut marks: FxHashMap<u32, Vec<Moment>> = FxHashMap::default();
    let mut index = strand.first_step as usize;
    loop {
        let step = &graph.steps[index];
        if let (Some(site), StepKind::Call) = (step.site(), step.kind()) {
            marks.entry(site).or_default().push(step.start);
        }
        if step.next == 0 {
            break;
        }
        index += step.next as usize;
    }
    let spans = |times: &[Moment]| {
        let span = times.last().copied().unwrap_or_default() - times.first().copied().unwrap_or_default();
        // All repetitions but the last one are seen whole.
        span.0 as f64 * times.len() as f64 / (times.len() - 1).max(1) as f64
    };
    let outermost = marks
        .iter()
        .filter(|(_, times)| times.len() >= FEWEST)
        .filter(|(_, times)| spans(times) >= MOST_OF_THE_RUN * interval.length().0 as f64)
        .min_by_key(|(site, times)| (times.len(), **site));
    let Some((site, times)) = outermost else { return Vec::new() };
    let lengths: Vec<Length> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut sorted = lengths.clone();
    sorted.sort_unstable();
    let longest = lengths.iter().zip(0..).max_by_key(|(length, _)| **length).map_or(0, |(_, at)| at);
    vec![Phase {
        place: SourceLine::of(definitions, Some(*site)),
        iterations: lengths.len(),
        median_ns: sorted[sorted.len() / 2].0,
        shortest_ns: sorted[0].0,
        longest_ns: sorted[sorted.len() - 1].0,
        longest,
        scatter_ns: scatter(&lengths).0,
    }]
}

/// Twice the standard deviation of the difference of two runs, each a sum of lengths like these. Noise comes in
/// bursts, so that iterations that follow each other are alike: blocks of 1, 2, 4, ... of them are looked at, and
/// those count that scatter most.
fn scatter(lengths: &[Length]) -> Length {
    let (mut block, mut variance) = (1, 0.0f64);
    while block == 1 || lengths.len() / block >= FEWEST_BLOCKS {
        let sums = lengths.chunks_exact(block).map(|block| block.iter().copied().sum::<Length>().0 as f64);
        let blocks = (lengths.len() / block) as f64;
        let mean = sums.clone().sum::<f64>() / blocks;
        let squares: f64 = sums.map(|sum| (sum - mean).powi(2)).sum();
        variance = variance.max(squares / (blocks - 1.0).max(1.0) * blocks);
        block *= 2;
    }
    const RUNS: f64 = 2.0;
    Length::from_nanos_f64(2.0 * (RUNS * variance).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_that_are_all_alike_do_not_scatter() {
        assert_eq!(scatter(&[Length(100); 16]), Length::ZERO);
        assert_eq!(scatter(&[Length(100)]), Length::ZERO);
    }

    #[test]
    fn noise_that_comes_and_goes_is_that_of_single_iterations() {
        let lengths: Vec<Length> =
            (0..20).map(|number| Length(if number % 2 == 0 { 900 } else { 1_100 })).collect();
        let variance_of_sum: f64 = 20.0 * (20.0 * 100.0 * 100.0) / 19.0;
        assert_eq!(scatter(&lengths).0, (2.0 * (2.0 * variance_of_sum).sqrt()).round() as i64);
    }

    #[test]
    fn a_burst_counts_for_more() {
        let burst = [[Length(100); 8], [Length(200); 8]].concat();
        // Eight blocks of two, half of them 100 below the mean and half above.
        let variance_of_sum: f64 = 8.0 * (8.0 * 100.0 * 100.0) / 7.0;
        assert_eq!(scatter(&burst).0, (2.0 * (2.0 * variance_of_sum).sqrt()).round() as i64);
    }
}
