//! What can be asked of `kizami clocks`.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami clocks run.kz
  kizami clocks run.kz --json | jq .hosts

Offsets are the clock of the root host minus the host's own. +- is a bound, not a guess: the truth
is no further away. A violation is a message whose receive ends before its send began.";

/// Tell how the clocks of a run's hosts were brought together, and how well.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ClocksArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
