//! What can be asked of `kizami whatif`.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami whatif run.kz
  kizami whatif run.kz --json

Ideas come from the findings of `kizami report`, from the places where most is computed or waited,
and from other networks. Each is replayed; the error says how far the iterations of the run scatter,
and how unevenly the time came that would be taken away. The last column is what to give `kizami
replay` to look at one of them more closely.";

/// Rank what could be done about a run by what it would gain.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct WhatifArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Threads to use; as many as there are cores unless said
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
