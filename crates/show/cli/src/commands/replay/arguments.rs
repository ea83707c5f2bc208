//! Arguments of `kizami replay`.

use crate::memory::MemoryArguments;
use clap::{Args, ValueEnum};
use kizami_whatif::{Change, EagerLimit, Location, ModelChange, RankList, ThreadCount, Times};
use std::num::NonZero;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami replay run.kz --network ideal
  kizami replay run.kz --latency 0.5x --bandwidth 2x -o faster.kz
  kizami replay run.kz --callsite solver.c:88=0.5 --balance solver.c:120
  kizami replay run.kz --path cg_solve@3=0.5
  kizami replay run.kz --omp-threads 2x --balance-threads solver.c:64
  kizami replay run.kz --loggops L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64k --json | jq .replayed_ns

Replays all calls in happened-before order and computes when each starts and ends. Whatever no
option changes stays as recorded; without options the result is the recorded run. LOCATION is a
source line (solver.c:88), a function, or MODULE+OFFSET, as reports print it; solver.c:88^solver.c:40
or solver.c:88^cg_solve is the same only when called from there. Options that take one may be repeated
or given several, separated by commas. With -o the result is written as a trace for info, events and
export.";

/// Headings of the help.
const NETWORK: &str = "Network";
const COMPUTATION: &str = "Computation";
const COMMUNICATION: &str = "Communication";
const OPENMP: &str = "OpenMP";

/// What messages and collectives cost, and how link contention on a platform is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NetworkKind {
    /// As in the recorded run
    Recorded,
    /// Nothing: ranks only wait for their partners
    Ideal,
    /// With --platform, the default: `phases` where it agrees with SimGrid, otherwise SimGrid if installed
    Auto,
    /// With --platform: fair sharing of links, phase by phase
    Phases,
    /// With --platform: SimGrid, by `kizami simgrid`
    Simgrid,
}

impl NetworkKind {
    /// Whether it says how links of a platform are shared.
    pub fn is_of_links(self) -> bool {
        matches!(self, NetworkKind::Auto | NetworkKind::Phases | NetworkKind::Simgrid)
    }
}

