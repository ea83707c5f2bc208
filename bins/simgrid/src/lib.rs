//! `kizami simgrid`: the calls of a trace, played on a platform by SimGrid.
//!
//! Ranks become actors that make the trace's calls through SimGrid's own MPI, so messages share links and collectives are
//! those of a library; what comes out is a trace of the same rows at simulated times.

mod actor;
mod calibrate;
mod command_line;
mod estimate;
mod fold;
mod hosts;
mod library;
mod links;
mod outcome;
mod platform;
mod script;
mod simulate;
mod simulation_report;
mod supervise;
mod traffic;
mod translate;

use anyhow::{Context, Result, bail};
use command_line::Request;
use fold::Fold;
use kizami_network::collectives::Library;
use kizami_rank_classes::RankClasses;
use kizami_terminal::{failure, say};
use kizami_trace::LinkLoad;
use kizami_trace::definitions::{Definitions, RankInfo};
use kizami_trace::rewrite::{Gaps, Manner, Rewriting};
use kizami_trace::run::{Reduced, ReplayedFrom};
use kizami_trace::schema::Record;
use kizami_trace::write::summary;
use kizami_trace::{RunInfo, SourceLine, Trace};
use outcome::Outcome;
use platform::PlatformFile;
use simulate::Setting;
use simulation_report::{Rounds, SimulationReport};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  kizami simgrid run.kz --platform cluster.xml -o there.kz
  kizami simgrid run.kz --platform fat-tree:64x16,2:1
  kizami simgrid run.kz --platform cluster.xml --hostfile hosts.txt --collectives ompi
  kizami simgrid calibrate here.kzm -o here.xml";

