//! What a place that depends on data gives at numbers of ranks nobody observed: fitted to the runs that were.
//!
//! Ranks are told apart by the plainest scheme under which all ranks of a kind saw the same in each run. Then either the
//! shorter of two runs' sequences begins the longer one, which is taken; or they have as many stretches of equal values, and
//! each value and each length of a stretch follows a [`Law`]: so iterations until convergence do.

use super::law::Law;
use kizami_entry::Runs;
use kizami_predict::structure::Scheme;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The values of one place: for each observed number of ranks, those of each rank.
pub type ByRun<'a> = [(u32, Vec<&'a Runs>)];

/// What ranks of one kind see.
enum Sequence {
    /// Always the same, as far as it goes.
    Same(Runs),
    /// Values and how often each comes.
    Stretches(Vec<(Law, Law)>),
}

/// What a place gives at any number of ranks.
pub struct Rule {
    scheme: Scheme,
    kinds: BTreeMap<u32, Sequence>,
    /// How far off it was for runs that were left out, as a share.
    pub error: f64,
}

impl Rule {
    /// The plainest rule that fits all runs; none with a single one.
    pub fn of(runs: &ByRun) -> Option<Rule> {
        if runs.len() < 2 {
            return None;
        }
        Scheme::ALL.into_iter().find_map(|scheme| Rule::by(scheme, runs))
    }

    fn by(scheme: Scheme, runs: &ByRun) -> Option<Rule> {
        let mut seen: BTreeMap<u32, Vec<(u32, &Runs)>> = BTreeMap::new();
        for (ranks, values) in runs {
            let mut here: BTreeMap<u32, &Runs> = BTreeMap::new();
            for (rank, runs) in (0..).zip(values) {
                let kind = scheme.class(rank, *ranks);
                if **here.entry(kind).or_insert(runs) != **runs {
                    return None;
                }
            }
            here.into_iter().for_each(|(kind, runs)| seen.entry(kind).or_default().push((*ranks, runs)));
        }
        let (mut kinds, mut error): (_, f64) = (BTreeMap::new(), 0.0);
        for (kind, seen) in seen {
            let (sequence, off) = sequence(&seen)?;
            kinds.insert(kind, sequence);
            error = error.max(off);
        }
        Some(Rule { scheme, kinds, error })
    }

    /// What each kind of rank sees among so many, and the kind of each rank; nothing if one of them was never seen.
    pub fn at(&self, ranks: u32) -> Option<(Arc<Vec<u32>>, Vec<Runs>)> {
        let number: BTreeMap<u32, u32> = self.kinds.keys().copied().zip(0..).collect();
        let kind_of: Option<Vec<u32>> = match self.scheme {
            Scheme::All => Some(Vec::new()),
            scheme => (0..ranks).map(|rank| number.get(&scheme.class(rank, ranks)).copied()).collect(),
        };
        let at = |sequence: &Sequence| match sequence {
            Sequence::Same(runs) => runs.clone(),
            Sequence::Stretches(laws) => laws
                .iter()
                .map(|(value, times)| (value.at(ranks), times.at(ranks).max(0) as u64))
                .filter(|(_, times)| *times > 0)
                .collect(),
        };
        Some((Arc::new(kind_of?), self.kinds.values().map(at).collect()))
    }

    /// In words.
    pub fn words(&self) -> String {
        let who = match self.scheme {
            Scheme::All => "",
            Scheme::FirstAndOthers => " for the first rank and for the others",
            Scheme::Line => " for the first rank, the last, and those between",
            Scheme::EvenAndOdd => " for even and odd ranks",
            Scheme::EvenAndOddLine => " for even and odd ranks and the ends",
            Scheme::Grid(_) => " for each side of a grid of ranks",
        };
        let mut laws: Vec<String> = self.kinds.values().filter_map(law_words).collect();
        laws.dedup();
        match laws.first() {
            None => format!("the same at any number of ranks{who}"),
            Some(first) if laws.len() == 1 => format!("{first}{who}"),
            Some(first) => format!("{first} and others{who}"),
        }
    }
}

/// The stretches that follow ranks, in words.
fn law_words(sequence: &Sequence) -> Option<String> {
    let Sequence::Stretches(laws) = sequence else { return None };
    let follows = |law: &Law| !matches!(law, Law::Constant(_));
    let all: Vec<String> = laws
        .iter()
        .filter(|(value, times)| follows(value) || follows(times))
        .map(|(value, times)| format!("{value} ({times} times)"))
        .collect();
    let more = all.len().saturating_sub(2);
    let shown = all[..all.len().min(2)].join(", then ");
    Some(match (all.is_empty(), more) {
        (true, _) => "about the same at any number of ranks".to_owned(),
        (false, 0) => shown,
        (false, more) => format!("{shown}, and {more} more"),
    })
}

