//! Phases: stretches of a run that repeat, found without help of the program.
//!
//! A place that is called again and again marks the borders of iterations. Of the places the first rank calls at
//! least a few times, the one whose calls span most of the run with the fewest repetitions is taken: the outermost
//! loop. What is called in several parts of a program that have little in common marks no loop: most of the run lies
//! between two of its calls.

use crate::profile::Profile;
use crate::scatter::scatter;
use crate::thresholds::THRESHOLDS;
use crate::work_interval::WorkInterval;
use kizami_blame::middle;
use kizami_graph::{Graph, StepKind, Strand};
use kizami_model::{Length, Moment};
use kizami_stats::upper_median;
use kizami_trace::Definitions;
use kizami_trace::SourceLine;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A loop of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// The call that marks an iteration.
    pub place: SourceLine,
    /// Number of iterations, without what follows the last mark.
    pub iterations: usize,
    /// Median duration of an iteration.
    pub median_ns: i64,
    /// Duration of the shortest iteration.
    pub shortest_ns: i64,
    /// Duration of the longest iteration.
    pub longest_ns: i64,
    /// Index of the longest iteration, from 0.
    pub longest: usize,
    /// Difference to expect between two runs of all iterations together, estimated from their scatter in this run.
    pub scatter_ns: i64,
}

/// A loop, with the steps that mark its iterations: calls of one rank at one place.
#[derive(Default)]
pub(crate) struct Loop {
    pub phases: Vec<Phase>,
    pub marks: Vec<u64>,
    /// All ranks go through it together. If not, as where a master hands out tasks, iterations are as long as tasks happen to
    /// be, which says nothing of how far two runs differ.
    pub in_step: bool,
}

impl Loop {
    /// When iterations begin.
    pub(crate) fn begins(&self, graph: &Graph) -> Vec<Moment> {
        self.marks.iter().map(|step| graph.steps[*step as usize].start).collect()
    }
}

/// Calls at one place that mark a loop: the place, when, and which steps.
type Marked = (u32, Vec<Moment>, Vec<u64>);

/// Looks at the first rank; and at some others, in case that one has a loop within each iteration, as one has that takes
/// messages of all others.
fn find_marks(graph: &Graph, interval: WorkInterval) -> Option<Marked> {
    let strands = &graph.strands;
    let others = [1, strands.len() / 2, strands.len().saturating_sub(1)];
    let first = strands.first().and_then(|strand| outermost(graph, strand, interval));
    let others = others.iter().filter_map(|strand| outermost(graph, strands.get(*strand)?, interval));
    let fewest = others.min_by_key(|(_, times, _)| times.len());
    match (first, fewest) {
        (Some(first), Some(other)) if 2 * other.1.len() <= first.1.len() => Some(other),
        (first, fewest) => first.or(fewest),
    }
}

/// When iterations begin.
pub(crate) fn iterations(graph: &Graph, interval: WorkInterval) -> Vec<Moment> {
    find_marks(graph, interval).map_or_else(Vec::new, |(_, times, _)| times)
}

/// The outermost loop.
pub(crate) fn find_loop(graph: &Graph, definitions: &Definitions, interval: WorkInterval) -> Loop {
    let Some((site, times, steps)) = find_marks(graph, interval) else { return Loop::default() };
    let lengths: Vec<Length> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut sorted = lengths.clone();
    sorted.sort_unstable();
    let longest = lengths.iter().zip(0..).max_by_key(|(length, _)| **length).map_or(0, |(_, at)| at);
    let phase = Phase {
        place: SourceLine::of(definitions, Some(site)),
        iterations: lengths.len(),
        median_ns: upper_median(&sorted).unwrap_or_default().0,
        shortest_ns: sorted[0].0,
        longest_ns: sorted[sorted.len() - 1].0,
        longest,
        scatter_ns: scatter(&lengths, &steps).0,
    };
    Loop { phases: vec![phase], marks: steps, in_step: true }
}

/// Whether ranks repeat something equally often, or some of them so many times as often: those of all of them at once, as a
/// rank does that serves the others.
pub(crate) fn go_in_step(profile: &Profile) -> bool {
    let mut counts: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
    for ((_, rank), computation) in &profile.computation {
        counts.entry(*rank).or_default().push(computation.times);
    }
    let ranks = counts.len() as u64;
    let (first, last) = (counts.keys().min(), counts.keys().max());
    let mut candidates: Vec<u64> =
        first.into_iter().chain(last).flat_map(|rank| &counts[rank]).copied().collect();
    candidates.retain(|times| *times >= THRESHOLDS.fewest_repetitions as u64);
    candidates.sort_unstable();
    candidates.dedup();
    let repeats = |times: u64| {
        // A rank's first call has no computation before it.
        let as_often =
            move |own: &u64| own.abs_diff(times) <= 1 || own.is_multiple_of(times) && *own <= times * ranks;
        counts.values().all(|own| own.iter().any(as_often))
    };
    candidates.into_iter().any(repeats)
}

