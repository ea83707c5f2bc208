//! Ten laws of how computation depends on ranks, with noise, to judge how well other numbers of ranks are predicted.
//!
//! The second term of a law matters at 1,024 ranks and is modest at 64: where it is not visible at 64, no method can predict
//! it, and where it is the only term, any method can.

use kizami_predict::scaling::{Measured, Situation, predict};
use kizami_rng::SplitMix64;
use kizami_stats::sorted;

/// Numbers of ranks that are measured.
const MEASURED: [u32; 5] = [4, 8, 16, 32, 64];
/// Scale of the noise, which only makes times longer.
const NOISE: f64 = 0.02;
const REPETITIONS: usize = 5;
/// Median of the absolute value of a normal deviate.
const MEDIAN_DEVIATE: f64 = 0.6745;
/// Data of all ranks. In the last law computation is faster where a rank's share fits into a cache.
const WHOLE_BYTES: f64 = 64e6;
const CACHE_BYTES: f64 = 3e6;
const CACHED: f64 = 0.8;

/// A term in the number of ranks, with its coefficient.
type Part = (f64, fn(f64) -> f64);

/// A law: its name and terms, and whether it has the step of a cache.
pub struct Law {
    pub name: &'static str,
    terms: &'static [Part],
    has_step: bool,
}

const SHARED: Part = (10.0, |p| 1.0 / p);
const CONSTANT: Part = (1.0, |_| 1.0);

pub const LAWS: [Law; 10] = [
    Law { name: "a/P", terms: &[SHARED], has_step: false },
    Law { name: "a/P + b", terms: &[SHARED, (0.01, |_| 1.0)], has_step: false },
    Law { name: "a/P + b log P", terms: &[SHARED, (0.002, f64::log2)], has_step: false },
    Law { name: "a/P + b P^(-2/3)", terms: &[SHARED, (1.0, |p| p.powf(-2.0 / 3.0))], has_step: false },
    Law { name: "a/P + b P", terms: &[SHARED, (0.0002, |p| p)], has_step: false },
    Law { name: "a", terms: &[CONSTANT], has_step: false },
    Law { name: "a + b log P", terms: &[CONSTANT, (0.05, f64::log2)], has_step: false },
    Law { name: "a + b P^(1/2)", terms: &[CONSTANT, (0.02, f64::sqrt)], has_step: false },
    Law { name: "a + b P", terms: &[CONSTANT, (0.002, |p| p)], has_step: false },
    Law { name: "a/P, cache step", terms: &[SHARED], has_step: true },
];

/// What is asked of a law.
#[derive(Clone, Copy)]
pub struct Question {
    /// Whether the work of each kind is counted.
    pub counted: bool,
    /// Whether working sets are known.
    pub sized: bool,
    /// The number of ranks that is asked for.
    pub ranks: u32,
    /// The second term is made weaker or stronger at random, by at most so many doublings.
    pub vary_doublings: f64,
}

impl Law {
    fn time_s(&self, ranks: u32, strength: f64) -> f64 {
        let p = f64::from(ranks);
        let strengths = [1.0, strength];
        let parts =
            self.terms.iter().zip(strengths).map(|((coefficient, term), s)| s * coefficient * term(p));
        let is_cached = self.has_step && WHOLE_BYTES / p <= CACHE_BYTES;
        parts.sum::<f64>() * if is_cached { CACHED } else { 1.0 }
    }

    fn situation(&self, ranks: u32, question: Question) -> Situation {
        let p = f64::from(ranks);
        let counts = self.terms.iter().filter(|_| question.counted).map(|(_, term)| 1e9 * term(p)).collect();
        let working_set_bytes = question.sized.then_some(WHOLE_BYTES / p);
        Situation { counts, working_set_bytes, ..Situation::of_ranks(ranks) }
    }
}

/// How one trial went.
pub struct Trial {
    /// Of the median, relative to the truth.
    pub error: f64,
    /// Whether the truth was in the interval.
    pub is_covered: bool,
    /// Upper end of the interval divided by the lower.
    pub width: f64,
    pub model: String,
}

/// Measures a law with noise and predicts it. The truth is the median of what would be measured.
fn trial(law: &Law, question: Question, seed: u64) -> Trial {
    let mut random = SplitMix64::new(seed);
    let strength = (question.vary_doublings * (2.0 * random.unit() - 1.0)).exp2();
    let mut sample_s = |ranks: u32| law.time_s(ranks, strength) * (1.0 + NOISE * random.normal().abs());
    let measured = MEASURED.map(|ranks| Measured {
        at: law.situation(ranks, question),
        samples_s: (0..REPETITIONS).map(|_| sample_s(ranks)).collect(),
    });
    let targets = [law.situation(question.ranks, question)];
    let predicted = predict(&measured, &targets, None, seed).unwrap().remove(0);
    let truth_s = law.time_s(question.ranks, strength) * (1.0 + MEDIAN_DEVIATE * NOISE);
    Trial {
        error: (predicted.median_s / truth_s - 1.0).abs(),
        is_covered: (predicted.low_s..=predicted.high_s).contains(&truth_s),
        width: predicted.high_s / predicted.low_s,
        model: predicted.model,
    }
}

/// So many trials of one of the laws. No two laws or seeds share a trial.
pub fn trials(law: usize, question: Question, count: u64, seed: u64) -> Vec<Trial> {
    (0..count)
        .map(|number| trial(&LAWS[law], question, (seed << 32) + ((law as u64) << 24) + number))
        .collect()
}

/// What trials say together.
pub struct Verdict {
    pub median_error: f64,
    pub p90_error: f64,
    pub coverage: f64,
    pub median_width: f64,
}

impl Verdict {
    pub fn of<'a>(trials: impl Iterator<Item = &'a Trial> + Clone) -> Verdict {
        let count = trials.clone().count() as f64;
        let quantile = |value: fn(&Trial) -> f64, part: f64| {
            let values: Vec<f64> = trials.clone().map(value).collect();
            kizami_stats::quantile(&sorted(&values), part).unwrap()
        };
        Verdict {
            median_error: quantile(|trial| trial.error, 0.5),
            p90_error: quantile(|trial| trial.error, 0.9),
            coverage: trials.clone().filter(|trial| trial.is_covered).count() as f64 / count,
            median_width: quantile(|trial| trial.width, 0.5),
        }
    }
}
