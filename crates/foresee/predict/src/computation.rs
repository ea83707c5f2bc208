//! Computation at another number of ranks: how long it takes before each call, and how it scatters.
//!
//! The mean of each place is predicted from its means in the runs ([`crate::scaling`]). How single times scatter around it is
//! taken from the largest run: each new rank takes the times of a recorded one of its class, one after another, beginning
//! somewhere. So what is slow for long in a recorded rank is slow for long in a new one, and what scatters from call to call
//! does so, too.

use crate::PredictError;
use crate::counts::Counts;
use crate::scaling::{Measured, PredictedTime, Situation, predict};
use crate::structure::{Leaf, Program, RunTiming, Timing};
use kizami_rng::SplitMix64;
use rustc_hash::FxHashMap;

/// Samples of one run that are resampled: more say nothing new about a mean.
const SAMPLES: usize = 16;
/// Shorter computation is not worth a model: it is as long as in the largest run.
const NEGLIGIBLE_NS: f64 = 1_000.0;
const NS: f64 = 1e-9;

/// What is known about the problem beside the number of ranks.
#[derive(Clone, Debug, Default)]
pub struct PredictionInputs {
    /// Parameters of each run, by its number of ranks.
    pub parameters: FxHashMap<u32, Vec<(String, f64)>>,
    /// Parameters of what is predicted.
    pub target: Vec<(String, f64)>,
    /// How much work each rank has before calls at a place, where it was counted.
    pub counts: Counts,
    /// What all ranks together touch again and again, in bytes; each has its part of it.
    pub working_set_bytes: Option<f64>,
    /// The seed for resampling.
    pub seed: u64,
}

/// Computation before the calls of one rank class.
#[derive(Clone, Debug)]
struct LeafTime {
    median_ns: f64,
    low_ns: f64,
    high_ns: f64,
    ratios: Vec<Vec<f32>>,
}

/// Computation before all calls of a program, at one number of ranks.
#[derive(Clone, Debug)]
pub struct Computation {
    /// By class, leaf, and first round or later ones.
    times: FxHashMap<(u32, usize, usize), LeafTime>,
    seed: u64,
}

impl Computation {
    /// At so many ranks.
    pub fn at(program: &Program, ranks: u32, known: &PredictionInputs) -> Result<Computation, PredictError> {
        let mut times = FxHashMap::default();
        for (class, does) in &program.rank_classes {
            for (number, leaf) in does.leaves.iter().enumerate() {
                for (which, timing) in leaf.gaps.iter().enumerate() {
                    if let Some(largest) = timing.runs.last() {
                        let place = Place { program, leaf, ranks };
                        times.insert((*class, number, which), place.time(timing, largest, known)?);
                    }
                }
            }
        }
        Ok(Computation { times, seed: known.seed })
    }

    /// Before the call of a rank: leaf, round of its loop, and how often it has made the call.
    pub fn gap_ns(&self, class: u32, leaf: usize, round: u64, rank: u32, occurrence: u64) -> f64 {
        let which = usize::from(round > 0);
        // A loop that goes round once in all runs has no later rounds; what is known of the first must do.
        let Some(time) = self.times.get(&(class, leaf, which)).or_else(|| self.times.get(&(class, leaf, 0)))
        else {
            return 0.0;
        };
        time.median_ns * time.ratio(self.seed, rank, occurrence)
    }

    /// The lowest, the median and the highest before a leaf, in nanoseconds.
    pub fn spread(&self, class: u32, leaf: usize, round: u64) -> Option<(f64, f64, f64)> {
        let time = self.times.get(&(class, leaf, usize::from(round > 0)))?;
        Some((time.low_ns, time.median_ns, time.high_ns))
    }
}

impl LeafTime {
    /// What a rank takes one time, as a share of the mean.
    fn ratio(&self, seed: u64, rank: u32, occurrence: u64) -> f64 {
        if self.ratios.is_empty() {
            return 1.0;
        }
        let mut random = SplitMix64::new(seed ^ (u64::from(rank) << 20));
        let like = &self.ratios[random.index(self.ratios.len())];
        match like.len() {
            0 => 1.0,
            times => {
                let first = random.index(times) as u64;
                f64::from(like[((first + occurrence) % times as u64) as usize])
            }
        }
    }
}

/// A leaf at a number of ranks.
struct Place<'a> {
    program: &'a Program,
    leaf: &'a Leaf,
    ranks: u32,
}

