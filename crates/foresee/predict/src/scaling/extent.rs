//! How far a target lies beyond what was measured, and how wrong a method is on the way.

use super::samples::Resamples;
use super::{Method, Situation};

/// Error of a doubling where too little was measured to try a method on it.
const UNTRIED: f64 = 0.1;
/// A method that is worse than this knows nothing, such as one that predicts no time at all.
const LOST: f64 = 3.0;
/// Inside of what was measured a method is still as wrong as for this part of a doubling.
const INSIDE: f64 = 0.25;

/// By how many doublings ranks or a parameter are outside of what was measured, whichever is farthest; 0 if inside.
fn doublings_beyond(at: &[&Situation], target: &Situation) -> f64 {
    let beyond = |value: &dyn Fn(&Situation) -> f64| {
        let least = at.iter().map(|at| value(at)).fold(f64::INFINITY, f64::min);
        let most = at.iter().map(|at| value(at)).fold(0.0, f64::max);
        let asked = value(target);
        (asked / most).log2().max((least / asked).log2()).max(0.0)
    };
    let ranks = beyond(&|at| f64::from(at.ranks));
    (0..target.parameters.len()).map(|k| beyond(&|at| at.parameters[k].1)).fold(ranks, f64::max)
}

/// The factor by which a target may be missed.
///
/// The error grows with the square root of the way: not all doublings err to the same side, and the trials that gave
/// the error of one doubling had fewer measurements and the noise of one of them in it. Measured with the ten laws of
/// this crate's tests, that keeps the coverage of intervals the same from twice to 64 times the ranks.
pub(super) fn factor(error_per_doubling: f64, at: &[&Situation], target: &Situation) -> f64 {
    (error_per_doubling * doublings_beyond(at, target).max(INSIDE).sqrt()).exp()
}

/// How wrong the method is for each doubling, as the natural logarithm of a factor: it must predict the last
/// measurement from all others, and from all but two. Not less than half the spread of a median, in
/// which such errors may hide.
///
/// The situations ascend.
pub(super) fn error_per_doubling(at: &[&Situation], resamples: &Resamples, method: Method) -> f64 {
    let last = at.len() - 1;
    let trial = |kept: usize| {
        let mut outcomes = method.predict(&at[..kept], &resamples.first(kept), &at[last..]);
        let [predicted_s] = outcomes.remove(0).values.quantiles([0.5]);
        let doublings = doublings_beyond(&at[..kept], at[last]);
        let error = (predicted_s / resamples.medians_s[last]).ln().abs();
        (error / if doublings > 0.0 { doublings } else { 1.0 }).min(LOST)
    };
    let enough = |kept: &usize| *kept >= method.least_measured(at[last]);
    let errors = [last, last.saturating_sub(1)].into_iter().filter(enough).map(trial);
    errors.max_by(f64::total_cmp).unwrap_or(UNTRIED).max(resamples.median_spread / 2.0)
}
