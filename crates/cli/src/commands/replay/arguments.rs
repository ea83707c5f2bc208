//! What can be asked of `kizami replay`.

use super::options::{self, EagerLimit, Line, LineFactor, ModelChange, NetworkKind, Times};
use clap::Args;
use clap::builder::FalseyValueParser;
use std::num::NonZero;
use std::path::PathBuf;

const HELP: &str = "\
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
#[command(after_help = HELP)]
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
