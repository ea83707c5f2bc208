//! What can be asked of `kizami reduce`.

use crate::keep::{ImportanceArguments, Keep};
use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami reduce run.kz --keep 0.1% -o small.kz
  kizami reduce run.kz --keep 10K/s -o small.kz
  kizami reduce run.kz --keep 0.1% --importance paper:h2 -o paper.kz

The result is a trace with rows for some calls. Rare and slow calls have theirs; each of the others
stands for as many as its weight says. Counts, times and bytes stay exact, by place, function, size,
duration and slice of time; so do messages between ranks and the order of all calls. Quantiles are
within 1 %. The same seed keeps the same messages on both sides and the same collectives on all ranks.";

/// Keep a small part of a trace: exact sums, some rows, and the order of all calls.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReduceArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// How much: a share of what full records take, such as 0.1%, or bytes a second of each thread, such as 10K/s
    #[arg(long, value_name = "HOW-MUCH", env = "KIZAMI_KEEP")]
    pub keep: Keep,

    /// Directory to make for the result; it must not exist
    #[arg(short, long, value_name = "SMALL.kz", env = "KIZAMI_REDUCE_OUTPUT")]
    pub output: PathBuf,

    /// What chance is made from: the same seed keeps the same rows
    #[arg(long, value_name = "NUMBER", default_value_t = 1, env = "KIZAMI_SEED")]
    pub seed: u64,

    #[command(flatten)]
    pub importance: ImportanceArguments,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
