//! What can be asked of `kizami predict`.

use super::points::{Parameter, RankCounts, parse_parameter, parse_ranks};
use crate::memory::MemoryArguments;
use crate::show::quantity::parse_size;
use clap::Args;
use clap::ValueEnum;
use clap::builder::FalseyValueParser;
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

With one run, its own number of ranks is foretold on another machine. With runs
of several sizes, other numbers of ranks are: calls from what the program does
in all of them, computation from how it grew or shrank, waits by a replay. The
interval holds the truth in nine of ten cases; it is as wide as the same method
was wrong when it had to foretell the largest run. Without --machine, costs are
those of the runs.";

/// Tell how long a program would take with more ranks, or on another machine.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct PredictArguments {
    /// Runs of one program, each with another number of ranks
    #[arg(value_name = "RUN.kz", required = true)]
    pub traces: Vec<PathBuf>,

    /// Numbers of ranks: 512, or 64..10000 for every doubling, or several with commas between
    #[arg(long, value_name = "RANKS", value_parser = parse_ranks, env = "KIZAMI_PREDICT_RANKS")]
    pub ranks: Option<RankCounts>,

    /// What calls cost there, as `kizami bench` has measured it
    #[arg(long, value_name = "NAME.kzm", env = "KIZAMI_PREDICT_MACHINE")]
    pub machine: Option<PathBuf>,

    /// The network there, by a short form or SimGrid's XML (see `kizami platform --help`)
    #[arg(long, value_name = "PLATFORM", env = "KIZAMI_PREDICT_PLATFORM", conflicts_with = "machine")]
    pub platform: Option<String>,

    /// Who says what messages get of that network's links
    #[arg(long, value_enum, default_value_t = LinksBy::Auto, env = "KIZAMI_PREDICT_NETWORK")]
    pub network: LinksBy,

    /// Speed of the processors there: at 2x, computation takes half the time
    #[arg(long, value_name = "TIMES", env = "KIZAMI_PREDICT_CPU")]
    pub cpu: Option<Times>,

    /// A parameter of the problem: n=1000 for what is foretold, n=1000@16 for a run
    #[arg(long, value_name = "NAME=VALUE[@RANKS]", value_parser = parse_parameter, env = "KIZAMI_PREDICT_PARAM")]
    pub param: Vec<Parameter>,

    /// Counted work (CSV: place, ranks, count) before calls at a line, in place of what the
    /// runs have by `kizami_count`
    #[arg(long, value_name = "COUNTS.csv", env = "KIZAMI_PREDICT_COUNTS")]
    pub counts: Option<PathBuf>,

    /// What all ranks together touch again and again, such as 2G: where counts are known,
    /// rates come from runs whose part of it fits into the same cache
    #[arg(long, value_name = "SIZE", value_parser = parse_size, env = "KIZAMI_PREDICT_WORKING_SET")]
    pub working_set: Option<u64>,

    /// How: by a replay, or by the plain sum of computation and measured collectives
    #[arg(long, value_enum, default_value = "replay", env = "KIZAMI_PREDICT_METHOD")]
    pub method: Method,

    /// Hide the largest run, foretell it from the others, and tell the error
    #[arg(long, env = "KIZAMI_PREDICT_CHECK", value_parser = FalseyValueParser::new())]
    #[arg(conflicts_with_all = ["ranks", "plot", "output", "method"])]
    pub check: bool,

    /// Directory to make for the foretold run as a trace; one number of ranks only
    #[arg(short, long, value_name = "OUT.kz", env = "KIZAMI_PREDICT_OUTPUT")]
    pub output: Option<PathBuf>,

    /// File to make with time, efficiency and shares over the ranks: a picture (.svg) or a
    /// page that loads nothing (.html)
    #[arg(long, value_name = "FILE", env = "KIZAMI_PREDICT_PLOT")]
    pub plot: Option<PathBuf>,

    /// For what is drawn: noise, and samples of times
    #[arg(long, value_name = "N", default_value = "1", env = "KIZAMI_PREDICT_SEED")]
    pub seed: u64,

    /// Threads to walk with; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<NonZero<usize>>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

/// Who says what messages get of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LinksBy {
    /// Phases where they agree with SimGrid, else SimGrid if it is installed.
    Auto,
    /// A replay that gives messages fair shares, phase by phase.
    Phases,
    /// SimGrid, by `kizami simgrid`.
    Simgrid,
}

/// How to foretell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Ranks wait for each other as in the run.
    Replay,
    /// Local time and measured collectives, added up.
    Sum,
}
