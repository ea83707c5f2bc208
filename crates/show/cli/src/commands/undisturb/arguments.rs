//! Arguments of `kizami undisturb`.

use crate::memory::MemoryArguments;
use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami undisturb run.kz -o clean.kz
  kizami undisturb run.kz -o clean.kz --json | jq .undisturbed_ns

The result has the same calls at corrected times: the cost of recording each call and every pause of
the tracer are removed, and waits caused by them shrink accordingly. Its run.json names the original
trace, the time removed, and the error.";

/// Remove the tracer's overhead from a trace.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct UndisturbArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Directory to create for the result; must not exist
    #[arg(short, long, value_name = "CLEAN.kz")]
    pub output: PathBuf,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
