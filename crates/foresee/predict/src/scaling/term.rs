//! Terms of models: powers of the number of ranks or of the work per rank, with or without a logarithm.

use super::Situation;
use std::fmt;

/// Exponents of the number of ranks, in sixths.
const RANK_SIXTHS: [i8; 9] = [-6, -4, -3, -2, 0, 2, 3, 4, 6];
/// More of them, without logarithms: what shrinks faster than ranks become more, where all of them work on a part of a part.
const FAST_SIXTHS: [i8; 3] = [-9, -12, -18];
/// Exponents of the work per rank, in sixths: volumes, surfaces, edges.
const WORK_SIXTHS: [i8; 4] = [6, 4, 3, 2];
/// Powers of a parameter that may be the whole work.
const WORK_POWERS: [u8; 3] = [1, 2, 3];

/// What is raised to a power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The number of ranks.
    Ranks,
    /// A power of a parameter, shared by the ranks.
    WorkPerRank { parameter: usize, power: u8 },
}

/// `base ^ (sixths / 6) * log2(ranks) ^ logarithm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    base: Base,
    sixths: i8,
    logarithm: bool,
}

impl Term {
    pub(super) const CONSTANT: Term = Term { base: Base::Ranks, sixths: 0, logarithm: false };
    pub(super) const SHARED: Term = Term { base: Base::Ranks, sixths: -6, logarithm: false };

    /// All terms but the constant, with these parameters.
    pub(super) fn all(parameters: &[(String, f64)]) -> Vec<Term> {
        let ranks = RANK_SIXTHS
            .iter()
            .flat_map(|&sixths| [false, true].map(|logarithm| Term { base: Base::Ranks, sixths, logarithm }));
        let work = (0..parameters.len()).flat_map(|parameter| {
            WORK_POWERS.iter().flat_map(move |&power| {
                let base = Base::WorkPerRank { parameter, power };
                WORK_SIXTHS.iter().map(move |&sixths| Term { base, sixths, logarithm: false })
            })
        });
        let fast = FAST_SIXTHS.iter().map(|&sixths| Term { base: Base::Ranks, sixths, logarithm: false });
        ranks.chain(fast).chain(work).filter(|term| *term != Term::CONSTANT).collect()
    }

    /// Whether it is all the work of a rank, and not only a surface of it or what grows with ranks.
    pub(super) fn is_whole(self) -> bool {
        let of_work = matches!(self.base, Base::WorkPerRank { .. }) && self.sixths == 6;
        of_work || self == Term::SHARED || self == Term::CONSTANT
    }

    /// What it is in a situation, for a coefficient of 1.
    pub(super) fn value(self, at: &Situation) -> f64 {
        let ranks = f64::from(at.ranks);
        let base = match self.base {
            Base::Ranks => ranks,
            Base::WorkPerRank { parameter, power } => at.parameters[parameter].1.powi(power.into()) / ranks,
        };
        base.powf(f64::from(self.sixths) / 6.0) * if self.logarithm { ranks.log2() } else { 1.0 }
    }

    /// How much better than with a common term measurements must be predicted with this one, in squares of the
    /// spread: work that is shared or not, and trees of ranks are everywhere; surfaces are common, cube roots are rare,
    /// and products with logarithms rarer. What grows with a power of the ranks is to be believed a little later than
    /// what does not, for at many ranks it is all there is.
    pub(super) fn cost(self) -> f64 {
        let power = match self.sixths.abs() {
            0 | 6 => 0.0,
            3 | 4 | 12 => 3.0,
            _ => 5.0,
        };
        let growth = if self.base == Base::Ranks && self.sixths > 0 { 1.0 } else { 0.0 };
        let product = if self.logarithm && self.sixths != 0 { 7.0 } else { 0.0 };
        power + growth + product
    }

    /// As text after a coefficient.
    pub(super) fn text(self, names: &[(String, f64)]) -> String {
        let exponent = Exponent(self.sixths.abs());
        let power = match self.base {
            Base::Ranks if self.sixths < 0 => format!(" / P{exponent}"),
            Base::Ranks if self.sixths > 0 => format!(" P{exponent}"),
            Base::Ranks => String::new(),
            Base::WorkPerRank { parameter, power } => {
                let name = &names[parameter].0;
                let work = if power == 1 { name.clone() } else { format!("{name}^{power}") };
                if self.sixths == 6 { format!(" {work} / P") } else { format!(" ({work} / P){exponent}") }
            }
        };
        if self.logarithm { format!(" log2 P{power}") } else { power }
    }
}

/// Sixths as a fraction in lowest terms.
struct Exponent(i8);

impl fmt::Display for Exponent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            6 => Ok(()),
            whole if whole % 6 == 0 => write!(out, "^{}", whole / 6),
            half if half % 3 == 0 => write!(out, "^({}/2)", half / 3),
            thirds => write!(out, "^({}/3)", thirds / 2),
        }
    }
}

/// Seconds as a person writes them, with three digits.
pub(super) fn seconds_text(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.0 => return "0 s".to_owned(),
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    let digits = (2 - value.log10().floor() as i32).clamp(0, 12) as usize;
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_with_three_digits() {
        for (seconds, text) in
            [(12.34, "12.3 s"), (0.83, "830 ms"), (1.2e-3, "1.20 ms"), (5e-6, "5.00 us"), (0.0, "0 s")]
        {
            assert_eq!(seconds_text(seconds), text);
        }
    }

    #[test]
    fn terms_are_written_as_one_would() {
        let names = [("n".to_owned(), 1.0)];
        let texts: Vec<String> = Term::all(&names).into_iter().map(|term| term.text(&names)).collect();
        for text in [" / P", " log2 P / P^(2/3)", " log2 P", " P^(1/2)", " n^3 / P", " (n^2 / P)^(1/3)"] {
            assert!(texts.iter().any(|found| found == text), "{text} in {texts:?}");
        }
    }
}
