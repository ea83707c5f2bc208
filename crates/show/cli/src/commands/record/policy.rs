//! Options that control how the tracer uses memory and time, and the variables that pass them to it.

use crate::failure::UsageError;
use crate::keep::{self, Choice, parse_importance};
use crate::show::quantity;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};
use kizami_model::{Length, counter};
use kizami_reduced::{ALL_BELOW, Keep};
use std::ffi::OsString;

/// Headings of the help.
const CONTENT: &str = "What to record";
const BUFFERS: &str = "Buffers";

/// How the tracer uses memory and time, and what it records.
#[derive(Debug, Default, Args)]
pub struct PolicyArguments {
    /// Buffer memory per rank, such as 64M; full buffers are written to disk while the program runs [default: a few MiB]
    #[arg(long, help_heading = BUFFERS, value_name = "SIZE", value_parser = quantity::parse_size, env = "KIZAMI_MEMORY")]
    pub memory: Option<u64>,

    /// When full buffers are written to disk
    #[arg(long, help_heading = BUFFERS, value_enum, default_value_t, env = "KIZAMI_SPILL")]
    pub spill: SpillPolicy,

    /// With --spill together, how long ranks pause: dynamic (as long as writing takes), unmeasured (as dynamic, but without
    /// synchronising clocks again), static:TIME (a fixed time)
    #[arg(long, help_heading = BUFFERS, value_name = "HOW", default_value = "dynamic", value_parser = parse_suspend, env = "KIZAMI_SUSPEND")]
    pub suspend: Suspend,

    /// How much to keep: all, a fraction such as 0.1%, or bytes per second and rank such as 10K/s. Counts, times and
    /// bytes stay exact; rare and slow calls are kept, others are sampled
    #[arg(long, help_heading = CONTENT, value_name = "HOW-MUCH", default_value = "all", env = "KIZAMI_KEEP")]
    pub keep: keep::Keep,

    /// With --keep, keep every call if all threads make fewer than this
    #[arg(long, help_heading = CONTENT, value_name = "CALLS", default_value_t = ALL_BELOW as u32, env = "KIZAMI_KEEP_ALL_BELOW")]
    pub keep_all_below: u32,

    /// With --keep, seed of the sampling
    #[arg(long, help_heading = CONTENT, value_name = "NUMBER", default_value_t = 1, env = "KIZAMI_SEED")]
    pub seed: u64,

    /// Only `classes`: sampling by published schemes is an option of `kizami reduce`, as the error message says.
    #[arg(long, hide = true, default_value = "classes", value_parser = parse_importance, env = "KIZAMI_IMPORTANCE")]
    importance: Choice,

    /// Refused with a hint at `kizami reduce`.
    #[arg(long, hide = true)]
    paper_n: Option<String>,

    /// Refused with a hint at `kizami reduce`.
    #[arg(long, hide = true)]
    paper_x: Option<String>,

    /// Also record POSIX and C file I/O (open, read, write, fsync, fopen, fwrite, ...) on regular files, by threads that
    /// call MPI
    #[arg(long, help_heading = CONTENT, env = "KIZAMI_IO", value_parser = FalseyValueParser::new())]
    pub io: bool,

    /// Whether to record the call path of each MPI call
    #[arg(long, help_heading = CONTENT, value_enum, default_value_t, env = "KIZAMI_PATHS")]
    pub paths: PathsPolicy,

    /// What to record of OpenMP
    #[arg(long, help_heading = CONTENT, value_enum, default_value_t, env = "KIZAMI_OPENMP")]
    pub openmp: OpenMpPolicy,

    /// Hardware or kernel counters to read at each call, such as page-faults,context-switches or
    /// cache-misses,instructions
    #[arg(long, help_heading = CONTENT, value_name = "NAMES", value_delimiter = ',', value_parser = parse_counter, env = "KIZAMI_COUNTERS")]
    pub counters: Vec<String>,

    /// Send no messages to synchronise clocks: hosts are then aligned by their wall clocks. Needed if only some ranks of
    /// a job are recorded
    #[arg(long, help_heading = CONTENT, env = "KIZAMI_NO_CLOCK_ROUNDS", value_parser = FalseyValueParser::new())]
    pub no_clock_rounds: bool,
}

impl PolicyArguments {
    /// Refuses options that only `kizami reduce` has.
    pub fn check(&self) -> Result<(), UsageError> {
        let asked = match self.importance {
            Choice::Classes if self.paper_n.is_none() && self.paper_x.is_none() => return Ok(()),
            Choice::Classes => "paper:h2",
            Choice::Paper(f) => f.name(),
        };
        let keep = self.keep.less().map_or_else(|| "0.1%".to_owned(), |keep| keep.to_string());
        Err(UsageError(format!(
            "sampling by published schemes is an option of `kizami reduce`: record without --importance and --keep, then \
             run kizami reduce RUN.kz --keep {keep} --importance {asked} -o SMALL.kz"
        )))
    }

