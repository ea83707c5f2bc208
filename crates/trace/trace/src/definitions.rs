//! The small tables, each declared once: what the numbers in rows stand for, where the tracer stopped, and what the
//! run-wide clock was made from.

use crate::calling_context::{self, Contexts};
use crate::source_line::SourceLine;
use kizami_model::{CommKind, Ending, Length, Moment, ObjectKind, Op, Peer, Rank, StopReason, ThreadIndex};
use kizami_wire::wire_struct;
use std::collections::BTreeMap;

/// A process id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pid(pub u32);

/// The number that all ranks of a communicator agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommIdentity(pub u64);

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
    /// The calls that led there.
    pub paths: Vec<PathFrame>,
    /// Windows, files and datatypes.
    pub objects: Vec<Object>,
    /// Names of regions.
    pub regions: Vec<Region>,
    /// Neighbours in graph topologies.
    pub neighbours: Vec<Neighbours>,
    /// Calls that were being made when their rank ended, or was last looked at.
    pub under_way: Vec<UnderWay>,
    /// Work that the program counted, and how exchanges are spread.
    pub counts: Vec<WorkCount>,
    /// Which ranks have no rows of their own because they are like others; none where every rank has its rows.
    pub rank_classes: Vec<RankClassRun>,
    /// What a reader can tell of the call sites; no table.
    pub contexts: Contexts,
}

impl Definitions {
    /// The calls that led to a function, innermost first, from the one with this index in `paths`.
    pub fn callers(&self, path: Option<u32>) -> impl Iterator<Item = &PathFrame> {
        let frame = |path: Option<u32>| self.paths.get(path? as usize);
        // A caller is a row before.
        std::iter::successors(frame(path), move |of| frame(of.caller.filter(|caller| *caller < of.index)))
    }

    /// The call on the path to a site by which the site is named, because its own function has no name: the innermost whose
    /// function has one. None if there is no need, or none with a name. Functions of an interpreter, and of its binding to MPI,
    /// say nothing of a program.
    pub fn named_frame(&self, site: &CallSite) -> Option<&PathFrame> {
        if has_name(&site.function, site.file.as_deref()) && !is_binding(site.module.as_deref()) {
            return None;
        }
        let is_named = |frame: &&PathFrame| {
            has_name(&frame.function, frame.file.as_deref()) && !is_binding(frame.module.as_deref())
        };
        self.callers(site.path).find(is_named).filter(|frame| !is_interpreter(frame.module.as_deref()))
    }

    /// By index of a call site, that of the first one that a reader cannot tell from it, but for the function called.
    pub fn alike_sites(&self) -> &[u32] {
        self.contexts.alike(self)
    }

    /// The place of a call site, and the functions that lead there, each once, the innermost first: those that have names and
    /// are the program's.
    pub fn functions_on_path(&self, site: u32) -> Vec<SourceLine> {
        calling_context::functions(self, site)
    }

    /// The call sites as people see them: as they are, but for those that are named by a call on their path.
    pub fn named_sites(&self) -> impl Iterator<Item = CallSite> {
        self.callsites.iter().map(|site| match self.named_frame(site) {
            Some(frame) => CallSite {
                module: frame.module.clone(),
                offset: frame.offset,
                function: frame.function.clone(),
                file: frame.file.clone(),
                line: frame.line,
                inlined_into: frame.inlined_into.clone(),
                ..site.clone()
            },
            None => site.clone(),
        })
    }
}

/// Whether a function is more than an address in a module.
pub(crate) fn has_name(function: &str, file: Option<&str>) -> bool {
    file.is_some() || !function.contains("+0x")
}

/// Whether it is mpi4py, which calls on behalf of a script.
pub(crate) fn is_binding(module: Option<&str>) -> bool {
    module.and_then(|path| path.split_once("/mpi4py/MPI.")).is_some()
}

/// Whether it is Python's interpreter, or the loader that starts a program.
pub(crate) fn is_interpreter(module: Option<&str>) -> bool {
    let file = module.and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    ["python", "libpython", "ld-"].iter().any(|name| file.starts_with(name))
}

