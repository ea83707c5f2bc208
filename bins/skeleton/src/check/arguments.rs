//! What can be asked of `kizami skeleton check`.

use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami record -o run.kz mpirun -n 4 ./cg
  kizami skeleton check cg.skel run.kz
  kizami skeleton check cg.skel run.kz --json | jq .differences

Compares order, function, peers, tags, bytes, communicator and root of every call that involves
other ranks. Unsuccessful tests and probes are not compared, nor is the sender that a wildcard
receive matched. The exit code is 1 if any rank differs.

`check` executes the skeleton's code in the sandbox described in `kizami skeleton run --help`.";

/// Compare a skeleton with a recorded run, call by call
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Skeleton to check
    #[arg(value_name = "X.skel")]
    pub skeleton: PathBuf,

    /// Recorded run of the program that the skeleton was created from
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Also compare local calls, which a skeleton may omit
    #[arg(long)]
    pub every_call: bool,

    /// Run all ranks at once and deliver their messages even if received data does not affect communication; receives
    /// then record the size of the message instead of the buffer
    #[arg(long)]
    pub together: bool,

    /// Memory limit for all ranks together; a run that needs more fails [default: half of free memory]
    #[arg(long, value_name = "SIZE", value_parser = kizami_memory::parse_size)]
    pub memory: Option<u64>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Arguments for the program [default: those of the recorded run]
    #[arg(last = true, value_name = "ARGS")]
    pub program_arguments: Vec<String>,
}
