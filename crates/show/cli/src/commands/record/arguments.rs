//! Arguments of `kizami record`.

use super::policy::PolicyArguments;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami record -- mpirun -n 4 ./stencil2d
  kizami record -o run.kz -- mpirun -n 4 python3 ring.py
  mpirun -n 4 kizami record -o run.kz -- ./stencil2d
  kizami record --memory 64M --spill together -- mpirun -n 4 ./stencil2d
  kizami record --io -- mpirun -n 4 ./stencil2d
  kizami record --counters page-faults,context-switches -- mpirun -n 4 ./stencil2d
  kizami record --keep 0.1% -- mpirun -n 4 ./stencil2d

The application is neither recompiled nor relinked; its input, output and exit code are unchanged.
The default name is kizami-APP-RANKS-N.kz in the current directory, with the first free N. Inside a
launcher (third example) all ranks write to one trace, the last rank to finish seals it, and the
default name is kizami-APP-RANKS-JOB.kz, where JOB is derived from the launcher's job id.
If the trace cannot be written, the application still runs, unrecorded.
Each option can also be set by an environment variable: KIZAMI_OUTPUT for --output, and so on.";

/// Who may read a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OpenTo {
    /// The owner only.
    Me,
    /// The owner and the owner's group.
    Group,
    /// Everyone.
    All,
}

impl OpenTo {
    /// Permission bits added to those the trace's directory was created with.
    pub fn mode(self) -> u32 {
        match self {
            OpenTo::Me => 0,
            OpenTo::Group => 0o050,
            OpenTo::All => 0o055,
        }
    }
}

/// Run a program and record its MPI calls.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct RecordArguments {
    /// Directory to create for the trace; must not exist or be empty
    #[arg(short, long, value_name = "NAME.kz", env = "KIZAMI_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Keep the raw segments in the trace's raw/ directory after sealing
    #[arg(long, env = "KIZAMI_KEEP_RAW", value_parser = FalseyValueParser::new())]
    pub keep_raw: bool,

    /// Do not seal after the run; run `kizami seal` later, on any machine
    #[arg(long, env = "KIZAMI_NO_SEAL", value_parser = FalseyValueParser::new())]
    pub no_seal: bool,

    /// Who may read the trace, regardless of the umask
    #[arg(
        long,
        value_name = "me|group|all",
        default_value = "me",
        hide_possible_values = true,
        env = "KIZAMI_OPEN_TO"
    )]
    pub open_to: OpenTo,

    /// Path of the tracer [default: next to kizami, or in ../lib]
    #[arg(long, value_name = "libkizami.so", env = "KIZAMI_LIBRARY")]
    pub library: Option<PathBuf>,

    #[command(flatten)]
    pub policy: PolicyArguments,

    /// Program to run, with its launcher and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
