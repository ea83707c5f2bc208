//! Arguments of `kizami clocks`.

use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami clocks run.kz
  kizami clocks run.kz --json | jq .hosts

An offset is the root host's clock minus the host's own. +- is a guaranteed bound, not an estimate.
A violation is a message whose receive ends before its send starts.";

/// Show how the clocks of the hosts were synchronised, and how accurately.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ClocksArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
