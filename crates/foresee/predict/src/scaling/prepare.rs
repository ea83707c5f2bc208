//! From what a caller gives to what can be fitted: checked, in order, each situation once, and with only those
//! parameters that had several values.

use super::{Measured, ScalingError, Situation};
use std::cmp::Ordering;

/// Rates of more kinds of work are not distinguished by any measurement one makes.
const MOST_KINDS: usize = 6;

/// Measurements ascend by ranks, then by parameters.
pub(super) fn prepare(
    measured: &[Measured],
    targets: &[Situation],
) -> Result<(Vec<Measured>, Vec<Situation>), ScalingError> {
    if measured.is_empty() || measured.iter().any(|measured| measured.samples_s.is_empty()) {
        return Err(ScalingError::NoSamples);
    }
    let at: Vec<&Situation> = measured.iter().map(|measured| &measured.at).collect();
    for situation in at.iter().copied().chain(targets) {
        check(situation)?;
        if situation.counts.len() != at[0].counts.len() {
            return Err(ScalingError::CountsDiffer);
        }
    }
    if measured.iter().flat_map(|measured| &measured.samples_s).any(|&seconds| !is_positive(seconds)) {
        return Err(ScalingError::NotPositive("a measured time"));
    }
    let names = varied(&at, targets)?;
    let sized = at.iter().copied().chain(targets).all(|at| at.working_set_bytes.is_some());
    let reduced = |at: &Situation| -> Result<Situation, ScalingError> {
        let parameters =
            names.iter().map(|name| Ok((name.clone(), parameter(at, name)?))).collect::<Result<_, _>>()?;
        Ok(Situation { parameters, working_set_bytes: at.working_set_bytes.filter(|_| sized), ..at.clone() })
    };
    let mut merged: Vec<Measured> = Vec::new();
    for measured in measured {
        let at = reduced(&measured.at)?;
        match merged.iter_mut().find(|merged| merged.at == at) {
            Some(same) => same.samples_s.extend(&measured.samples_s),
            None => merged.push(Measured { at, samples_s: measured.samples_s.clone() }),
        }
    }
    merged.sort_by(|a, b| order(&a.at, &b.at));
    check_counts(&merged)?;
    Ok((merged, targets.iter().map(reduced).collect::<Result<_, _>>()?))
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn check(at: &Situation) -> Result<(), ScalingError> {
    let refuse = |what| Err(ScalingError::NotPositive(what));
    if at.ranks == 0 {
        return refuse("the number of ranks");
    }
    if at.parameters.iter().any(|(_, value)| !is_positive(*value)) {
        return refuse("a parameter");
    }
    if at.counts.iter().any(|&count| count != 0.0 && !is_positive(count)) {
        return refuse("a count of work, if it is not 0,");
    }
    if at.working_set_bytes.is_some_and(|bytes| !is_positive(bytes)) {
        return refuse("a working set");
    }
    Ok(())
}

fn check_counts(measured: &[Measured]) -> Result<(), ScalingError> {
    let kinds = measured[0].at.counts.len();
    if kinds > measured.len().min(MOST_KINDS) {
        return Err(ScalingError::TooManyCounts { kinds, situations: measured.len() });
    }
    if kinds > 0 && measured.iter().any(|measured| measured.at.counts.iter().all(|&count| count == 0.0)) {
        return Err(ScalingError::NothingCounted);
    }
    Ok(())
}

fn parameter(at: &Situation, name: &str) -> Result<f64, ScalingError> {
    let found = at.parameters.iter().find(|(own, _)| own == name);
    found.map(|(_, value)| *value).ok_or_else(|| ScalingError::ParameterMissing(name.to_owned()))
}

/// Names of the parameters that had several values, in order. Counted work says all that parameters could say.
fn varied(at: &[&Situation], targets: &[Situation]) -> Result<Vec<String>, ScalingError> {
    let all = || at.iter().copied().chain(targets);
    let mut names: Vec<&String> = all().flat_map(|at| at.parameters.iter().map(|(name, _)| name)).collect();
    names.sort_unstable();
    names.dedup();
    let mut varied = Vec::new();
    for name in names {
        let first = parameter(at[0], name)?;
        let differs = |at: &Situation| Ok(parameter(at, name)? != first);
        let differ: Vec<bool> = all().map(differs).collect::<Result<_, _>>()?;
        if differ[..at.len()].contains(&true) {
            varied.push(name.clone());
        } else if differ.contains(&true) && at[0].counts.is_empty() {
            return Err(ScalingError::ParameterNeverVaried(name.clone()));
        }
    }
    Ok(varied)
}

fn order(a: &Situation, b: &Situation) -> Ordering {
    let values = |at: &Situation| at.parameters.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    let by_parameters = || values(a).partial_cmp(&values(b)).unwrap_or(Ordering::Equal);
    a.ranks.cmp(&b.ranks).then_with(by_parameters)
}
