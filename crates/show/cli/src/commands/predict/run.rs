//! Foretelling runs.

use super::arguments::{LinksBy, Method, PredictArguments};
use super::inputs::inputs;
use super::plot::{self, Form};
use super::points::RankCounts;
use super::predicted::{Predicted, Recorded};
use super::{check, show, sums};
use crate::commands::platform;
use crate::cores::all_cores;
use crate::external;
use crate::input::{must_have_all_rows, open_to_follow};
use crate::output::{must_be_new, write_new};
use crate::show::json;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::text;
use anyhow::{Context, Result};
use clap::ValueEnum;
use kizami_graph::Graph;
use kizami_machine::Machine;
use kizami_network::Fit;
use kizami_network::collectives::Library;
use kizami_phrases::program;
use kizami_predict::point::{Point, Where, of_recorded};
use kizami_predict::{BySimGrid, OnLinks, Runs, simulated_beside};
use kizami_replay::{Request, Setting, retime};
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use kizami_trace::provenance::PREDICTED;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Foretells, and says what came of it.
pub fn run(arguments: &PredictArguments) -> Result<u8> {
    for (file, option) in [(&arguments.output, "-o"), (&arguments.plot, "--plot")] {
        file.as_deref().map(|file| must_be_new(file, option)).transpose()?;
    }
    let form = arguments.plot.as_deref().map(Form::of).transpose()?;
    let traces = opened(arguments)?;
    let machine = arguments.machine.as_deref().map(Machine::open).transpose()?;
    let threads = arguments.threads.map_or_else(all_cores, |threads| threads.get());
    let place = Where {
        costs: machine.as_ref().map(|machine| Arc::new(machine.costs())),
        network: network(arguments, &traces)?,
        computation: arguments.cpu.map_or(1.0, |times| 1.0 / times.0),
        even_unknown: false,
        threads,
    };
    let machine = machine.map(|machine| machine.about.name);
    let counts = asked_for(arguments, &traces)?;
    let all: Vec<&Trace> = traces.iter().collect();
    if arguments.method == Method::Sum {
        return sums::run(&all, &counts, &place, machine, arguments.json);
    }
    let known = inputs(arguments, &traces, &counts)?;
    if arguments.check {
        return check::run(all, place, known, arguments.json);
    }
    let scratch = tempfile::tempdir().context("cannot create a directory for the predicted run")?;
    let mut runs = Runs::new(all, place, known)?;
    let check = match (traces.len() > 2).then(|| runs.check(&scratch.path().join("check.kz"))).transpose() {
        // Without the largest the others may be too few to tell what the program does; with it they may not.
        Err(error) if error.is_about_structure() => None,
        checked => checked?,
    };
    let points = predict_points(arguments, &traces, &mut runs, &counts, scratch.path())?;
    let from = traces.iter().map(|trace| recorded(trace, threads)).collect::<Result<_>>()?;
    let name = |trace: &Trace| program::name(&trace.run().executable, &trace.run().command);
    let program = traces.last().map(name).unwrap_or_default();
    let left_out = runs.left_out().to_vec();
    let predicted = Predicted { program, machine, from, left_out, check, points };
    let said = show::said(&predicted, runs.program());
    if let (Some(file), Some(form)) = (&arguments.plot, form) {
        write_new(file, plot::draw(form, &predicted, &said).as_bytes())?;
    }
    if arguments.json {
        json::print(json::PREDICT, &predicted)?;
        return Ok(0);
    }
    let mut out = text::stdout();
    show::print(&mut out, &predicted, &said)?;
    if let Some(output) = &arguments.output {
        writeln!(out, "next: kizami report {}", as_typed(output))?;
    }
    Ok(0)
}

/// Who says what messages get of the links of a platform, if one is described.
fn network(arguments: &PredictArguments, traces: &[Trace]) -> Result<Option<OnLinks>> {
    let Some(described) = &arguments.platform else { return Ok(None) };
    let run = traces.last().map(Trace::run);
    let library = run.map(|run| Library::of(&run.mpi_library, &run.command.join(" ")).in_simgrid());
    let simgrid = || {
        let program = external::path_of(&external::SIMGRID)?;
        Some(BySimGrid {
            program,
            platform: described.clone(),
            collectives: library.map(str::to_owned),
            most_s: None,
        })
    };
    let phases = || Ok::<_, anyhow::Error>(Arc::new(platform::open(described)?));
    Ok(Some(match (arguments.network, simgrid()) {
        (LinksBy::Phases, _) => OnLinks::Phases(phases()?),
        (LinksBy::Auto, simgrid) => OnLinks::Either(phases()?, simgrid),
        (LinksBy::Simgrid, Some(simgrid)) => OnLinks::SimGrid(simgrid),
        (LinksBy::Simgrid, None) => return Err(external::missing(&external::SIMGRID).into()),
    }))
}

/// All runs, by their ranks.
fn opened(arguments: &PredictArguments) -> Result<Vec<Trace>> {
    let threads = arguments.threads.map_or_else(all_cores, |threads| threads.get());
    let mut traces = Vec::new();
    for path in &arguments.traces {
        let trace = open_to_follow(path, Some(threads), arguments.memory)?.trace;
        must_have_all_rows(&trace)?;
        traces.push(trace);
    }
    traces.sort_by_key(|trace| trace.run().ranks);
    if let Some(pair) = traces.windows(2).find(|pair| pair[0].run().ranks == pair[1].run().ranks) {
        let (one, other) = (as_typed(pair[0].path()), as_typed(pair[1].path()));
        return Err(UsageError(format!(
            "{one} and {other} have the same number of ranks; give only one of them"
        ))
        .into());
    }
    Ok(traces)
}

