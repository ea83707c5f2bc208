//! A Kalman smoother: the most likely line through measurements of different worth.
//!
//! The state is the offset and its slope; the slope wanders at random. Given all measurements, the most likely
//! offsets and slopes follow (the result is a smoothing spline: between two measurements it is a cubic). How
//! much a clock wanders and how much of its interval a measurement really errs differ between machines, so
//! both are taken from the data: the pair that makes the measurements most likely, with a mild preference for
//! typical values, because a few measurements say little.

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub at_s: f64,
    pub offset_ns: f64,
    /// How far it can be off.
    pub error_ns: f64,
}

/// Offset and slope at the time of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    pub offset_ns: f64,
    /// Nanoseconds a second, that is, parts of a billion.
    pub drift_ppb: f64,
}

/// Standard error of a measurement as a share of its bound, to choose from; the typical one in the middle.
const ERROR_SHARES: [f64; 7] = [0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6];
const TYPICAL_SHARE: f64 = 0.1;
/// Powers of ten of the wander, in ns^2/s^3, to choose from; in half steps.
const WANDER_POWERS: std::ops::RangeInclusive<i32> = -2..=14;
const TYPICAL_WANDER_POWER: f64 = 2.0;
/// How strongly the typical value is preferred: spread, in powers of ten.
const SHARE_SPREAD: f64 = 0.4;
const WANDER_SPREAD: f64 = 1.5;
/// Variance of what is not known at first: an offset of a millisecond, a slope of 1,000 ppm.
const UNKNOWN_OFFSET: f64 = 1e12;
const UNKNOWN_DRIFT: f64 = 1e12;

/// The most likely states at all measurements, which must be in the order of time and at least two.
pub(crate) fn smooth(measured: &[Measured]) -> Vec<State> {
    let mut best = (f64::NEG_INFINITY, TYPICAL_SHARE, 10f64.powf(TYPICAL_WANDER_POWER));
    for share in ERROR_SHARES {
        for half_power in WANDER_POWERS {
            let power = f64::from(half_power) / 2.0;
            let wander = 10f64.powf(power);
            let share_penalty = (share / TYPICAL_SHARE).log10() / SHARE_SPREAD;
            let wander_penalty = (power - TYPICAL_WANDER_POWER) / WANDER_SPREAD;
            let prior = -0.5 * (share_penalty * share_penalty + wander_penalty * wander_penalty);
            let likelihood = Filter::new(share, wander).run(measured, &mut |_| {}) + prior;
            if likelihood > best.0 {
                best = (likelihood, share, wander);
            }
        }
    }
    let mut steps = Vec::with_capacity(measured.len());
    Filter::new(best.1, best.2).run(measured, &mut |step| steps.push(step));
    backwards(&steps)
}

/// A state with its uncertainty: variances of offset and slope, and what they have in common.
#[derive(Clone, Copy, Debug)]
struct Belief {
    offset: f64,
    drift: f64,
    p00: f64,
    p01: f64,
    p11: f64,
}

/// What the filter believed before and after a measurement.
#[derive(Clone, Copy, Debug)]
struct Step {
    seconds: f64,
    predicted: Belief,
    updated: Belief,
}

struct Filter {
    share: f64,
    wander: f64,
}

impl Filter {
    fn new(share: f64, wander: f64) -> Filter {
        Filter { share, wander }
    }

    /// Goes through all measurements; returns the logarithm of how likely they are.
    fn run(&self, measured: &[Measured], each: &mut dyn FnMut(Step)) -> f64 {
        let Some(first) = measured.first() else { return 0.0 };
        let mut belief =
            Belief { offset: first.offset_ns, drift: 0.0, p00: UNKNOWN_OFFSET, p01: 0.0, p11: UNKNOWN_DRIFT };
        let (mut likelihood, mut last_s) = (0.0, first.at_s);
        for (index, measurement) in measured.iter().enumerate() {
            let seconds = measurement.at_s - last_s;
            last_s = measurement.at_s;
            let predicted = self.predict(belief, seconds);
            let error = (measurement.error_ns * self.share).max(1.0);
            let expected = predicted.p00 + error * error;
            let surprise = measurement.offset_ns - predicted.offset;
            belief = update(predicted, surprise, error * error);
            each(Step { seconds, predicted, updated: belief });
            // The first two only fix the line and say nothing about how good it is.
            if index >= 2 {
                likelihood -= 0.5 * (surprise * surprise / expected + expected.ln());
            }
        }
        likelihood
    }

