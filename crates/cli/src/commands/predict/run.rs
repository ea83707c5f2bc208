//! Foretelling runs.

use super::arguments::{Method, PredictArguments};
use super::points::RankCounts;
use super::{check, plot, show};
use crate::commands::platform;
use crate::failure::UsageError;
use crate::input::{all_cores, open_to_follow};
use crate::output::{must_be_new, write_new};
use crate::show::json;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::text;
use anyhow::{Context, Result};
use kizami_graph::{Graph, build};
use kizami_machine::Machine;
use kizami_network::Fit;
use kizami_predict::point::{Point, Where};
use kizami_predict::{Checked, Foreseen, Runs, costs_of_runs, sum_s};
use kizami_replay::{Request, retime};
use kizami_trace::Trace;
use kizami_trace::derived::scratch_folder;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Predicted {
    /// The machine it is for, if one was given.
    pub machine: Option<String>,
    /// The runs it is made from.
    pub from: Vec<Recorded>,
    /// What was hidden and foretold, where there were enough runs.
    pub check: Option<Checked>,
    /// What was foretold.
    pub points: Vec<Point>,
}

/// A run it is made from.
#[derive(Debug, Serialize)]
pub struct Recorded {
    /// How many ranks it has.
    pub ranks: u32,
    /// How long it worked.
    pub time_s: f64,
}

