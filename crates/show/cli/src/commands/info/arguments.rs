//! Arguments of `kizami info`.

use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami info run.kz
  kizami info run.kz --json | jq .totals

Reads only the trace's run.json (and the quantiles of a reduced trace), whatever the trace's size.";

/// Summarise a trace: ranks, calls, time, size and health.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct InfoArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Show all functions, not only those that take the most time
    #[arg(short, long)]
    pub all: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
