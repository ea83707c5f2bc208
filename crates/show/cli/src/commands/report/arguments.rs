//! Arguments of `kizami report`.

use crate::memory::MemoryArguments;
use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami report run.kz
  kizami report run.kz --all
  kizami report run.kz --html report.html
  kizami report run.kz --markdown >> notes.md
  kizami report run.kz --json | jq .efficiency

The first lines name the most expensive problems, their source lines, and the gain of fixing each:
the difference between two replays of the run. Shares are of the time of all ranks between MPI_Init
and MPI_Finalize. Computation is located by the MPI calls before and after it.
The HTML report is a single self-contained file, below 2 MB unless --all is given.";

/// Find bottlenecks: what is wrong, where in the source, and what fixing it would gain.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReportArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Show all rows of every table
    #[arg(long)]
    pub all: bool,

    /// Write the report, with charts, as one HTML file; must not exist
    #[arg(long, value_name = "OUT.html")]
    pub html: Option<PathBuf>,

    /// Print Markdown; overrides --json
    #[arg(long)]
    pub markdown: bool,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
