//! `kizami man`: man pages, made from the definition of the command line itself.

use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami man /usr/local/share/man/man1
  kizami man pages && man ./pages/kizami-record.1";

/// Write the man pages to a directory.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ManArguments {
    /// Directory; created if missing
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Writes `kizami.1` and one page for each command of this command line.
pub fn run(arguments: &ManArguments, command_line: clap::Command) -> Result<u8> {
    let directory = &arguments.directory;
    let place = || format!("cannot write man pages to {}", directory.display());
    std::fs::create_dir_all(directory).with_context(place)?;
    clap_mangen::generate_to(command_line, directory).with_context(place)?;
    Ok(0)
}
