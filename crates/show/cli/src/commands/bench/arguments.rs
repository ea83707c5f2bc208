//! Arguments of `kizami bench`.

use crate::commands::predict::{RankCounts, parse_ranks};
use crate::show::quantity::parse_size;
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami bench -o here.kzm -- mpirun -n {P}
  kizami bench -o here.kzm --ranks 2,4,8 --seconds 300 -- mpirun -n {P}
  kizami bench -o flat.kzm --ranks 16,32 -- smpirun -np {P} -platform flat.xml
  kizami bench -o here.kzm --algorithms -- mpirun -n {P}
  kizami bench import osu osu_allreduce.txt --ranks 16 -o there.kzm
  kizami bench export loggops here.kzm

Measures collectives, point-to-point messages, shifts and one-sided accesses over sizes and numbers of
ranks, with more sizes where the cost is not linear. {P} stands for the number of ranks. Other load on
the machine is detected, reported, and marked in the results. The result is a directory of tables for
`kizami predict --machine`, `kizami machines` and any tool that reads Parquet.";

/// Measure the cost of MPI calls on this machine.
#[derive(Debug, Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BenchArguments {
    #[command(subcommand)]
    pub files: Option<Files>,

    /// Directory to create; must not exist
    #[arg(short, long, value_name = "NAME.kzm", required = true)]
    pub output: Option<PathBuf>,

    /// Numbers of ranks: 16, or 2..64 (doubling), or several with commas [default: doubling up to the
    /// number of cores]
    #[arg(long, value_name = "RANKS", value_parser = parse_ranks)]
    pub ranks: Option<RankCounts>,

    /// Total time budget
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub seconds: f64,

    /// Largest message size
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_size)]
    pub largest: u64,

    /// Also measure each collective algorithm of the library separately: Open MPI (for `bench export ompi-rules`) and
    /// MPICH
    #[arg(long)]
    pub algorithms: bool,

    /// Name of the machine [default: name of its first host]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Command that starts a program with {P} ranks
    #[arg(value_name = "LAUNCHER", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub launcher: Vec<OsString>,
}

/// Conversion from other benchmarks and to other tools.
#[derive(Debug, Subcommand)]
pub enum Files {
    /// Import the results of another benchmark
    Import {
        /// Benchmark
        #[arg(value_enum)]
        kind: Imported,
        /// Files
        #[arg(value_name = "FILES", required = true)]
        files: Vec<PathBuf>,
        /// Number of ranks, if the files do not contain it
        #[arg(long, value_name = "N")]
        ranks: Option<u32>,
        /// Directory to create; must not exist
        #[arg(short, long, value_name = "NAME.kzm")]
        output: PathBuf,
    },
    /// Print a machine in another tool's format
    Export {
        /// Format
        #[arg(value_enum)]
        kind: Exported,
        /// Machine
        #[arg(value_name = "NAME.kzm")]
        machine: PathBuf,
    },
}

/// Benchmarks whose output can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Imported {
    /// OSU micro-benchmarks, versions 5 to 7
    Osu,
    /// Intel MPI benchmarks, 2018 to 2021
    Imb,
}

/// Formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Exported {
    /// Rules file for Open MPI's choice of algorithms
    OmpiRules,
    /// Parameters of the LogGOPS model, for `kizami replay --loggops`
    Loggops,
    /// Input of Extra-P
    Extrap,
}
