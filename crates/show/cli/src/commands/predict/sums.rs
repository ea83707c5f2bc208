//! `kizami predict --method sum`: computation plus the cost of collectives, without a replay, as a baseline for comparison.

use super::show;
use crate::show::json;
use crate::show::text;
use anyhow::Result;
use kizami_graph::build;
use kizami_predict::point::Where;
use kizami_predict::{costs_of_runs, sum_s};
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sums {
    /// Name of the target machine; null if none was given.
    machine: Option<String>,
    /// Plain sums, in the order of ranks.
    sums: Vec<Sum>,
}

/// The plain sum at one number of ranks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sum {
    /// Number of ranks.
    ranks: u32,
    /// The plain sum.
    time_s: f64,
}

/// Adds up, and prints.
pub fn run(
    traces: &[&Trace],
    counts: &[u32],
    place: &Where,
    machine: Option<String>,
    as_json: bool,
) -> Result<u8> {
    let costs = match &place.costs {
        Some(costs) => costs.clone(),
        None => Arc::new(costs_of_runs(traces, place.threads)?),
    };
    let mut sums = Vec::new();
    for ranks in counts {
        let Some(trace) = traces.iter().find(|trace| trace.run().ranks == *ranks) else {
            return Err(UsageError(format!(
                "--method sum predicts only recorded numbers of ranks, and no run has {ranks}"
            ))
            .into());
        };
        let graph = build(trace, place.threads, &|_| {})?;
        sums.push(Sum { ranks: *ranks, time_s: sum_s(&graph, &costs, place.computation) });
    }
    if as_json {
        json::print(json::PREDICT_SUM, &Sums { machine, sums })?;
        return Ok(0);
    }
    let mut out = text::stdout();
    for sum in &sums {
        writeln!(
            out,
            "{} ranks: {} as the sum of computation and collectives",
            sum.ranks,
            show::seconds(sum.time_s)
        )?;
    }
    Ok(0)
}