/// Foretells, and says what came of it.
pub fn run(arguments: &PredictArguments) -> Result<u8> {
    for (file, option) in [(&arguments.output, "-o"), (&arguments.plot, "--plot")] {
        file.as_deref().map(|file| must_be_new(file, option)).transpose()?;
    }
    let threads = arguments.threads.map_or_else(all_cores, |threads| threads.get());
    let mut traces = Vec::new();
    for path in &arguments.traces {
        traces.push(open_to_follow(path, Some(threads))?.trace);
    }
    traces.sort_by_key(|trace| trace.run().ranks);
    if let Some(pair) = traces.windows(2).find(|pair| pair[0].run().ranks == pair[1].run().ranks) {
        let (one, other) = (as_typed(pair[0].path()), as_typed(pair[1].path()));
        return Err(
            UsageError(format!("{one} and {other} have the same number of ranks; give one of them")).into()
        );
    }
    let machine = arguments.machine.as_deref().map(Machine::open).transpose()?;
    let place = Where {
        costs: machine.as_ref().map(|machine| Arc::new(machine.costs())),
        platform: arguments.platform.as_deref().map(platform::open).transpose()?.map(Arc::new),
        computation: arguments.cpu.map_or(1.0, |times| 1.0 / times.0),
        threads,
    };
    let known = foreseen(arguments, &traces)?;
    let all: Vec<&Trace> = traces.iter().collect();
    if arguments.check {
        return check::run(all, place, known, arguments.json);
    }
    let counts = asked_for(arguments, &traces)?;
    if arguments.method == Method::Sum {
        return sums(&all, &counts, &place);
    }
    let scratch = tempfile::tempdir().context("cannot make a directory for a run that is foretold")?;
    let mut runs = Runs::new(all, place, known)?;
    let check = (traces.len() > 2).then(|| runs.check(&scratch.path().join("check.kz"))).transpose()?;
    let bar = Bar::new("predicting");
    let mut points = Vec::new();
    for ranks in &counts {
        let folder = scratch.path().join(format!("{ranks}.kz"));
        let point = runs.point(*ranks, &folder, &|steps| {
            bar.set(points.len() as u64, counts.len() as u64, || {
                format!(
                    "{}, {}",
                    quantity::counted(u64::from(*ranks), "rank"),
                    quantity::counted(steps, "call")
                )
            });
        })?;
        points.push(point);
        if let Some(output) = &arguments.output {
            write_trace(output, &folder, &traces, *ranks, &runs.place_of(*ranks)?)?;
        } else if folder.exists() {
            // A directory that cannot be removed now goes with the others.
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
    drop(bar);
    let mut from = Vec::new();
    for trace in &traces {
        from.push(Recorded { ranks: trace.run().ranks, time_s: kizami_predict::recorded_s(trace, threads)? });
    }
    let name = machine.map(|machine| machine.about.name);
    let predicted = Predicted { machine: name, from, check, points };
    if let Some(file) = &arguments.plot {
        write_new(file, plot::svg(&predicted).as_bytes())?;
    }
    if arguments.json {
        json::print(json::PREDICT, &predicted)?;
        return Ok(0);
    }
    let mut out = text::stdout();
    show::print(&mut out, &predicted, runs.program())?;
    if let Some(output) = &arguments.output {
        writeln!(out, "next: kizami report {}", as_typed(output))?;
    }
    Ok(0)
}

/// The numbers of ranks that are foretold: those asked for, or with a machine those of the runs.
fn asked_for(arguments: &PredictArguments, traces: &[Trace]) -> Result<Vec<u32>, UsageError> {
    let counts = match &arguments.ranks {
        Some(RankCounts(ranks)) => ranks.clone(),
        None if arguments.machine.is_some() || arguments.platform.is_some() || arguments.cpu.is_some() => {
            traces.iter().map(|trace| trace.run().ranks).collect()
        }
        None => {
            return Err(UsageError(
                "say what to foretell: --ranks 512 for more ranks, --machine there.kzm for another machine, or --check"
                    .to_owned(),
            ));
        }
    };
    if arguments.output.is_some() && counts.len() != 1 {
        return Err(UsageError("-o needs one number of ranks; say which with --ranks".to_owned()));
    }
    Ok(counts)
}

/// What is known about the problem.
fn foreseen(arguments: &PredictArguments, traces: &[Trace]) -> Result<Foreseen> {
    let mut known = Foreseen { seed: arguments.seed, ..Foreseen::default() };
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
    if let Some(path) = &arguments.counts {
        known.counts = counts(path)?;
    }
    Ok(known)
}

/// Reads a table of counted work: place, ranks, count.
fn counts(path: &Path) -> Result<FxHashMap<(String, u32), Vec<f64>>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut counts: FxHashMap<(String, u32), Vec<f64>> = FxHashMap::default();
    for (number, line) in text.lines().enumerate().skip(1) {
        let mut cells = line.rsplitn(3, ',');
        let (count, ranks, place) = (cells.next(), cells.next(), cells.next());
        let row =
            || Some((place?.trim().to_owned(), ranks?.trim().parse().ok()?, count?.trim().parse().ok()?));
        let Some((place, ranks, count)) = row() else {
            let line = number + 1;
            anyhow::bail!("{}:{line} is not a place, a number of ranks and a count", path.display());
        };
        counts.entry((place, ranks)).or_default().push(count);
    }
    Ok(counts)
}

/// Writes the run as a trace whose times are those of the machine.
fn write_trace(output: &Path, generated: &Path, traces: &[Trace], ranks: u32, place: &Where) -> Result<()> {
    let foretold;
    let (trace, clocks_unaligned) = match traces.iter().find(|trace| trace.run().ranks == ranks) {
        Some(recorded) => (recorded, false),
        None => {
            foretold = Trace::open(generated)?;
            (&foretold, true)
        }
    };
    let words = vec!["predicted".to_owned(), format!("--ranks {ranks}")];
    let request = Request { output: Some(output), threads: place.threads, words, clocks_unaligned };
    let setting = |graph: &Graph, fit: &Fit| place.setting(graph, fit);
    retime(trace, request, setting, &|_| {})?;
    Ok(())
}

/// The plain sum, for comparison.
fn sums(traces: &[&Trace], counts: &[u32], place: &Where) -> Result<u8> {
    let costs = match &place.costs {
        Some(costs) => costs.clone(),
        None => Arc::new(costs_of_runs(traces, place.threads)?),
    };
    let mut out = text::stdout();
    for ranks in counts {
        let Some(trace) = traces.iter().find(|trace| trace.run().ranks == *ranks) else {
            return Err(UsageError(format!(
                "--method sum foretells recorded numbers of ranks only, and no run has {ranks}"
            ))
            .into());
        };
        let graph = build(trace, &scratch_folder(trace), place.threads, &|_| {})?;
        let seconds = sum_s(&graph, &costs, place.computation);
        writeln!(out, "{ranks} ranks: {} by the plain sum", show::seconds(seconds))?;
    }
    Ok(0)
}
