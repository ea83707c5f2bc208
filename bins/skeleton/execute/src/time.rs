//! How long a rank computes before a call, learned from a recorded run.
//!
//! For each place (a call, and the call before it) the time between both is fitted by what loops in between counted:
//! `time = c0 + c1 * rounds of loop 1 + ...`, no coefficient negative. Where nothing is counted it is the mean. What the fit
//! leaves open is noise: its recorded distribution is drawn from, so that ranks differ as they did.
//!
//! It is wrong where a round of a loop takes longer on other sizes, as it does when data no longer fit a cache.

use crate::ExecuteError;
use crate::check::{RecordedRanks, concerns_others, is_compared};
use crate::child::{Progress, gather};
use crate::oracles::Answers;
use crate::rows::Clock;
use crate::run::RunOptions;
use crate::runner::Plan;
use crate::skeleton::Skeleton;
use kizami_model::Op;
use kizami_mpi_stub::event::{Entry, flag};
use kizami_rng::SplitMix64;
use kizami_stats::non_negative;
use kizami_trace::Trace;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What is made of the part of times that nothing explains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Noise {
    /// It is left out.
    None,
    /// It is drawn as it was recorded.
    #[default]
    Recorded,
    /// So many times as much.
    Times(f64),
}

/// A call and where it is made; with the one before.
type Place = (Option<(Op, u16)>, (Op, u16));
/// More loops than this are not told apart at a place: those that count most are taken.
const MOST_LOOPS: usize = 5;
/// Samples that are kept of a place.
const MOST_SAMPLES: usize = 4096;

/// How long computation takes at each place.
#[derive(Clone, Debug, Default)]
pub struct TimeModel {
    places: HashMap<Place, Fit>,
}

#[derive(Clone, Debug, Default)]
struct Fit {
    constant_ns: f64,
    by_loop: Vec<(u32, f64)>,
    /// What times were, over what the fit says.
    ratios: Vec<f32>,
}

#[derive(Default)]
struct Samples {
    gaps_ns: Vec<f64>,
    trips: Vec<BTreeMap<u32, i64>>,
}

/// What lies between two calls that concern others: loops that ran.
#[derive(Default)]
struct Between {
    last: Option<(Op, u16)>,
    trips: BTreeMap<u32, i64>,
}

impl Between {
    fn count(&mut self, trips: &[u64]) {
        for pair in trips.chunks_exact(2) {
            *self.trips.entry(pair[0] as u32).or_default() += pair[1] as i64;
        }
    }

    /// The place of this call, and what was counted before it.
    fn reach(&mut self, call: (Op, u16)) -> (Place, BTreeMap<u32, i64>) {
        ((self.last.replace(call), call), std::mem::take(&mut self.trips))
    }
}

