//! The command line: every command, option and variable, with the help people see.
//!
//! Nothing here does anything; the modules named like the commands do. Every option can also be given as a
//! `KIZAMI_*` variable, so batch scripts can set them once; what is typed wins over a variable.

use crate::keep::{ImportanceArguments, Keep};
use crate::replay::options::{self, EagerLimit, Line, LineFactor, ModelChange, NetworkKind, Times};
use crate::show::quantity;
use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use kizami_model::{Nanos, counter};
use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  record   the application's own code; 128 + N if signal N killed it
           126, 127  the command cannot be run, or does not exist
  others   0  done
  diff     3  a condition of --fail-if is true
  all      1  it failed, or `doctor` found a problem
           2  the command line is wrong, or the output exists already

Commands that are not listed run the program kizami-COMMAND found beside kizami or on the PATH.";

/// Record MPI programs without rebuilding them, and look at what they did.
#[derive(Debug, Parser)]
#[command(name = "kizami", version, after_help = EXIT_CODES, max_term_width = 100)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Record(RecordArguments),
    Info(InfoArguments),
    Report(ReportArguments),
    View(crate::view::ViewArguments),
    Whatif(WhatifArguments),
    Diff(crate::diff::DiffArguments),
    Events(EventsArguments),
    Clocks(ClocksArguments),
    Export(ExportArguments),
    Seal(SealArguments),
    Reduce(crate::reduce::ReduceArguments),
    Replay(ReplayArguments),
    Undisturb(UndisturbArguments),
    Doctor(DoctorArguments),
    #[command(hide = true)]
    Man(ManArguments),
    #[command(hide = true)]
    Completions(CompletionsArguments),
    /// Tells whether the tracer and its variables arrived in this process; `doctor` launches it.
    #[command(hide = true)]
    Arrived,
    /// `kizami NAME` runs `kizami-NAME`.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

const RECORD_HELP: &str = "\
Examples:
  kizami record -- mpirun -n 4 ./stencil2d
  kizami record -o run.kz -- mpirun -n 4 python3 ring.py
  mpirun -n 4 kizami record -o run.kz -- ./stencil2d
  kizami record --memory 64M --spill together -- mpirun -n 4 ./stencil2d
  kizami record --counters page-faults,context-switches -- mpirun -n 4 ./stencil2d
  kizami record --keep 0.1% -- mpirun -n 4 ./stencil2d
  kizami record --keep 0.1% --importance paper:h2 -- mpirun -n 4 ./stencil2d

The application is neither rebuilt nor relinked, and its input, output and exit code stay its own.
Without -o the trace is kizami-APP-RANKS-N.kz in the current directory, with the first N that is free.
Inside a launcher (third example) all ranks write into one trace and the last one to end seals it;
without -o its name is kizami-APP-RANKS-JOB.kz, where JOB is eight digits made from the launcher's
own identity of the job, so that all ranks agree.
If the output cannot be written, the application runs all the same, without being recorded.
--importance paper (last example) is there to compare with: calls are drawn by how rare their
function and duration are among those just collected; of the others only the number is known.";

/// Run a program and record its MPI calls.
#[derive(Debug, Args)]
#[command(after_help = RECORD_HELP)]
pub struct RecordArguments {
    /// Directory to make for the trace; it must not exist or be empty
    #[arg(short, long, value_name = "NAME.kz", env = "KIZAMI_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Keep the raw segments in the trace's raw/ folder after sealing
    #[arg(long, env = "KIZAMI_KEEP_RAW", value_parser = FalseyValueParser::new())]
    pub keep_raw: bool,

    /// Do not seal after the run; `kizami seal` does it later, on another machine if you like
    #[arg(long, env = "KIZAMI_NO_SEAL", value_parser = FalseyValueParser::new())]
    pub no_seal: bool,

