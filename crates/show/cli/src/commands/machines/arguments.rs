//! Arguments of `kizami machines`.

use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami machines machines/*.kzm
  kizami machines here.kzm there.kzm --operation MPI_Allreduce --json

Compares small and large calls at the largest number of ranks measured on all machines. The book says
how to contribute a machine.";

/// List measured machines and compare the cost of MPI calls on them.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct MachinesArguments {
    /// Machines measured by `kizami bench`
    #[arg(value_name = "NAME.kzm", required = true)]
    pub machines: Vec<PathBuf>,

    /// Only this operation, such as MPI_Allreduce
    #[arg(long, value_name = "OPERATION")]
    pub operation: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