impl TimeModel {
    /// Learns from a recorded run; the skeleton is run as it was, to know what loops counted.
    pub fn learn(
        skeleton: &Skeleton,
        recorded: &Path,
        options: &RunOptions,
        report: &dyn Fn(&Progress),
    ) -> Result<TimeModel, ExecuteError> {
        let trace = Trace::open(recorded)?;
        let run = trace.run();
        // What that run really saw is better than what is said of another one.
        let observed = skeleton.observed.iter().any(|observed| observed.ranks == run.ranks);
        let answers = Answers::find(skeleton, run.ranks, if observed { &[] } else { &options.settings })?;
        let plan = Plan {
            skeleton,
            oracles: answers.values,
            ranks: run.ranks,
            arguments: run.command.iter().skip(1).cloned().collect(),
            mode: options.mode,
            ranks_per_node: run.ranks,
            threads: 1,
            for_rows: false,
            memory: options.memory,
        };
        let gathered = gather(&plan, report)?;
        let mut samples: HashMap<Place, Samples> = HashMap::new();
        let mut by_rank = RecordedRanks::open(&trace)?;
        let mut aligned = 0;
        for (rank, kind) in (0..).zip(&gathered.kind_of) {
            let rows = by_rank.next(rank)?;
            let mut rows = rows.iter().filter(|row| is_compared(row, false) && row.calls != 0);
            let (mut between, mut before_end) = (Between::default(), None);
            for entry in gathered.kinds[*kind as usize].entries() {
                match entry {
                    Entry::Trips(trips) => between.count(trips),
                    Entry::Call(call) if concerns_others(call.op) && call.flags & flag::POLL == 0 => {
                        let Some(row) = rows.next().filter(|row| row.op == call.op) else { break };
                        let (place, trips) = between.reach((call.op, call.site));
                        if let Some(end) = before_end.replace(row.end) {
                            aligned += 1;
                            let all = samples.entry(place).or_default();
                            if all.gaps_ns.len() < MOST_SAMPLES {
                                all.gaps_ns.push((row.start - end).0.max(0) as f64);
                                all.trips.push(trips);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        if aligned == 0 {
            let what =
                "none of its calls matches the skeleton; pass a recording of the same program".to_owned();
            return Err(ExecuteError::Skeleton { path: recorded.to_path_buf(), what });
        }
        Ok(TimeModel { places: samples.into_iter().map(|(place, samples)| (place, fit(&samples))).collect() })
    }

    /// A clock for one rank.
    pub fn clock(&self, rank: u32, noise: Noise, seed: u64) -> RankClock<'_> {
        let random = SplitMix64::new(seed ^ u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        RankClock { model: self, noise, random, between: Between::default() }
    }
}

fn fit(samples: &Samples) -> Fit {
    let count = samples.gaps_ns.len();
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for trips in &samples.trips {
        trips.iter().for_each(|(number, rounds)| *sums.entry(*number).or_default() += *rounds as f64);
    }
    let mut loops: Vec<(f64, u32)> = sums.into_iter().map(|(number, sum)| (sum, number)).collect();
    loops.sort_by(|one, two| two.0.total_cmp(&one.0));
    loops.truncate(MOST_LOOPS);
    let rounds = |number: u32| -> Vec<f64> {
        let one = |trips: &BTreeMap<u32, i64>| trips.get(&number).map_or(0.0, |rounds| *rounds as f64);
        samples.trips.iter().map(one).collect()
    };
    // The loop that counts most comes first: of columns that are alike, what is left over goes to it, not to the constant.
    let mut columns: Vec<Vec<f64>> = loops.iter().map(|(_, number)| rounds(*number)).collect();
    columns.push(vec![1.0; count]);
    let coefficients = non_negative(&columns, &samples.gaps_ns);
    let by_loop: Vec<(u32, f64)> =
        loops.iter().zip(&coefficients).map(|((_, number), coefficient)| (*number, *coefficient)).collect();
    let constant_ns = coefficients.last().copied().unwrap_or(0.0);
    let mut fit = Fit { constant_ns, by_loop, ratios: Vec::new() };
    fit.ratios = samples
        .gaps_ns
        .iter()
        .zip(&samples.trips)
        .map(|(gap, trips)| {
            let said = fit.at(trips);
            if said > 0.0 { (gap / said) as f32 } else { 1.0 }
        })
        .collect();
    fit
}

impl Fit {
    fn at(&self, trips: &BTreeMap<u32, i64>) -> f64 {
        let of_loops: f64 = self
            .by_loop
            .iter()
            .map(|(number, each)| each * trips.get(number).map_or(0.0, |rounds| *rounds as f64))
            .sum();
        self.constant_ns + of_loops
    }
}

/// One rank's computation.
pub struct RankClock<'a> {
    model: &'a TimeModel,
    noise: Noise,
    random: SplitMix64,
    between: Between,
}

impl Clock for RankClock<'_> {
    fn gap_ns(&mut self, call: (Op, u16), trips: &[u64]) -> f64 {
        self.between.count(trips);
        if !concerns_others(call.0) {
            return 0.0;
        }
        let (place, trips) = self.between.reach(call);
        let Some(fit) = self.model.places.get(&place) else { return 0.0 };
        let factor = match self.noise {
            Noise::None => 1.0,
            _ if fit.ratios.is_empty() => 1.0,
            Noise::Recorded => f64::from(fit.ratios[self.random.index(fit.ratios.len())]),
            Noise::Times(times) => {
                let drawn = f64::from(fit.ratios[self.random.index(fit.ratios.len())]);
                (1.0 + (drawn - 1.0) * times).max(0.0)
            }
        };
        fit.at(&trips) * factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_loops_explain_times() {
        let mut samples = Samples::default();
        for rounds in [10, 20, 40, 80] {
            samples.gaps_ns.push(100.0 + 7.0 * rounds as f64);
            samples.trips.push(BTreeMap::from([(3, rounds)]));
        }
        let fit = fit(&samples);
        assert!((fit.constant_ns - 100.0).abs() < 1e-6, "{fit:?}");
        assert!((fit.by_loop[0].1 - 7.0).abs() < 1e-9, "{fit:?}");
        assert!((fit.at(&BTreeMap::from([(3, 1000)])) - 7100.0).abs() < 1e-6);
        assert!(fit.ratios.iter().all(|ratio| (ratio - 1.0).abs() < 1e-6));
    }
}
