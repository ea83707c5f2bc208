//! Arguments of `kizami predict`.

use super::points::{Parameter, RankCounts, parse_parameter, parse_ranks};
use crate::memory::MemoryArguments;
use crate::show::quantity::parse_size;
use clap::Args;
use clap::ValueEnum;
use kizami_whatif::Times;
use std::num::NonZero;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami predict run16.kz run32.kz run64.kz --ranks 64..10000
  kizami predict run16.kz run32.kz run64.kz --ranks 512 --machine there.kzm
  kizami predict run16.kz run32.kz run64.kz --ranks 64..4096 --plot scaling.html
  kizami predict --check run16.kz run32.kz run64.kz
  kizami predict run64.kz --machine there.kzm -o there.kz

One run is predicted at its own number of ranks on another machine. Runs of several sizes also predict
other numbers of ranks: calls follow the structure common to all runs, computation is extrapolated,
and waits come from a replay. Intervals cover 90 %; their width is the error of the same method when
the largest run is held out. Without --machine, calls cost what they cost in the runs.";

/// Headings of the help.
const TARGET: &str = "Target";
const MODEL: &str = "Model";

/// Predict run time with more ranks, or on another machine.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct PredictArguments {
    /// Runs of one program with different numbers of ranks
    #[arg(value_name = "RUN.kz", required = true)]
    pub traces: Vec<PathBuf>,

    /// Numbers of ranks to predict: 512, or 64..10000 (doubling), or several with commas
    #[arg(long, help_heading = TARGET, value_name = "RANKS", value_parser = parse_ranks)]
    pub ranks: Option<RankCounts>,

    /// Target machine, as measured by `kizami bench`
    #[arg(long, help_heading = TARGET, value_name = "NAME.kzm")]
    pub machine: Option<PathBuf>,

    /// Target network: a short form or SimGrid XML (see `kizami platform --help`)
    #[arg(long, help_heading = TARGET, value_name = "PLATFORM", conflicts_with = "machine")]
    pub platform: Option<String>,

    /// How link contention on --platform is modelled
    #[arg(long, help_heading = MODEL, value_enum, default_value_t = LinksBy::Auto)]
    pub network: LinksBy,

    /// Relative speed of the target's processors: at 2x, computation takes half the time
    #[arg(long, help_heading = TARGET, value_name = "TIMES")]
    pub cpu: Option<Times>,

    /// Problem parameter: n=1000 for the prediction, n=1000@16 for the run with 16 ranks
    #[arg(long, help_heading = MODEL, value_name = "NAME=VALUE[@RANKS]", value_parser = parse_parameter)]
    pub param: Vec<Parameter>,

    /// Work counts (CSV: place, ranks, count) per source line, replacing those recorded by `kizami_count`
    #[arg(long, help_heading = MODEL, value_name = "COUNTS.csv")]
    pub counts: Option<PathBuf>,

    /// Working set of all ranks together, such as 2G: with work counts, rates are taken from runs whose share of it
    /// fits the same cache level
    #[arg(long, help_heading = MODEL, hide_short_help = true, value_name = "SIZE", value_parser = parse_size)]
    pub working_set: Option<u64>,

    /// Prediction method
    #[arg(long, help_heading = MODEL, value_enum, default_value = "replay")]
    pub method: Method,

    /// Hold out the largest run, predict it from the others, and report the error
    #[arg(long, help_heading = MODEL)]
    #[arg(conflicts_with_all = ["ranks", "plot", "output", "method"])]
    pub check: bool,

    /// Write the predicted run as a trace; needs a single number of ranks
    #[arg(short, long, value_name = "OUT.kz")]
    pub output: Option<PathBuf>,

    /// Plot time, efficiency and shares over ranks to FILE (.svg, or a self-contained .html)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,

    /// Seed of sampled noise and times
    #[arg(long, help_heading = MODEL, hide_short_help = true, value_name = "N", default_value = "1")]
    pub seed: u64,

    /// Number of threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<NonZero<usize>>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How link contention is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LinksBy {
    /// `phases` where it agrees with SimGrid, otherwise SimGrid if installed
    Auto,
    /// Replay with fair sharing of links, phase by phase
    Phases,
    /// SimGrid, by `kizami simgrid`
    Simgrid,
}

/// How to predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Replay: ranks wait for each other as in the run
    Replay,
    /// Sum of local time and measured collectives
    Sum,
}
