//! The command line: a trace to simulate with its options, or another word first.

use crate::{Arguments, EXAMPLES, calibrate};
use clap::{Parser, Subcommand};

/// Simulate a run on another machine's network with SimGrid
#[derive(Parser)]
#[command(name = "kizami-simgrid", bin_name = "kizami simgrid", version, max_term_width = 100)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct CommandLine {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    simulate: Option<Arguments>,
}

#[derive(Subcommand)]
enum Other {
    Calibrate(calibrate::Arguments),
}

/// What is asked for.
pub enum Request {
    /// A simulation.
    Simulate(Arguments),
    /// A platform.
    Calibrate(calibrate::Arguments),
}

/// Reads the process's command line; ends the process, with words, if it is wrong.
pub fn parse() -> Request {
    match CommandLine::parse() {
        CommandLine { other: Some(Other::Calibrate(arguments)), .. } => Request::Calibrate(arguments),
        CommandLine { simulate: Some(arguments), .. } => Request::Simulate(arguments),
        // Clap asks for what a simulation needs if no other word is there.
        CommandLine { .. } => <CommandLine as clap::CommandFactory>::command()
            .error(clap::error::ErrorKind::MissingRequiredArgument, "a trace and --platform are needed")
            .exit(),
    }
}
