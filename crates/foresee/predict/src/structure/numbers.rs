//! Numbers that follow the number of ranks: how often a loop goes round, and how many bytes move.
//!
//! Counts must come out exactly in every run. Sizes may be off by a few per cent, since blocks are rarely all of one size.
//! With fewer than two runs, or where nothing fits, there is no formula.

use kizami_stats::mean;
use serde::Serialize;

/// Sizes may be off by so much, as a share.
const SIZE_TOLERANCE: f64 = 0.05;
/// Powers of the number of ranks that programs divide their data by, the plainest first.
const POWERS: [f64; 11] =
    [0.0, -1.0, 1.0, -0.5, -2.0 / 3.0, 0.5, 2.0 / 3.0, -1.0 / 3.0, 1.0 / 3.0, -2.0, 2.0];

/// How often a loop goes round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CountFormula {
    /// Always as often.
    Constant(u64),
    /// `(ranks * times + plus) / by`, whole.
    Linear {
        /// Factor on the ranks.
        times: i64,
        /// Divided by this.
        by: i64,
        /// Added before that.
        plus: i64,
    },
    /// `log2(ranks) * times + plus`, the logarithm rounded up.
    Logarithm {
        /// Factor.
        times: i64,
        /// Added.
        plus: i64,
    },
    /// The length of one side of the grid of all ranks, and something added.
    Side {
        /// Dimensions of the grid.
        dimensions: usize,
        /// Which side.
        side: usize,
        /// Added.
        plus: i64,
    },
}

impl CountFormula {
    /// The plainest formula for counts by ranks; none if nothing fits all of them.
    pub fn of(counts: &[(u32, u64)]) -> Option<CountFormula> {
        let (_, first) = *counts.first()?;
        let mut candidates = vec![CountFormula::Constant(first)];
        if let [(low, few), .., (high, many)] = *counts {
            let (few, many) = (few as i64, many as i64);
            let (ranks, more) = (i64::from(high) - i64::from(low), many - few);
            for by in 1..=4 {
                if ranks != 0 && (more * by) % ranks == 0 {
                    let times = more * by / ranks;
                    candidates.push(CountFormula::Linear {
                        times,
                        by,
                        plus: few * by - times * i64::from(low),
                    });
                }
            }
            let rounds = rounds(high) - rounds(low);
            if rounds != 0 && more % rounds == 0 {
                let times = more / rounds;
                candidates.push(CountFormula::Logarithm { times, plus: few - times * self::rounds(low) });
            }
            for dimensions in 2..=3 {
                for side in 0..dimensions {
                    let plus = few - i64::from(super::peers::dims(low, dimensions)[side]);
                    candidates.push(CountFormula::Side { dimensions, side, plus });
                }
            }
        }
        let fits = |formula: &CountFormula| counts.iter().all(|(ranks, count)| formula.at(*ranks) == *count);
        candidates.into_iter().filter(fits).min_by_key(CountFormula::effort)
    }

    /// Of so many ranks.
    pub fn at(&self, ranks: u32) -> u64 {
        let ranks_signed = i64::from(ranks);
        let count = match *self {
            CountFormula::Constant(count) => return count,
            CountFormula::Linear { times, by, plus } => (ranks_signed * times + plus) / by,
            CountFormula::Logarithm { times, plus } => rounds(ranks) * times + plus,
            CountFormula::Side { dimensions, side, plus } => {
                i64::from(super::peers::dims(ranks, dimensions)[side]) + plus
            }
        };
        count.max(0) as u64
    }

    /// How far-fetched it is: large numbers in it are a coincidence.
    fn effort(&self) -> i64 {
        match *self {
            CountFormula::Constant(_) => 0,
            CountFormula::Linear { times, by, plus } => times.abs() + 2 * (by - 1) + plus.abs(),
            CountFormula::Logarithm { times, plus } => times.abs() + plus.abs(),
            CountFormula::Side { dimensions, side, plus } => 3 + (dimensions + side) as i64 + plus.abs(),
        }
    }
}

/// How often ranks can be halved until one is left.
fn rounds(ranks: u32) -> i64 {
    i64::from(u32::BITS - ranks.saturating_sub(1).leading_zeros())
}

/// What a size is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// A power of the number of ranks.
    Power(f64),
    /// One over the product of some sides of the grid of all ranks: edges and faces of its blocks.
    OverSides {
        /// Dimensions of the grid.
        dimensions: usize,
        /// Whether each side is in it.
        sides: [bool; 3],
    },
}

impl Factor {
    /// All of them, the plainest first.
    fn all() -> impl Iterator<Item = Factor> {
        let sides = (2..=3).flat_map(|dimensions| {
            // Neither none of the sides nor all of them: those are powers.
            (1..(1u32 << dimensions) - 1).map(move |which| Factor::OverSides {
                dimensions,
                sides: [0, 1, 2].map(|side| which >> side & 1 == 1),
            })
        });
        POWERS.into_iter().map(Factor::Power).chain(sides)
    }

