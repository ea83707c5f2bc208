//! What can be asked of `kizami record`.

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

The application is neither rebuilt nor relinked, and its input, output and exit code stay its own.
Without -o the trace is kizami-APP-RANKS-N.kz in the current directory, with the first N that is free.
Inside a launcher (third example) all ranks write into one trace and the last one to end seals it;
without -o its name is kizami-APP-RANKS-JOB.kz, where JOB is eight digits made from the launcher's
own identity of the job, so that all ranks agree.
If the output cannot be written, the application runs all the same, without being recorded.";

/// Who may look into a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OpenTo {
    /// Its owner alone.
    Me,
    /// And the owner's group.
    Group,
    /// Everybody.
    All,
}

impl OpenTo {
    /// The permissions that the trace's directory is given beside those it was made with.
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
    /// Directory to make for the trace; it must not exist or be empty
    #[arg(short, long, value_name = "NAME.kz", env = "KIZAMI_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Keep the raw segments in the trace's raw/ folder after sealing
    #[arg(long, env = "KIZAMI_KEEP_RAW", value_parser = FalseyValueParser::new())]
    pub keep_raw: bool,

    /// Do not seal after the run; `kizami seal` does it later, on another machine if you like
    #[arg(long, env = "KIZAMI_NO_SEAL", value_parser = FalseyValueParser::new())]
    pub no_seal: bool,

    /// Who may look into the trace and all that is in it, whatever the umask
    #[arg(
        long,
        value_name = "me|group|all",
        default_value = "me",
        hide_possible_values = true,
        env = "KIZAMI_OPEN_TO"
    )]
    pub open_to: OpenTo,

    /// The tracer, if it is not beside kizami or in its ../lib
    #[arg(long, value_name = "libkizami.so", env = "KIZAMI_LIBRARY")]
    pub library: Option<PathBuf>,

    #[command(flatten)]
    pub policy: PolicyArguments,

    /// The program to run, with its launcher and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
