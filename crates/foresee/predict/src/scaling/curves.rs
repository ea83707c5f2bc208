//! Time as a sum of terms in the number of ranks, where the work was not counted.
//!
//! The family is every sum of a constant and at most two [`Term`]s. It is fitted with relative errors counting alike. A
//! fit with a negative coefficient is refused: without its negative terms it is another sum of the family, so what
//! remains is the best fit without negative coefficients.
//!
//! Sums are chosen by how well they predict each measurement from the others, in units of what noise alone would do;
//! that says most about the ends, above all the largest number of ranks, where a wrong sum goes astray. More terms, and
//! rarer ones, must be much better to be chosen: on four to eight numbers of ranks many sums fit as well as the noise
//! allows and differ tenfold at the target. For each resampling the best counts, with those that are almost as
//! good: the interval is as wide as they differ, and the median is between them instead of on the wrong one.

use super::samples::{Resamples, Values};
use super::term::{Term, seconds_text};
use super::{Outcome, Scaling, Situation};
use kizami_stats::{dot, pseudo_inverse, sorted};

/// What one more term costs: so many squares of the spread it must explain.
const COST_OF_TERM: f64 = 10.0;
/// A sum that is worse by no more than this counts, too.
const ALMOST_AS_GOOD: f64 = 2.0;
/// A sum so much worse than the best at the medians is not tried again with each resampling.
const HOPELESS: f64 = 30.0;
/// A measurement that a sum follows almost whatever it is says little about the sum.
const LEAST_FREEDOM: f64 = 0.05;
/// The constant and two more.
const MOST_TERMS: usize = 3;

/// A term, in all situations or on one side of a step in the working set.
#[derive(Clone, Copy)]
struct Column {
    term: Term,
    side: Option<Side>,
}

/// Working sets below so many bytes, or above.
#[derive(Clone, Copy)]
struct Side {
    bytes: f64,
    below: bool,
}

impl Column {
    fn value(&self, at: &Situation) -> f64 {
        let here = match (self.side, at.working_set_bytes) {
            (Some(side), Some(bytes)) => (bytes < side.bytes) == side.below,
            _ => true,
        };
        if here { self.term.value(at) } else { 0.0 }
    }
}

/// One sum, ready to be fitted to any resampling: the weights of the measurements do not change with it, so coefficients
/// are sums over the measured values.
struct Sum {
    /// Which columns of the family.
    columns: Vec<usize>,
    /// Coefficients of values relative to the medians.
    inverse: Vec<Vec<f64>>,
    /// How little each fitted value follows its own measurement.
    freedom: Vec<f64>,
    cost: f64,
}

impl Sum {
    /// As many as there are columns; the rest are 0.
    fn coefficients(&self, ratios: &[f64]) -> [f64; MOST_TERMS] {
        let mut coefficients = [0.0; MOST_TERMS];
        self.inverse.iter().zip(&mut coefficients).for_each(|(row, found)| *found = dot(row, ratios));
        coefficients
    }
}

/// The columns with their values divided by the medians, and the sums of them.
struct Family {
    columns: Vec<Column>,
    /// Of each column, at the measurements.
    relative: Vec<Vec<f64>>,
    sums: Vec<Sum>,
}