/// Simulate the run with changes to network, processors, threads or code.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReplayArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// Cost of messages and collectives, or how link contention on --platform is modelled
    #[arg(long, value_enum, value_name = "KIND", help_heading = NETWORK)]
    pub network: Option<NetworkKind>,

    /// Scale latency: 0.5x halves the latency fitted to the recorded run
    #[arg(long, value_name = "FACTOR", help_heading = NETWORK)]
    #[arg(conflicts_with = "network")]
    pub latency: Option<Times>,

    /// Scale bandwidth: 2x halves the time per byte
    #[arg(long, value_name = "FACTOR", help_heading = NETWORK)]
    #[arg(conflicts_with = "network")]
    pub bandwidth: Option<Times>,

    /// Replace the network by a LogGOPS model: latency L, overhead o, gap g, gap per byte G, overhead per byte O, eager
    /// limit S; parameters left out are fitted to the recorded run
    #[arg(long, value_name = "L=1us,...", help_heading = NETWORK)]
    #[arg(conflicts_with_all = ["network", "latency", "bandwidth"])]
    pub loggops: Option<ModelChange>,

    /// Replace the network by a machine measured with `kizami bench`
    #[arg(long, value_name = "NAME.kzm", help_heading = NETWORK)]
    #[arg(conflicts_with_all = ["network", "latency", "bandwidth", "loggops"])]
    pub machine: Option<PathBuf>,

    /// Replace the network by one with shared links: a short form or SimGrid XML (see `kizami platform --help`)
    #[arg(long, value_name = "PLATFORM", help_heading = NETWORK)]
    #[arg(conflicts_with_all = ["latency", "bandwidth", "loggops", "machine"])]
    pub platform: Option<String>,

    /// Send messages up to SIZE (such as 1M, or unlimited) eagerly, without waiting for the receiver; synchronous sends
    /// still wait
    #[arg(long, value_name = "SIZE", help_heading = NETWORK)]
    #[arg(conflicts_with = "loggops")]
    pub eager_limit: Option<EagerLimit>,

    /// Scale processor speed: at 1.2x, computation between calls takes 1/1.2 of the time
    #[arg(long, value_name = "FACTOR", help_heading = COMPUTATION)]
    pub cpu: Option<Times>,

    /// Scale the computation before calls at a location: solver.c:88=0.5 halves it, solver.c:88@3=0 removes it on rank 3
    #[arg(long, value_name = "LOCATION[@RANK]=FACTOR", value_parser = Change::parse_scale, help_heading = COMPUTATION)]
    #[arg(value_delimiter = ',')]
    pub callsite: Vec<Change>,

    /// Scale the computation before calls made in a function or in what it calls: cg_solve=0.5 halves it
    #[arg(long, value_name = "LOCATION[@RANK]=FACTOR", value_parser = Change::parse_scale_below, help_heading = COMPUTATION)]
    #[arg(value_delimiter = ',')]
    pub path: Vec<Change>,

    /// Balance the computation before calls at a location over all ranks, iteration by iteration
    #[arg(long, value_name = "LOCATION", help_heading = COMPUTATION)]
    #[arg(value_delimiter = ',')]
    pub balance: Vec<Location>,

    /// End the last tasks of a task farm, computed before calls at a location, at the same time on all workers
    #[arg(long, value_name = "LOCATION", help_heading = COMPUTATION)]
    #[arg(value_delimiter = ',')]
    pub even_tail: Vec<Location>,

    /// Make some ranks, such as 8-11, compute as fast as the median of the others at the same places
    #[arg(long, value_name = "RANKS", help_heading = COMPUTATION)]
    pub like_others: Option<RankList>,

    /// Remove excess computation before calls at a location: the part above the baseline that other ranks waited for
    #[arg(long, alias = "no-longer", value_name = "LOCATION", help_heading = COMPUTATION)]
    #[arg(value_delimiter = ',')]
    pub remove_excess: Vec<Location>,

    /// OpenMP threads per rank, each on its own core: a number, or 2x for twice as many. The work is divided as unevenly
    /// as in the run; serial parts are unchanged
    #[arg(long, value_name = "N", help_heading = OPENMP)]
    pub omp_threads: Option<ThreadCount>,

    /// Divide the work of the parallel region at a location evenly among its threads
    #[arg(long, value_name = "LOCATION", help_heading = OPENMP)]
    #[arg(value_delimiter = ',')]
    pub balance_threads: Vec<Location>,

    /// Parallelise the serial computation before the parallel region at a location
    #[arg(long, value_name = "LOCATION", help_heading = OPENMP)]
    #[arg(value_delimiter = ',')]
    pub share_serial: Vec<Location>,

    /// Overlap waits in calls at a location with the computation after them: the best case, if none of it needs the data
    #[arg(long, value_name = "LOCATION", help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub overlap: Vec<Location>,

    /// Do the computation before calls at a location before the lock is taken that is held there
    #[arg(long, value_name = "LOCATION", help_heading = COMPUTATION)]
    #[arg(value_delimiter = ',')]
    pub out_of_lock: Vec<Location>,

    /// Leave out calls at a location: they take no time and wait for no rank
    #[arg(long, value_name = "LOCATION", help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub leave_out: Vec<Location>,

    /// Post early the receives of messages sent or completed at a location, so that senders do not wait
    #[arg(long, value_name = "LOCATION", help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub post_early: Vec<Location>,

    /// Forward data received at a location in N blocks instead of as a whole
    #[arg(long, value_name = "LOCATION=N", value_parser = Change::parse_pieces, help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub pieces: Vec<Change>,

    /// Merge sequences of small messages or collectives at a location into one
    #[arg(long, alias = "join", value_name = "LOCATION", help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub merge: Vec<Location>,

    /// Receive messages at a location in the order of their arrival instead of program order
    #[arg(long, alias = "as-they-come", value_name = "LOCATION", help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub any_order: Vec<Location>,

    /// Let every rank receive the mean in all-to-all exchanges at a location (MPI_Alltoallv, MPI_Alltoallw)
    #[arg(long, value_name = "LOCATION", help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub even_exchange: Vec<Location>,

    /// Make communication at a location take no time; ranks still wait for their partners
    #[arg(long, value_name = "LOCATION", help_heading = COMMUNICATION)]
    #[arg(value_delimiter = ',')]
    pub ideal_at: Vec<Location>,

    /// Give every thread its own core: no time in which it is ready to run and has none
    #[arg(long, help_heading = COMPUTATION)]
    pub own_cores: bool,

    /// Remove the tracer's overhead and pauses
    #[arg(long)]
    pub without_tracer: bool,

    /// Number of threads; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", env = "KIZAMI_THREADS")]
    pub threads: Option<NonZero<usize>>,

    #[command(flatten)]
    pub memory: MemoryArguments,

    /// Directory to create for the resulting trace; must not exist
    #[arg(short, long, value_name = "OUT.kz")]
    pub output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
