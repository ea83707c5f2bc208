//! The command line: every command by its name. What each can be asked for stands in its own room.
//!
//! Nothing here does anything. Every option can also be given as a `KIZAMI_*` variable, so batch scripts can set them
//! once; what is typed wins over a variable.

use crate::commands::{
    bench, clocks, completions, diff, doctor, events, export, info, machines, man, platform, predict, record,
    reduce, replay, report, seal, tasks, undisturb, view, whatif,
};
use clap::{Parser, Subcommand};
use std::ffi::OsString;

const EXIT_CODES: &str = "\
Exit codes:
  record   the application's own code; 128 + N if signal N killed it
           126, 127  the command cannot be run, or does not exist
  others   0  done
  diff     3  a condition of --fail-if is true
  all      1  it failed, or `doctor` found a problem
           2  the command line is wrong, or the output exists already";

/// What stands below the list of commands.
fn ending() -> String {
    format!("{}\n\n{EXIT_CODES}", crate::external::help())
}

/// Record MPI programs without rebuilding them, and look at what they did.
#[derive(Debug, Parser)]
#[command(name = "kizami", version, after_help = ending(), max_term_width = 100)]
#[command(arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Record(record::RecordArguments),
    Info(info::InfoArguments),
    Report(report::ReportArguments),
    View(view::ViewArguments),
    Whatif(whatif::WhatifArguments),
    Diff(diff::DiffArguments),
    Events(events::EventsArguments),
    Clocks(clocks::ClocksArguments),
    Export(export::ExportArguments),
    Seal(seal::SealArguments),
    Reduce(reduce::ReduceArguments),
    Replay(Box<replay::ReplayArguments>),
    Bench(Box<bench::BenchArguments>),
    Machines(machines::MachinesArguments),
    Predict(Box<predict::PredictArguments>),
    Platform(platform::PlatformArguments),
    Tasks(tasks::TasksArguments),
    Undisturb(undisturb::UndisturbArguments),
    Doctor(doctor::DoctorArguments),
    Man(man::ManArguments),
    Completions(completions::CompletionsArguments),
    /// Tells whether the tracer and its variables arrived in this process; `doctor` launches it.
    #[command(hide = true)]
    Arrived,
    /// Measures, as one rank; `bench` launches it.
    #[command(hide = true)]
    MeasuringRank,
    /// `kizami NAME` runs `kizami-NAME`.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::path::PathBuf;

    fn record(words: &[&str]) -> record::RecordArguments {
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Record(arguments) => arguments,
            other => panic!("not record: {other:?}"),
        }
    }

    #[test]
    fn clap_finds_no_fault_in_the_definition() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_applications_options_are_its_own() {
        let arguments =
            record(&["kizami", "record", "-o", "a.kz", "--", "mpirun", "-n", "4", "./app", "-o", "b"]);
        assert_eq!(arguments.output, Some(PathBuf::from("a.kz")));
        assert_eq!(arguments.command, ["mpirun", "-n", "4", "./app", "-o", "b"]);
    }

    #[test]
    fn the_two_dashes_may_be_left_out() {
        let arguments = record(&["kizami", "record", "mpirun", "--keep-raw", "-n", "4", "./app", "--", "x"]);
        assert!(!arguments.keep_raw);
        assert_eq!(arguments.command, ["mpirun", "--keep-raw", "-n", "4", "./app", "--", "x"]);
    }

    #[test]
    fn every_option_has_its_variable_and_every_command_its_example() {
        let command = Arguments::command();
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            let name = subcommand.get_name();
            let help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("kizami {name} ")) || help.contains(&format!("kizami {name}\n")));
            let shown = |option: &&clap::Arg| option.get_id() != "help" && !option.is_hide_set();
            for option in subcommand.get_opts().filter(shown) {
                let variable =
                    option.get_env().unwrap_or_else(|| panic!("{name} {} has no variable", option.get_id()));
                assert!(variable.to_string_lossy().starts_with("KIZAMI_"));
            }
        }
    }
}