    fn predict(&self, from: Belief, s: f64) -> Belief {
        let q = self.wander;
        Belief {
            offset: from.offset + s * from.drift,
            drift: from.drift,
            p00: from.p00 + 2.0 * s * from.p01 + s * s * from.p11 + q * s * s * s / 3.0,
            p01: from.p01 + s * from.p11 + q * s * s / 2.0,
            p11: from.p11 + q * s,
        }
    }
}

fn update(from: Belief, surprise: f64, noise: f64) -> Belief {
    let expected = from.p00 + noise;
    let (gain0, gain1) = (from.p00 / expected, from.p01 / expected);
    // `noise / expected` is `1 - gain0` without the rounding, which would be all that is left at first.
    Belief {
        offset: from.offset + gain0 * surprise,
        drift: from.drift + gain1 * surprise,
        p00: from.p00 * noise / expected,
        p01: from.p01 * noise / expected,
        p11: (from.p11 - gain1 * from.p01).max(0.0),
    }
}

/// From the last measurement to the first: what later measurements say about earlier states.
fn backwards(steps: &[Step]) -> Vec<State> {
    let mut states = vec![State { offset_ns: 0.0, drift_ppb: 0.0 }; steps.len()];
    let Some(last) = steps.last() else { return states };
    let mut later = State { offset_ns: last.updated.offset, drift_ppb: last.updated.drift };
    states[steps.len() - 1] = later;
    for index in (0..steps.len() - 1).rev() {
        let (now, next) = (&steps[index].updated, &steps[index + 1]);
        let s = next.seconds;
        let (to_offset, to_drift) =
            (later.offset_ns - next.predicted.offset, later.drift_ppb - next.predicted.drift);
        let Belief { p00, p01, p11, .. } = next.predicted;
        let determinant = p00 * p11 - p01 * p01;
        if determinant > 0.0 {
            // The correction in terms of the prediction, taken back through the step.
            let a = (p11 * to_offset - p01 * to_drift) / determinant;
            let b = (p00 * to_drift - p01 * to_offset) / determinant;
            later = State {
                offset_ns: now.offset + (now.p00 + s * now.p01) * a + now.p01 * b,
                drift_ppb: now.drift + (now.p01 + s * now.p11) * a + now.p11 * b,
            };
        } else {
            later = State { offset_ns: now.offset, drift_ppb: now.drift };
        }
        states[index] = later;
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(at_s: f64, offset_ns: f64, error_ns: f64) -> Measured {
        Measured { at_s, offset_ns, error_ns }
    }

    #[test]
    fn a_straight_line_stays_one() {
        let line: Vec<Measured> =
            (0..10).map(|k| measured(f64::from(k), 500.0 + 20_000.0 * f64::from(k), 400.0)).collect();
        for (state, point) in smooth(&line).iter().zip(&line) {
            assert!((state.offset_ns - point.offset_ns).abs() < 0.5, "{state:?}");
            assert!((state.drift_ppb - 20_000.0).abs() < 0.5, "{state:?}");
        }
    }

    #[test]
    fn a_wide_measurement_hardly_bends_the_line() {
        let mut line: Vec<Measured> = (0..10).map(|k| measured(f64::from(k), 0.0, 400.0)).collect();
        line[5] = measured(5.0, 30_000.0, 40_000.0);
        assert!(smooth(&line)[5].offset_ns.abs() < 300.0, "{:?}", smooth(&line)[5]);
    }

    #[test]
    fn two_measurements_make_a_line() {
        let states = smooth(&[measured(0.0, 0.0, 400.0), measured(2.0, 40_000.0, 400.0)]);
        assert!((states[0].drift_ppb - 20_000.0).abs() < 10.0, "{states:?}");
    }
}
