//! What can be asked of `kizami machines`.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami machines machines/*.kzm
  kizami machines here.kzm there.kzm --operation MPI_Allreduce --json

The table puts small and large calls of all machines side by side, at the
largest number of ranks that all of them have. How to contribute one is in the
book.";

/// List machines that were measured, and compare what calls cost on them.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct MachinesArguments {
    /// Machines, as `kizami bench` has made them
    #[arg(value_name = "NAME.kzm", required = true)]
    pub machines: Vec<PathBuf>,

    /// Only this operation, such as MPI_Allreduce
    #[arg(long, value_name = "OPERATION", env = "KIZAMI_MACHINES_OPERATION")]
    pub operation: Option<String>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
