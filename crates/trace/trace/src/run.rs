//! `run.json`: what ran, where, how much of it was recorded, and whether all of it is there.
//!
//! Everything `kizami info` prints comes from this one small file, whatever the size of the trace. Its size
//! does not grow with the number of ranks: beyond [`RANKS_IN_RUN_JSON`] ranks their summaries are only in
//! `defs/ranks.parquet`.

use crate::disturbance::Disturbance;
use crate::schema::Record;
use crate::{RankClassRun, TraceError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The schema this version writes and reads.
pub const SCHEMA: &str = "kizami-trace/1";
/// With more ranks than this, `run.json` has no summary of each.
pub const RANKS_IN_RUN_JSON: usize = 1024;
/// Name of the file within a trace.
pub const RUN_JSON: &str = "run.json";

/// [`Reduced::importance`] of rows that were chosen rare and long ones first, beside exact sums.
pub const BY_CLASSES: &str = "classes";

/// The whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunInfo {
    /// [`SCHEMA`].
    pub schema: String,
    /// Path of the executable, from the lowest rank that reports one.
    pub executable: String,
    /// Its command line.
    pub command: Vec<String>,
    /// Host names, each once.
    pub hosts: Vec<String>,
    /// First line of what `MPI_Get_library_version` returned.
    pub mpi_library: String,
    /// Wall-clock time of the run's first recorded moment, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// The same moment as text, in UTC.
    pub started_utc: String,
    /// Number of ranks: those of `MPI_COMM_WORLD`, followed by those of spawned worlds.
    pub ranks: u32,
    /// Threads that made MPI calls, over all ranks.
    pub threads: u32,
    /// From the first recorded moment to the last, in nanoseconds.
    pub span_ns: i64,
    /// Sums over everything recorded.
    pub totals: Totals,
    /// Whether the recording is complete, and what is missing.
    pub health: Health,
    /// How the clocks of ranks were aligned.
    pub clocks: ClockInfo,
    /// Requested counters, and which ranks had them.
    #[serde(default)]
    pub counters: Vec<CounterInfo>,
    /// Tracer overhead; absent in traces of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
    /// Only in a trace from which tracer overhead was removed: how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<Undisturbed>,
    /// Only in a replayed trace: from which run, with which changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayedFrom>,
    /// Only in a reduced trace: what was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Reduced>,
    /// Only if tasks were counted but not recorded: how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_tasks: Option<CountedTasks>,
    /// Share of the time of all cores that a hypervisor gave to other machines while the program ran, on the host where it was
    /// started; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen: Option<f64>,
    /// End of the observation, if the sealing process knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
    /// Totals of each function that was called, longest first.
    pub functions: Vec<FunctionTotal>,
    /// One entry for each rank in order; empty beyond 1,024 ranks.
    pub rank_summaries: Vec<RankSummary>,
    /// The files of the trace other than this one, with their sizes.
    pub files: Vec<FileEntry>,
}

/// A requested counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterInfo {
    /// Its name, as in `perf list`.
    pub name: String,
    /// Column of `counters/` with the count inside calls; with the suffix `_before`, the count before them.
    pub column: String,
    /// Number of ranks that had it.
    pub ranks: u32,
    /// Why other ranks did not: the error of the kernel.
    pub refused: Option<String>,
}

/// Sums over everything recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Rows of `events/`.
    pub events: u64,
    /// Calls that the rows stand for.
    pub calls: u64,
    /// Bytes sent, written or contributed to collectives.
    pub bytes_out: u64,
    /// Bytes received, read or obtained from collectives.
    pub bytes_in: u64,
    /// Time inside MPI over all ranks and threads, in nanoseconds.
    pub mpi_ns: i64,
    /// Tracer overhead over all ranks and threads, in nanoseconds.
    pub overhead_ns: i64,
    /// Calls that could not be stored.
    pub lost_calls: u64,
}

/// Tasks that were counted but not recorded, because recording had cost too much. The tables of tasks hold those
/// created before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedTasks {
    /// Number of tasks.
    pub tasks: u64,
    /// Number of ranks that counted.
    pub ranks: u32,
    /// When the first rank stopped recording tasks, in run time.
    pub since_ns: i64,
}

impl CountedTasks {
    /// Those of both.
    pub fn and(&self, other: &CountedTasks) -> CountedTasks {
        CountedTasks {
            tasks: self.tasks.saturating_add(other.tasks),
            ranks: self.ranks.saturating_add(other.ranks),
            since_ns: self.since_ns.min(other.since_ns),
        }
    }

    /// In a sentence.
    pub fn sentence(&self) -> String {
        let CountedTasks { tasks, since_ns, .. } = self;
        let seconds = *since_ns as f64 / 1e9;
        format!(
            "{tasks} tasks were only counted, from {seconds:.3} s on, because recording tasks had cost more than 5 % of a \
             thread's time; what is said of tasks is about those made before (record --openmp tasks keeps all)"
        )
    }
}