/// The numbers of ranks that are foretold: those asked for, or with a machine those of the runs.
fn asked_for(arguments: &PredictArguments, traces: &[Trace]) -> Result<Vec<u32>, UsageError> {
    let counts = match &arguments.ranks {
        Some(RankCounts(ranks)) => ranks.clone(),
        None if arguments.check
            || arguments.machine.is_some()
            || arguments.platform.is_some()
            || arguments.cpu.is_some() =>
        {
            traces.iter().map(|trace| trace.run().ranks).collect()
        }
        None => {
            return Err(UsageError(
                "nothing to predict: give --ranks 512 for more ranks, --machine there.kzm for another machine, or --check"
                    .to_owned(),
            ));
        }
    };
    if arguments.output.is_some() && counts.len() != 1 {
        return Err(UsageError("-o needs a single number of ranks; give it with --ranks".to_owned()));
    }
    if arguments.method == Method::Sum && (arguments.output.is_some() || arguments.plot.is_some()) {
        return Err(UsageError(
            "--method sum computes only one time per run; leave out -o and --plot".to_owned(),
        ));
    }
    Ok(counts)
}

/// All points; the run that `-o` asks for is written.
fn predict_points(
    arguments: &PredictArguments,
    traces: &[Trace],
    runs: &mut Runs<'_>,
    counts: &[u32],
    scratch: &Path,
) -> Result<Vec<Point>> {
    let bar = Bar::new("predicting");
    let mut points = Vec::new();
    for ranks in counts {
        let folder = scratch.join(format!("{ranks}.kz"));
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
            let request = Request {
                output: Some(output),
                threads: runs.place_of(*ranks)?.threads,
                made_from: Some(named(traces)),
                words: words(arguments, *ranks),
                ..Request::default()
            };
            write_trace(request, &folder, traces, *ranks, &runs.place_of(*ranks)?)?;
        } else if folder.exists() {
            // A directory that cannot be removed now goes with the others.
            let _ = std::fs::remove_dir_all(&folder);
            let _ = std::fs::remove_dir_all(simulated_beside(&folder));
        }
    }
    Ok(points)
}

/// The runs it is made from, as they were typed.
fn named(traces: &[Trace]) -> String {
    let names: Vec<String> = traces.iter().map(|trace| as_typed(trace.path())).collect();
    names.join(", ")
}

/// What a foretold trace says about how it came to be.
fn words(arguments: &PredictArguments, ranks: u32) -> Vec<String> {
    let mut words = vec![PREDICTED.to_owned(), format!("--ranks {ranks}")];
    words.extend(arguments.machine.iter().map(|path| format!("--machine {}", as_typed(path))));
    words.extend(arguments.platform.iter().map(|platform| format!("--platform {platform}")));
    if arguments.platform.is_some() && arguments.network != LinksBy::Auto {
        let network = arguments.network.to_possible_value();
        words.extend(network.map(|network| format!("--network {}", network.get_name())));
    }
    words.extend(arguments.cpu.iter().map(|times| format!("--cpu {times}")));
    words.extend(arguments.param.iter().map(|parameter| format!("--param {parameter}")));
    words.extend(arguments.counts.iter().map(|path| format!("--counts {}", as_typed(path))));
    words.extend(arguments.working_set.iter().map(|bytes| format!("--working-set {bytes}")));
    words
}

/// Writes the run as a trace whose times are those of the machine.
fn write_trace(
    request: Request<'_>,
    generated: &Path,
    traces: &[Trace],
    ranks: u32,
    place: &Where,
) -> Result<()> {
    let predicted_trace;
    let simulated = simulated_beside(generated);
    let is_simulated = simulated.exists();
    let recorded = traces.iter().find(|trace| trace.run().ranks == ranks);
    let (trace, clocks_unaligned) = match recorded.filter(|_| !is_simulated) {
        Some(recorded) => (recorded, false),
        None => {
            predicted_trace = Trace::open(if is_simulated { &simulated } else { generated })?;
            (&predicted_trace, !is_simulated)
        }
    };
    let setting = |graph: &Graph, fit: &Fit| match (is_simulated, &place.network) {
        // Its times are those of the place already.
        (true, _) => Ok(Setting::default()),
        (false, Some(OnLinks::Either(platform, _))) => {
            let network = Some(OnLinks::Phases(platform.clone()));
            Where { network, ..place.clone() }.setting(graph, fit)
        }
        _ => place.setting(graph, fit),
    };
    retime(trace, Request { clocks_unaligned, ..request }, setting, &|_| {})?;
    Ok(())
}

/// A run as it was recorded.
fn recorded(trace: &Trace, threads: usize) -> Result<Recorded> {
    let as_it_was = Where { costs: None, network: None, computation: 1.0, even_unknown: false, threads };
    Ok(Recorded {
        trace: as_typed(trace.path()),
        ranks: trace.run().ranks,
        time_s: kizami_predict::recorded_s(trace, threads)?,
        efficiency: of_recorded(trace, &as_it_was, &|_| {})?.efficiency,
    })
}