/// Chooses and fits sums, and says what they predict at the targets.
pub(super) fn predict(
    at: &[&Situation],
    resamples: &Resamples,
    targets: &[&Situation],
    assumed: Option<Scaling>,
) -> Vec<Outcome> {
    let family = Family::new(at, resamples, assumed.filter(|_| at.len() == 1));
    let ones = vec![1.0; at.len()];
    let variance = family.variance(&ones, resamples.median_spread);
    let hopeful = family.hopeful(&ones, variance);
    let asked: Vec<Vec<f64>> = targets
        .iter()
        .map(|target| family.columns.iter().map(|column| column.value(target)).collect())
        .collect();

    let mut values: Vec<Values> = targets.iter().map(|_| Values::default()).collect();
    let mut weights = vec![0.0; family.sums.len()];
    for ratios in &resamples.ratios {
        let possible = hopeful.iter().filter(|&&index| !family.is_negative(index, ratios));
        let scored: Vec<(usize, f64)> =
            possible.map(|&index| (index, family.score(index, ratios, variance))).collect();
        let least = scored.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
        for (index, score) in scored.into_iter().filter(|(_, score)| *score <= least + ALMOST_AS_GOOD) {
            let weight = ((least - score) / 2.0).exp();
            weights[index] += weight;
            let sum = &family.sums[index];
            let coefficients = sum.coefficients(ratios);
            for (values, asked) in values.iter_mut().zip(&asked) {
                let parts = sum.columns.iter().zip(coefficients).map(|(&column, part)| asked[column] * part);
                values.add(parts.sum(), weight);
            }
        }
    }
    let favourite = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
    let text = |target: &Situation| family.text(favourite, &ones, target);
    values.into_iter().zip(targets).map(|(values, target)| Outcome { values, model: text(target) }).collect()
}

impl Family {
    /// All sums worth a try with so many measurements; only one if it is assumed.
    fn new(at: &[&Situation], resamples: &Resamples, assumed: Option<Scaling>) -> Family {
        let mut terms = vec![Term::CONSTANT];
        match assumed {
            Some(Scaling::Weak) => {}
            Some(Scaling::Strong) => terms = vec![Term::SHARED],
            None => terms.extend(Term::all(&at[0].parameters)),
        }
        let mut columns: Vec<Column> = terms.iter().map(|&term| Column { term, side: None }).collect();
        let mut sums = combinations(columns.len(), at.len());
        for [below, above] in steps(&terms, at) {
            sums.push(vec![columns.len(), columns.len() + 1]);
            columns.extend([below, above]);
        }
        let relative = |column: &Column| {
            at.iter().zip(&resamples.medians_s).map(|(at, median_s)| column.value(at) / median_s).collect()
        };
        let mut family =
            Family { relative: columns.iter().map(relative).collect(), columns, sums: Vec::new() };
        family.sums = sums.into_iter().filter_map(|columns| family.sum(columns)).collect();
        family
    }

    fn sum(&self, columns: Vec<usize>) -> Option<Sum> {
        let matrix: Vec<&[f64]> = columns.iter().map(|&column| &self.relative[column][..]).collect();
        let inverse = pseudo_inverse(&matrix)?;
        let own = |i: usize| matrix.iter().zip(&inverse).map(|(column, row)| column[i] * row[i]).sum::<f64>();
        let freedom = (0..matrix[0].len()).map(|i| (1.0 - own(i)).max(LEAST_FREEDOM)).collect();
        let cost = columns.iter().map(|&column| COST_OF_TERM + self.columns[column].term.cost()).sum();
        Some(Sum { columns, inverse, freedom, cost })
    }

    /// Sums that may be chosen with some resampling. Those of one term never have a negative coefficient, so
    /// there always is one to choose.
    fn hopeful(&self, ones: &[f64], variance: f64) -> Vec<usize> {
        let all = 0..self.sums.len();
        let scores: Vec<f64> = all.clone().map(|index| self.score(index, ones, variance)).collect();
        let possible = all.clone().filter(|&index| !self.is_negative(index, ones));
        let least = possible.map(|index| scores[index]).fold(f64::INFINITY, f64::min);
        all.filter(|&index| scores[index] <= least + HOPELESS || self.sums[index].columns.len() == 1)
            .collect()
    }

    fn is_negative(&self, index: usize, ratios: &[f64]) -> bool {
        self.sums[index].coefficients(ratios).iter().any(|&coefficient| coefficient < 0.0)
    }

