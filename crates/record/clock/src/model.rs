//! One clock against another over a whole run.

use crate::epoch::epochs_of;
use crate::smooth::{Measured, smooth};
use crate::{Epoch, Sample, UNMEASURED_DRIFT_PPB};

/// How many times more than seen a clock may bend between two epochs.
const BEND_SAFETY: f64 = 3.0;
/// An invisible bend, in ns/s^2, added to what was observed.
const BEND_FLOOR: f64 = 5.0;
/// From so many epochs on it can be seen how a clock bends.
const EPOCHS_TO_SEE_BENDS: usize = 4;
/// How much the drift of a clock may change within a run where it was not measured.
const DRIFT_CHANGE_PPB: f64 = 2_000.0;
/// How many times more than seen the drift may change.
const DRIFT_CHANGE_SAFETY: f64 = 2.0;
/// Estimates are given in whole nanoseconds.
const ROUNDING_NS: f64 = 1.0;

/// Where one clock is relative to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Reference minus own.
    pub offset_ns: i64,
    /// The truth is no further from `offset_ns`.
    pub bound_ns: i64,
    /// How fast the offset grows, in parts of a billion.
    pub drift_ppb: f64,
}

/// The offset of a reference clock from the own one, at any time.
///
/// At an epoch the truth lies in a hard interval. Between two epochs it lies between the lines that join the
/// ends of their intervals, give or take what the clock may have bent in between: `bend * a * b / 2`, where
/// `a` and `b` are the distances to the two epochs and `bend` is three times the largest second derivative
/// the smoothed line shows; or, for wide gaps and few epochs, what a change of drift explains.
#[derive(Clone, Debug)]
pub struct ClockModel {
    base_own_ns: i64,
    base_offset_ns: i64,
    epochs: Vec<Epoch>,
    knots: Vec<Knot>,
    bend: Bend,
}

/// The smoothed line at an epoch, relative to the model's base.
#[derive(Clone, Copy, Debug)]
struct Knot {
    at_s: f64,
    offset_ns: f64,
    drift_ppb: f64,
    low_ns: f64,
    high_ns: f64,
}

/// How much the clock may bend.
#[derive(Clone, Copy, Debug)]
struct Bend {
    /// In ns/s^2; none if too little was seen.
    second: Option<f64>,
    /// How much the drift may differ from its mean between two epochs.
    drift_ppb: f64,
}

impl Bend {
    /// How far from a straight line between two epochs the truth may be.
    fn between(&self, before_s: f64, after_s: f64) -> f64 {
        let by_drift = self.drift_ppb * before_s.min(after_s);
        self.second.map_or(by_drift, |second| by_drift.min(second * before_s * after_s / 2.0))
    }

    /// How far from a line that touches it the truth may be after so long.
    fn beyond(&self, seconds: f64) -> f64 {
        let by_drift = 2.0 * self.drift_ppb * seconds;
        self.second.map_or(by_drift, |second| by_drift.min(second * seconds * seconds / 2.0))
    }

    /// How far the drift at the end of a stretch may be from its mean there.
    fn of_slope(&self, seconds: f64) -> f64 {
        self.second.map_or(self.drift_ppb, |second| self.drift_ppb.min(second * seconds / 2.0))
    }
}

