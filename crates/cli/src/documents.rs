//! Man pages and shell completions, made from the definition of the command line itself.

use crate::arguments::{Arguments, CompletionsArguments, ManArguments};
use anyhow::{Context, Result};
use clap::CommandFactory;

/// Writes `kizami.1` and one page for each command.
pub fn man(arguments: &ManArguments) -> Result<u8> {
    let directory = &arguments.directory;
    let place = || format!("cannot write man pages to {}", directory.display());
    std::fs::create_dir_all(directory).with_context(place)?;
    clap_mangen::generate_to(Arguments::command(), directory).with_context(place)?;
    Ok(0)
}

/// Prints the completions of one shell.
pub fn completions(arguments: &CompletionsArguments) -> Result<u8> {
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "kizami", &mut std::io::stdout());
    Ok(0)
}
