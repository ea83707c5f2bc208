//! What can be asked of `kizami whatif`.

use crate::memory::MemoryArguments;
use clap::Args;
use clap::builder::FalseyValueParser;
use kizami_explain::ThreadCount;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami whatif run.kz
  kizami whatif run.kz --json
  kizami whatif run.kz --omp-threads 2x,16

Ideas come from the findings of `kizami report`, from the places where most is computed or waited,
from other networks, and from what threads lose. Each is replayed; the error says how far the
iterations of the run scatter, and how unevenly the time came that would be taken away; that of
other numbers of threads, how evenly they may share the work, too. The last column is what to give
`kizami replay` to look at one of them more closely.";

/// Rank what could be done about a run by what it would gain.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct WhatifArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Threads that run parallel regions of OpenMP on each rank, each with a processor: 2x for twice as many, or their
    /// number. Several with commas between [default: 2x if there are such regions]
    #[arg(long, value_name = "N")]
    #[arg(value_delimiter = ',', env = "KIZAMI_WHATIF_OMP_THREADS")]
    pub omp_threads: Vec<ThreadCount>,

    /// Threads to use; as many as there are cores unless said
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
