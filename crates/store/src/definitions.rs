//! What the numbers in rows stand for, as plain structures: the tables of `defs/`.

use kizami_model::{CommKind, Ending, Nanos, ObjectKind, Rank, ThreadIndex};
use std::collections::BTreeMap;

/// All tables of `defs/`. Each list is ordered by its own index, so `communicators[call.comm]` works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    /// One entry for each rank of the run, also for those that left nothing.
    pub ranks: Vec<RankInfo>,
    /// The hosts.
    pub hosts: Vec<HostInfo>,
    /// The communicators, the world first.
    pub communicators: Vec<Communicator>,
    /// The places in the program calls were made from.
    pub callsites: Vec<CallSite>,
    /// Windows, files and datatypes.
    pub objects: Vec<Object>,
    /// Names of regions.
    pub regions: Vec<Region>,
    /// Neighbours in graph topologies.
    pub neighbours: Vec<Neighbours>,
}

/// One rank.
#[derive(Clone, Debug, PartialEq)]
pub struct RankInfo {
    /// Which.
    pub rank: Rank,
    /// Index of its host in [`Definitions::hosts`]; none for a rank that left nothing.
    pub host: Option<u32>,
    /// Process id there.
    pub pid: Option<u32>,
    /// Threads that made MPI calls.
    pub threads: u32,
    /// How it ended.
    pub ending: Ending,
    /// Code it gave to `MPI_Abort`.
    pub abort_code: Option<i32>,
    /// Function it was inside when it ended; none if it was not inside one.
    pub last_call: Option<String>,
    /// Calls that happened and could not be stored.
    pub lost_calls: u64,
    /// Why not.
    pub lost_reason: Option<String>,
    /// Start of its first recorded call.
    pub first: Option<Nanos>,
    /// End of its last recorded call.
    pub last: Option<Nanos>,
    /// Calls recorded.
    pub calls: u64,
    /// Time inside them.
    pub mpi: Nanos,
    /// What of its segments could not be believed.
    pub damage: Option<String>,
}

/// One host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostInfo {
    /// Index.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Identity of its boot: clocks are comparable within it.
    pub boot_id: String,
    /// What its processes' clocks count: `tsc` or `monotonic`.
    pub clock: String,
}

/// One communicator.
#[derive(Clone, Debug, PartialEq)]
pub struct Communicator {
    /// Index, used by [`kizami_model::Call::comm`].
    pub index: u32,
    /// The number all its ranks agree on. All `MPI_COMM_SELF` share one entry with identity 0.
    pub identity: u64,
    /// Index of the communicator it was made from.
    pub parent: Option<u32>,
    /// How it came to be.
    pub kind: CommKind,
    /// Name given by the program.
    pub name: Option<String>,
    /// How many processes are in it; for an inter-communicator, in the first group.
    pub size: u32,
    /// World rank of each of them, in the order of their ranks in the communicator; none for a member that
    /// left no definition. Empty for `MPI_COMM_SELF`, whose only member is whoever uses it.
    pub members: Vec<Option<Rank>>,
    /// The same for the second group of an inter-communicator; empty for all others.
    pub remote_members: Vec<Option<Rank>>,
    /// Length of each dimension of a Cartesian communicator.
    pub dims: Vec<u32>,
    /// Whether each dimension is periodic.
    pub periodic: Vec<bool>,
}

/// One place in the program.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSite {
    /// Index, used by [`kizami_model::Call::callsite`].
    pub index: u32,
    /// Return address, relative to where the module was loaded.
    pub offset: u64,
    /// Path of the executable or library.
    pub module: Option<String>,
    /// Function, as people write it; `module+0xoffset` if nothing better is known.
    pub function: String,
    /// Source file.
    pub file: Option<String>,
    /// Line there.
    pub line: Option<u32>,
    /// Functions `function` was inlined into, innermost first.
    pub inlined_into: Vec<String>,
}

/// A window, file or datatype.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Index, used by [`kizami_model::Call::object`].
    pub index: u32,
    /// The rank it belongs to: objects are numbered by each rank for itself.
    pub rank: Rank,
    /// What it is.
    pub kind: ObjectKind,
    /// Name: a path for files.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// Index of its communicator.
    pub comm: Option<u32>,
}

