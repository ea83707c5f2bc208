//! What can be asked of `kizami seal`.

use clap::Args;
use clap::builder::FalseyValueParser;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami seal run.kz
  kizami seal run.kz --keep-raw

`kizami record` does this by itself. It is needed after --no-seal, and when a recording was killed
before it could seal. A trace whose raw segments were kept can be sealed again.";

/// Turn a recording's raw segments into the tables of a trace.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct SealArguments {
    /// The recording
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Keep the raw segments
    #[arg(long, env = "KIZAMI_KEEP_RAW", value_parser = FalseyValueParser::new())]
    pub keep_raw: bool,
}
