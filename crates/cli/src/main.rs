//! The `kizami` command: record MPI programs, look at their traces, export them.
//!
//! This crate holds what a person touches: arguments, tables, progress, and the launching of applications.
//! Reading and writing traces is the store's work, recording itself the tracer's. An error is one message
//! that says what happened and what to do next; the exit codes are listed in `kizami --help`.

mod arguments;
mod clocks;
mod diff;
mod disk;
mod doctor;
mod documents;
mod drawn;
mod events;
mod export;
mod external;
mod failure;
mod info;
mod keep;
mod mpi;
mod record;
mod reduce;
mod replay;
mod report;
mod seal;
mod show;
mod undisturb;
mod view;
mod whatif;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::UsageError;
use std::process::ExitCode;

const FAILURE: u8 = 1;
const USAGE: u8 = 2;

fn main() -> ExitCode {
    keep_quiet_about_damaged_tables();
    let arguments = Arguments::parse();
    if !matches!(arguments.command, Command::Record(_)) {
        end_quietly_on_closed_pipe();
    }
    let result = match &arguments.command {
        Command::Record(arguments) => record::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::View(arguments) => view::run(arguments),
        Command::Whatif(arguments) => whatif::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Events(arguments) => events::run(arguments),
        Command::Clocks(arguments) => clocks::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Seal(arguments) => seal::run(arguments),
        Command::Reduce(arguments) => reduce::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Undisturb(arguments) => undisturb::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Man(arguments) => documents::man(arguments),
        Command::Completions(arguments) => documents::completions(arguments),
        Command::Arrived => doctor::arrived(),
        Command::Other(words) => external::run(words),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let label = show::style::Paint::stderr().bad("kizami: error:");
            show::say(&[format!("{label} {}", failure::message(&error))]);
            ExitCode::from(if error.is::<UsageError>() { USAGE } else { FAILURE })
        }
    }
}

/// The Parquet decoder panics on some damaged files. The store turns that into an error that names the file,
/// which is all the user needs to see.
fn keep_quiet_about_damaged_tables() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|place| place.file().contains("/parquet-")) {
            usual(panic);
        }
    }));
}

/// `kizami events run.kz | head` ends like any other program in a pipe. `record` must live on, though the
/// reader of its messages may be gone.
fn end_quietly_on_closed_pipe() {
    // SAFETY: no other thread runs yet, and the default action is always valid.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