impl ClockModel {
    /// Makes the model from the samples of each round, in any order. None if no sample is usable.
    pub fn fit<'a>(rounds: impl IntoIterator<Item = &'a [Sample]>) -> Option<ClockModel> {
        let epochs = epochs_of(rounds.into_iter());
        let first = *epochs.first()?;
        let (base_own_ns, base_offset_ns) = (first.at_ns, first.offset_ns());
        let relative = |ns: i64| ns.saturating_sub(base_offset_ns) as f64;
        let measured: Vec<Measured> = epochs
            .iter()
            .map(|epoch| Measured {
                at_s: epoch.at_ns.saturating_sub(base_own_ns) as f64 * 1e-9,
                offset_ns: relative(epoch.offset_ns()),
                error_ns: epoch.error_ns() as f64,
            })
            .collect();
        let states = smooth(&measured);
        let knots: Vec<Knot> = epochs
            .iter()
            .zip(measured.iter().zip(states))
            .map(|(epoch, (measured, state))| {
                let (low_ns, high_ns) = (relative(epoch.low_ns), relative(epoch.high_ns));
                Knot {
                    at_s: measured.at_s,
                    offset_ns: state.offset_ns.max(low_ns).min(high_ns),
                    drift_ppb: state.drift_ppb,
                    low_ns,
                    high_ns,
                }
            })
            .collect();
        let bend = bend_of(&knots);
        Some(ClockModel { base_own_ns, base_offset_ns, epochs, knots, bend })
    }

    /// What was measured, in the order of time.
    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// Offset, bound and drift at this time of the own clock.
    pub fn at(&self, own_ns: i64) -> Estimate {
        let s = own_ns.saturating_sub(self.base_own_ns) as f64 * 1e-9;
        let (offset, drift_ppb) = self.line(s);
        let (low, high) = self.envelope(s);
        let bound = (high - offset).max(offset - low).max(0.0) + ROUNDING_NS;
        // Samples that are nowhere near each other, and nonsense, are worth nothing.
        let bound = if offset.is_finite() && bound.is_finite() { bound } else { f64::INFINITY };
        Estimate {
            offset_ns: self.base_offset_ns.saturating_add(offset.round() as i64),
            bound_ns: bound.ceil() as i64,
            drift_ppb,
        }
    }

    /// Longest stretch, in nanoseconds, that may be approximated by a straight line with no more than this error.
    pub(crate) fn straight_ns(&self, error_ns: f64) -> f64 {
        let bends =
            self.knots.windows(2).map(|pair| (pair[1].drift_ppb - pair[0].drift_ppb).abs() / gap(pair));
        let most = bends.fold(BEND_FLOOR, f64::max);
        (8.0 * error_ns / most).sqrt() * 1e9
    }

    /// Index of the last knot that is not later, if there is one later than that.
    fn gap_at(&self, s: f64) -> Option<usize> {
        let next = self.knots.partition_point(|knot| knot.at_s <= s);
        (next > 0 && next < self.knots.len()).then(|| next - 1)
    }

    /// The smoothed line and its slope: cubic between epochs, straight beyond them.
    fn line(&self, s: f64) -> (f64, f64) {
        let Some(index) = self.gap_at(s) else {
            let end = self.end(s);
            return (end.offset_ns + end.drift_ppb * (s - end.at_s), end.drift_ppb);
        };
        let [from, to] = [self.knots[index], self.knots[index + 1]];
        let length = to.at_s - from.at_s;
        let u = (s - from.at_s) / length;
        let rise = to.offset_ns - from.offset_ns;
        // Hermite's cubic, as a line and what bends away from it at both ends.
        let (bend0, bend1) = (from.drift_ppb * length - rise, rise - to.drift_ppb * length);
        let offset = from.offset_ns + u * rise + u * (1.0 - u) * (bend0 * (1.0 - u) + bend1 * u);
        let bending = bend0 * (1.0 - u) * (1.0 - 3.0 * u) + bend1 * u * (2.0 - 3.0 * u);
        (offset, (rise + bending) / length)
    }

    /// Where the truth may lie.
    fn envelope(&self, s: f64) -> (f64, f64) {
        let Some(index) = self.gap_at(s) else { return self.beyond(s) };
        let [from, to] = [self.knots[index], self.knots[index + 1]];
        let (before, after) = (s - from.at_s, to.at_s - s);
        let u = before / (to.at_s - from.at_s);
        let bent = self.bend.between(before, after);
        let low = from.low_ns + u * (to.low_ns - from.low_ns) - bent;
        let high = from.high_ns + u * (to.high_ns - from.high_ns) + bent;
        (low, high)
    }

    /// The same before the first and after the last epoch: a cone around the drift that the epochs nearby
    /// agree on, opened by how unsure that drift is and by how it may change.
    fn beyond(&self, s: f64) -> (f64, f64) {
        let end = self.end(s);
        let away = s - end.at_s;
        let others = self.knots.iter().filter(|knot| knot.at_s != end.at_s);
        let slopes = others.map(|other| {
            let seconds = (end.at_s - other.at_s).abs();
            let middle = |knot: &Knot| (knot.low_ns + knot.high_ns) / 2.0;
            let slope = (middle(&end) - middle(other)) / (end.at_s - other.at_s);
            let widths = (end.high_ns - end.low_ns + other.high_ns - other.low_ns) / 2.0;
            (slope, widths / seconds + self.bend.of_slope(seconds))
        });
        let none = (0.0, UNMEASURED_DRIFT_PPB);
        let (slope, unsure) = slopes.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(none);
        let opened = unsure * away.abs() + self.bend.beyond(away.abs());
        (end.low_ns + slope * away - opened, end.high_ns + slope * away + opened)
    }

    /// The end of the line on this side.
    fn end(&self, s: f64) -> Knot {
        let last = self.knots[self.knots.len() - 1];
        if s < last.at_s { self.knots[0] } else { last }
    }
}

fn gap(pair: &[Knot]) -> f64 {
    pair[1].at_s - pair[0].at_s
}

fn bend_of(knots: &[Knot]) -> Bend {
    let drifts = || knots.iter().map(|knot| knot.drift_ppb);
    let most = drifts().fold(f64::NEG_INFINITY, f64::max);
    let least = drifts().fold(f64::INFINITY, f64::min);
    let changes = knots.windows(2).map(|pair| (pair[1].drift_ppb - pair[0].drift_ppb).abs() / gap(pair));
    let second = BEND_FLOOR + BEND_SAFETY * changes.fold(0.0, f64::max);
    Bend {
        second: (knots.len() >= EPOCHS_TO_SEE_BENDS).then_some(second),
        drift_ppb: DRIFT_CHANGE_PPB.max(DRIFT_CHANGE_SAFETY * (most - least)),
    }
}
