//! Arguments of `kizami diff`.

use super::condition::Condition;
use crate::memory::MemoryArguments;
use clap::Args;
use std::path::PathBuf;

const DIFF_HELP: &str = "\
Examples:
  kizami diff before.kz after.kz
  kizami diff before.kz after.kz --fail-if 'change(run_time) > 5 %' --fail-if 'efficiency < 0.8'
  kizami diff before.kz after.kz --json | jq '.changes[0]'

Times are averages per rank, so runs with different numbers of ranks can be compared. Call sites are
matched by function, file and line; where lines moved, by the MPI function and its caller.

Conditions compare one of these with <, <=, > or >=:
  run_time       of AFTER, with a time such as 90s or 20ms
  efficiency, load_balance, serialisation, transfer
                 of AFTER, from 0 to 1, or in %
  mpi, waiting   share of AFTER's run time, averaged over ranks, from 0 to 1, or in %
  change(NAME)   relative change of any of them from BEFORE to AFTER
The exit code is 3 if any condition is true.";

/// Compare two runs: what became faster or slower, and where.
#[derive(Debug, Args)]
#[command(after_help = DIFF_HELP)]
pub struct DiffArguments {
    /// Baseline run
    #[arg(value_name = "BEFORE.kz")]
    pub before: PathBuf,

    /// Run to compare with the baseline
    #[arg(value_name = "AFTER.kz")]
    pub after: PathBuf,

    /// Exit with code 3 if this is true; repeatable, or several separated by semicolons
    #[arg(long, value_name = "CONDITION", env = "KIZAMI_FAIL_IF")]
    #[arg(value_delimiter = ';', value_parser = Condition::parse)]
    pub fail_if: Vec<Condition>,

    /// Show all changes, not only the largest
    #[arg(long)]
    pub all: bool,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