/// What ranks of a kind see, from what they saw in runs, and how far off that is.
fn sequence(seen: &[(u32, &Runs)]) -> Option<(Sequence, f64)> {
    if seen.len() < 2 {
        return None;
    }
    let (_, longest) = seen.iter().max_by_key(|(_, runs)| length(runs))?;
    if seen.iter().all(|(_, runs)| begins(runs, longest)) {
        return Some((Sequence::Same((*longest).clone()), 0.0));
    }
    let stretches = longest.len();
    if seen.iter().any(|(_, runs)| runs.len() != stretches) {
        return None;
    }
    let mut worst: f64 = 0.0;
    let mut laws = Vec::with_capacity(stretches);
    for place in 0..stretches {
        let by = |of: fn(&(i64, u64)) -> f64| -> Vec<(u32, f64)> {
            seen.iter().map(|(ranks, runs)| (*ranks, of(&runs[place]))).collect()
        };
        let (value, off) = Law::of(&by(|run| run.0 as f64))?;
        // How long the last one stays does not matter: nothing follows.
        let (times, longer) = if place + 1 == stretches {
            (Law::Constant(1.0), 0.0)
        } else {
            Law::of(&by(|run| run.1 as f64))?
        };
        worst = worst.max(off).max(longer);
        laws.push((value, times));
    }
    Some((Sequence::Stretches(laws), worst))
}

fn length(runs: &Runs) -> u64 {
    runs.iter().map(|(_, times)| times).sum()
}

/// Whether a sequence is the beginning of another.
fn begins(short: &Runs, long: &Runs) -> bool {
    let Some((last, before)) = short.split_last() else { return true };
    let Some(place) = long.get(before.len()) else { return false };
    long[..before.len()] == *before && place.0 == last.0 && place.1 >= last.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(runs: &[(u32, Vec<Runs>)]) -> Option<Rule> {
        let runs: Vec<(u32, Vec<&Runs>)> =
            runs.iter().map(|(ranks, values)| (*ranks, values.iter().collect())).collect();
        Rule::of(&runs)
    }

    #[test]
    fn iterations_until_convergence_follow_the_ranks() {
        let run = |ranks: u32, rounds: u64| (ranks, vec![vec![(1, rounds), (0, 1)]; ranks as usize]);
        let found = rule(&[run(4, 14), run(8, 17), run(16, 20)]).unwrap();
        assert_eq!(found.at(1024).unwrap().1, [vec![(1, 38), (0, 1)]]);
        assert_eq!(found.words(), "1 (8.000 + 3.000 log2 P times)");
        assert!(found.error < 1e-9);
        assert!(rule(&[run(4, 14), run(8, 17)]).is_none(), "two runs do not tell a law");
    }

    #[test]
    fn ends_of_a_line_are_distinguished() {
        let run = |ranks: u32| {
            let at = |rank: u32| {
                vec![(
                    if rank == 0 {
                        5
                    } else if rank + 1 == ranks {
                        7
                    } else {
                        6
                    },
                    3,
                )]
            };
            (ranks, (0..ranks).map(at).collect::<Vec<Runs>>())
        };
        let found = rule(&[run(4), run(8)]).unwrap();
        let (kinds, values) = found.at(5).unwrap();
        let at = |rank: usize| values[kinds[rank] as usize][0].0;
        assert_eq!([0, 1, 3, 4].map(at), [5, 6, 6, 7]);
        assert_eq!(
            found.words(),
            "the same at any number of ranks for the first rank, the last, and those between"
        );
    }

    #[test]
    fn shorter_runs_begin_longer_ones() {
        let run = |ranks: u32, rounds: usize| (ranks, vec![[(64, 2), (8, 1)].repeat(rounds); ranks as usize]);
        let found = rule(&[run(2, 3), run(4, 5)]).unwrap();
        assert_eq!(found.at(64).unwrap().1[0].len(), 10);
    }

    #[test]
    fn chance_has_no_rule() {
        let run = |ranks: u32| (ranks, (0..ranks).map(|rank| vec![(i64::from(rank * 37 % 11), 1)]).collect());
        assert!(rule(&[run(4), run(8), run(16)]).is_none());
        assert!(rule(&[run(4)]).is_none());
    }
}