    /// Squares of what a sum leaves unexplained, each multiplied by `weight(freedom)`.
    fn squares(&self, index: usize, ratios: &[f64], weight: impl Fn(f64) -> f64) -> f64 {
        let sum = &self.sums[index];
        let coefficients = sum.coefficients(ratios);
        let square = |(i, ratio): (usize, &f64)| {
            let parts =
                sum.columns.iter().zip(coefficients).map(|(&column, part)| self.relative[column][i] * part);
            (ratio - parts.sum::<f64>()).powi(2) * weight(sum.freedom[i])
        };
        ratios.iter().enumerate().map(square).sum()
    }

    /// Small is good. A measurement that is left out is missed by its residual divided by its freedom; noise alone
    /// would make the square of that as large as its variance divided by the freedom.
    fn score(&self, index: usize, ratios: &[f64], variance: f64) -> f64 {
        self.squares(index, ratios, |freedom| 1.0 / freedom) / variance + self.sums[index].cost
    }

    /// Relative variance of a measurement around the truth: from its samples, unless no sum fits that well.
    fn variance(&self, ones: &[f64], median_spread: f64) -> f64 {
        let per_freedom = |index: usize| {
            let freedom = ones.len() - self.sums[index].columns.len();
            (freedom > 0 && !self.is_negative(index, ones))
                .then(|| self.squares(index, ones, |_| 1.0) / freedom as f64)
        };
        let least = (0..self.sums.len()).filter_map(per_freedom).min_by(f64::total_cmp);
        least.unwrap_or(0.0).max(median_spread.powi(2))
    }

    /// A sum as it is at a target.
    fn text(&self, index: usize, ratios: &[f64], at: &Situation) -> String {
        let sum = &self.sums[index];
        let mut parts = Vec::new();
        for (&column, coefficient_s) in sum.columns.iter().zip(sum.coefficients(ratios)) {
            let Column { term, side } = self.columns[column];
            let text = format!("{}{}", seconds_text(coefficient_s.max(0.0)), term.text(&at.parameters));
            match side {
                None => parts.push(text),
                Some(side) if self.columns[column].value(at) != 0.0 => {
                    let above = if side.below { "below" } else { "above" };
                    parts.push(format!("{text} (working sets {above} {:.0} kB)", side.bytes / 1e3));
                }
                Some(_) => {}
            }
        }
        parts.join(" + ")
    }
}

/// Sums of some of so many columns, of which the first is the constant. A fit with as many terms as measurements
/// would say nothing about itself; one that has only one measurement more says little, and is tried only where there
/// are three.
fn combinations(columns: usize, measurements: usize) -> Vec<Vec<usize>> {
    let most = match measurements {
        0..=2 => 1,
        3 => 2,
        more => (more - 2).min(MOST_TERMS),
    };
    let mut sums = vec![vec![0]];
    for first in 1..columns {
        sums.extend([vec![first], vec![0, first]]);
        sums.extend((first + 1..columns).flat_map(|second| [vec![first, second], vec![0, first, second]]));
    }
    sums.retain(|sum| sum.len() <= most);
    sums
}

/// Work at one speed with large working sets and at another with small ones, as caches make it. Only where working
/// sets are known, and with at least two measurements on each side.
fn steps(terms: &[Term], at: &[&Situation]) -> Vec<[Column; 2]> {
    let bytes: Vec<f64> = at.iter().filter_map(|at| at.working_set_bytes).collect();
    if bytes.len() < at.len() {
        return Vec::new();
    }
    let bytes = sorted(&bytes);
    let split = |bytes: f64| {
        terms
            .iter()
            .filter(|term| term.is_whole())
            .map(move |&term| [true, false].map(|below| Column { term, side: Some(Side { bytes, below }) }))
    };
    (2..bytes.len().saturating_sub(1))
        .filter(|&i| bytes[i - 1] < bytes[i])
        .flat_map(|i| split((bytes[i - 1] * bytes[i]).sqrt()))
        .collect()
}