/// End of the observation. It may be long after the last recorded moment: ranks that hang record nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Watched {
    /// When the recorder saw the run end, or when a running one was read, in run time.
    pub until_ns: i64,
    /// The run had not ended then: the trace is a snapshot.
    pub running: bool,
    /// When a signal to the recorder interrupted the run, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_ns: Option<i64>,
}

/// Whether the recording is complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// All ranks called `MPI_Finalize`, and nothing is missing or damaged.
    pub complete: bool,
    /// What is missing or damaged, one sentence each.
    pub problems: Vec<String>,
    /// Those of the sentences that name what was not recorded: no result includes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}

/// How the clocks of ranks were aligned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ClockInfo {
    /// Times of different hosts are comparable.
    pub aligned: bool,
    /// The same as a sentence.
    pub note: String,
    /// `one-clock`: all ranks share one clock. `measured`: offsets between hosts were measured during the run.
    /// `wall-clock`: hosts, or groups of them, were aligned by their wall clocks. `virtual`: times are units of virtual
    /// time.
    pub method: String,
    /// With measured offsets, largest error of any time.
    pub bound_ns: Option<i64>,
    /// With several hosts: order of sends and receives.
    pub messages: Option<MessageOrder>,
}

impl ClockInfo {
    /// [`ClockInfo::method`] of runs in virtual time.
    pub const VIRTUAL: &str = "virtual";
}

/// Order of sends and receives on different hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MessageOrder {
    /// Messages checked: those with a matched send and receive.
    pub matched: u64,
    /// Sends or receives without a partner, or matched wrongly.
    pub doubtful: u64,
    /// Messages received before they were sent, by wall clocks.
    pub violations_wall_clock: u64,
    /// Messages received before they were sent, by the clock of this run, before repairs.
    pub violations: u64,
    /// Number of shifts of the times of ranks; `repairs.parquet` lists them.
    pub repairs: u64,
    /// Largest shift.
    pub largest_repair_ns: i64,
    /// Messages received before they were sent, after repairs.
    pub violations_left: u64,
}

/// How tracer overhead was removed from a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undisturbed {
    /// The recorded trace, as it was named.
    pub made_from: String,
    /// How times were computed, as a sentence.
    pub method: String,
    /// Length of the recorded run, in nanoseconds.
    pub recorded_ns: i64,
    /// Length of the run without the tracer, in nanoseconds.
    pub undisturbed_ns: i64,
    /// Length of the run if only delays within each rank are removed and no waiting changes.
    pub direct_only_ns: i64,
    /// Tracer overhead that was removed.
    pub removed: Disturbance,
    /// Estimated error of `undisturbed_ns`, in nanoseconds: the error of the removed overhead, and a quarter of the
    /// change in waiting.
    pub error_ns: i64,
    /// Calls whose waiting was replayed.
    pub followed: u64,
    /// Calls that kept their recorded length although they may have waited: their partner is not in the trace, or not
    /// known.
    pub not_followed: u64,
}

/// How a run was replayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayedFrom {
    /// The trace it was made from, as it was named.
    pub made_from: String,
    /// The changes, as options of `kizami replay`; empty if there were none.
    pub setting: Vec<String>,
    /// Length of the recorded run, in nanoseconds.
    pub recorded_ns: i64,
    /// Length of the replayed run, in nanoseconds.
    pub replayed_ns: i64,
    /// Run time of the recorded run: from the first rank that leaves `MPI_Init` to the last that enters `MPI_Finalize`,
    /// in nanoseconds. Absent in older traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_work_ns: Option<i64>,
    /// Run time of the replayed run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed_work_ns: Option<i64>,
    /// Latency of messages in the recorded run, fitted to the fastest of each size, in nanoseconds.
    pub latency_ns: f64,
    /// Time each byte of a message adds to that.
    pub per_byte_ns: f64,
    /// Calls whose waiting was replayed.
    pub followed: u64,
    /// Calls that may wait in a way that is not analysed; they kept their length.
    pub not_followed: u64,
    /// Calls without a partner in the trace, which kept their length, and messages without a receive.
    pub unmatched: u64,
    /// How link contention was modelled, with `--platform`; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<SharedLinks>,
}

/// How link contention was modelled in a replay, and how far its length may be off for that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SharedLinks {
    /// `phases` or `simgrid`.
    pub by: String,
    /// Whether that is accurate for such a run.
    pub accurate: bool,
    /// Shortest likely length of the replayed run, in nanoseconds.
    pub low_ns: i64,
    /// Longest likely length of the replayed run, in nanoseconds.
    pub high_ns: i64,
    /// Why SimGrid did not simulate the run although `phases` is inaccurate for it; null otherwise.
    pub not_simulated: Option<String>,
}