/// The place whose calls span most of the run with the fewest repetitions.
fn outermost(graph: &Graph, strand: &Strand, interval: WorkInterval) -> Option<Marked> {
    let mut marks: FxHashMap<u32, Calls> = FxHashMap::default();
    let (mut index, mut last_end) = (strand.first_step as usize, None::<Moment>);
    loop {
        let step = &graph.steps[index];
        if let (Some(site), StepKind::Call) = (step.site(), step.kind()) {
            let calls = marks.entry(site).or_default();
            calls.times.push(step.start);
            calls.steps.push(index as u64);
            let gap = last_end.map(|end| step.start.saturating_since(end));
            calls.close.push(gap.is_some_and(|gap| gap <= THRESHOLDS.hardly_any.max(step.length())));
        }
        if step.kind() != StepKind::Part {
            last_end = Some(step.end);
        }
        if step.next == 0 {
            break;
        }
        index += step.next as usize;
    }
    marks.values_mut().for_each(Calls::begin_rows);
    let spans = |times: &[Moment]| {
        let span = times.last().copied().unwrap_or_default() - times.first().copied().unwrap_or_default();
        // All repetitions but the last one are seen whole.
        span.0 as f64 * times.len() as f64 / (times.len() - 1).max(1) as f64
    };
    let looped = marks
        .into_iter()
        .filter(|(_, calls)| calls.times.len() >= THRESHOLDS.fewest_repetitions)
        .filter(|(_, calls)| spans(&calls.times) >= THRESHOLDS.loop_spans * interval.length().0 as f64)
        .filter(|(_, calls)| count_by_length(&calls.times) >= THRESHOLDS.fewest_repetitions as f64 / 2.0);
    let (site, calls) = looped.min_by_key(|(site, Calls { times, .. })| {
        let few = count_by_length(times) < THRESHOLDS.enough_iterations;
        // If all have few, those that have most.
        (few, if few { usize::MAX - times.len() } else { times.len() }, *site)
    })?;
    Some((site, calls.times, calls.steps))
}

/// Calls at one place: when they began, which steps they are, and whether each follows closely behind another call.
#[derive(Default)]
struct Calls {
    times: Vec<Moment>,
    steps: Vec<u64>,
    close: Vec<bool>,
}

impl Calls {
    /// Of calls that come in rows, with next to nothing computed between them, leaves only the first of each row: that begins
    /// an iteration.
    fn begin_rows(&mut self) {
        let lengths: Vec<Length> = self.times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let soon = middle(&mut lengths.clone()) / THRESHOLDS.row_part;
        let begins = |index: &usize| *index == 0 || !self.close[*index] || lengths[*index - 1] > soon;
        let rows: Vec<usize> = (0..self.times.len()).filter(begins).collect();
        if rows.len() >= THRESHOLDS.fewest_repetitions
            && self.times.len() >= THRESHOLDS.fewest_in_a_row * rows.len()
        {
            self.times = rows.iter().map(|index| self.times[*index]).collect();
            self.steps = rows.iter().map(|index| self.steps[*index]).collect();
        }
    }
}

/// How many iterations there would be if all were as long as those that most of the time is spent in.
fn count_by_length(times: &[Moment]) -> f64 {
    let lengths = times.windows(2).map(|pair| (pair[1] - pair[0]).0 as f64);
    let (sum, squares) = lengths.fold((0.0, 0.0), |(sum, squares), ns| (sum + ns, squares + ns * ns));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_a_row_are_one_iteration() {
        let calls = |closely: fn(u64) -> bool| {
            let mut calls = Calls {
                times: (0..50).map(|call| Moment(100 * (call / 10) + call % 10)).collect(),
                steps: (0..50).collect(),
                close: (0..50).map(closely).collect(),
            };
            calls.begin_rows();
            calls.steps
        };
        assert_eq!(calls(|call| call % 10 != 0), [0, 10, 20, 30, 40]);
        assert_eq!(calls(|call| call % 2 != 0).len(), 50);
    }

    #[test]
    fn iterations_count_by_their_length() {
        let at = |times: &[i64]| count_by_length(&times.iter().map(|ns| Moment(*ns)).collect::<Vec<_>>());
        assert_eq!(at(&[0, 10, 20, 30]), 3.0);
        // A setup, one long solution, and a few words at the end.
        assert!(at(&[0, 3, 8_000, 8_001, 8_002]) < 1.1);
        assert_eq!(at(&[5]), 0.0);
    }
}