crate::table! {
    /// One rank.
    RankInfo in "defs/ranks.parquet", always {
        /// Which.
        "rank" rank: Rank,
        /// Index in `defs/hosts`.
        /// Null: left nothing.
        "host" host: Option<u32>,
        /// Process id on its host.
        /// Null: left nothing.
        "pid" pid: Option<Pid>,
        /// Threads that made MPI calls.
        "threads" threads: u32,
        /// `finalized`: `MPI_Finalize` returned. `exited`: left by `exit` or the end of `main` without it.
        /// `aborted`: it called `MPI_Abort`. `vanished`: no sign of an end: killed, crashed, left by `_exit`, or
        /// left nothing. `running`: it had not ended when this was read off its segments.
        "ending" ending: Ending,
        /// Code given to `MPI_Abort`.
        /// Null: did not abort.
        "abort_code" abort_code: Option<i32>,
        /// Function it was inside when it ended; this call has no row, but one in `defs/under_way`.
        /// Null: was not inside one.
        "last_call" last_call: Option<String>,
        /// Calls that happened and could not be stored.
        "lost_calls" lost_calls: u64,
        /// Why, as the operating system says it.
        /// Null: nothing lost.
        "lost_reason" lost_reason: Option<String>,
        /// Start of its first recorded call.
        /// Null: no call.
        "first_ns" first: Option<Moment>,
        /// End of its last recorded call.
        /// Null: no call.
        "last_ns" last: Option<Moment>,
        /// Calls recorded.
        "calls" calls: u64,
        /// Time inside them, over its threads.
        "mpi_ns" mpi: Length,
        /// What recording its calls cost, over its threads.
        /// Null: written by an older version, or not recorded.
        "overhead_ns" overhead: Option<Length>,
        /// Cores of its host that its process might use, such as `0-3,8`.
        /// Null: not known, or written by an older version.
        "cores" cores: Option<String>,
        /// How long its threads could have run, but had no core, from their first call to their last.
        /// Null: not known, or written by an older version.
        "off_core_ns" off_core: Option<Length>,
        /// When its process was seen to end.
        /// Null: it was not watched, or written by an older version.
        "ended_ns" ended: Option<Moment>,
        /// What of its segments could not be believed.
        /// Null: nothing damaged.
        "damage" damage: Option<String>,
    }
}

impl RankInfo {
    /// A rank that left nothing.
    pub fn absent(rank: Rank) -> RankInfo {
        RankInfo {
            rank,
            host: None,
            pid: None,
            threads: 0,
            ending: Ending::Vanished,
            abort_code: None,
            last_call: None,
            lost_calls: 0,
            lost_reason: None,
            first: None,
            last: None,
            calls: 0,
            mpi: Length::ZERO,
            overhead: None,
            cores: None,
            off_core: None,
            ended: None,
            damage: None,
        }
    }
}

crate::table! {
    /// Ranks one after the other that are like one of all ranks, which alone has rows; only in runs stored by rank class.
    #[derive(Eq)]
    RankClassRun in "defs/kinds.parquet", if any {
        /// The first of them.
        "first" first: Rank,
        /// How many.
        "ranks" ranks: u32,
        /// Representative rank: its calls, times and sizes are those of the class; peers have the same offset (rank 0 stays 0).
        "like" like: Rank,
    }
}

crate::table! {
    /// One host.
    HostInfo in "defs/hosts.parquet", always {
        /// Index.
        "index" index: u32,
        /// Host name.
        "name" name: String,
        /// Identity of the boot; clocks are comparable within it.
        "boot_id" boot_id: String,
        /// What its processes' clocks count: `tsc` or `monotonic`.
        "clock" clock: String,
    }
}

