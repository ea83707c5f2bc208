//! Which sizes to measure: few where the cost is a straight line, all where it bends or steps.
//!
//! First the ends and the middle, then the middle of each stretch, until every second power of two is known: a library can
//! change its algorithm anywhere, and one size on the line says nothing of a step beside it. Then those in between, where
//! neither the costs from the left nor those from the right lie on one line with it, the most doubtful first, up to three
//! quarters of all. Sizes are powers of two, so a step in the cost is found up to a factor of two in size.

use kizami_network::Curve;

/// How far a size may be from the line, as a share.
const STRAIGHT: f64 = 0.03;
/// The part of all powers of two that is measured at most.
const MOST: f64 = 0.75;

/// Chooses sizes for one operation.
#[derive(Clone, Debug)]
pub struct Chooser {
    known: Vec<(u64, f64)>,
    stage: Stage,
    ends: (u32, u32),
}

/// What is asked for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Both ends, and the middle.
    Begin,
    /// The middle of each stretch of more than two doublings.
    Halve,
    /// What is in doubt.
    Doubt,
    /// Nothing.
    Done,
}

impl Chooser {
    /// Between two powers of two.
    pub fn new(smallest: u32, largest: u32) -> Chooser {
        Chooser { known: Vec::new(), stage: Stage::Begin, ends: (smallest, largest.max(smallest)) }
    }

    /// The sizes to measure next; none when enough is known.
    pub fn next_sizes(&mut self) -> Vec<u64> {
        let mut exponents = match self.stage {
            Stage::Begin => {
                let (low, high) = self.ends;
                vec![low, middle(low, high), high]
            }
            Stage::Halve => self.middles_of_more_than(2),
            Stage::Doubt => self.doubtful(),
            Stage::Done => Vec::new(),
        };
        if exponents.is_empty() && self.stage == Stage::Halve {
            self.stage = Stage::Doubt;
            exponents = self.doubtful();
        }
        exponents.dedup();
        exponents.into_iter().map(|exponent| 1 << exponent).collect()
    }

    /// What was measured of those asked for; what is missing is not asked for again.
    pub fn add_measured(&mut self, measured: &[(u64, f64)]) {
        self.known.extend_from_slice(measured);
        self.known.sort_by_key(|(bytes, _)| *bytes);
        self.stage = match self.stage {
            // Every stretch was asked for its middle; one that cannot be measured would be asked for again and again.
            Stage::Begin | Stage::Halve if measured.is_empty() => Stage::Done,
            Stage::Begin | Stage::Halve => Stage::Halve,
            Stage::Doubt | Stage::Done => Stage::Done,
        };
    }

    fn exponents(&self) -> Vec<u32> {
        self.known.iter().map(|(bytes, _)| bytes.ilog2()).collect()
    }

    fn middles_of_more_than(&self, doublings: u32) -> Vec<u32> {
        let stretches = self.exponents();
        let long = stretches.windows(2).filter(|pair| pair[1] - pair[0] > doublings);
        long.map(|pair| middle(pair[0], pair[1])).collect()
    }

    /// The middles whose cost is least sure, as many as may still be measured.
    fn doubtful(&self) -> Vec<u32> {
        let all = self.ends.1 - self.ends.0 + 1;
        let left = ((MOST * f64::from(all)) as usize).saturating_sub(self.known.len());
        let middles = self.middles_of_more_than(1).into_iter();
        let mut doubts: Vec<(f64, u32)> = middles.map(|middle| (self.doubt(1 << middle), middle)).collect();
        doubts.retain(|(doubt, _)| *doubt > STRAIGHT);
        doubts.sort_by(|a, b| b.0.total_cmp(&a.0));
        doubts.truncate(left);
        doubts.into_iter().map(|(_, middle)| middle).collect()
    }

    /// How far a size between two known ones is from the lines that come from the left and from the right, whichever is
    /// nearer: three costs on one line are taken for a line.
    fn doubt(&self, bytes: u64) -> f64 {
        let after = self.known.partition_point(|(known, _)| *known < bytes);
        let between = Curve::new(self.known[after - 1..=after].iter().copied()).at(bytes);
        let line = |from: Option<usize>| {
            let points = self.known.get(from?..from? + 2)?;
            let ((x, low), (y, high)) = (points[0], points[1]);
            let share = (bytes as f64 - x as f64) / (y as f64 - x as f64);
            Some(((low + share * (high - low)) / between - 1.0).abs())
        };
        let doubts = [line(after.checked_sub(2)), line(Some(after))];
        // With no neighbour on either side nothing speaks for a line.
        doubts.into_iter().flatten().reduce(f64::min).unwrap_or(f64::INFINITY)
    }
}

/// About the middle, an even number of doublings from the left if there is room, so that halving ends with every second.
fn middle(low: u32, high: u32) -> u32 {
    let half = (high - low) / 2;
    if high - low > 2 { low + half.next_multiple_of(2) } else { low + half }
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
            chooser.add_measured(&measured);
        }
        let curve = Curve::new(chooser.known.iter().copied());
        let off = |exponent: u32| (curve.at(1 << exponent) / cost(1 << exponent) - 1.0).abs();
        (curve.points().len(), (2..=22).map(off).fold(0.0, f64::max))
    }

    #[test]
    fn what_cannot_be_measured_is_not_asked_for_again() {
        let mut chooser = Chooser::new(2, 22);
        assert_eq!(chooser.next_sizes().len(), 3);
        chooser.add_measured(&[]);
        assert!(chooser.next_sizes().is_empty());
    }

    #[test]
    fn of_one_size_there_is_nothing_to_choose() {
        let mut chooser = Chooser::new(0, 0);
        assert_eq!(chooser.next_sizes(), [1]);
        chooser.add_measured(&[(1, 900.0)]);
        assert!(chooser.next_sizes().is_empty());
    }

    /// What one middle that happens to lie on the line hid.
    #[test]
    fn a_bump_beside_the_middle_is_found() {
        let (sizes, off) = chosen(|bytes| {
            let bump = if (256..2_048).contains(&bytes) { 0.4 } else { 0.0 };
            (1_000.0 + bytes as f64 * 0.2) * (1.0 + bump)
        });
        assert!(sizes <= 15 && off < 0.05, "{sizes} sizes, {off}");
    }

    #[test]
    fn a_straight_line_needs_few_sizes() {
        let (sizes, off) = chosen(|bytes| 1_000.0 + bytes as f64);
        assert!(sizes <= 11 && off < 0.001, "{sizes} sizes, {off}");
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
