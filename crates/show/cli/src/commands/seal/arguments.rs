//! Arguments of `kizami seal`.

use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami seal run.kz
  kizami seal run.kz --keep-raw

`kizami record` seals automatically. This command is needed after --no-seal, or if the recording was
killed before sealing. A trace whose raw segments were kept can be sealed again.";

/// Convert the raw segments of a recording into a trace.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct SealArguments {
    /// The recording
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Keep the raw segments
    #[arg(long)]
    pub keep_raw: bool,
}
