//! A cost measured at some sizes, interpolated for any size: straight lines between what was measured.
//!
//! Beyond the largest size the last line goes on; below the smallest, the smallest counts. Sizes are few, so looking one up
//! is a search in a short list. It does not smooth: libraries change their algorithm at a size, and the step is real.

use serde::{Deserialize, Serialize};

/// Sizes with their costs, in the order of sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    points: Vec<(u64, f64)>,
}

impl Curve {
    /// From sizes in bytes and costs in nanoseconds, in any order. Of several costs of one size the last counts.
    pub fn new(points: impl IntoIterator<Item = (u64, f64)>) -> Curve {
        let by_size: std::collections::BTreeMap<u64, f64> = points.into_iter().collect();
        Curve { points: by_size.into_iter().collect() }
    }

    /// Nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The largest size that was measured.
    pub fn largest_bytes(&self) -> Option<u64> {
        self.points.last().map(|(bytes, _)| *bytes)
    }

    /// What was measured.
    pub fn points(&self) -> &[(u64, f64)] {
        &self.points
    }

    /// The cost at a size, but of nothing that was measured above `limit`: costs beyond it are of another kind, and no line
    /// leads there.
    pub fn at_within(&self, bytes: u64, limit: u64) -> f64 {
        let within = self.points.partition_point(|(size, _)| *size <= limit);
        let largest = within.checked_sub(1).map_or(limit, |last| self.points[last].0);
        self.at(bytes.min(largest))
    }

    /// The cost at a size; 0 if nothing was measured.
    pub fn at(&self, bytes: u64) -> f64 {
        let behind = self.points.partition_point(|(size, _)| *size < bytes);
        match (behind, &self.points[..]) {
            (_, []) => 0.0,
            (0, [(_, first), ..]) => *first,
            (_, [(_, only)]) => *only,
            (behind, points) => {
                let ((before, low), (after, high)) = match points.get(behind) {
                    Some(after) => (points[behind - 1], *after),
                    None => (points[points.len() - 2], points[points.len() - 1]),
                };
                let share = (bytes - before) as f64 / (after - before) as f64;
                (low + share * (high - low)).max(0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_from_point_to_point_and_beyond() {
        let curve = Curve::new([(100, 30.0), (0, 10.0), (200, 130.0)]);
        let at = |bytes| curve.at(bytes);
        assert_eq!([at(0), at(50), at(100), at(150), at(300)], [10.0, 20.0, 30.0, 80.0, 230.0]);
        assert_eq!(Curve::new([(8, 5.0)]).at(1_000), 5.0);
        assert_eq!(Curve::new([(8, 5.0), (16, 7.0)]).at(1), 5.0);
        assert_eq!(Curve::default().at(7), 0.0);
        let within = |bytes| curve.at_within(bytes, 150);
        assert_eq!([within(50), within(120), within(1_000)], [20.0, 30.0, 30.0]);
    }
}
