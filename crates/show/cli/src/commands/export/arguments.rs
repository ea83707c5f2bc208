//! Arguments of `kizami export`.

use crate::memory::MemoryArguments;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami export run.kz --to otf2 -o run-otf2         directory for Vampir, otf2-print, ...
  kizami export run.kz --to perfetto -o run.pftrace  open at ui.perfetto.dev
  kizami export run.kz --to csv -o run.csv

DuckDB, Polars and pandas read a trace without export: its tables are Parquet files.";

/// Convert a trace to another tool's format.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ExportArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    pub to: ExportFormat,

    /// Output path; must not exist [default: the trace's name with the format's extension; standard output for csv]
    #[arg(short, long, value_name = "OUT")]
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
    /// Comma-separated values: one row per call
    Csv,
}
