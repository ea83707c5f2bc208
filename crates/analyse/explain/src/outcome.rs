//! How a run comes out under another setting: how long its work takes, and each of its iterations.

use crate::work_interval::{Borders, WorkInterval, WorkIntervals};
use kizami_model::Length;
use kizami_replay::{EndedStep, LaneMoment, Observer, SentObserver};
use kizami_wire::Wire;

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub interval: WorkInterval,
    /// How long iterations take; none if the run has no loop.
    pub iterations: Option<Vec<Length>>,
}

/// Watches all lanes of a replay.
pub(crate) struct Watch<'a, const LANES: usize> {
    intervals: WorkIntervals<'a, LANES>,
    /// Steps that mark iterations, in order, and how many of them have been seen.
    marks: &'a [u64],
    seen: usize,
    begins: Vec<[LaneMoment; LANES]>,
}

impl<'a, const LANES: usize> Watch<'a, LANES> {
    pub(crate) fn new(borders: &'a Borders, marks: &'a [u64]) -> Watch<'a, LANES> {
        Watch { intervals: WorkIntervals::new(borders), marks, seen: 0, begins: Vec::new() }
    }

    /// Of all threads of a replay.
    pub(crate) fn outcomes(parts: Vec<Watch<'a, LANES>>) -> Vec<Outcome> {
        let mut begins: Vec<[LaneMoment; LANES]> = Vec::new();
        let mut intervals = Vec::new();
        for part in parts {
            // Marks are steps of one strand, so that one thread has seen them all.
            begins.extend(part.begins);
            intervals.push(part.intervals);
        }
        let outcome = |(lane, interval): (usize, WorkInterval)| {
            let moments = begins.iter().map(|begin| begin[lane].as_moment());
            let lengths = moments.clone().zip(moments.skip(1)).map(|(from, to)| to - from);
            let iterations = (begins.len() > 1).then(|| lengths.collect());
            Outcome { interval, iterations }
        };
        WorkIntervals::all(intervals).into_iter().enumerate().map(outcome).collect()
    }
}

impl<const LANES: usize> Observer<LANES> for Watch<'_, LANES> {
    fn step(&mut self, seen: &EndedStep<'_, LANES>) {
        self.intervals.step(seen);
        if self.marks.get(self.seen) == Some(&seen.index) {
            self.begins.push(seen.start);
            self.seen += 1;
        }
    }
}

impl<const LANES: usize> SentObserver<LANES> for Watch<'_, LANES> {
    fn encode(&self, message: &mut Vec<u8>) {
        self.intervals.encode(message);
        self.begins.encode(message);
    }

    fn decode(&mut self, message: &mut &[u8]) -> Option<()> {
        self.intervals.decode(message)?;
        self.begins = Wire::decode(message)?;
        Some(())
    }
}