    /// The variables that tell the tracer.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut variables: Vec<(&'static str, OsString)> = Vec::new();
        if let Some(bytes) = self.memory {
            variables.push(("KIZAMI_TRACER_MEMORY", bytes.to_string().into()));
        }
        match self.spill {
            SpillPolicy::Auto | SpillPolicy::Background => {}
            SpillPolicy::Together => variables.push(("KIZAMI_TRACER_SPILL", "together".into())),
            SpillPolicy::Never => variables.push(("KIZAMI_TRACER_SPILL", "never".into())),
        }
        match self.suspend {
            Suspend::Dynamic => {}
            Suspend::Unmeasured => variables.push(("KIZAMI_TRACER_SUSPEND", "unmeasured".into())),
            Suspend::Static(length) => {
                variables.push(("KIZAMI_TRACER_SUSPEND", format!("static:{}", length.0).into()));
            }
        }
        if !self.counters.is_empty() {
            variables.push(("KIZAMI_TRACER_COUNTERS", self.counters.join(",").into()));
        }
        if let Some(keep) = self.keep.less() {
            let amount = match keep {
                Keep::Fraction(part) => format!("fraction:{part}"),
                Keep::BytesPerSecond(bytes) => format!("rate:{bytes}"),
            };
            variables.push(("KIZAMI_TRACER_KEEP", amount.into()));
            variables.push(("KIZAMI_TRACER_KEEP_ALL_BELOW", self.keep_all_below.to_string().into()));
            variables.push(("KIZAMI_TRACER_SEED", self.seed.to_string().into()));
        }
        if self.io {
            variables.push(("KIZAMI_TRACER_IO", "posix".into()));
        }
        if self.paths == PathsPolicy::Off {
            variables.push(("KIZAMI_TRACER_PATHS", "off".into()));
        }
        match self.openmp {
            OpenMpPolicy::Auto => {}
            OpenMpPolicy::Tasks => variables.push(("KIZAMI_TRACER_OPENMP", "tasks".into())),
            OpenMpPolicy::Regions => variables.push(("KIZAMI_TRACER_OPENMP", "regions".into())),
            OpenMpPolicy::Off => variables.push(("KIZAMI_TRACER_OPENMP", "off".into())),
        }
        if self.no_clock_rounds {
            variables.push(("KIZAMI_TRACER_TALK", "never".into()));
        }
        variables
    }
}

/// What is recorded of call paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PathsPolicy {
    /// The functions that led to each call
    #[default]
    On,
    /// Only where the call was made
    Off,
}

/// When full buffers are written to disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SpillPolicy {
    /// Chosen by Kizami: currently background
    #[default]
    Auto,
    /// While the program runs: by a helper thread if a core is free, otherwise by the rank itself
    Background,
    /// All ranks pause together after a collective and write, so that no rank is delayed relative to others
    Together,
    /// Never: calls that do not fit are dropped and counted
    Never,
}

/// What to record of OpenMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OpenMpPolicy {
    /// Regions, waits and tasks, until tasks have cost 5 % of the time; then tasks are only counted
    #[default]
    Auto,
    /// Parallel regions and the waits of their threads
    Regions,
    /// Regions, waits and all tasks, whatever the cost
    Tasks,
    /// Nothing
    Off,
}

/// How long ranks pause when they pause together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspend {
    #[default]
    Dynamic,
    Unmeasured,
    Static(Length),
}

fn parse_suspend(text: &str) -> Result<Suspend, String> {
    match (text, text.strip_prefix("static:")) {
        ("dynamic", _) => Ok(Suspend::Dynamic),
        ("unmeasured", _) => Ok(Suspend::Unmeasured),
        (_, Some(time)) => quantity::parse_time(time).map(Suspend::Static).map_err(|error| error.to_string()),
        _ => Err("use dynamic, unmeasured, or static: and a time, such as static:40ms".to_owned()),
    }
}

fn parse_counter(text: &str) -> Result<String, String> {
    let text = text.trim();
    match counter::by_name(text) {
        Some(_) => Ok(text.to_owned()),
        None => {
            let names: Vec<&str> = counter::COUNTERS.iter().map(|counter| counter.name).collect();
            Err(format!("unknown counter; available: {}", names.join(", ")))
        }
    }
}
