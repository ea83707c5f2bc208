//! The command line: every command by its name; the options of each are in its own module.
//!
//! Nothing here does anything. Options that batch scripts set once (those of `record`, the number of threads, the
//! memory limit and the conditions of `diff`) can also be given as `KIZAMI_*` variables; the command line overrides
//! them.

use crate::commands::{
    bench, clocks, completions, diff, doctor, events, export, info, machines, man, platform, predict, record,
    reduce, replay, report, seal, tasks, undisturb, view, whatif,
};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

const EXIT_CODES: &str = "\
Exit codes:
  record   the application's own code; 128 + N if signal N killed it
           126, 127  the command cannot be run, or does not exist
  others   0  done
  diff     3  a condition of --fail-if is true
  all      1  it failed, or `doctor` found a problem
           2  the command line is wrong, or the output exists already";

/// The heading of options that all commands have.
const COMMON: &str = "Common options";

/// The commands by what they are for. A name that is no command here is one of [`crate::external`].
const GROUPS: [(&str, &[&str]); 5] = [
    ("Record", &["record", "seal", "reduce", "undisturb", "doctor"]),
    ("Explain", &["report", "whatif", "diff", "tasks", "clocks"]),
    ("Foresee", &["predict", "replay", "bench", "machines", "platform", "simgrid", "skeleton", "fleng"]),
    ("Look", &["view", "info", "events", "export"]),
    ("Set up", &["completions", "man", "help"]),
];

/// The help of this command line, with its commands in groups.
fn template(command_line: &clap::Command) -> String {
    let about = |name: &str| {
        let own =
            command_line.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
        let separate = || crate::external::external(name.as_ref()).map(|external| external.about.to_owned());
        own.or_else(separate).unwrap_or_else(|| "Print this help, or the help of a command".to_owned())
    };
    let mut groups = String::new();
    for (title, names) in GROUPS {
        groups.push_str(&format!("{title}:\n"));
        for name in names {
            groups.push_str(&format!("  {name:<12} {}\n", about(name)));
        }
        groups.push('\n');
    }
    format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n{}\n\n{EXIT_CODES}\n",
        crate::external::HELP
    )
}

/// Record, explain and predict the performance of MPI, OpenMP and task programs.
#[derive(Debug, Parser)]
#[command(name = "kizami", version, max_term_width = 100)]
#[command(arg_required_else_help = true)]
pub struct Arguments {
    /// Print the phases of the work with their times to standard error
    #[arg(short, long, global = true, help_heading = COMMON, display_order = 1000)]
    pub verbose: bool,

    /// Print only results, warnings and errors: no progress and no remarks
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = COMMON, display_order = 1000)]
    pub quiet: bool,

    /// Print names of functions in full, with template arguments and parameters
    #[arg(long, global = true, help_heading = COMMON, display_order = 1000)]
    pub full_names: bool,

    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// The command line, whose help has the commands in groups.
    pub fn with_groups() -> clap::Command {
        let command_line = Arguments::command();
        let template = template(&command_line);
        command_line.help_template(template)
    }

    /// Those of this process; ends it if they are wrong or ask for help.
    pub fn of_this_process() -> Arguments {
        let mut command_line = Arguments::with_groups();
        let mut matches = command_line.get_matches_mut();
        Arguments::from_arg_matches_mut(&mut matches)
            .unwrap_or_else(|error| error.format(&mut command_line).exit())
    }
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
    use std::path::PathBuf;

    fn record(words: &[&str]) -> record::RecordArguments {
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Record(arguments) => arguments,
            other => panic!("not record: {other:?}"),
        }
    }

    #[test]
    fn the_definition_passes_claps_checks() {
        Arguments::with_groups().debug_assert();
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
    fn every_command_has_an_example_and_a_group() {
        let command = Arguments::with_groups();
        let grouped = |name| GROUPS.iter().any(|(_, names)| names.contains(&name));
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            let name = subcommand.get_name();
            let help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("kizami {name} ")) || help.contains(&format!("kizami {name}\n")));
            assert!(grouped(name), "{name} is in no group of the help");
        }
    }

    #[test]
    fn every_option_of_record_has_its_variable() {
        let command = Arguments::with_groups();
        let record = command.find_subcommand("record").expect("record");
        let shown = |option: &&clap::Arg| option.get_id() != "help" && !option.is_hide_set();
        for option in record.get_opts().filter(shown) {
            let variable = option.get_env().unwrap_or_else(|| panic!("{} has no variable", option.get_id()));
            assert!(variable.to_string_lossy().starts_with("KIZAMI_"));
        }
    }
}