    /// The tracer, if it is not beside kizami or in its ../lib
    #[arg(long, value_name = "libkizami.so", env = "KIZAMI_LIBRARY")]
    pub library: Option<PathBuf>,

    #[command(flatten)]
    pub policy: PolicyArguments,

    /// The program to run, with its launcher and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// How recording uses memory and the ranks' time.
#[derive(Debug, Default, Args)]
pub struct PolicyArguments {
    /// Most memory the trace may take in each rank, such as 64M; what is beyond goes to disk while the
    /// program runs, however long the trace gets [default: what recording needs, a few MiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size, env = "KIZAMI_MEMORY")]
    pub memory: Option<u64>,

    /// How what was recorded leaves memory
    #[arg(long, value_enum, default_value_t, env = "KIZAMI_SPILL")]
    pub spill: SpillPolicy,

    /// With --spill together, how long ranks stop: dynamic (as long as writing takes), unmeasured (the same,
    /// without comparing clocks anew), static:TIME (always so long)
    #[arg(long, value_name = "HOW", default_value = "dynamic", value_parser = parse_suspend, env = "KIZAMI_SUSPEND")]
    pub suspend: Suspend,

    /// How much to keep: all, a share such as 0.1%, or bytes a second of each rank such as 10K/s. Counts, times and
    /// bytes stay exact, and rare and slow calls are kept; of others a sample
    #[arg(long, value_name = "HOW-MUCH", default_value = "all", env = "KIZAMI_KEEP")]
    pub keep: Keep,

    /// With --keep: calls are drawn by numbers made from this one
    #[arg(long, value_name = "NUMBER", default_value_t = 1, env = "KIZAMI_SEED")]
    pub seed: u64,

    #[command(flatten)]
    pub importance: ImportanceArguments,

    /// Count with each call, for example page-faults,context-switches or cache-misses,instructions
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_counter, env = "KIZAMI_COUNTERS")]
    pub counters: Vec<String>,

    /// Send no message between ranks: clocks of several hosts are then put side by side by their wall clocks.
    /// Needed where only some ranks of a job are recorded
    #[arg(long, env = "KIZAMI_NO_CLOCK_ROUNDS", value_parser = FalseyValueParser::new())]
    pub no_clock_rounds: bool,
}

/// How what was recorded leaves memory while the program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SpillPolicy {
    /// Chosen by kizami: background
    #[default]
    Auto,
    /// Written while the program runs: by a helper thread where a core is free, else by each rank itself
    Background,
    /// All ranks stop together after a collective and write, so that none is delayed against the others
    Together,
    /// It does not: what does not fit is dropped and counted
    Never,
}

/// How long ranks stop when they stop together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspend {
    #[default]
    Dynamic,
    Unmeasured,
    Static(Nanos),
}

fn parse_suspend(text: &str) -> Result<Suspend, String> {
    match (text, text.strip_prefix("static:")) {
        ("dynamic", _) => Ok(Suspend::Dynamic),
        ("unmeasured", _) => Ok(Suspend::Unmeasured),
        (_, Some(time)) => quantity::parse_time(time).map(Suspend::Static),
        _ => Err("use dynamic, unmeasured, or static: and a time, such as static:40ms".to_owned()),
    }
}

fn parse_counter(text: &str) -> Result<String, String> {
    let text = text.trim();
    match counter::by_name(text) {
        Some(_) => Ok(text.to_owned()),
        None => {
            let names: Vec<&str> = counter::COUNTERS.iter().map(|counter| counter.name).collect();
            Err(format!("there is no such counter; there are {}", names.join(", ")))
        }
    }
}

const INFO_HELP: &str = "\
Examples:
  kizami info run.kz
  kizami info run.kz --json | jq .totals

Answers from the trace's run.json alone, whatever the size of the trace; of a reduced trace it also
reads the quantiles.";

