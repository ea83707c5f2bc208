//! Numbers that follow the number of ranks, fitted to a few observed runs and tried by leaving one of them out.

use kizami_stats::line;
use std::fmt;

/// A number left out of a fit may be missed by so much, as a share.
const TOLERANCE: f64 = 0.1;

/// How a number follows the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// It does not.
    Constant(f64),
    /// `of_one + per_doubling * log2(ranks)`.
    Logarithm { of_one: f64, per_doubling: f64 },
    /// `of_one * ranks ^ power`.
    Power { of_one: f64, power: f64 },
}

/// Fits one form of law to numbers by ranks.
type Form = fn(&[(u32, f64)]) -> Option<Law>;

impl Law {
    /// The law that foretells best what was left out of it, and how far off it was, as a share. Two runs tell only whether a
    /// number stays the same.
    pub fn of(points: &[(u32, f64)]) -> Option<(Law, f64)> {
        let forms: &[Form] = if points.len() < 3 { &[constant] } else { &[constant, logarithm, power] };
        let tried = forms.iter().filter_map(|form| Some((form(points)?, left_out(points, *form)?)));
        // Of equals the first: the plainest.
        let best = tried.min_by(|one, two| one.1.total_cmp(&two.1))?;
        let allowed = if points.len() < 3 { 0.0 } else { TOLERANCE };
        (best.1 <= allowed).then_some(best)
    }

    /// At so many ranks, as a whole number.
    pub fn at(&self, ranks: u32) -> i64 {
        self.value(ranks).round() as i64
    }

    fn value(&self, ranks: u32) -> f64 {
        let ranks = f64::from(ranks);
        match *self {
            Law::Constant(number) => number,
            Law::Logarithm { of_one, per_doubling } => of_one + per_doubling * ranks.log2(),
            Law::Power { of_one, power } => of_one * ranks.powf(power),
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, text: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Law::Constant(number) => write!(text, "{number:.0}"),
            Law::Logarithm { of_one, per_doubling } => write!(text, "{of_one:.3} + {per_doubling:.3} log2 P"),
            Law::Power { of_one, power } => write!(text, "{of_one:.3} P^{power:.3}"),
        }
    }
}

/// The worst miss when each point is left out in turn.
fn left_out(points: &[(u32, f64)], form: Form) -> Option<f64> {
    let mut worst: f64 = 0.0;
    for (index, (ranks, number)) in points.iter().enumerate() {
        let others: Vec<(u32, f64)> =
            points.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, point)| *point).collect();
        let off = (form(&others)?.at(*ranks) as f64 - number).abs();
        worst = worst.max(off / number.abs().max(1.0));
    }
    Some(worst)
}

fn constant(points: &[(u32, f64)]) -> Option<Law> {
    let sum: f64 = points.iter().map(|(_, number)| number).sum();
    (!points.is_empty()).then(|| Law::Constant(sum / points.len() as f64))
}

fn logarithm(points: &[(u32, f64)]) -> Option<Law> {
    let (of_one, per_doubling) =
        line(points.iter().map(|(ranks, number)| (f64::from(*ranks).log2(), *number)))?;
    Some(Law::Logarithm { of_one, per_doubling })
}

fn power(points: &[(u32, f64)]) -> Option<Law> {
    if points.iter().any(|(_, number)| *number <= 0.0) {
        return None;
    }
    let (logarithm, power) =
        line(points.iter().map(|(ranks, number)| (f64::from(*ranks).ln(), number.ln())))?;
    Some(Law::Power { of_one: logarithm.exp(), power })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plainest_law_that_predicts_held_out_runs() {
        let same = Law::of(&[(4, 12.0), (8, 12.0)]).unwrap();
        assert_eq!(same, (Law::Constant(12.0), 0.0));
        let (law, off) = Law::of(&[(4, 14.0), (8, 17.0), (16, 20.0)]).unwrap();
        assert!(off < 1e-9 && law.at(1024) == 38, "{law}");
        let (law, off) = Law::of(&[(4, 40.0), (16, 80.0), (64, 160.0)]).unwrap();
        assert!(off < 1e-9 && law.at(1024) == 640, "{law}");
    }

    #[test]
    fn two_runs_that_differ_and_chance_have_no_law() {
        assert_eq!(Law::of(&[(4, 20.0), (8, 21.0)]), None);
        assert_eq!(Law::of(&[(4, 10.0), (8, 90.0), (16, 3.0)]), None);
        assert_eq!(Law::of(&[(4, 10.0)]).map(|(law, _)| law), None);
    }
}