    fn at(self, ranks: u32) -> f64 {
        match self {
            Factor::Power(power) => f64::from(ranks).powf(power),
            Factor::OverSides { dimensions, sides } => {
                let lengths = super::peers::dims(ranks, dimensions);
                let chosen = lengths.iter().zip(sides).filter(|(_, chosen)| *chosen);
                1.0 / chosen.map(|(length, _)| f64::from(*length)).product::<f64>()
            }
        }
    }
}

/// How many bytes move, or how much of anything there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeFormula {
    /// Of one rank alone.
    pub of_one: f64,
    /// What it is multiplied by.
    pub factor: Factor,
    /// What does not depend on the ranks.
    pub always: f64,
}

impl SizeFormula {
    /// The plainest formula for sizes by ranks; none if nothing fits all of them. One run alone says nothing, unless
    /// nothing moves.
    pub fn of(sizes: &[(u32, f64)]) -> Option<SizeFormula> {
        if sizes.iter().all(|(_, size)| *size == 0.0) {
            return Some(SizeFormula { of_one: 0.0, factor: Factor::Power(0.0), always: 0.0 });
        }
        if sizes.len() < 2 {
            return None;
        }
        let plain = Factor::all().map(|factor| SizeFormula::with(sizes, factor));
        let shifted = Factor::all().filter_map(|factor| SizeFormula::shifted(sizes, factor));
        // The plainest that fits exactly, else the best of those that fit about.
        let all: Vec<(SizeFormula, f64)> =
            plain.chain(shifted).map(|formula| (formula, formula.off(sizes))).collect();
        let exact = all.iter().find(|(_, off)| *off < SIZE_TOLERANCE / 10.0);
        let best = || all.iter().min_by(|one, other| one.1.total_cmp(&other.1));
        exact.or_else(best).filter(|(_, off)| *off < SIZE_TOLERANCE).map(|(formula, _)| *formula)
    }

    /// Of so many ranks.
    pub fn at(&self, ranks: u32) -> f64 {
        (self.of_one * self.factor.at(ranks) + self.always).max(0.0)
    }

    fn with(sizes: &[(u32, f64)], factor: Factor) -> SizeFormula {
        let of_one = mean(sizes.iter().map(|(ranks, size)| size / factor.at(*ranks)));
        SizeFormula { of_one, factor, always: 0.0 }
    }

    /// With something that is always there, where three runs or more show it.
    fn shifted(sizes: &[(u32, f64)], factor: Factor) -> Option<SizeFormula> {
        let [(low, small), .., (high, large)] = *sizes else { return None };
        let (first, last) = (factor.at(low), factor.at(high));
        let of_one = (large - small) / (last - first);
        let formula = SizeFormula { of_one, factor, always: small - of_one * first };
        (sizes.len() > 2 && of_one.is_finite() && of_one > 0.0 && formula.always > 0.0).then_some(formula)
    }

    /// The largest share by which it is off.
    fn off(&self, sizes: &[(u32, f64)]) -> f64 {
        let off = |(ranks, size): &(u32, f64)| (self.at(*ranks) / size.max(1.0) - 1.0).abs();
        sizes.iter().map(off).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_ranks_exactly_or_not_at_all() {
        let of = |count: fn(u32) -> u64| {
            let counts: Vec<(u32, u64)> = [8, 16, 64].map(|ranks| (ranks, count(ranks))).to_vec();
            CountFormula::of(&counts).map(|formula| formula.at(1_024))
        };
        assert_eq!(of(|_| 30), Some(30));
        assert_eq!(of(|ranks| u64::from(ranks) - 1), Some(1_023));
        assert_eq!(of(|ranks| u64::from(ranks) / 2), Some(512));
        assert_eq!(of(|ranks| u64::from(ranks.ilog2())), Some(10));
        assert_eq!(of(|ranks| u64::from(ranks.ilog2()) * 2 + 1), Some(21));
        assert_eq!(of(|ranks| u64::from(ranks) * 17 % 29), None);
        assert_eq!(CountFormula::of(&[(16, 4), (32, 5)]).map(|formula| formula.at(64)), Some(6));
    }

    #[test]
    fn sizes_follow_ranks_about() {
        let of = |size: fn(f64) -> f64| {
            let sizes: Vec<(u32, f64)> = [8, 16, 64].map(|ranks| (ranks, size(f64::from(ranks)))).to_vec();
            SizeFormula::of(&sizes).map(|formula| formula.at(1_024).round())
        };
        assert_eq!(of(|_| 80.0), Some(80.0));
        assert_eq!(of(|ranks| 65_536.0 / ranks), Some(64.0));
        assert_eq!(of(|ranks| 4.0 * ranks), Some(4_096.0));
        assert_eq!(of(|ranks| 65_536.0 / ranks.sqrt()), Some(2_048.0));
        assert_eq!(of(|ranks| 65_536.0 / ranks + 512.0), Some(576.0));
        assert_eq!(of(|ranks| ranks.powi(7)), None);
        assert_eq!(SizeFormula::of(&[(8, 5.0)]), None);
        // The edge of a block of a plate: the grids are 4 x 4, 8 x 4 and 8 x 8.
        let edge =
            SizeFormula::of(&[(16, 4_096.0), (32, 4_096.0), (64, 2_048.0)]).map(|formula| formula.at(1_024));
        assert_eq!(edge, Some(512.0));
    }
}
