//! What can be asked of `kizami info`.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami info run.kz
  kizami info run.kz --json | jq .totals

Answers from the trace's run.json alone, whatever the size of the trace; of a reduced trace it also
reads the quantiles.";

/// Tell what a trace holds: ranks, calls, time, size and health.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct InfoArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Show all functions, not only those that took the most time
    #[arg(short, long, env = "KIZAMI_INFO_ALL", value_parser = FalseyValueParser::new())]
    pub all: bool,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
