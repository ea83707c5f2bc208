//! The calls of one thread, and what becomes of the computation between them if pieces of time are shorter or longer.

use crate::window::Window;
use kizami_graph::{Graph, Strand};
use kizami_model::{Length, Moment};
use kizami_replay::StepChange;
use kizami_whatif::each_call;

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSpan {
    pub step: u64,
    pub start: Moment,
    pub end: Moment,
}

/// All calls of a strand.
pub(crate) fn calls_of(graph: &Graph, strand: &Strand) -> Vec<CallSpan> {
    let mut calls = Vec::new();
    each_call(graph, strand.first_step, |step, call| {
        calls.push(CallSpan { step, start: call.start, end: call.end });
    });
    calls
}

/// A piece of a rank's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub from: Moment,
    pub to: Moment,
    pub shorter: Shorter,
}

/// How much shorter; below zero it is longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shorter {
    /// By this much, all of which is computation.
    By(Length),
    /// By this part of the computation in it.
    Part(f64),
}

impl Piece {
    /// What it is shorter by if all of it is computation.
    pub(crate) fn saved(&self, window: Window) -> Length {
        match self.shorter {
            Shorter::By(length) => length,
            Shorter::Part(part) => window.part(self.from, self.to).scaled(part),
        }
    }
}

/// Adds the steps before which a thread with these calls computes for another time. Pieces follow each other. Returns what
/// the computation in each piece is shorter by.
pub(crate) fn distribute(
    calls: &[CallSpan],
    pieces: &[Piece],
    steps: &mut Vec<(u64, StepChange)>,
) -> Vec<Length> {
    let (Some(first), Some(last)) = (calls.first(), calls.last()) else { return Vec::new() };
    let gaps: Vec<(u64, Moment, Moment)> = calls
        .windows(2)
        .filter(|pair| pair[0].end < pair[1].start)
        .map(|pair| (pair[1].step, pair[0].end, pair[1].start))
        .collect();
    let mut saved = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.shorter != Shorter::Part(0.0)) {
        let begin = gaps.partition_point(|(_, _, to)| *to <= piece.from);
        let there = || gaps[begin..].iter().take_while(|(_, from, _)| *from < piece.to);
        let overlap = |from: Moment, to: Moment| to.min(piece.to) - from.max(piece.from);
        let computed: Length = there().map(|(_, from, to)| overlap(*from, *to)).sum();
        let part = match piece.shorter {
            Shorter::Part(part) => part,
            Shorter::By(length) => {
                // What lies before the first call or behind the last one has its share of it.
                let before = first.start.min(piece.to).saturating_since(piece.from).at_least_zero();
                let behind = piece.to.saturating_since(last.end.max(piece.from)).at_least_zero();
                length.0 as f64 / (computed + before + behind).0.max(1) as f64
            }
        };
        let part = part.min(1.0);
        for (step, from, to) in there() {
            let before = -overlap(*from, *to).scaled(part);
            if before != Length::ZERO {
                steps.push((*step, StepChange { before, ..StepChange::default() }));
            }
        }
        saved.push(computed.scaled(part).abs());
    }
    saved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(step: u64, start: i64, end: i64) -> CallSpan {
        CallSpan { step, start: Moment(start), end: Moment(end) }
    }

    fn distributed(calls: &[CallSpan], from: i64, to: i64, shorter: Shorter) -> Vec<(u64, i64)> {
        let mut steps = Vec::new();
        let piece = Piece { from: Moment(from), to: Moment(to), shorter };
        distribute(calls, &[piece], &mut steps);
        steps.into_iter().map(|(step, change)| (step, change.before.0)).collect()
    }

    #[test]
    fn what_a_piece_is_shorter_by_is_taken_from_the_computation_in_it() {
        let calls = [call(0, 0, 100), call(1, 1000, 1100), call(2, 1500, 1600)];
        assert_eq!(distributed(&calls, 200, 800, Shorter::By(Length(60))), [(1, -60)]);
        // A call in the middle of a region stays as long as it is.
        assert_eq!(distributed(&calls, 900, 1200, Shorter::By(Length(100))), [(1, -50), (2, -50)]);
        assert_eq!(distributed(&calls, 100, 1500, Shorter::Part(0.5)), [(1, -450), (2, -200)]);
        assert_eq!(distributed(&calls, 200, 800, Shorter::By(Length(-60))), [(1, 60)]);
        // Nothing takes less than no time.
        assert_eq!(distributed(&calls, 200, 800, Shorter::By(Length(6000))), [(1, -600)]);
    }

    #[test]
    fn only_what_lies_between_calls_changes() {
        let calls = [call(0, 0, 100), call(1, 1000, 1100)];
        assert_eq!(distributed(&calls, 1200, 1400, Shorter::By(Length(100))), []);
        assert_eq!(distributed(&calls, -500, 600, Shorter::By(Length(100))), [(1, -50)]);
    }
}
