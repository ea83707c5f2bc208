//! Arguments of `kizami doctor`.

use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami doctor
  kizami doctor --json

Preloads the tracer and launches a process with every launcher found. The exit code is 1 if anything
would prevent recording.";

/// Check this machine: MPI, preloading, clock, disk; with a fix for each problem.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct DoctorArguments {
    /// Path of the tracer [default: next to kizami, or in ../lib]
    #[arg(long, value_name = "libkizami.so", env = "KIZAMI_LIBRARY")]
    pub library: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
