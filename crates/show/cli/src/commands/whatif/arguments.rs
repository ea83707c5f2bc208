//! Arguments of `kizami whatif`.

use crate::memory::MemoryArguments;
use clap::Args;
use kizami_explain::ThreadCount;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami whatif run.kz
  kizami whatif run.kz --json
  kizami whatif run.kz --omp-threads 2x,16

Changes come from the findings of `kizami report`, the source lines with most computation or waiting,
other networks, and idle threads. Each is replayed. The error combines the scatter of the run's
iterations with how unevenly the removed time was spread; for other numbers of threads also how
evenly they may divide the work. Changes whose gain is below its error are left out unless --all is
given. The last column is the option of `kizami replay` that makes the change.";

/// Rank possible changes to a program or machine by the time they would save.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct WhatifArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// OpenMP threads per rank, each on its own core: a number, or 2x for twice as many; several with commas
    /// [default: 2x if the run has parallel regions]
    #[arg(long, value_name = "N")]
    #[arg(value_delimiter = ',')]
    pub omp_threads: Vec<ThreadCount>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Show all changes, also those that gain less than their error
    #[arg(long)]
    pub all: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
