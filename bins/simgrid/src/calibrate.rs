//! `kizami simgrid calibrate`: a platform on which messages take what they took on a machine that was measured.
//!
//! Times of ping-pongs by size become the latency, the bandwidth and the factors of SimGrid's MPI, times inside calls its
//! overheads, and who waited for whom its limits. Every third size is held out; how far the platform is from those, and from
//! the others, is told for each. It promises that a ping-pong simulated on the platform takes what is told; it does not know
//! how messages that share a link slow each other down, which SimGrid works out.

mod calibration_report;
mod model;
mod pieces;
mod samples;
mod show;
mod xml;

use anyhow::{Context, Result, bail};
use calibration_report::CalibrationReport;
use kizami_machine::Machine;
use kizami_terminal::failure::UsageError;
use kizami_terminal::json;
use model::Model;
use samples::{Distance, FEWEST_SIZES, Samples};
use std::io::Write;
use std::path::{Path, PathBuf};
use xml::Hosts;

const HELP: &str = "\
Examples:
  kizami simgrid calibrate here.kzm -o here.xml
  kizami simgrid calibrate nodes.kzm node.kzm -o ours.xml --nodes 256

Kizami fits latencies, bandwidths, factors by message size, overheads and eager
limits to the measurements of `kizami bench` and writes them as settings of the
platform file. With several machines, one may have the messages between nodes and
another those within a node. Every third size is held out of the fit, and its error
is reported separately.";

/// The fewest nodes a platform has, so that there is something between them.
const FEWEST_NODES: u32 = 2;

/// The form of the JSON.
const SCHEMA: &str = "kizami-simgrid-calibrate/1";

/// Fit a platform to a machine measured by `kizami bench`
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Measured machines
    #[arg(value_name = "NAME.kzm", required = true)]
    machines: Vec<PathBuf>,
    /// Platform file to write; must not exist
    #[arg(short, long, value_name = "PLATFORM.xml")]
    output: PathBuf,
    /// Number of nodes [default: as many as were measured, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 22))]
    nodes: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Fits, writes and tells; gives the exit code.
pub fn run(arguments: &Arguments) -> Result<u8> {
    if arguments.output.exists() {
        let named = arguments.output.display();
        return Err(
            UsageError(format!("{named} already exists; remove it, or choose another name with -o")).into()
        );
    }
    let (machine, machines) = open(&arguments.machines)?;
    let enough = |samples: &Samples| samples.ping_pongs.len() >= FEWEST_SIZES;
    let found =
        [Distance::BetweenNodes, Distance::WithinNode].map(|distance| Samples::of(&machine, distance));
    let measured: Vec<&Samples> = found.iter().flatten().filter(|samples| enough(samples)).collect();
    let Some(first) = measured.first() else { bail!(too_few(&found, &machines)) };
    let model = Model::fit(first, measured.get(1).copied());
    let hosts = hosts(&machine, arguments.nodes);
    let mut calibration_report = CalibrationReport::of(&model, &hosts, &measured);
    calibration_report.machines = machines;
    calibration_report.mpi = machine.about.mpi;
    write(&arguments.output, &xml::file(&model, &hosts, &calibration_report.named(&calibration_report.mpi)))?;
    calibration_report.written = arguments.output.display().to_string();
    if arguments.json {
        json::print(SCHEMA, &calibration_report)?;
    } else {
        show::show(&calibration_report)?;
    }
    Ok(0)
}

/// All machines as one, and their names.
fn open(paths: &[PathBuf]) -> Result<(Machine, Vec<String>)> {
    let mut all: Option<Machine> = None;
    let mut names = Vec::new();
    for path in paths {
        let machine = Machine::open(path)?;
        names.push(machine.about.name.clone());
        match &mut all {
            None => all = Some(machine),
            Some(all) => all.add(machine),
        }
    }
    Ok((all.context("no machine given")?, names))
}

/// Why there is nothing to fit to.
fn too_few(found: &[Option<Samples>], machines: &[String]) -> String {
    let named = machines.join(", ");
    let sizes = found.iter().flatten().map(|samples| samples.ping_pongs.len()).max();
    let next = "measure it with `kizami bench`, or import osu_latency of the OSU micro-benchmarks or PingPong of the \
                Intel MPI Benchmarks";
    match sizes {
        None => format!("{named} has no measurements of single messages; {next}"),
        Some(sizes) => format!(
            "{named} has ping-pongs of {sizes} sizes, too few to fit and to hold out sizes: {FEWEST_SIZES} are needed; \
             {next}"
        ),
    }
}

/// As many nodes and cores as something was measured on.
fn hosts(machine: &Machine, nodes: Option<u32>) -> Hosts {
    let measured = machine.collectives.iter().filter_map(|row| row.nodes).max().unwrap_or(FEWEST_NODES);
    let cores = machine.collectives.iter().filter_map(|row| row.ranks_per_node).max().unwrap_or(1);
    let nodes = nodes.unwrap_or(measured.max(FEWEST_NODES));
    Hosts { nodes, cores: cores.max(1), first: machine.about.host.clone() }
}

/// Writes a new file; nothing is left of it if that fails.
fn write(path: &Path, text: &str) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let mut file = std::fs::File::create_new(path).with_context(cannot)?;
    file.write_all(text.as_bytes()).with_context(|| {
        // What cannot be removed is named by what could not be done.
        let _ = std::fs::remove_file(path);
        cannot()
    })
}