/// Tell what a trace holds: ranks, calls, time, size and health.
#[derive(Debug, Args)]
#[command(after_help = INFO_HELP)]
pub struct InfoArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Show all functions, not only those that took the most time
    #[arg(short, long, env = "KIZAMI_INFO_ALL", value_parser = FalseyValueParser::new())]
    pub all: bool,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

const EVENTS_HELP: &str = "\
Examples:
  kizami events run.kz --rank 2 --limit 20
  kizami events run.kz --op MPI_Allreduce --from 1.5s --to 1.6s
  kizami events run.kz --json | jq 'select(.bytes_out > 1000000)'

Rows come rank by rank, each in order of start. Times are seconds since the run's first moment.
A peer is a world rank; null is MPI_PROC_NULL, `any` a wildcard that was never answered.";

/// Show the recorded calls, one a row.
#[derive(Debug, Args)]
#[command(after_help = EVENTS_HELP)]
pub struct EventsArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Only calls of this rank
    #[arg(short, long, value_name = "N", env = "KIZAMI_EVENTS_RANK")]
    pub rank: Option<u32>,

    /// Only calls of this function; MPI_ may be left out
    #[arg(long, value_name = "NAME", env = "KIZAMI_EVENTS_OP")]
    pub op: Option<String>,

    /// Only calls that end at this time or later, such as 1.5s, 20ms or 300us
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_time, env = "KIZAMI_EVENTS_FROM")]
    pub from: Option<Nanos>,

    /// Only calls that begin at this time or before
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_time, env = "KIZAMI_EVENTS_TO")]
    pub to: Option<Nanos>,

    /// At most so many rows, 0 for all [default: 100, for JSON all]
    #[arg(short, long, value_name = "N", env = "KIZAMI_EVENTS_LIMIT")]
    pub limit: Option<u64>,

    /// Print JSON, one object a line
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

const CLOCKS_HELP: &str = "\
Examples:
  kizami clocks run.kz
  kizami clocks run.kz --json | jq .hosts

Offsets are the clock of the root host minus the host's own. +- is a bound, not a guess: the truth
is no further away. A violation is a message whose receive ends before its send began.";

/// Tell how the clocks of a run's hosts were brought together, and how well.
#[derive(Debug, Args)]
#[command(after_help = CLOCKS_HELP)]
pub struct ClocksArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

const EXPORT_HELP: &str = "\
Examples:
  kizami export run.kz --to otf2 -o run-otf2        a directory for Vampir, otf2-print and others
  kizami export run.kz --to perfetto -o run.pftrace  open it at ui.perfetto.dev
  kizami export run.kz --to csv -o run.csv

The trace itself needs no export for DuckDB, Polars or pandas: its tables are Parquet.";

/// Write a trace in another tool's format.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub struct ExportArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// The format
    #[arg(long, value_name = "FORMAT", env = "KIZAMI_EXPORT_TO")]
    pub to: ExportFormat,

    /// What to write; it must not exist [default: the trace's name with the format's ending; standard output for csv]
    #[arg(short, long, value_name = "OUT", env = "KIZAMI_EXPORT_OUTPUT")]
    pub output: Option<PathBuf>,
}

/// Formats of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Open Trace Format 2: a directory for Vampir, Score-P's tools and others
    Otf2,
    /// Perfetto's protobuf: one file for ui.perfetto.dev
    Perfetto,
    /// Comma-separated values: one row a call
    Csv,
}

const SEAL_HELP: &str = "\
Examples:
  kizami seal run.kz
  kizami seal run.kz --keep-raw

`kizami record` does this by itself. It is needed after --no-seal, and when a recording was killed
before it could seal. A trace whose raw segments were kept can be sealed again.";

/// Turn a recording's raw segments into the tables of a trace.
#[derive(Debug, Args)]
#[command(after_help = SEAL_HELP)]
pub struct SealArguments {
    /// The recording
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Keep the raw segments
    #[arg(long, env = "KIZAMI_KEEP_RAW", value_parser = FalseyValueParser::new())]
    pub keep_raw: bool,
}

