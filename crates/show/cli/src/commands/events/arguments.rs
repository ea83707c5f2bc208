//! Arguments of `kizami events`.

use crate::memory::MemoryArguments;
use crate::show::quantity;
use clap::Args;
use kizami_model::Moment;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami events run.kz --rank 2 --limit 20
  kizami events run.kz --op MPI_Allreduce --from 1.5s --to 1.6s
  kizami events run.kz --op MPI_Allreduce --paths
  kizami events run.kz --json | jq 'select(.bytes_out > 1000000)'

Rows are sorted by rank, then by start. Times are seconds since the start of the run. A peer is a rank
of MPI_COMM_WORLD; null is MPI_PROC_NULL, `any` a wildcard receive that was never matched.";

/// List recorded calls, one per row.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct EventsArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Only calls of this rank
    #[arg(short, long, value_name = "N")]
    pub rank: Option<u32>,

    /// Only calls of this function; the prefix MPI_ is optional
    #[arg(long, value_name = "NAME")]
    pub op: Option<String>,

    /// Only calls that end at or after this time, such as 1.5s, 20ms or 300us
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_moment)]
    pub from: Option<Moment>,

    /// Only calls that start at or before this time
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_moment)]
    pub to: Option<Moment>,

    /// Maximum number of rows, 0 for all [default: 100; all with --json]
    #[arg(short, long, value_name = "N")]
    pub limit: Option<u64>,

    /// Also print the call path: the functions that led to the call
    #[arg(long)]
    pub paths: bool,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}
