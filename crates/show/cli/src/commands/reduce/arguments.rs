//! Arguments of `kizami reduce`.

use crate::keep::{ImportanceArguments, Keep};
use clap::Args;
use kizami_reduced::ALL_BELOW;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami reduce run.kz --keep 0.1% -o small.kz
  kizami reduce run.kz --keep 10K/s -o small.kz
  kizami reduce run.kz --keep 0.1% --importance paper:h2 -o paper.kz

The result has rows for some calls. Rare and slow calls keep their row; each other row stands for as
many calls as its weight. Short runs keep every call. Exact: counts, times and bytes by call site, function, size, duration and
time slice; messages between ranks; the order of all calls. Quantiles are within 1 %. A seed keeps the
same messages on both sides and the same collectives on all ranks.";

/// Shrink a trace: exact sums, a sample of the calls, and the order of all calls.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReduceArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// How much to keep: a fraction of the size, such as 0.1%, or bytes per second and thread, such as 10K/s
    #[arg(long, value_name = "HOW-MUCH")]
    pub keep: Keep,

    /// Directory to create for the result; must not exist
    #[arg(short, long, value_name = "SMALL.kz")]
    pub output: PathBuf,

    /// Keep every call if all threads have fewer than this; 0 reduces any trace
    #[arg(long, value_name = "CALLS", default_value_t = ALL_BELOW)]
    pub keep_all_below: u64,

    /// Seed of the sampling
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    #[command(flatten)]
    pub importance: ImportanceArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
