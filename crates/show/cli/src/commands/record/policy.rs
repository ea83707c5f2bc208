//! How recording is to use memory and the ranks' time: as people ask for it, and as the tracer is told.

use crate::failure::UsageError;
use crate::keep::{self, Choice, parse_importance};
use crate::show::quantity;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};
use kizami_model::{Length, counter};
use kizami_reduced::Keep;
use std::ffi::OsString;

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
    pub keep: keep::Keep,

    /// With --keep: calls are drawn by numbers made from this one
    #[arg(long, value_name = "NUMBER", default_value_t = 1, env = "KIZAMI_SEED")]
    pub seed: u64,

    /// Only `classes`; to draw as a paper does is for `kizami reduce`, and whoever asks for it here is told so.
    #[arg(long, hide = true, default_value = "classes", value_parser = parse_importance, env = "KIZAMI_IMPORTANCE")]
    importance: Choice,

    /// Belongs to drawing as a paper does.
    #[arg(long, hide = true)]
    paper_n: Option<String>,

    /// Belongs to drawing as a paper does.
    #[arg(long, hide = true)]
    paper_x: Option<String>,

    /// Record calls on files, too: open, close, read, write, fsync, fopen, fread, fwrite and their like, on regular
    /// files, by threads that call MPI
    #[arg(long, env = "KIZAMI_IO", value_parser = FalseyValueParser::new())]
    pub io: bool,

    /// Record OpenMP: parallel regions, tasks and where threads wait; only regions; or nothing
    #[arg(long, value_enum, default_value_t, env = "KIZAMI_OPENMP")]
    pub openmp: OpenMpPolicy,

    /// Count with each call, for example page-faults,context-switches or cache-misses,instructions
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_counter, env = "KIZAMI_COUNTERS")]
    pub counters: Vec<String>,

    /// Send no message between ranks: clocks of several hosts are then put side by side by their wall clocks.
    /// Needed where only some ranks of a job are recorded
    #[arg(long, env = "KIZAMI_NO_CLOCK_ROUNDS", value_parser = FalseyValueParser::new())]
    pub no_clock_rounds: bool,
}

impl PolicyArguments {
    /// Refuses what only `kizami reduce` does.
    pub fn check(&self) -> Result<(), UsageError> {
        let asked = match self.importance {
            Choice::Classes if self.paper_n.is_none() && self.paper_x.is_none() => return Ok(()),
            Choice::Classes => "paper:h2",
            Choice::Paper(f) => f.name(),
        };
        let keep = self.keep.less().map_or_else(|| "0.1%".to_owned(), |keep| keep.to_string());
        Err(UsageError(format!(
            "kizami reduce draws calls as a paper does now, from a whole recording: record without --importance and --keep, \
             then run kizami reduce RUN.kz --keep {keep} --importance {asked} -o SMALL.kz"
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
            variables.push(("KIZAMI_TRACER_SEED", self.seed.to_string().into()));
        }
        if self.io {
            variables.push(("KIZAMI_TRACER_IO", "posix".into()));
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

/// What to record of OpenMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OpenMpPolicy {
    /// Tasks, until recording them has cost 5 % of the time; from then on they are only counted
    #[default]
    Auto,
    /// Parallel regions, and where their threads wait
    Regions,
    /// All tasks as well, whatever that costs
    Tasks,
    /// Nothing
    Off,
}

/// How long ranks stop when they stop together.
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