const REPLAY_HELP: &str = "\
Examples:
  kizami replay run.kz --network ideal
  kizami replay run.kz --latency 0.5x --bandwidth 2x -o faster.kz
  kizami replay run.kz --callsite solver.c:88=0.5 --balance solver.c:120
  kizami replay run.kz --loggops L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64k --json | jq .replayed_ns

Walks all calls in the order in which they depend on each other and works out when each would begin
and end. What is not changed stays as recorded; without options the recorded run comes out.
With -o the result is a trace again, for info, events and export; its run.json says how it was made.";

/// Tell how long the run would take if something were different.
#[derive(Debug, Args)]
#[command(after_help = REPLAY_HELP)]
pub struct ReplayArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// How messages and collectives travel
    #[arg(long, value_enum, value_name = "KIND", env = "KIZAMI_REPLAY_NETWORK")]
    pub network: Option<NetworkKind>,

    /// Latency of messages: 0.5x halves what the recorded run's own latency contributes
    #[arg(long, value_name = "TIMES", value_parser = options::parse_times, env = "KIZAMI_REPLAY_LATENCY")]
    #[arg(conflicts_with = "network")]
    pub latency: Option<Times>,

    /// Bandwidth: 2x halves what each byte contributes
    #[arg(long, value_name = "TIMES", value_parser = options::parse_times, env = "KIZAMI_REPLAY_BANDWIDTH")]
    #[arg(conflicts_with = "network")]
    pub bandwidth: Option<Times>,

    /// A LogGOPS model in place of the network: latency L, time o a message costs its sender and its receiver, gap g
    /// between messages, G and O the same per byte, S the size above which messages wait for their receiver.
    /// Those left out are as fitted to the recorded run
    #[arg(long, value_name = "L=1us,...", value_parser = options::parse_model, env = "KIZAMI_REPLAY_LOGGOPS")]
    #[arg(conflicts_with_all = ["network", "latency", "bandwidth"])]
    pub loggops: Option<ModelChange>,

    /// Sends of messages up to this size, such as 1M or unlimited, no longer wait for their receiver: MPI has room for
    /// them. Synchronous sends wait in any case
    #[arg(long, value_name = "SIZE", value_parser = options::parse_eager_limit)]
    #[arg(conflicts_with = "loggops", env = "KIZAMI_REPLAY_EAGER_LIMIT")]
    pub eager_limit: Option<EagerLimit>,

    /// Speed of the processors: at 1.2x, what is computed between calls takes 1/1.2 of the time
    #[arg(long, value_name = "TIMES", value_parser = options::parse_times, env = "KIZAMI_REPLAY_CPU")]
    pub cpu: Option<Times>,

    /// Factor on the time computed right before calls made at a line: solver.c:88=0.5 halves it,
    /// solver.c:88@3=0 takes it away on rank 3. Several with commas between, or the option again
    #[arg(long, value_name = "FILE:LINE[@RANK]=FACTOR", value_parser = options::parse_line_factor)]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_CALLSITE")]
    pub callsite: Vec<LineFactor>,

    /// Give all ranks the mean of the time computed right before calls made at a line
    #[arg(long, value_name = "FILE:LINE", value_parser = options::parse_line)]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_BALANCE")]
    pub balance: Vec<Line>,

    /// Hide waits in calls made at a line behind the time computed right after them: at best, if none of that needs
    /// what was waited for
    #[arg(long, value_name = "FILE:LINE", value_parser = options::parse_line)]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_OVERLAP")]
    pub overlap: Vec<Line>,

    /// Take the tracer's own cost and its stops out
    #[arg(long, env = "KIZAMI_REPLAY_WITHOUT_TRACER", value_parser = FalseyValueParser::new())]
    pub without_tracer: bool,

    /// Threads to walk with; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", env = "KIZAMI_REPLAY_THREADS")]
    pub threads: Option<NonZero<usize>>,

    /// Directory to make for the resulting trace; it must not exist
    #[arg(short, long, value_name = "OUT.kz", env = "KIZAMI_REPLAY_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