impl Place<'_> {
    fn time(
        &self,
        timing: &Timing,
        largest: &RunTiming,
        known: &PredictionInputs,
    ) -> Result<LeafTime, PredictError> {
        let ratios = largest.ratios.clone();
        if timing.runs.iter().all(|run| run.mean_ns() < NEGLIGIBLE_NS) {
            let mean_ns = largest.mean_ns();
            return Ok(LeafTime { median_ns: mean_ns, low_ns: mean_ns, high_ns: mean_ns, ratios });
        }
        let PredictedTime { median_s, low_s, high_s, .. } = self.predicted(timing, known)?;
        let (median_ns, low_ns, high_ns) = (median_s / NS, low_s / NS, high_s / NS);
        Ok(LeafTime { median_ns, low_ns, high_ns, ratios })
    }

    fn predicted(&self, timing: &Timing, known: &PredictionInputs) -> Result<PredictedTime, PredictError> {
        let token = &self.program.tokens[self.leaf.token as usize];
        // Counts have the full name of a function; what people read has the short one.
        let place = format!("{:#}", token.place);
        let counts = |ranks: u32| known.counts.at(&place, ranks);
        // Counts help only where all are known.
        let all_ranks = timing.runs.iter().map(|run| run.ranks).chain([self.ranks]);
        let counted = all_ranks.clone().all(|ranks| counts(ranks).is_some());
        let situation = |ranks: u32, parameters: Option<&Vec<(String, f64)>>| Situation {
            ranks,
            parameters: parameters.cloned().unwrap_or_default(),
            counts: counts(ranks).filter(|_| counted).unwrap_or_default(),
            working_set_bytes: known.working_set_bytes.map(|bytes| bytes / f64::from(ranks)),
        };
        let measured: Vec<Measured> = timing
            .runs
            .iter()
            .map(|run| Measured {
                at: situation(run.ranks, known.parameters.get(&run.ranks)),
                samples_s: samples(run),
            })
            .collect();
        let target = situation(self.ranks, Some(&known.target));
        let predicted = predict(&measured, &[target], None, known.seed);
        let why =
            |why: String| PredictError::NoTime { op: token.op.name(), place: token.place.to_string(), why };
        let first = predicted.map_err(|error| why(error.to_string()))?.into_iter().next();
        first.ok_or_else(|| why("nothing came of it".to_owned()))
    }
}

/// Means of groups of ranks, in seconds: those of single ranks would differ by what is theirs, not by chance.
fn samples(run: &RunTiming) -> Vec<f64> {
    let groups = SAMPLES.min(run.means_ns.len()).max(1);
    (0..groups)
        .map(|group| {
            let members = run.means_ns.iter().skip(group).step_by(groups);
            members.clone().sum::<f64>() / members.count().max(1) as f64 * NS
        })
        .map(|seconds| seconds.max(1e-12))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{Part, PeerFormula, RankClass, Scheme, Token};
    use kizami_trace::{Definitions, SourceLine};
    use std::sync::Arc;

    /// Every rank computes for 1 ms, on 2 and on 4 ranks, and calls MPI from `place`.
    fn program(place: SourceLine) -> Program {
        let token = Token {
            op: kizami_testing::op("MPI_Barrier"),
            place: Arc::new(place),
            comm: Some(0),
            tag: None,
            recv_tag: None,
            begins: false,
            completes: Vec::new(),
        };
        let run = |ranks| RunTiming { ranks, means_ns: vec![1e6; ranks as usize], ratios: Vec::new() };
        let leaf = Leaf {
            token: 0,
            peer: PeerFormula::None,
            recv_peer: PeerFormula::None,
            root: PeerFormula::None,
            bytes_out: None,
            bytes_in: None,
            gaps: [Timing { runs: vec![run(2), run(4)] }, Timing::default()],
        };
        Program {
            scheme: Scheme::All,
            rank_classes: [(0, RankClass { parts: vec![Part::Call(0)], leaves: vec![leaf] })].into(),
            tokens: vec![token],
            seen: vec![2, 4],
            definitions: Definitions::default(),
            sites: FxHashMap::default(),
            executable: String::new(),
            command: Vec::new(),
        }
    }

    #[test]
    fn counts_are_found_by_the_full_name_of_a_function() {
        let function = "void halo::exchange<double, 3>(Grid<double> const&)".to_owned();
        let place = SourceLine::in_function(&function);
        let mut known = PredictionInputs::default();
        // Eight ranks have four times the work of two, of which times alone know nothing.
        for (ranks, count) in [(2, 100.0), (4, 100.0), (8, 400.0)] {
            known.counts.given.insert((function.clone(), ranks), vec![count]);
        }
        let computation = Computation::at(&program(place), 8, &known).unwrap();
        let (_, median_ns, _) = computation.spread(0, 0, 0).unwrap();
        assert!((median_ns / 4e6 - 1.0).abs() < 0.01, "{median_ns}");
    }
}
