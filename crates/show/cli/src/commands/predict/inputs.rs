//! What is known about the problem: its parameters, and counted work.
//!
//! Nothing that is given is passed over in silence: counts that fit no place or no number of ranks are refused by name.

use super::arguments::PredictArguments;
use crate::show::path::as_typed;
use crate::show::say;
use anyhow::{Context, Result};
use kizami_predict::{Counts, PredictionInputs, recorded_counts};
use kizami_terminal::failure::UsageError;
use kizami_trace::{SourceLine, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::Path;

/// Places that a refusal names, at most.
const MOST_NAMED: usize = 8;

/// Counted work by place and number of ranks, one number for each kind of work.
type GivenCounts = FxHashMap<(String, u32), Vec<f64>>;

/// Everything known, for these numbers of ranks.
pub fn inputs(arguments: &PredictArguments, traces: &[Trace], asked: &[u32]) -> Result<PredictionInputs> {
    let mut known = PredictionInputs {
        seed: arguments.seed,
        working_set_bytes: arguments.working_set.map(|bytes| bytes as f64),
        ..PredictionInputs::default()
    };
    for parameter in &arguments.param {
        let value = (parameter.name.clone(), parameter.value);
        match parameter.ranks {
            Some(ranks) => known.parameters.entry(ranks).or_default().push(value),
            None => known.target.push(value),
        }
    }
    // A parameter that is only said for what is foretold was the same in all runs.
    for trace in traces {
        let of_run = known.parameters.entry(trace.run().ranks).or_default();
        for (name, value) in &known.target {
            if !of_run.iter().any(|(known, _)| known == name) {
                of_run.push((name.clone(), *value));
            }
        }
    }
    known.counts = match &arguments.counts {
        Some(path) => Counts { given: given(path, traces, asked)?, ..Counts::default() },
        None => recorded(traces)?,
    };
    check(arguments, &known, traces, asked)?;
    Ok(known)
}

/// What programs have told by `kizami_count`, in all runs.
fn recorded(traces: &[Trace]) -> Result<Counts> {
    let mut counts = Counts::default();
    for trace in traces {
        for (place, amounts) in recorded_counts(trace)? {
            counts.recorded.entry(place).or_default().insert(trace.run().ranks, amounts);
        }
    }
    Ok(counts)
}

/// Reads a table of counted work: place, ranks, count.
fn given(path: &Path, traces: &[Trace], asked: &[u32]) -> Result<GivenCounts> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let places = places(traces)?;
    let ranks_known: BTreeSet<u32> =
        traces.iter().map(|trace| trace.run().ranks).chain(asked.iter().copied()).collect();
    let mut counts = GivenCounts::default();
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let at = format!("{}:{}", as_typed(path), number + 1);
        let mut cells = line.rsplitn(3, ',');
        let (count, ranks, place) = (cells.next(), cells.next(), cells.next());
        let row =
            || Some((place?.trim().to_owned(), ranks?.trim().parse().ok()?, count?.trim().parse().ok()?));
        let Some((place, ranks, count)) = row() else {
            return Err(
                UsageError(format!("{at}: expected a location, a number of ranks and a count")).into()
            );
        };
        if !places.contains(&place) {
            return Err(UsageError(format!("{at}: no call is made at {place}; {}", named(&places))).into());
        }
        if !ranks_known.contains(&ranks) {
            let said: Vec<String> = ranks_known.iter().map(ToString::to_string).collect();
            let said = said.join(", ");
            return Err(UsageError(format!(
                "{at}: {ranks} ranks are neither recorded nor requested; {said} are"
            ))
            .into());
        }
        counts.entry((place, ranks)).or_default().push(count);
    }
    Ok(counts)
}

/// All places that calls are made from.
fn places(traces: &[Trace]) -> Result<BTreeSet<String>> {
    let mut places = BTreeSet::new();
    for trace in traces {
        let definitions = trace.definitions()?;
        let sites = definitions.callsites.iter();
        places.extend(
            sites.map(|site| format!("{:#}", SourceLine::of(&definitions, Some(site.index)).of_any_caller())),
        );
    }
    Ok(places)
}

fn named(places: &BTreeSet<String>) -> String {
    let some: Vec<&str> = places.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = if places.len() > MOST_NAMED { ", ..." } else { "" };
    format!("calls are made at {}{more}", some.join(", "))
}

/// Refuses counts that could not be used, and tells of those that the runs have and that cannot be used.
fn check(
    arguments: &PredictArguments,
    known: &PredictionInputs,
    traces: &[Trace],
    asked: &[u32],
) -> Result<(), UsageError> {
    let counts = &known.counts;
    if known.working_set_bytes.is_some() && counts.is_empty() {
        return Err(UsageError(
            "--working-set needs work counts: give --counts, or record a program that counts its work (kizami_count of \
             kizami.h)"
                .to_owned(),
        ));
    }
    let of_runs = traces.iter().map(|trace| trace.run().ranks);
    let needed: BTreeSet<u32> = of_runs.chain(asked.iter().copied()).collect();
    let given: BTreeSet<&String> = counts.given.keys().map(|(place, _)| place).collect();
    for place in given {
        if let Some(ranks) = needed.iter().find(|ranks| counts.at(place, **ranks).is_none()) {
            return Err(UsageError(format!(
                "counts of {place} are missing for {ranks} ranks in {}, and cannot be extrapolated",
                arguments.counts.as_deref().map(as_typed).unwrap_or_default()
            )));
        }
    }
    let mut recorded: Vec<&String> = counts.recorded.keys().collect();
    recorded.sort_unstable();
    for place in recorded {
        if let Some(ranks) = needed.iter().find(|ranks| counts.at(place, **ranks).is_none()) {
            say(&[format!(
                "kizami: counts    those before {place} cannot be extrapolated to {ranks} ranks; times are used instead (or give --counts)"
            )]);
        }
    }
    Ok(())
}
