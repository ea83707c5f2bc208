//! What can be asked of `kizami undisturb`.

use crate::memory::MemoryArguments;
use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami undisturb run.kz -o clean.kz
  kizami undisturb run.kz -o clean.kz --json | jq .undisturbed_ns

The result is a trace with the same calls at other times: what recording them cost and every stretch
in which the tracer held a rank are taken out, and ranks that waited for others wait as much less.
Its run.json says what it was made from, what was taken out, and how sure that is.";

/// Write the run as it would have been without the tracer.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct UndisturbArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Directory to make for the result; it must not exist
    #[arg(short, long, value_name = "CLEAN.kz", env = "KIZAMI_UNDISTURB_OUTPUT")]
    pub output: PathBuf,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
