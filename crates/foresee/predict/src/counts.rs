//! How much work was counted: by whom runs predict from, and what that makes of other numbers of ranks.
//!
//! Counts come from a table that the user gives, or from the runs themselves, whose program counted them. They are exact, so
//! a law that they follow can be found where times are too noisy for it: `P^e`, `P^e (a + b log2 P)` or `a P^e + b`, with
//! coefficients of either sign. *n* elements of which each rank sorts `n/P` are such a law, and no sum of growing terms.
//! With two runs only one power is believed. Counts that follow no law are known only where they are given.

use kizami_stats::{line, mean};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A law must be as near to all counts as this.
const EXACT: f64 = 0.002;
/// Exponents of the number of ranks, in sixths, the plainest first.
const SIXTHS: [i8; 11] = [-6, 0, 6, -3, -4, -2, -12, 3, 4, 2, 12];

/// Amounts of work before calls at a place, one for each kind of work, each by number of ranks.
type ByRanks = BTreeMap<u32, Vec<f64>>;

/// What is known of the work before calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// By place and number of ranks, as the user gives them.
    pub given: FxHashMap<(String, u32), Vec<f64>>,
    /// By place, as runs have recorded them.
    pub recorded: FxHashMap<String, ByRanks>,
}

impl Counts {
    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && self.recorded.is_empty()
    }

    /// Work before calls at a place with so many ranks: as given, as recorded, or by the law of what was recorded.
    pub fn at(&self, place: &str, ranks: u32) -> Option<Vec<f64>> {
        if let Some(given) = self.given.get(&(place.to_owned(), ranks)) {
            return Some(given.clone());
        }
        let recorded = self.recorded.get(place)?;
        if let Some(counts) = recorded.get(&ranks) {
            return Some(counts.clone());
        }
        let kinds = recorded.values().map(Vec::len).max()?;
        (0..kinds)
            .map(|kind| {
                let known: Option<Vec<(u32, f64)>> =
                    recorded.iter().map(|(ranks, counts)| Some((*ranks, *counts.get(kind)?))).collect();
                law(&known?, ranks)
            })
            .collect()
    }

    /// The same without the run with so many ranks, which is held out.
    pub fn without_run(&self, ranks: u32) -> Counts {
        let mut less = self.clone();
        less.recorded.values_mut().for_each(|by_ranks| {
            by_ranks.remove(&ranks);
        });
        less
    }
}

/// What exact counts say about another number of ranks, if they follow a law.
fn law(known: &[(u32, f64)], ranks: u32) -> Option<f64> {
    if known.iter().all(|(_, count)| *count == 0.0) {
        return (!known.is_empty()).then_some(0.0);
    }
    if known.len() < 2 || known.iter().any(|(_, count)| *count <= 0.0) {
        return None;
    }
    let powers = SIXTHS.map(|sixths| f64::from(sixths) / 6.0);
    let one = powers.iter().find_map(|&power| Law::one(power, known));
    let free = || (known.len() == 2).then(|| Law::free_power(known));
    let two = || powers.iter().filter_map(|&power| Law::logarithmic(power, known)).next();
    let shifted =
        || powers.iter().filter(|power| **power != 0.0).find_map(|&power| Law::shifted(power, known));
    let law = one.or_else(free).or_else(two).or_else(shifted)?;
    Some(law.at(ranks)).filter(|count| count.is_finite() && *count >= 0.0)
}

/// `P^power (first + second log2 P) + constant`.
#[derive(Clone, Copy, Debug, Default)]
struct Law {
    power: f64,
    first: f64,
    second: f64,
    constant: f64,
}

impl Law {
    fn at(&self, ranks: u32) -> f64 {
        let ranks = f64::from(ranks);
        ranks.powf(self.power) * (self.first + self.second * ranks.log2()) + self.constant
    }

    fn checked(self, known: &[(u32, f64)]) -> Option<Law> {
        known.iter().all(|(ranks, count)| (self.at(*ranks) / count - 1.0).abs() < EXACT).then_some(self)
    }

    fn one(power: f64, known: &[(u32, f64)]) -> Option<Law> {
        let of = |(ranks, count): &(u32, f64)| count / f64::from(*ranks).powf(power);
        let first = mean(known.iter().map(of));
        Law { power, first, ..Law::default() }.checked(known)
    }

    /// The power that goes through two counts.
    fn free_power(known: &[(u32, f64)]) -> Law {
        let [(few, less), (many, more)] = [known[0], known[1]];
        let power = (more / less).ln() / (f64::from(many) / f64::from(few)).ln();
        Law { power, first: less / f64::from(few).powf(power), ..Law::default() }
    }

    fn logarithmic(power: f64, known: &[(u32, f64)]) -> Option<Law> {
        let scale = |ranks: u32| f64::from(ranks).powf(power);
        let (first, second) =
            line(known.iter().map(|(ranks, count)| (f64::from(*ranks).log2(), count / scale(*ranks))))?;
        Law { power, first, second, ..Law::default() }.checked(known)
    }

    fn shifted(power: f64, known: &[(u32, f64)]) -> Option<Law> {
        let (constant, first) =
            line(known.iter().map(|(ranks, count)| (f64::from(*ranks).powf(power), *count)))?;
        Law { power, first, constant, ..Law::default() }.checked(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: impl Fn(f64) -> f64, ranks: &[u32]) -> Vec<(u32, f64)> {
        ranks.iter().map(|ranks| (*ranks, count(f64::from(*ranks)))).collect()
    }

    #[test]
    fn exact_counts_determine_their_law() {
        let sorted = |ranks: f64| 4096.0 / ranks * (4096.0 / ranks).log2();
        let predicted = law(&of(sorted, &[2, 4, 8]), 64).unwrap();
        assert!((predicted / sorted(64.0) - 1.0).abs() < 1e-9, "{predicted}");
        let padded = |ranks: f64| 1000.0 / ranks + 7.0;
        let predicted = law(&of(padded, &[2, 4, 8]), 100).unwrap();
        assert!((predicted / 17.0 - 1.0).abs() < 0.01, "{predicted}");
        assert_eq!(law(&of(|ranks| 640.0 / ranks, &[2, 4]), 8), Some(80.0));
    }

    #[test]
    fn counts_without_a_law_are_not_made_up() {
        assert_eq!(law(&[(2, 100.0), (4, 10.0), (8, 90.0)], 16), None);
        assert_eq!(law(&[(2, 100.0)], 16), None);
        assert_eq!(law(&[(2, 100.0), (4, 0.0)], 16), None);
    }

    #[test]
    fn given_counts_win_and_held_out_runs_are_not_used() {
        let mut counts = Counts::default();
        counts.recorded.insert("a.c:1".to_owned(), [(2, vec![8.0]), (4, vec![4.0]), (8, vec![77.0])].into());
        assert_eq!(counts.at("a.c:1", 8), Some(vec![77.0]));
        assert_eq!(counts.without_run(8).at("a.c:1", 8), Some(vec![2.0]));
        counts.given.insert(("a.c:1".to_owned(), 8), vec![3.0]);
        assert_eq!(counts.without_run(8).at("a.c:1", 8), Some(vec![3.0]));
        assert_eq!(counts.at("b.c:1", 2), None);
    }
}