const UNDISTURB_HELP: &str = "\
Examples:
  kizami undisturb run.kz -o clean.kz
  kizami undisturb run.kz -o clean.kz --json | jq .undisturbed_ns

The result is a trace with the same calls at other times: what recording them cost and every stretch
in which the tracer held a rank are taken out, and ranks that waited for others wait as much less.
Its run.json says what it was made from, what was taken out, and how sure that is.";

/// Write the run as it would have been without the tracer.
#[derive(Debug, Args)]
#[command(after_help = UNDISTURB_HELP)]
pub struct UndisturbArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Directory to make for the result; it must not exist
    #[arg(short, long, value_name = "CLEAN.kz", env = "KIZAMI_UNDISTURB_OUTPUT")]
    pub output: PathBuf,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

const REPORT_HELP: &str = "\
Examples:
  kizami report run.kz
  kizami report run.kz --all
  kizami report run.kz --html report.html
  kizami report run.kz --markdown >> notes.md
  kizami report run.kz --json | jq .efficiency

The first lines say what costs most, where in the source, and what the run would gain without it;
each gain is the difference of two replays of the run. Shares of waiting are of the time of all
ranks between MPI_Init and MPI_Finalize. Computation is named by the calls it lies between.
The HTML report is one file that loads nothing from elsewhere; unless --all is given, it stays
below 2 MB.";

/// Say what is wrong with a run, where, and what fixing it would gain.
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Show all rows of every table
    #[arg(long, env = "KIZAMI_ALL", value_parser = FalseyValueParser::new())]
    pub all: bool,

    /// Write the report with charts as one HTML file; it must not exist
    #[arg(long, value_name = "OUT.html", env = "KIZAMI_HTML")]
    pub html: Option<PathBuf>,

    /// Print Markdown; wins over --json
    #[arg(long, env = "KIZAMI_MARKDOWN", value_parser = FalseyValueParser::new())]
    pub markdown: bool,

    /// Threads to use; as many as there are cores unless said
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

const WHATIF_HELP: &str = "\
Examples:
  kizami whatif run.kz
  kizami whatif run.kz --json

Ideas come from the findings of `kizami report`, from the places where most is computed or waited,
and from other networks. Each is replayed; the error says how far the iterations of the run scatter,
and how unevenly the time came that would be taken away. The last column is what to give `kizami
replay` to look at one of them more closely.";

/// Rank what could be done about a run by what it would gain.
#[derive(Debug, Args)]
#[command(after_help = WHATIF_HELP)]
pub struct WhatifArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Threads to use; as many as there are cores unless said
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<usize>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

const DOCTOR_HELP: &str = "\
Examples:
  kizami doctor
  kizami doctor --json

Really preloads the tracer and really launches a process with every launcher found.
The exit code is 1 if something would keep a run from being recorded.";

/// Check what recording needs here: MPI, preloading, clock, disk; with a fix for each problem.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_HELP)]
pub struct DoctorArguments {
    /// The tracer, if it is not beside kizami or in its ../lib
    #[arg(long, value_name = "libkizami.so", env = "KIZAMI_LIBRARY")]
    pub library: Option<PathBuf>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

/// Write the man pages into a directory. Example: kizami man /usr/share/man/man1
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Print a shell's completions. Example: kizami completions bash > kizami.bash
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn record(words: &[&str]) -> RecordArguments {
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
            for option in subcommand.get_opts().filter(|option| option.get_id() != "help") {
                let variable = option.get_env().unwrap_or_else(|| panic!("{name} {option} has no variable"));
                assert!(variable.to_string_lossy().starts_with("KIZAMI_"));
            }
        }
    }
}