crate::table! {
    /// One communicator.
    Communicator in "defs/communicators.parquet", always {
        /// Used by `events.comm`.
        "index" index: u32,
        /// The number all its ranks agree on, 16 hexadecimal digits; unique within a world, not between worlds that
        /// were spawned.
        "identity" identity: CommIdentity,
        /// Communicator it was made from.
        /// Null: has none, or it is not known.
        "parent" parent: Option<u32>,
        /// `world`, `self`, `dup`, `split`, `create`, `cart`, `graph`, `dist_graph`, `inter`, `merge`, `other`.
        "kind" kind: CommKind,
        /// As given by `MPI_Comm_set_name`.
        /// Null: not named.
        "name" name: Option<String>,
        /// Processes in it; of an inter-communicator, in its first group.
        "size" size: u32,
        /// World rank of each, in the order of ranks in the communicator; -3 for one that left no definition; empty
        /// for `self`.
        "members" members: Vec<Option<Rank>>,
        /// The second group of an inter-communicator; empty for others.
        "remote_members" remote_members: Vec<Option<Rank>>,
        /// Lengths of the dimensions of a Cartesian communicator; empty for others.
        "dims" dims: Vec<u32>,
        /// Whether each dimension is periodic.
        "periodic" periodic: Vec<bool>,
    }
}

crate::table! {
    /// One place in the program, and how it came there.
    CallSite in "defs/callsites.parquet", always {
        /// Used by `events.callsite`.
        "index" index: u32,
        /// Return address, relative to where the module was loaded.
        "offset" offset: u64,
        /// Path of the executable or library.
        /// Null: not known.
        "module" module: Option<String>,
        /// Function the call was made from; `module+0xoffset` if nothing better is known.
        "function" function: String,
        /// Source file.
        /// Null: no debug information.
        "file" file: Option<String>,
        /// Line.
        /// Null: no debug information.
        "line" line: Option<u32>,
        /// Functions that `function` was inlined into, innermost first.
        "inlined_into" inlined_into: Vec<String>,
        /// The call that led to `function`: index in `defs/paths`. A place that was reached by several paths has a row for each.
        /// Null: the function is the outermost of the program or a thread, or it is not known who called it.
        "path" path: Option<u32>,
    }
}

crate::table! {
    /// A call that led to the function of a call site, or of another row.
    PathFrame in "defs/paths.parquet", if any {
        /// Used by `path` of `defs/callsites`.
        "index" index: u32,
        /// The call that led to `function`: a row before this one.
        /// Null: the function is the outermost, or it is not known who called it.
        "caller" caller: Option<u32>,
        /// Return address, relative to where the module was loaded.
        "offset" offset: u64,
        /// Path of the executable or library.
        /// Null: not known.
        "module" module: Option<String>,
        /// Function the call was made from; `module+0xoffset` if nothing better is known.
        "function" function: String,
        /// Source file.
        /// Null: no debug information.
        "file" file: Option<String>,
        /// Line.
        /// Null: no debug information.
        "line" line: Option<u32>,
        /// Functions that `function` was inlined into, innermost first.
        "inlined_into" inlined_into: Vec<String>,
    }
}

crate::table! {
    /// A window, file or datatype.
    Object in "defs/objects.parquet", always {
        /// Used by `events.object`.
        "index" index: u32,
        /// Whose.
        "rank" rank: Rank,
        /// `window`, `file`, `datatype`.
        "kind" kind: ObjectKind,
        /// Path of a file; function that made a datatype; empty for windows.
        "name" name: String,
        /// Size of a window's local part, or of a datatype; 0 for files.
        "bytes" bytes: u64,
        /// Communicator of a window or file.
        /// Null: datatypes.
        "comm" comm: Option<u32>,
    }
}

crate::table! {
    /// The name of a region.
    #[derive(Eq)]
    Region in "defs/regions.parquet", always {
        /// Index, used by [`RegionSpan::region`].
        "index" index: u32,
        /// Name given by the program.
        "name" name: String,
    }
}

crate::table! {
    /// Work of one kind that a rank counted at one place by `kizami_count`, or an amount of its exchanges, all together.
    #[derive(Eq)]
    WorkCount in "defs/counts.parquet", if any {
        /// Who.
        "rank" rank: Rank,
        /// Name given by the program, or what is counted of an exchange.
        "name" name: String,
        /// Where it was counted: index in `defs/callsites`.
        /// Null: not known.
        "callsite" callsite: Option<u32>,
        /// How often.
        "times" times: u64,
        /// How much in all.
        "amount" amount: u64,
    }
}

