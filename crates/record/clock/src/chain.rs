//! From a host to the root of the tree of questions, model by model, and that as a table of points.

use crate::{ClockModel, Estimate};

/// Straight pieces may be off the smooth line by so much.
const STRAIGHT_ERROR_NS: f64 = 2.0;

/// Models one behind the other: the reference of each is the own clock of the next.
///
/// Without any model, the host is the root itself.
#[derive(Clone, Debug, Default)]
pub struct Chain<'a> {
    models: Vec<&'a ClockModel>,
}

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// On the own clock.
    pub own_ns: i64,
    /// On the root's.
    pub root_ns: i64,
}

impl<'a> Chain<'a> {
    /// From the host itself to the root.
    pub fn new(models: impl IntoIterator<Item = &'a ClockModel>) -> Chain<'a> {
        Chain { models: models.into_iter().collect() }
    }

    /// Offset of the root's clock from the own one. Errors add up along the way.
    pub fn at(&self, own_ns: i64) -> Estimate {
        let mut sum = Estimate { offset_ns: 0, bound_ns: 0, drift_ppb: 0.0 };
        for model in &self.models {
            let step = model.at(own_ns.saturating_add(sum.offset_ns));
            sum.offset_ns = sum.offset_ns.saturating_add(step.offset_ns);
            // An error so far also asks the next model at a wrong moment; drifts make that far less than 1 ns.
            sum.bound_ns = sum.bound_ns.saturating_add(step.bound_ns);
            sum.drift_ppb += step.drift_ppb;
        }
        sum
    }

    /// Longest stretch that may be approximated by a straight line, in nanoseconds; none at the root itself, which
    /// needs no line.
    pub fn straight_ns(&self) -> Option<i64> {
        let stretches = self.models.iter().map(|model| model.straight_ns(STRAIGHT_ERROR_NS));
        stretches.reduce(f64::min).map(|ns| ns as i64)
    }

    /// The moments of the root's clock at these moments of the own one, which must come in order. Later ones
    /// are always later on both clocks, so that straight lines between them never run backwards.
    pub fn points(&self, own_ns: impl IntoIterator<Item = i64>) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for own_ns in own_ns {
            let mut root_ns = own_ns.saturating_add(self.at(own_ns).offset_ns);
            if let Some(last) = points.last() {
                // Only damaged samples make a clock stand still: none runs at half another's speed.
                let least = own_ns.saturating_sub(last.own_ns) / 2 + 1;
                root_ns = root_ns.max(last.root_ns.saturating_add(least));
                if own_ns <= last.own_ns || root_ns <= last.root_ns {
                    continue;
                }
            }
            points.push(Point { own_ns, root_ns });
        }
        points
    }
}
