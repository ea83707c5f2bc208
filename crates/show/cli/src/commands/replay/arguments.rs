//! What can be asked of `kizami replay`.

use crate::memory::MemoryArguments;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};
use kizami_whatif::{Change, EagerLimit, Line, ModelChange, ThreadCount, Times};
use std::num::NonZero;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami replay run.kz --network ideal
  kizami replay run.kz --latency 0.5x --bandwidth 2x -o faster.kz
  kizami replay run.kz --callsite solver.c:88=0.5 --balance solver.c:120
  kizami replay run.kz --omp-threads 2x --balance-threads solver.c:64
  kizami replay run.kz --loggops L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64k --json | jq .replayed_ns

Walks all calls in the order in which they depend on each other and works out when each would begin
and end. What is not changed stays as recorded; without options the recorded run comes out.
With -o the result is a trace again, for info, events and export; its run.json says how it was made.";

/// How messages and collectives travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NetworkKind {
    /// They cost what they cost in the recorded run
    Recorded,
    /// They cost nothing: only partners are waited for
    Ideal,
}

/// Tell how long the run would take if something were different.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReplayArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// How messages and collectives travel
    #[arg(long, value_enum, value_name = "KIND", env = "KIZAMI_REPLAY_NETWORK")]
    pub network: Option<NetworkKind>,

    /// Latency of messages: 0.5x halves what the recorded run's own latency contributes
    #[arg(long, value_name = "TIMES", env = "KIZAMI_REPLAY_LATENCY")]
    #[arg(conflicts_with = "network")]
    pub latency: Option<Times>,

    /// Bandwidth: 2x halves what each byte contributes
    #[arg(long, value_name = "TIMES", env = "KIZAMI_REPLAY_BANDWIDTH")]
    #[arg(conflicts_with = "network")]
    pub bandwidth: Option<Times>,

    /// A LogGOPS model in place of the network: latency L, time o a message costs its sender and its receiver, gap g
    /// between messages, G and O the same per byte, S the size above which messages wait for their receiver.
    /// Those left out are as fitted to the recorded run
    #[arg(long, value_name = "L=1us,...", env = "KIZAMI_REPLAY_LOGGOPS")]
    #[arg(conflicts_with_all = ["network", "latency", "bandwidth"])]
    pub loggops: Option<ModelChange>,

    /// What calls cost on another machine, as `kizami bench` has measured it, in place of the network
    #[arg(long, value_name = "NAME.kzm", env = "KIZAMI_REPLAY_MACHINE")]
    #[arg(conflicts_with_all = ["network", "latency", "bandwidth", "loggops"])]
    pub machine: Option<PathBuf>,

    /// A network whose links messages share, by a short form or a file of SimGrid's XML (see `kizami platform --help`)
    #[arg(long, value_name = "PLATFORM", env = "KIZAMI_REPLAY_PLATFORM")]
    #[arg(conflicts_with_all = ["network", "latency", "bandwidth", "loggops", "machine"])]
    pub platform: Option<String>,

    /// Sends of messages up to this size, such as 1M or unlimited, no longer wait for their receiver: MPI has room for
    /// them. Synchronous sends wait in any case
    #[arg(long, value_name = "SIZE")]
    #[arg(conflicts_with = "loggops", env = "KIZAMI_REPLAY_EAGER_LIMIT")]
    pub eager_limit: Option<EagerLimit>,

    /// Speed of the processors: at 1.2x, what is computed between calls takes 1/1.2 of the time
    #[arg(long, value_name = "TIMES", env = "KIZAMI_REPLAY_CPU")]
    pub cpu: Option<Times>,

    /// Factor on the time computed right before calls made at a line: solver.c:88=0.5 halves it,
    /// solver.c:88@3=0 takes it away on rank 3. Several with commas between, or the option again
    #[arg(long, value_name = "FILE:LINE[@RANK]=FACTOR", value_parser = Change::parse_scale)]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_CALLSITE")]
    pub callsite: Vec<Change>,

    /// Spread the time computed right before calls made at a line over all ranks, step by step, so that they compute as
    /// evenly as it allows
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_BALANCE")]
    pub balance: Vec<Line>,

    /// Threads that run parallel regions of OpenMP on each rank, each with a processor: 2x for twice as many, or their
    /// number. Their work is shared as unevenly as it is; serial parts stay as they are
    #[arg(long, value_name = "N")]
    #[arg(env = "KIZAMI_REPLAY_OMP_THREADS")]
    pub omp_threads: Option<ThreadCount>,

    /// Let all threads of the parallel region that begins at a line compute equally long
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_BALANCE_THREADS")]
    pub balance_threads: Vec<Line>,

    /// Let all threads share what one of them computes before the parallel region that begins at a line
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_SHARE_SERIAL")]
    pub share_serial: Vec<Line>,

    /// Hide waits in calls made at a line behind the time computed right after them: at best, if none of that needs
    /// what was waited for
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_OVERLAP")]
    pub overlap: Vec<Line>,

    /// Let what is computed right before calls made at a line be no longer than others could wait for: each time shorter
    /// by as much as others waited for it, as far as it is longer than usual
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_NO_LONGER")]
    pub no_longer: Vec<Line>,

    /// Leave calls made at a line out: they take no time and wait for nobody
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_LEAVE_OUT")]
    pub leave_out: Vec<Line>,

    /// Post receives early of what is sent, or completed, at a line: it does not wait for them
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_POST_EARLY")]
    pub post_early: Vec<Line>,

    /// Work on what is received at a line in pieces, as they come, where it was handed on as a whole
    #[arg(long, value_name = "FILE:LINE=PIECES", value_parser = Change::parse_pieces)]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_PIECES")]
    pub pieces: Vec<Change>,

    /// Make one of small messages or collectives that follow each other closely at a line
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_JOIN")]
    pub join: Vec<Line>,

    /// Take messages at a line as they come, and not in the order of the program
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_AS_THEY_COME")]
    pub as_they_come: Vec<Line>,

    /// Let calls made at a line communicate in no time; they still wait for their partners
    #[arg(long, value_name = "FILE:LINE")]
    #[arg(value_delimiter = ',', env = "KIZAMI_REPLAY_IDEAL_AT")]
    pub ideal_at: Vec<Line>,

    /// Take the tracer's own cost and its stops out
    #[arg(long, env = "KIZAMI_REPLAY_WITHOUT_TRACER", value_parser = FalseyValueParser::new())]
    pub without_tracer: bool,

    /// Threads to walk with; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", env = "KIZAMI_REPLAY_THREADS")]
    pub threads: Option<NonZero<usize>>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Directory to make for the resulting trace; it must not exist
    #[arg(short, long, value_name = "OUT.kz", env = "KIZAMI_REPLAY_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