/// What a simulation needs.
#[derive(clap::Args)]
struct Arguments {
    /// Trace whose MPI calls to simulate
    trace: PathBuf,
    /// Target machine: a SimGrid platform file (XML), or a short form such as torus:8x8x8
    #[arg(long, value_name = "PLATFORM")]
    platform: String,
    /// Write the simulated run as a trace
    #[arg(short, long, value_name = "TRACE")]
    output: Option<PathBuf>,
    /// File with the hosts of the ranks, one NAME or NAME:RANKS per line
    #[arg(long, value_name = "FILE")]
    hostfile: Option<PathBuf>,
    /// MPI library whose collective algorithms to simulate [default: the recorded library]
    #[arg(long, value_name = "LIBRARY", value_parser = ["default", "ompi", "mpich", "mvapich2", "impi"])]
    collectives: Option<String>,
    /// CPU speed relative to the recording: 2x halves computation time
    #[arg(long, value_name = "TIMES", value_parser = parse_times, default_value = "1x")]
    cpu: f64,
    /// SimGrid setting, such as network/bandwidth-factor:0.9; may be repeated
    #[arg(long = "cfg", value_name = "NAME:VALUE")]
    configuration: Vec<String>,
    /// Simulate only the first iterations of a loop that all ranks execute; the others are assumed to be alike
    #[arg(long)]
    fold: bool,
    /// Refuse to start if the simulation would take longer than SECONDS
    #[arg(long, value_name = "SECONDS", hide = true)]
    within: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A factor, written with or without its sign.
fn parse_times(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix(['x', 'X', '×']).unwrap_or(text).trim().parse().ok();
    number
        .filter(|times: &f64| times.is_finite() && *times > 0.0)
        .ok_or_else(|| "expected a factor such as 2x".to_owned())
}

/// Runs the command; gives its exit code.
pub fn command() -> u8 {
    let (ended, mark) = match command_line::parse() {
        Request::Calibrate(arguments) => (calibrate::run(&arguments), ""),
        Request::Simulate(arguments) if supervise::simulates() => (run(&arguments), supervise::OWN),
        Request::Simulate(_) => (supervise::watched(), ""),
    };
    ended.unwrap_or_else(|error| {
        say(&[format!("{mark}{}", failure::line(&failure::message(&error)))]);
        failure::exit_code(&error)
    })
}

/// A folder that is taken away again.
struct Fleeting(PathBuf);

impl Drop for Fleeting {
    fn drop(&mut self) {
        // It may have been moved to where it is kept.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The trace with a row for every call: of a reduced one, what is reconstructed from it, and where.
fn open(arguments: &Arguments) -> Result<(Trace, Vec<Fleeting>)> {
    let trace = Trace::open(&arguments.trace)?;
    let named = arguments.trace.display();
    if trace.run().reduced.as_ref().is_some_and(Reduced::is_sampled) {
        bail!("{named} has only sampled calls, without those in between; record with --keep alone");
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let made_in = RefCell::new(Vec::new());
    let goes_away = |folder: &Path| made_in.borrow_mut().push(Fleeting(folder.to_path_buf()));
    let trace = kizami_reconstruct::reconstruct(trace, threads, &|_| {}, &goes_away)?;
    Ok((trace, made_in.into_inner()))
}

/// Simulates, and tells; gives the exit code.
fn run(arguments: &Arguments) -> Result<u8> {
    let platform = PlatformFile::of(&arguments.platform)?;
    let (trace, _made_in) = open(arguments)?;
    let definitions = trace.definitions()?;
    if arguments.output.is_some() && RankClasses::of(&definitions).is_some() {
        bail!(
            "{} is stored by rank class, but the ranks of a class differ once simulated; create it with \
             `kizami skeleton run --kinds no`, or omit -o",
            arguments.trace.display()
        );
    }
    let mut play = translate::translate(&trace, &definitions)?;
    let fold = if arguments.fold && !supervise::plays_all() { Fold::find(&play) } else { None };
    fold.iter().for_each(|fold| fold.apply(&mut play));
    estimate::warn(&play, arguments.within)?;
    let recorded = Library::of(&trace.run().mpi_library, &trace.run().command.join(" "));
    let collectives = arguments.collectives.as_deref().unwrap_or(recorded.in_simgrid());
    let mut configuration = vec![format!("smpi/coll-selector:{collectives}")];
    configuration.extend(arguments.configuration.iter().cloned());
    let setting = Setting {
        platform: platform.path(),
        recorded_hosts: recorded_hosts(&definitions),
        host_list: arguments.hostfile.as_deref(),
        recorded_s: trace.run().span_ns as f64 * 1e-9,
        computation: 1.0 / arguments.cpu,
        configuration: &configuration,
    };
    let before = std::time::Instant::now();
    let stage = simulate::simulate(play, &setting)?;
    let seconds = before.elapsed().as_secs_f64();
    // SAFETY: the simulation is over; nobody else reads or writes any more.
    let times = unsafe { &mut *stage.times.get() };
    let mut loads = stage.links.borrow().rows(stage.begin_s.get(), &stage.play.calls);
    let mut watched_ns = times.iter().map(|[_, end]| *end).max().unwrap_or(0);
    if let Some(fold) = &fold {
        watched_ns = fold.cut_ns(&stage.play, times);
        // What links carry is told until rounds are left out.
        loads.retain(|load| load.start.0 + load.length.0 <= watched_ns);
        if !fold.fill(&stage.play, times) {
            return Ok(supervise::PLAY_ALL);
        }
    }
    let outcome = Outcome { times, scripts: &stage.play.scripts };
    let place = |callsite| {
        let place = SourceLine::of(&definitions, Some(callsite));
        (!place.is_unknown()).then_some(place)
    };
    let simulation_report = SimulationReport {
        recorded_ns: trace.run().span_ns,
        simulated_ns: outcome.end_ns(),
        collectives: collectives.to_owned(),
        calls: stage.calls.get(),
        seconds,
        kept: stage.play.kept.clone(),
        rounds: fold.map(|fold| Rounds { all: fold.rounds, played: fold.played() }),
        links: links::uses(&loads, watched_ns, place),
    };
    if let Some(output) = &arguments.output {
        write(&trace, arguments, &outcome, &loads, &simulation_report, output)?;
    }
    simulation_report.print(arguments)?;
    Ok(0)
}

/// Names of the hosts that ranks ran on.
fn recorded_hosts(definitions: &Definitions) -> Vec<Option<String>> {
    let host = |rank: &RankInfo| Some(definitions.hosts.get(rank.host? as usize)?.name.clone());
    definitions.ranks.iter().map(host).collect()
}

fn write(
    trace: &Trace,
    arguments: &Arguments,
    outcome: &Outcome<'_>,
    loads: &[LinkLoad],
    simulation_report: &SimulationReport,
    output: &std::path::Path,
) -> Result<()> {
    let rewriting = Rewriting::begin(trace, output).context("cannot create the simulated trace")?;
    let links = LinkLoad::write(loads, rewriting.folder())?;
    let links = summary::entry(&links, rewriting.folder());
    let describe = |run: &mut RunInfo| {
        run.files.push(links);
        run.replayed = Some(ReplayedFrom {
            made_from: arguments.trace.display().to_string(),
            setting: setting(arguments, simulation_report),
            recorded_ns: simulation_report.recorded_ns,
            replayed_ns: simulation_report.simulated_ns,
            followed: simulation_report.calls,
            not_followed: simulation_report.kept.values().sum(),
            ..ReplayedFrom::default()
        });
    };
    let manner = Manner { without_tracer: true, own_cores: true, gaps: Gaps::Stretched };
    rewriting.finish(outcome, manner, describe, &|_| {})?;
    Ok(())
}

/// What was different, for `run.json`.
fn setting(arguments: &Arguments, simulation_report: &SimulationReport) -> Vec<String> {
    let on = format!("simgrid on {}", arguments.platform);
    let rounds = simulation_report.rounds.as_ref();
    let rounds =
        rounds.map(|rounds| format!("with {} of {} iterations simulated", rounds.played, rounds.all));
    std::iter::once(on).chain(rounds).collect()
}
