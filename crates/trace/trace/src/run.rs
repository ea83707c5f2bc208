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
    /// Path of the executable (of the lowest rank that says).
    pub executable: String,
    /// Its command line.
    pub command: Vec<String>,
    /// Host names, each once.
    pub hosts: Vec<String>,
    /// What `MPI_Get_library_version` said, its first line.
    pub mpi_library: String,
    /// Wall-clock time of the run's first recorded moment, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// The same moment for people, in UTC.
    pub started_utc: String,
    /// Ranks of the run: of `MPI_COMM_WORLD` and, behind them, of worlds that were spawned.
    pub ranks: u32,
    /// Threads that made MPI calls, over all ranks.
    pub threads: u32,
    /// From the first recorded moment to the last, in nanoseconds.
    pub span_ns: i64,
    /// Sums over everything recorded.
    pub totals: Totals,
    /// Whether everything is there, and what is not.
    pub health: Health,
    /// What must be known to compare times of different ranks.
    pub clocks: ClockInfo,
    /// Counters that were asked for, and what became of them.
    #[serde(default)]
    pub counters: Vec<CounterInfo>,
    /// Time the tracer took from the program; none in traces of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
    /// What the trace was made from, if it is no recording but what a recording would have been without the
    /// tracer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<Undisturbed>,
    /// What the trace was made from, if it is no recording but what a recording would have been under another
    /// setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayedFrom>,
    /// What was kept, if the trace does not have a row for every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Reduced>,
    /// Tasks that were not recorded but counted, if any were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_tasks: Option<CountedTasks>,
    /// Until when the run was watched, if the sealing process knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
    /// One entry for each function that was called, longest total time first.
    pub functions: Vec<FunctionTotal>,
    /// One entry for each rank in order; empty beyond [`RANKS_IN_RUN_JSON`] ranks.
    pub rank_summaries: Vec<RankSummary>,
    /// The files of the trace other than this one, with their sizes.
    pub files: Vec<FileEntry>,
}

/// A counter that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterInfo {
    /// Its name, as in `perf list`.
    pub name: String,
    /// Column of `counters/` with what was counted inside calls; with `_before`, what was counted before them.
    pub column: String,
    /// Ranks that had it.
    pub ranks: u32,
    /// Why others had not: what the kernel said.
    pub refused: Option<String>,
}

/// Sums over everything recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Rows of `events/`.
    pub events: u64,
    /// Calls they stand for.
    pub calls: u64,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
    /// Time inside MPI over all ranks and threads, in nanoseconds.
    pub mpi_ns: i64,
    /// What tracing cost over all ranks and threads, in nanoseconds.
    pub overhead_ns: i64,
    /// Calls that happened and could not be stored.
    pub lost_calls: u64,
}

/// Tasks that were not recorded but counted, because recording had cost too much. The tables of tasks have all that were
/// made before, and none of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedTasks {
    /// How many.
    pub tasks: u64,
    /// Ranks that counted.
    pub ranks: u32,
    /// When the first rank began to, in run time.
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

/// Until when a run was watched. Its last recorded moment may be long before: nothing is recorded of ranks that hang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Watched {
    /// When the recorder saw it end, or when it was looked at while it went on, in run time.
    pub until_ns: i64,
    /// It had not ended then: the trace is a snapshot.
    pub running: bool,
    /// When it was interrupted by a signal to its recorder, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_ns: Option<i64>,
}

/// Whether everything is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// All ranks ended by `MPI_Finalize` and nothing is missing or damaged.
    pub complete: bool,
    /// What is not as it should be, one sentence each.
    pub problems: Vec<String>,
    /// Those of them that say what was not recorded: whatever is said of the run is said without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}

/// How the run-wide clock was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ClockInfo {
    /// Whether times of ranks on different hosts may be compared.
    pub aligned: bool,
    /// The same in a sentence.
    pub note: String,
    /// `one-clock`: all ranks share one. `measured`: offsets between hosts were measured during the run.
    /// `wall-clock`: hosts, or groups of them, were put side by side by their wall clocks.
    /// `virtual`: times are units of virtual time, see the tables of tasks.
    pub method: String,
    /// With measured offsets: no time is further off than this.
    pub bound_ns: Option<i64>,
    /// With several hosts: messages against the order of time.
    pub messages: Option<MessageOrder>,
}

impl ClockInfo {
    /// [`ClockInfo::method`] of runs in virtual time.
    pub const VIRTUAL: &str = "virtual";
}

/// Messages that seem to arrive before they were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MessageOrder {
    /// Messages that were looked at: those whose send and receive were matched.
    pub matched: u64,
    /// Receives whose send was not found, and messages that were matched wrongly.
    pub doubtful: u64,
    /// Violations with hosts put side by side by their wall clocks.
    pub violations_wall_clock: u64,
    /// Violations with the clock of this run, before repairs.
    pub violations: u64,
    /// Moments from which on a rank's times were moved later; `repairs.parquet` has them.
    pub repairs: u64,
    /// The longest of these moves.
    pub largest_repair_ns: i64,
    /// Violations after repairs.
    pub violations_left: u64,
}