crate::table! {
    /// An MPI function, as it stood in the table of functions of the version that wrote the trace.
    Function in "defs/ops.parquet", always {
        /// Full name, such as `MPI_Send`.
        "name" name: String,
        /// What kind of work it is: `point-to-point`, `completion`, `collective`, `communicator`, `one-sided`, `io`, `datatype`
        /// or `environment`.
        "family" family: String,
    }
}

crate::table! {
    /// The neighbours of one rank in a communicator with a graph topology.
    #[derive(Eq)]
    Neighbours in "defs/neighbours.parquet", if any {
        /// Index of the communicator.
        "comm" comm: u32,
        /// Whose neighbours.
        "rank" rank: Rank,
        /// World ranks it receives from; none for one that cannot be named.
        "sources" sources: Vec<Option<Rank>>,
        /// World ranks it sends to.
        "destinations" destinations: Vec<Option<Rank>>,
    }
}

crate::table! {
    /// A call that was being made when its rank ended, or when a run that still goes on was looked at. It has no row in
    /// `events/`: it never returned.
    #[derive(Copy, Eq)]
    UnderWay in "defs/under_way.parquet", if any {
        /// Who.
        "rank" rank: Rank,
        /// Which of its threads.
        "thread" thread: ThreadIndex,
        /// When the call began.
        "start_ns" start: Moment,
        /// Which function.
        "op" op: Op,
        /// Index in `defs/callsites`.
        /// Null: not known.
        "callsite" callsite: Option<u32>,
        /// Index in `defs/communicators`.
        /// Null: none, or not known.
        "comm" comm: Option<u32>,
        /// World rank the message goes to or is to come from, or whose part of a window is meant; -2 if any may send it,
        /// others as in `events.peer`.
        /// Null: none.
        "peer" peer: Option<Peer>,
        /// Tag of the message; of a lock 1 if it is exclusive, else 0.
        /// Null: none, or any tag will do.
        "tag" tag: Option<i32>,
        /// World rank the receiving half of a send-receive is to get its message from.
        /// Null: no send-receive.
        "recv_peer" recv_peer: Option<Peer>,
        /// Its tag.
        /// Null: no send-receive, or any tag will do.
        "recv_tag" recv_tag: Option<i32>,
        /// World rank of a collective's root.
        /// Null: none.
        "root" root: Option<Peer>,
        /// Index in `defs/objects`: the window or file.
        /// Null: none, or not known.
        "object" object: Option<u32>,
        /// How many requests a wait was given. Which ones is not known; those that were started and not completed are.
        /// Null: no wait.
        "requests" requests: Option<u32>,
    }
}

wire_struct!(UnderWay {
    rank,
    thread,
    start,
    op,
    callsite,
    comm,
    peer,
    tag,
    recv_peer,
    recv_tag,
    root,
    object,
    requests,
});

impl UnderWay {
    /// A call of which only this is known.
    pub fn new(rank: Rank, thread: ThreadIndex, op: Op, start: Moment) -> UnderWay {
        UnderWay {
            rank,
            thread,
            start,
            op,
            callsite: None,
            comm: None,
            peer: None,
            tag: None,
            recv_peer: None,
            recv_tag: None,
            root: None,
            object: None,
            requests: None,
        }
    }
}

crate::table! {
    /// One stay in a region.
    #[derive(Eq)]
    RegionSpan in "regions/", if any {
        /// Who.
        "rank" rank: Rank,
        /// Which of its threads.
        "thread" thread: ThreadIndex,
        /// Entry.
        "start_ns" start: Moment,
        /// Exit; the rank's last recorded moment if it never left.
        "end_ns" end: Moment,
        /// Index in `defs/regions`.
        "region" region: u32,
        /// How many regions were open around it.
        "depth" depth: u32,
    }
}

/// What was counted with one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Whose.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// Start of the call.
    pub start: Moment,
    /// By column; nothing where the kernel refused the counter.
    pub values: BTreeMap<String, Option<i64>>,
}

