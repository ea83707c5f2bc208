//! A curve of parallelism with the work before each of its steps, so that any part of it is read off at once.

use crate::Parallelism;
use kizami_model::{Length, Moment};

/// How many tasks run over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    parallelism: Parallelism,
    /// The area before each step.
    before: Vec<Length>,
    peak: u32,
}

impl Curve {
    /// From the steps of a curve.
    pub fn of(parallelism: Parallelism) -> Curve {
        let peak = parallelism.peak();
        let mut sum = Length::ZERO;
        let mut before = Vec::with_capacity(parallelism.steps.len());
        before.extend(parallelism.steps.first().map(|_| sum));
        before.extend(parallelism.stretches().map(|(from, to, running)| {
            sum += (to - from) * i64::from(running);
            sum
        }));
        Curve { parallelism, before, peak }
    }

    /// Its steps.
    pub fn parallelism(&self) -> &Parallelism {
        &self.parallelism
    }

    /// When something first runs; the beginning of time if nothing does.
    pub fn begin(&self) -> Moment {
        self.parallelism.steps.first().map_or(Moment::START, |step| step.0)
    }

    /// When the last of it ends.
    pub fn end(&self) -> Moment {
        self.parallelism.steps.last().map_or(Moment::START, |step| step.0)
    }

    /// The most tasks at one moment.
    pub fn peak(&self) -> u32 {
        self.peak
    }

    /// The area below it.
    pub fn work(&self) -> Length {
        self.before.last().copied().unwrap_or(Length::ZERO)
    }

    /// The area between two moments, exactly.
    pub fn work_between(&self, from: Moment, to: Moment) -> Length {
        let until = |moment: Moment| match self.last_step(|at| at <= moment) {
            Some((place, (at, running))) => self.before[place] + (moment - at) * i64::from(running),
            None => Length::ZERO,
        };
        if from < to { until(to) - until(from) } else { Length::ZERO }
    }

    /// Mean height in so many equal parts of the time from one moment to another.
    pub fn columns(&self, from: Moment, to: Moment, columns: usize) -> Vec<f64> {
        let columns = columns.max(1);
        let width = ((to - from).0 as f64 / columns as f64).max(f64::MIN_POSITIVE);
        let until = |column: usize| {
            let moment = from.0 as f64 + width * column as f64;
            match self.last_step(|at| at.0 as f64 <= moment) {
                Some((place, (at, running))) => {
                    self.before[place].0 as f64 + (moment - at.0 as f64) * f64::from(running)
                }
                None => 0.0,
            }
        };
        let mut low = until(0);
        let mean = |column| {
            let high = until(column + 1);
            ((high - std::mem::replace(&mut low, high)) / width).max(0.0)
        };
        (0..columns).map(mean).collect()
    }

    /// The last step at a moment that is early enough, with its place.
    fn last_step(&self, early: impl Fn(Moment) -> bool) -> Option<(usize, (Moment, u32))> {
        let place = self.parallelism.steps.partition_point(|step| early(step.0)).checked_sub(1)?;
        Some((place, self.parallelism.steps[place]))
    }
}
