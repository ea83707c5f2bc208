//! What can be asked of `kizami export`.

use crate::memory::MemoryArguments;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami export run.kz --to otf2 -o run-otf2        a directory for Vampir, otf2-print and others
  kizami export run.kz --to perfetto -o run.pftrace  open it at ui.perfetto.dev
  kizami export run.kz --to csv -o run.csv

The trace itself needs no export for DuckDB, Polars or pandas: its tables are Parquet.";

/// Write a trace in another tool's format.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ExportArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// The format
    #[arg(long, value_name = "FORMAT", env = "KIZAMI_EXPORT_TO")]
    pub to: ExportFormat,

    /// What to write; it must not exist [default: the trace's name with the format's ending; standard output for csv]
    #[arg(short, long, value_name = "OUT", env = "KIZAMI_EXPORT_OUTPUT")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub memory: MemoryArguments,
}

/// Formats of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Open Trace Format 2: a directory for Vampir, Score-P's tools and others
    Otf2,
    /// Perfetto's protobuf: one file for ui.perfetto.dev
    Perfetto,
    /// Comma-separated values: one row a call
    Csv,
}
