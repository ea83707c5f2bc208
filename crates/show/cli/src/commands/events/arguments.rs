//! What can be asked of `kizami events`.

use crate::memory::MemoryArguments;
use crate::show::quantity;
use clap::Args;
use clap::builder::FalseyValueParser;
use kizami_model::Moment;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami events run.kz --rank 2 --limit 20
  kizami events run.kz --op MPI_Allreduce --from 1.5s --to 1.6s
  kizami events run.kz --json | jq 'select(.bytes_out > 1000000)'

Rows come rank by rank, each in order of start. Times are seconds since the run's first moment.
A peer is a world rank; null is MPI_PROC_NULL, `any` a wildcard that was never answered.";

/// Show the recorded calls, one a row.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct EventsArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Only calls of this rank
    #[arg(short, long, value_name = "N", env = "KIZAMI_EVENTS_RANK")]
    pub rank: Option<u32>,

    /// Only calls of this function; MPI_ may be left out
    #[arg(long, value_name = "NAME", env = "KIZAMI_EVENTS_OP")]
    pub op: Option<String>,

    /// Only calls that end at this time or later, such as 1.5s, 20ms or 300us
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_moment, env = "KIZAMI_EVENTS_FROM")]
    pub from: Option<Moment>,

    /// Only calls that begin at this time or before
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_moment, env = "KIZAMI_EVENTS_TO")]
    pub to: Option<Moment>,

    /// At most so many rows, 0 for all [default: 100, for JSON all]
    #[arg(short, long, value_name = "N", env = "KIZAMI_EVENTS_LIMIT")]
    pub limit: Option<u64>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON, one object a line
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