crate::table! {
    /// A stretch in which the tracer kept the program, looked away, or lost calls.
    #[derive(Eq)]
    Stop in "stops.parquet", always {
        /// Whose.
        "rank" rank: Rank,
        /// Which of its threads.
        "thread" thread: ThreadIndex,
        /// From.
        "start_ns" start: Moment,
        /// To.
        "end_ns" end: Moment,
        /// `chunk-wait`: the tracer made the thread wait for room. `suspended`: all ranks stopped together to write
        /// out what they had. `clock-round`: clocks of hosts were compared. `settling`: ranks agreed that there was
        /// nothing to stop for. `rehearsal`: the tracer measured what recording a call costs. `drawing`: it drew
        /// from the calls it had collected. `paused`: the program switched recording off. `lost`: calls could not
        /// be stored. `other`: a reason that the version which wrote the trace did not know.
        "reason" reason: StopReason,
        /// Of a suspension: how long after the agreed moment the rank went on; else null.
        "late_ns" late: Option<Length>,
        /// Calls not stored in it.
        "lost_calls" lost_calls: u64,
    }
}

wire_struct!(Stop { rank, thread, start, end, reason, late, lost_calls });

/// The contents of a row of `clocks.parquet`.
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

kizami_model::named!(ClockKind, Reading => "reading", Epoch => "epoch", Host => "host", WallClock => "wall-clock");

crate::table! {
    /// Something the run-wide clock was made from, or what came of it. Offsets are the reference's clock minus the
    /// host's own.
    #[derive(Eq)]
    ClockRow in "clocks.parquet", always {
        /// `reading`: both clocks of a process read at one moment. `epoch`: offset between two hosts, measured in
        /// one round of questions. `host`: a host against the root over the whole run. `wall-clock`: offset between
        /// two hosts by their wall clocks.
        "kind" kind: ClockKind,
        /// Index in `defs/hosts`.
        "host" host: u32,
        /// Host the offset is relative to: of an epoch the one that was asked, of a host the root.
        /// Null: readings.
        "reference_host" reference_host: Option<u32>,
        /// Whose reading, or who asked.
        /// Null: `wall-clock`.
        "rank" rank: Option<Rank>,
        /// The process's own clock.
        /// Null: all but readings.
        "ticks" ticks: Option<u64>,
        /// The moment on the host's own `CLOCK_MONOTONIC` scale.
        /// Null: `host`, `wall-clock`.
        "monotonic_ns" monotonic: Option<Length>,
        /// The same moment in run time, before repairs.
        /// Null: `host`, `wall-clock`.
        "at_ns" at: Option<Moment>,
        /// Of an epoch: the reference's clock minus the host's own, the middle of what the samples allow.
        /// `wall-clock`: offset of the host's wall clock.
        /// Null: `reading`, `host`.
        "offset_ns" offset: Option<Length>,
        /// Of an epoch: the truth is no further from `offset_ns`. Of a reading: what the host's straight line makes
        /// of it too much.
        /// Null: `host`, `wall-clock`.
        "error_ns" error: Option<Length>,
        /// The root's clock minus the host's own, by the model; of a host, at its first epoch.
        /// Null: `reading`, `wall-clock`.
        "root_offset_ns" root_offset: Option<Length>,
        /// The truth is no further from `root_offset_ns`; of a host, from any of its times.
        /// Null: `reading`, `wall-clock`.
        "root_error_ns" root_error: Option<Length>,
        /// How fast the offset grows, in parts of a billion; of a host, on average; null if there is one epoch
        /// only.
        /// Null: `reading`, `wall-clock`.
        "drift_ppb" drift_ppb: Option<i64>,
        /// How many questions it rests on.
        /// Null: `reading`, `wall-clock`.
        "samples" samples: Option<u32>,
    }
}

crate::table! {
    /// A moment from which on a rank's times were moved later, because a message seemed to arrive before it was
    /// sent. The move fades by 1/8192 of the time that passes, until it is gone or the next repair comes.
    #[derive(Copy, Eq)]
    Repair in "repairs.parquet", if any {
        /// Whose times.
        "rank" rank: Rank,
        /// From when on, after the repair: the end of a receive.
        "at_ns" at: Moment,
        /// By how much.
        "shift_ns" shift: Length,
    }
}
