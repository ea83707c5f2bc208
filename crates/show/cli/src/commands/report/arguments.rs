//! What can be asked of `kizami report`.

use crate::memory::MemoryArguments;
use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami report run.kz
  kizami report run.kz --all
  kizami report run.kz --html report.html
  kizami report run.kz --markdown >> notes.md
  kizami report run.kz --json | jq .efficiency

The first lines say what costs most, where in the source, and what the run would gain without it;
each gain is the difference of two replays of the run. Shares of waiting are of the time of all
ranks between MPI_Init and MPI_Finalize. Computation is named by the calls it lies between.
The HTML report is one file that loads nothing from elsewhere; unless --all is given, it stays
below 2 MB.";

/// Say what is wrong with a run, where, and what fixing it would gain.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReportArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Show all rows of every table
    #[arg(long, env = "KIZAMI_ALL", value_parser = FalseyValueParser::new())]
    pub all: bool,

    /// Write the report with charts as one HTML file; it must not exist
    #[arg(long, value_name = "OUT.html", env = "KIZAMI_HTML")]
    pub html: Option<PathBuf>,

    /// Print Markdown; wins over --json
    #[arg(long, env = "KIZAMI_MARKDOWN", value_parser = FalseyValueParser::new())]
    pub markdown: bool,

    /// Threads to use; as many as there are cores unless said
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
