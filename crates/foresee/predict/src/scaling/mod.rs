//! How long computation takes on another number of ranks, or for another problem.
//!
//! [`predict`] is given times of one place of a program in a few situations, each repeated, and says what they would
//! be in others: a median, and an interval that should hold the truth in nine of ten cases.
//!
//! - Where the work of a rank was **counted** (iterations, elements, flops, bytes; several kinds if they differ in
//!   speed) in the measurements and is known for the target, time is work at measured rates. This is the better way.
//! - Where **working sets** are known, rates are taken from where the working set is as near as possible to the
//!   target's, instead of a mean across the step of a cache.
//! - Otherwise time is a **sum of terms**: powers of the number of ranks, with or without a logarithm, with coefficients
//!   that are not negative.
//! - A **parameter** of the problem that had several values, such as `n`, adds terms of the work per rank: `n/P`,
//!   `n^2/P` and `n^3/P`, and their surfaces. With them strong scaling (`n` stays) and weak scaling (`n^k/P` stays) are
//!   distinguished. Parameters are not multiplied with each other, and a parameter with one value everywhere changes
//!   nothing.
//!
//! All is repeated with resamples of the measured samples (bootstrap); the median of what is predicted is the answer, and its
//! quantiles are the interval. It is widened to how wrong the same method is when it must predict the largest
//! measurement from the smaller ones. Answers depend on nothing but what is given and the seed.
//!
//! When it is wrong: where a term is below the noise in all measurements and rules at the target, or where a cache,
//! memory or algorithm changes beyond them. With two numbers of ranks nothing but one power is fitted, and the interval
//! is a guess.

mod curves;
mod error;
mod extent;
mod prepare;
mod rates;
mod samples;
mod term;

pub use error::ScalingError;

use samples::{Resamples, Values};

/// Where something is measured or predicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Situation {
    /// Number of ranks.
    pub ranks: u32,
    /// Parameters of the problem by name, such as `n`. Every situation has the same, in any order.
    pub parameters: Vec<(String, f64)>,
    /// How much work of each kind a rank has here; empty if not counted. May be 0.
    pub counts: Vec<f64>,
    /// What a rank touches again and again, in bytes. It counts only if it is known for all measurements and targets.
    pub working_set_bytes: Option<f64>,
}

impl Situation {
    /// So many ranks, and nothing else known.
    pub fn of_ranks(ranks: u32) -> Situation {
        Situation { ranks, ..Situation::default() }
    }
}

/// What was measured in a situation.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Where.
    pub at: Situation,
    /// Seconds, repeated: of several runs, or means of several ranks or iterations.
    pub samples_s: Vec<f64>,
}

/// How the work depends on ranks, where only the user knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// The whole work stays the same, and ranks share it.
    Strong,
    /// The work of each rank stays the same.
    Weak,
}

/// What is predicted for a situation.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedTime {
    /// As likely too short as too long, in seconds.
    pub median_s: f64,
    /// Lower end of the 90 % interval.
    pub low_s: f64,
    /// Upper end of it.
    pub high_s: f64,
    /// The model that was chosen most often, such as `10.0 s / P + 1.20 ms log2 P`.
    pub model: String,
    /// How wrong the method was for each doubling, where it could be tried, as the natural logarithm of a factor.
    pub error_per_doubling: f64,
}

/// Predicts how long it takes in each of the targets. Situations may come in any order; the same one may come several
/// times. `assumed` counts only if a single situation was measured.
pub fn predict(
    measured: &[Measured],
    targets: &[Situation],
    assumed: Option<Scaling>,
    seed: u64,
) -> Result<Vec<PredictedTime>, ScalingError> {
    let (measured, targets) = prepare::prepare(measured, targets)?;
    let at: Vec<&Situation> = measured.iter().map(|measured| &measured.at).collect();
    let targets: Vec<&Situation> = targets.iter().collect();
    let method = Method::new(&at, assumed)?;
    let resamples = Resamples::new(&measured, seed);
    let error_per_doubling = extent::error_per_doubling(&at, &resamples, method);
    let outcomes = method.predict(&at, &resamples, &targets);
    let predicted = |(outcome, target): (Outcome, &&Situation)| {
        let [low_s, median_s, high_s] = outcome.values.quantiles([0.05, 0.5, 0.95]);
        let factor = extent::factor(error_per_doubling, &at, target);
        PredictedTime {
            median_s,
            low_s: low_s.min(median_s / factor),
            high_s: high_s.max(median_s * factor),
            model: outcome.model,
            error_per_doubling,
        }
    };
    Ok(outcomes.into_iter().zip(&targets).map(predicted).collect())
}

/// What a method predicts at a target: a value for each resampling, and its model.
struct Outcome {
    values: Values,
    model: String,
}

/// How it is predicted.
#[derive(Clone, Copy)]
enum Method {
    Curves { assumed: Option<Scaling> },
    Rates,
}

impl Method {
    fn new(at: &[&Situation], assumed: Option<Scaling>) -> Result<Method, ScalingError> {
        if !at[0].counts.is_empty() {
            Ok(Method::Rates)
        } else if at.len() == 1 && assumed.is_none() {
            Err(ScalingError::OneSituation { ranks: at[0].ranks })
        } else {
            Ok(Method::Curves { assumed })
        }
    }

    fn predict(self, at: &[&Situation], resamples: &Resamples, targets: &[&Situation]) -> Vec<Outcome> {
        match self {
            Method::Curves { assumed } => curves::predict(at, resamples, targets, assumed),
            Method::Rates => rates::predict(at, resamples, targets),
        }
    }

    /// Fewer measurements say nothing.
    fn least_measured(self, at: &Situation) -> usize {
        match self {
            Method::Curves { .. } => 2,
            Method::Rates => at.counts.len(),
        }
    }
}
