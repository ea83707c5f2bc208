//! What can be asked of `kizami doctor`.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami doctor
  kizami doctor --json

Really preloads the tracer and really launches a process with every launcher found.
The exit code is 1 if something would keep a run from being recorded.";

/// Check what recording needs here: MPI, preloading, clock, disk; with a fix for each problem.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct DoctorArguments {
    /// The tracer, if it is not beside kizami or in its ../lib
    #[arg(long, value_name = "libkizami.so", env = "KIZAMI_LIBRARY")]
    pub library: Option<PathBuf>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
