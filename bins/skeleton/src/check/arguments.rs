//! What can be asked of `kizami skeleton check`.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami record -o run.kz mpirun -n 4 ./cg
  kizami skeleton check cg.skel run.kz
  kizami skeleton check cg.skel run.kz --json | jq .differences

Compares order, function, peers, tags, bytes, communicator and root of every call that concerns other
ranks. How often a program asked for what was not there yet is not compared, nor whose message a
wildcard took. The exit code is 1 if any rank differs.

Running a skeleton runs its code, restricted as `kizami skeleton run --help` says.";

/// Compare what a skeleton does with a recorded run, call by call.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The skeleton
    #[arg(value_name = "X.skel")]
    pub skeleton: PathBuf,

    /// A recorded run of the program it was made of
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Compare also calls that concern nobody else, which a skeleton may leave out
    #[arg(long, env = "KIZAMI_SKELETON_EVERY_CALL", value_parser = FalseyValueParser::new())]
    pub every_call: bool,

    /// Run all ranks at once and hand their messages over, also where nothing they receive steers them: then they know the
    /// size of what arrives, and not only that of the buffer it arrives in
    #[arg(long, env = "KIZAMI_SKELETON_TOGETHER", value_parser = FalseyValueParser::new())]
    pub together: bool,

    /// Memory limit of all ranks together, where a run that needs more ends with an error [default: half of free memory]
    #[arg(long, value_name = "SIZE", value_parser = kizami_memory::parse_size, env = "KIZAMI_SKELETON_MEMORY")]
    pub memory: Option<u64>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,

    /// The program's own arguments [default: those of the recorded run]
    #[arg(last = true, value_name = "ARGS")]
    pub program_arguments: Vec<String>,
}
