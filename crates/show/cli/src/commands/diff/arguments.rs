//! Arguments of `kizami diff`.

use super::condition::Condition;
use crate::memory::MemoryArguments;
use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const DIFF_HELP: &str = "\
Examples:
  kizami diff before.kz after.kz
  kizami diff before.kz after.kz --fail-if 'change(run_time) > 5 %' --fail-if 'efficiency < 0.8'
  kizami diff before.kz after.kz --json | jq '.changes[0]'

Times are averages per rank, so runs on different numbers of ranks can be compared. Places are
matched by function, file and line; where lines moved, by the function called and the one it is
called in.

Conditions compare one of these with <, <=, > or >=:
  run_time       of AFTER, with a time such as 90s or 20ms
  efficiency, load_balance, serialisation, transfer
                 of AFTER, from 0 to 1, or in %
  mpi, waiting   parts of AFTER's run time, average of ranks, from 0 to 1, or in %
  change(NAME)   of any of them from BEFORE to AFTER, as a part of BEFORE
The exit code is 3 if any condition is true.";

/// Tell what changed between two runs.
#[derive(Debug, Args)]
#[command(after_help = DIFF_HELP)]
pub struct DiffArguments {
    /// The run to compare with
    #[arg(value_name = "BEFORE.kz")]
    pub before: PathBuf,

    /// The run to look at
    #[arg(value_name = "AFTER.kz")]
    pub after: PathBuf,

    /// End with exit code 3 if this is true; may be given several times, or with semicolons between
    #[arg(long, value_name = "CONDITION", value_delimiter = ';', value_parser = Condition::parse, env = "KIZAMI_FAIL_IF")]
    pub fail_if: Vec<Condition>,

    /// Show all changes, not only the largest
    #[arg(long, env = "KIZAMI_ALL", value_parser = FalseyValueParser::new())]
    pub all: bool,

    /// Threads to use; as many as there are cores unless said
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
