//! What can be asked of `kizami bench`.

use crate::commands::predict::{RankCounts, parse_ranks};
use crate::show::quantity::parse_size;
use clap::builder::FalseyValueParser;
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

Measures all collectives, messages between two ranks, shifts and one-sided
accesses over sizes and ranks: few sizes where the cost is a straight line, many
where it bends. {P} stands for the number of ranks. A load beside it is found
and told, and marks what was measured. The result is a folder of tables, for
`kizami predict --machine`, `kizami machines`, and any tool that reads Parquet.";

/// Measure what MPI calls cost on this machine.
#[derive(Debug, Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BenchArguments {
    #[command(subcommand)]
    pub files: Option<Files>,

    /// Directory to make; it must not exist
    #[arg(short, long, value_name = "NAME.kzm", env = "KIZAMI_BENCH_OUTPUT", required = true)]
    pub output: Option<PathBuf>,

    /// Numbers of ranks: 16, or 2..64 for every doubling, or several with commas between [default: every doubling up to
    /// the number of cores]
    #[arg(long, value_name = "RANKS", value_parser = parse_ranks, env = "KIZAMI_BENCH_RANKS")]
    pub ranks: Option<RankCounts>,

    /// Time to spend in all
    #[arg(long, value_name = "SECONDS", default_value = "60", env = "KIZAMI_BENCH_SECONDS")]
    pub seconds: f64,

    /// The largest size
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_size, env = "KIZAMI_BENCH_LARGEST")]
    pub largest: u64,

    /// Tell the library's algorithms apart as well, where it can be told which to take:
    /// Open MPI (for `bench export ompi-rules`) and MPICH
    #[arg(long, env = "KIZAMI_BENCH_ALGORITHMS", value_parser = FalseyValueParser::new())]
    pub algorithms: bool,

    /// What people call the machine [default: the name of its first host]
    #[arg(long, value_name = "NAME", env = "KIZAMI_BENCH_NAME")]
    pub name: Option<String>,

    /// How to start a program with {P} ranks
    #[arg(value_name = "LAUNCHER", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub launcher: Vec<OsString>,
}

/// Files of other benchmarks, and for other tools.
#[derive(Debug, Subcommand)]
pub enum Files {
    /// Take what another benchmark has measured
    Import {
        /// Whose files
        #[arg(value_enum)]
        kind: Imported,
        /// The files
        #[arg(value_name = "FILES", required = true)]
        files: Vec<PathBuf>,
        /// How many ranks there were, where the files do not say
        #[arg(long, value_name = "N", env = "KIZAMI_BENCH_RANKS")]
        ranks: Option<u32>,
        /// Directory to make; it must not exist
        #[arg(short, long, value_name = "NAME.kzm", env = "KIZAMI_BENCH_OUTPUT")]
        output: PathBuf,
    },
    /// Print a machine as another tool reads it
    Export {
        /// For whom
        #[arg(value_enum)]
        kind: Exported,
        /// The machine
        #[arg(value_name = "NAME.kzm")]
        machine: PathBuf,
    },
}

/// Benchmarks whose files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Imported {
    /// OSU micro-benchmarks, versions 5 to 7
    Osu,
    /// Intel MPI benchmarks, 2018 to 2021
    Imb,
}

/// Tools whose files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Exported {
    /// Rules for Open MPI's choice of algorithms
    OmpiRules,
    /// Parameters of the LogGOPS model, for `kizami replay --loggops`
    Loggops,
    /// For Extra-P
    Extrap,
}