/// How a trace came to be that shows a run without the tracer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undisturbed {
    /// The recorded trace, as it was named.
    pub made_from: String,
    /// How times were made, in a sentence.
    pub method: String,
    /// Length of the recorded run, in nanoseconds.
    pub recorded_ns: i64,
    /// Length of the run without the tracer, in nanoseconds.
    pub undisturbed_ns: i64,
    /// The same if delays are taken out of each rank alone and no waiting changes.
    pub direct_only_ns: i64,
    /// What was taken out.
    pub removed: Disturbance,
    /// By how much `undisturbed_ns` may be wrong, in nanoseconds: the error of what was taken out, and a
    /// quarter of the difference that following the waits made.
    pub error_ns: i64,
    /// Calls whose waiting was followed to the ranks they waited for.
    pub followed: u64,
    /// Calls that kept their recorded length although they may have waited: their partner is not in the trace,
    /// or not known.
    pub not_followed: u64,
}

/// How a trace came to be that shows a run under another setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayedFrom {
    /// The trace it was made from, as it was named.
    pub made_from: String,
    /// What was different, as options of `kizami replay`; empty if nothing was.
    pub setting: Vec<String>,
    /// Length of the run it was made from, in nanoseconds.
    pub recorded_ns: i64,
    /// Length of the run under this setting, in nanoseconds.
    pub replayed_ns: i64,
    /// Of the run it was made from: from the first rank that leaves `MPI_Init` to the last that comes to
    /// `MPI_Finalize`, in nanoseconds. Unknown in older traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_work_ns: Option<i64>,
    /// The same under this setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed_work_ns: Option<i64>,
    /// Latency of messages in the run it was made from, fitted to the fastest of each size, in nanoseconds.
    pub latency_ns: f64,
    /// Time each byte of a message adds to that.
    pub per_byte_ns: f64,
    /// Calls whose waiting was followed to the ranks they waited for.
    pub followed: u64,
    /// Calls that may wait for others in a way that is not followed; they kept their length.
    pub not_followed: u64,
    /// Calls whose partner is not in the trace, which kept their length, and messages that were never received.
    pub unmatched: u64,
}

/// What was kept of a trace that does not have a row for every call.
///
/// Counts, times and bytes in `run.json` and `sums.parquet` are of all calls, also of those without a row; unless rows were
/// sampled while the run was recorded ([`Reduced::sums_are_of_rows`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Reduced {
    /// What was asked for, such as `0.1%` or `10240B/s`; none where the recording does not say.
    pub keep: Option<String>,
    /// By what rows were chosen: `classes`, or `paper:one`, `paper:h`, `paper:h2`.
    pub importance: String,
    /// With `paper`: rows that were collected before some of them were sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_n: Option<u64>,
    /// With `paper`: rows that were sampled of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_x: Option<u64>,
    /// What chance was made from.
    pub seed: Option<u64>,
    /// Rows of `events/`.
    pub rows_kept: u64,
    /// Calls they were chosen from.
    pub calls: u64,
    /// Sums, quantiles, peers and the order of calls are there, and the sums are exact.
    pub sums_exact: bool,
    /// Where room was missing.
    pub missing: Missing,
    /// Memory that reducing took for each thread, in bytes, however long the run.
    pub block_bytes: u64,
    /// The trace it was made from, as it was named; none if it was reduced while it was recorded.
    pub made_from: Option<String>,
    /// Bytes of the files of that trace.
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

/// How much is recorded less finely than it should be, or not at all. Sums over a function are exact all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Missing {
    /// Calls that are counted by their function alone, because there were too many places and sizes.
    pub calls_without_place: u64,
    /// Calls in no quantile.
    pub calls_without_quantile: u64,
    /// Calls counted with a duration of another decade.
    pub calls_of_other_duration: u64,
    /// Messages whose peer is not recorded.
    pub messages_without_peer: u64,
    /// Rows that should have been kept.
    pub rows_lost: u64,
    /// Calls that are not in the order of calls.
    pub calls_without_order: u64,
    /// Things that made no sense.
    pub damage: u64,
}

/// All calls of one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionTotal {
    /// Full name, such as `MPI_Send`.
    pub op: String,
    /// How many calls.
    pub calls: u64,
    /// Time inside them, in nanoseconds.
    pub total_ns: i64,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
}

/// One rank in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankSummary {
    /// Which.
    pub rank: u32,
    /// On which host.
    pub host: String,
    /// How it ended: the name of an [`kizami_model::Ending`].
    pub ending: String,
    /// Function it was inside when it ended, if it was.
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
    /// Size.
    pub bytes: u64,
    /// CRC-32 of its bytes; readers check it before they believe the file.
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