/// The name of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Index, used by [`RegionSpan::region`].
    pub index: u32,
    /// Name given by the program.
    pub name: String,
}

/// The neighbours of one rank in a communicator with a graph topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// Index of the communicator.
    pub comm: u32,
    /// Whose neighbours.
    pub rank: Rank,
    /// World ranks it receives from; none for one that cannot be named.
    pub sources: Vec<Option<Rank>>,
    /// World ranks it sends to.
    pub destinations: Vec<Option<Rank>>,
}

/// One stay in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionSpan {
    /// Who.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// Entry.
    pub start: Nanos,
    /// Exit; the rank's last recorded moment if it never left.
    pub end: Nanos,
    /// Index in [`Definitions::regions`].
    pub region: u32,
    /// How many regions were open around it.
    pub depth: u32,
}

/// What was counted with one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Whose.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// Start of the call.
    pub start: Nanos,
    /// By column; nothing where the kernel refused the counter.
    pub values: BTreeMap<String, Option<i64>>,
}

/// A stretch in which the tracer kept the program, looked away, or lost calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Whose.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// From.
    pub start: Nanos,
    /// To.
    pub end: Nanos,
    /// `chunk-wait`, `suspended`, `clock-round`, `drawing`, `paused` or `lost`; see the sealing rules.
    pub reason: String,
    /// For a suspension: how long after the agreed moment the rank went on.
    pub late: Option<Nanos>,
    /// Calls not stored in it.
    pub lost_calls: u64,
}

/// What a row of `clocks.parquet` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// Both clocks of a process, read at one moment.
    Reading,
    /// The offset between two hosts, measured in one round of questions.
    Epoch,
    /// The offset of a host from the root over the whole run.
    Host,
    /// The offset between two hosts as their wall clocks have it.
    WallClock,
}

impl ClockKind {
    /// All of them.
    pub const ALL: [ClockKind; 4] =
        [ClockKind::Reading, ClockKind::Epoch, ClockKind::Host, ClockKind::WallClock];

    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            ClockKind::Reading => "reading",
            ClockKind::Epoch => "epoch",
            ClockKind::Host => "host",
            ClockKind::WallClock => "wall-clock",
        }
    }
}

/// Something the run-wide clock was made from, or what came of it. Offsets are the reference's clock minus the
/// host's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockRow {
    /// What it tells.
    pub kind: ClockKind,
    /// Index of the host in [`Definitions::hosts`].
    pub host: u32,
    /// Index of the host it is compared with: the one that was asked; for [`ClockKind::Host`] the root.
    pub reference_host: Option<u32>,
    /// Whose reading, or who asked.
    pub rank: Option<Rank>,
    /// The process's own clock.
    pub ticks: Option<u64>,
    /// `CLOCK_MONOTONIC` of the host.
    pub monotonic: Option<Nanos>,
    /// The same moment in run time.
    pub at: Option<Nanos>,
    /// How much later the reference's clock is, as measured.
    pub offset: Option<Nanos>,
    /// How far off `offset` can be; for a reading, what the host's own clock makes of it too much.
    pub error: Option<Nanos>,
    /// How much later the root's clock is, by the model of the whole way there; for [`ClockKind::Host`] in the
    /// first round.
    pub root_offset: Option<Nanos>,
    /// How far off `root_offset` can be; for [`ClockKind::Host`] how far off any time of the host can be.
    pub root_error: Option<Nanos>,
    /// How fast the offset grows, in parts of a billion; for [`ClockKind::Host`] on average over the run.
    pub drift_ppb: Option<i64>,
    /// How many questions it rests on.
    pub samples: Option<u32>,
}

/// A moment from which on a rank's times were moved later, because a message seemed to arrive before it was
/// sent. The move fades by 1/8192 of the time that passes, until it is gone or the next repair comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Whose.
    pub rank: Rank,
    /// From when on, in run time after the repair.
    pub at: Nanos,
    /// By how much.
    pub shift: Nanos,
}
