//! `kizami completions`: what a shell needs to complete commands and options, made from the definition of the command
//! line itself.

use anyhow::Result;
use clap::Args;

const HELP: &str = "\
Examples:
  kizami completions bash > /usr/share/bash-completion/completions/kizami
  kizami completions zsh > ~/.zfunc/_kizami";

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct CompletionsArguments {
    /// Shell
    pub shell: clap_complete::Shell,
}

/// Prints the completions of one shell for this command line.
pub fn run(arguments: &CompletionsArguments, mut command_line: clap::Command) -> Result<u8> {
    clap_complete::generate(arguments.shell, &mut command_line, "kizami", &mut std::io::stdout());
    Ok(0)
}
