//! Which sizes to measure: few where the cost is a straight line, many where it bends.
//!
//! The ends and the middle are measured first. Then the middle of each stretch between two sizes is measured; where it is
//! not where the line between the two has it, both halves are looked at again. Sizes are powers of two, so a step in the
//! cost is found up to a factor of two in size.

use kizami_network::Curve;

/// How far the middle may be from the line, as a share.
const STRAIGHT: f64 = 0.03;

/// Chooses sizes for one operation.
#[derive(Clone, Debug)]
pub struct Chooser {
    known: Vec<(u64, f64)>,
    /// Exponents of stretches whose middle is to be measured.
    open: Vec<(u32, u32)>,
    begun: bool,
    ends: (u32, u32),
}

impl Chooser {
    /// Between two powers of two.
    pub fn new(smallest: u32, largest: u32) -> Chooser {
        Chooser { known: Vec::new(), open: Vec::new(), begun: false, ends: (smallest, largest.max(smallest)) }
    }

    /// The sizes to measure next; none when enough is known.
    pub fn next_sizes(&mut self) -> Vec<u64> {
        let (low, high) = self.ends;
        if !self.begun {
            self.begun = true;
            let middle = low.midpoint(high);
            self.open = vec![(low, middle), (middle, high)];
            let mut sizes: Vec<u64> = [low, middle, high].map(|exponent| 1 << exponent).to_vec();
            sizes.dedup();
            return sizes;
        }
        self.open.retain(|(low, high)| high - low >= 2);
        self.open.iter().map(|(low, high)| 1 << low.midpoint(*high)).collect()
    }

    /// What was measured of those asked for; what is missing is not asked for again.
    pub fn hear(&mut self, measured: &[(u64, f64)]) {
        let before = Curve::new(self.known.iter().copied());
        let first = before.is_empty();
        self.known.extend_from_slice(measured);
        if first {
            // What cannot be measured at all is not asked for again.
            self.open.retain(|_| !measured.is_empty());
            return;
        }
        let mut next = Vec::new();
        for (low, high) in std::mem::take(&mut self.open) {
            let middle = low.midpoint(high);
            let found = measured.iter().find(|(bytes, _)| *bytes == 1 << middle);
            if let Some((bytes, ns)) = found
                && (before.at(*bytes) / ns - 1.0).abs() > STRAIGHT
            {
                next.extend([(low, middle), (middle, high)]);
            }
        }
        self.open = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes chosen for a cost, and how far straight lines between them are off at every power of two.
    fn chosen(cost: impl Fn(u64) -> f64) -> (usize, f64) {
        let mut chooser = Chooser::new(2, 22);
        loop {
            let sizes = chooser.next_sizes();
            if sizes.is_empty() {
                break;
            }
            let measured: Vec<(u64, f64)> = sizes.iter().map(|bytes| (*bytes, cost(*bytes))).collect();
            chooser.hear(&measured);
        }
        let curve = Curve::new(chooser.known.iter().copied());
        let off = |exponent: u32| (curve.at(1 << exponent) / cost(1 << exponent) - 1.0).abs();
        (curve.points().len(), (2..=22).map(off).fold(0.0, f64::max))
    }

    #[test]
    fn what_cannot_be_measured_is_not_asked_for_again() {
        let mut chooser = Chooser::new(2, 22);
        assert_eq!(chooser.next_sizes().len(), 3);
        chooser.hear(&[]);
        assert!(chooser.next_sizes().is_empty());
    }

    #[test]
    fn a_straight_line_needs_few_sizes() {
        let (sizes, off) = chosen(|bytes| 1_000.0 + bytes as f64);
        assert!(sizes <= 5 && off < 0.001, "{sizes} sizes, {off}");
    }

    #[test]
    fn steps_are_found_with_fewer_sizes_than_there_are() {
        let (sizes, off) = chosen(|bytes| match bytes {
            ..4_096 => 2_000.0 + bytes as f64 * 0.5,
            4_096..65_536 => 9_000.0 + bytes as f64 * 0.3,
            _ => 30_000.0 + bytes as f64 * 0.1,
        });
        assert!(sizes <= 15 && off < 0.05, "{sizes} sizes, {off}");
    }
}
