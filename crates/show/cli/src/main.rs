//! The `kizami` command: record MPI programs, look at their traces, explain and replay them, export them.
//!
//! This crate holds what a person touches: arguments, tables, progress, and the launching of applications. Every command
//! has a room below `commands`; what several of them share stands beside it.
//! Reading and writing traces is the work of `kizami-trace`, recording itself that of the tracer. An error is one message
//! that says what happened and what to do next; the exit codes are listed in `kizami --help`.

mod arguments;
mod commands;
mod cores;
mod disk;
mod distributed;
#[cfg(test)]
mod documented;
mod external;
mod input;
mod keep;
mod launch;
mod live;
mod memory;
mod output;
mod page;
mod programs;
#[cfg(test)]
mod schemas;
mod sections;
mod show;

use anstream::ColorChoice;
use arguments::{Arguments, Command};
use commands::{
    bench, clocks, completions, diff, doctor, events, export, info, machines, man, platform, predict, record,
    reduce, replay, report, seal, tasks, undisturb, view, whatif,
};
use kizami_terminal::failure;
use std::process::ExitCode;

/// Traces may be larger than memory.
#[global_allocator]
static ALLOCATOR: kizami_memory::Allocator = kizami_memory::Allocator;

fn main() -> ExitCode {
    keep_quiet_about_damaged_tables();
    if kizami_process_group::is_launched() {
        // Some launchers pass for a terminal, whoever reads what comes out of them.
        ColorChoice::Never.write_global();
    }
    let arguments = Arguments::of_this_process();
    if arguments.full_names {
        kizami_trace::function_name::show_full();
    }
    if arguments.quiet {
        kizami_terminal::keep_quiet();
    } else if arguments.verbose {
        kizami_terminal::verbose::print_phases();
    }
    if !matches!(arguments.command, Command::Record(_)) {
        end_quietly_on_closed_pipe();
    }
    let command = &arguments.command;
    let result = match is_for_all_processes(command) {
        true => run(command),
        false => distributed::once(command, || run(command)),
    };
    live::remove_all();
    memory::warn_if_more_was_held();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            failure::report(&failure::message(&error));
            ExitCode::from(failure::exit_code(&error))
        }
    }
}

fn run(command: &Command) -> anyhow::Result<u8> {
    match command {
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
        Command::Bench(arguments) => bench::run(arguments),
        Command::Machines(arguments) => machines::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Platform(arguments) => platform::run(arguments),
        Command::Tasks(arguments) => tasks::run(arguments),
        Command::Undisturb(arguments) => undisturb::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Man(arguments) => man::run(arguments, Arguments::with_groups()),
        Command::Completions(arguments) => completions::run(arguments, Arguments::with_groups()),
        Command::Arrived => doctor::arrived(),
        Command::MeasuringRank => bench::measuring_rank(),
        Command::Other(words) => external::run(words, &listed_commands()),
    }
}

/// Whether a command knows what to do where a launcher has started several processes. All others are done once.
fn is_for_all_processes(command: &Command) -> bool {
    matches!(
        command,
        Command::Report(_)
            | Command::Whatif(_)
            | Command::Replay(_)
            | Command::Diff(_)
            | Command::Seal(_)
            | Command::View(_)
            | Command::Record(_)
            | Command::Arrived
            | Command::MeasuringRank
    )
}

/// The commands that `--help` lists.
fn listed_commands() -> Vec<String> {
    let mut command_line = Arguments::with_groups();
    command_line.build();
    let listed = command_line.get_subcommands().filter(|command| !command.is_hide_set());
    listed.map(|command| command.get_name().to_owned()).collect()
}

/// The Parquet decoder panics on some damaged files. `kizami-trace` turns that into an error that names the file,
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