/// What was kept of a trace that does not have a row for every call.
///
/// Counts, times and bytes in `run.json` and `sums.parquet` are of all calls, also of those without a row; unless rows were
/// sampled while the run was recorded ([`Reduced::sums_are_of_rows`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Reduced {
    /// The amount requested, such as `0.1%` or `10240B/s`; null if the recording does not say.
    pub keep: Option<String>,
    /// How rows were selected: `classes`, or `paper:one`, `paper:h`, `paper:h2`.
    pub importance: String,
    /// With `paper`: rows collected before sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_n: Option<u64>,
    /// With `paper`: rows sampled from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_x: Option<u64>,
    /// Random seed.
    pub seed: Option<u64>,
    /// Rows of `events/`.
    pub rows_kept: u64,
    /// Calls that the rows were selected from.
    pub calls: u64,
    /// Sums, quantiles, peers and the order of calls exist, and the sums are exact.
    pub sums_exact: bool,
    /// What exceeded the memory of the reducer.
    pub missing: Missing,
    /// Memory of the reducer for each thread, in bytes; independent of the length of the run.
    pub block_bytes: u64,
    /// The trace it was made from, as it was named; null if it was reduced during the recording.
    pub made_from: Option<String>,
    /// Bytes of the tables of that trace.
    pub made_from_bytes: Option<u64>,
}

impl Reduced {
    /// Rows were sampled by the scheme of a paper: nothing else is known of calls, and waits cannot be followed.
    pub fn is_sampled(&self) -> bool {
        self.importance != BY_CLASSES
    }

    /// So they were while the run was recorded: sums in `run.json` are of the rows alone, but for the number of calls.
    pub fn sums_are_of_rows(&self) -> bool {
        self.is_sampled() && self.made_from.is_none()
    }
}

/// What exceeded the memory of the reducer. Sums by function are exact nevertheless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Missing {
    /// Calls summed by function only, because there were too many call sites and sizes.
    pub calls_without_place: u64,
    /// Calls that no quantile includes.
    pub calls_without_quantile: u64,
    /// Calls counted in another class of durations.
    pub calls_of_other_duration: u64,
    /// Messages without a recorded peer.
    pub messages_without_peer: u64,
    /// Rows that should have been kept.
    pub rows_lost: u64,
    /// Calls that the order of calls does not include.
    pub calls_without_order: u64,
    /// Inconsistencies.
    pub damage: u64,
}

/// Totals of one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionTotal {
    /// Full name, such as `MPI_Send`.
    pub op: String,
    /// Number of calls.
    pub calls: u64,
    /// Time inside them, in nanoseconds.
    pub total_ns: i64,
    /// Bytes sent, written or contributed to collectives.
    pub bytes_out: u64,
    /// Bytes received, read or obtained from collectives.
    pub bytes_in: u64,
}

/// Summary of one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankSummary {
    /// The rank.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// How it ended: `finalized`, `exited`, `aborted`, `vanished` or `running`.
    pub ending: String,
    /// The function it was inside when it ended, if any.
    pub last_call: Option<String>,
    /// Calls recorded.
    pub calls: u64,
    /// Time inside MPI, in nanoseconds.
    pub mpi_ns: i64,
}

/// One file of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileEntry {
    /// Path within the trace directory.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// CRC-32 of its bytes.
    pub crc32: u32,
}

impl RunInfo {
    /// Reads `run.json` of the trace in `directory`.
    pub fn read(directory: &Path) -> Result<RunInfo, TraceError> {
        let path = directory.join(RUN_JSON);
        let text = std::fs::read(&path).map_err(TraceError::file("read", &path))?;
        RunInfo::parse(&text, path)
    }

    /// Reads the text of a `run.json`; `path` is for messages.
    pub fn parse(text: &[u8], path: PathBuf) -> Result<RunInfo, TraceError> {
        let value: serde_json::Value =
            serde_json::from_slice(text).map_err(|error| TraceError::damaged(&path, error.to_string()))?;
        let schema = value.get("schema").and_then(|schema| schema.as_str()).unwrap_or_default();
        if schema != SCHEMA {
            return Err(TraceError::OtherSchema { path, found: schema.to_owned(), expected: SCHEMA });
        }
        serde_json::from_value(value).map_err(|error| TraceError::damaged(&path, error.to_string()))
    }

    /// Whether one rank's rows stand for those of all ranks of its class.
    pub fn is_stored_by_rank_class(&self) -> bool {
        self.files.iter().any(|file| file.path == RankClassRun::PATH)
    }
}

/// A moment as people write it, to the second.
pub fn utc(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March of the year 0 make every leap day the last day of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year_of_era + carry;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
