//! Everything that is said about a run, as plain data.

use crate::cores::SharedCores;
use crate::efficiency::Efficiency;
use crate::finding::Finding;
use crate::phases::Phase;
use crate::protocols::SendProtocol;
use crate::reconstructed::Reconstructed;
use kizami_blame::Pattern;
use kizami_hang::Hang;
use kizami_hybrid::Threads;
use kizami_network::Fit;
use kizami_trace::SourceLine;
use serde::{Deserialize, Serialize};

/// The report; findings and hangs are data, or data with sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Report"))]
pub struct Report<F = Finding, S = Hang> {
    /// The trace, as it was named.
    pub trace: String,
    /// Path of the executable.
    pub executable: String,
    /// The command line, for its name; `info` prints it.
    #[serde(skip)]
    pub command: Vec<String>,
    /// MPI library and version.
    pub mpi_library: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of rows in the trace.
    pub events: u64,
    /// From the first recorded moment to the last.
    pub span_ns: i64,
    /// Run time: from the first rank that leaves `MPI_Init` to the last that enters `MPI_Finalize`. Shares refer to it.
    pub run_ns: i64,
    /// Only if ranks had no core for a part of their time that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_cores: Option<SharedCores>,
    /// Share of the time of all cores that a hypervisor gave to other machines while the program ran, on the host where it was
    /// started; only if that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen: Option<f64>,
    /// Efficiencies over the run time.
    pub efficiency: Efficiency,
    /// Findings, largest first; only those whose gain exceeds its error.
    pub findings: Vec<F>,
    /// All causes of waiting, whether they are findings or not.
    #[serde(default = "Vec::<F>::new")]
    pub blame: Vec<F>,
    /// Waiting by wait-state pattern, longest first.
    pub waits: Vec<WaitTotal>,
    /// Waiting by pattern and call site, longest first.
    pub waits_by_place: Vec<WaitTotal>,
    /// Time in collectives after the last rank entered, by pattern, longest first; this is not waiting.
    pub completions: Vec<WaitTotal>,
    /// The same by pattern and call site.
    pub completions_by_place: Vec<WaitTotal>,
    /// Parts of the critical path, longest first.
    pub critical_path: Vec<PathPart>,
    /// Calls by function, longest first.
    pub functions: Vec<CallTotal>,
    /// Calls by function and call site, longest first.
    pub places: Vec<CallTotal>,
    /// Computation by the call that follows it, longest first.
    pub computation: Vec<ComputationTotal>,
    /// Time of each rank.
    pub rank_times: Vec<RankTime>,
    /// Ranks whose computation is far from that of the others.
    pub outliers: Vec<u32>,
    /// Messages by sender and receiver.
    pub matrix: Vec<MatrixCell>,
    /// Messages by size.
    pub sizes: Vec<SizeClass>,
    /// Loops of the program.
    pub phases: Vec<Phase>,
    /// Network parameters fitted to the fastest messages.
    pub network: NetworkFit,
    /// Which sends wait for their receivers, by pair of hosts and size.
    #[serde(default)]
    pub protocols: Vec<SendProtocol>,
    /// What was not analysed.
    pub not_understood: NotUnderstood,
    /// Only for a reduced trace: exact values, and the errors of the reconstructed run.
    #[serde(default, rename = "drawn", skip_serializing_if = "Option::is_none")]
    pub reconstructed: Option<Reconstructed>,
    /// How threads spend their time; only if ranks have OpenMP parallel regions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Threads>,
    /// Analysis of the hang; only for a run that did not end normally, or that was read while it hung.
    #[serde(default = "Option::<S>::default", rename = "stuck", skip_serializing_if = "Option::is_none")]
    pub hang: Option<S>,
}

impl<F, S> Report<F, S> {
    /// Whether nothing is known but what threads did: no call was recorded.
    pub fn has_only_threads(&self) -> bool {
        self.events == 0 && self.threads.is_some()
    }

    /// The same report with findings and hangs in another form.
    pub fn with<G, T>(self, finding: impl Fn(F) -> G, hang: impl FnOnce(S) -> T) -> Report<G, T> {
        Report {
            trace: self.trace,
            executable: self.executable,
            command: self.command,
            mpi_library: self.mpi_library,
            ranks: self.ranks,
            events: self.events,
            span_ns: self.span_ns,
            run_ns: self.run_ns,
            shared_cores: self.shared_cores,
            stolen: self.stolen,
            efficiency: self.efficiency,
            findings: self.findings.into_iter().map(&finding).collect(),
            blame: self.blame.into_iter().map(&finding).collect(),
            waits: self.waits,
            waits_by_place: self.waits_by_place,
            completions: self.completions,
            completions_by_place: self.completions_by_place,
            critical_path: self.critical_path,
            functions: self.functions,
            places: self.places,
            computation: self.computation,
            rank_times: self.rank_times,
            outliers: self.outliers,
            matrix: self.matrix,
            sizes: self.sizes,
            phases: self.phases,
            network: self.network,
            protocols: self.protocols,
            not_understood: self.not_understood,
            reconstructed: self.reconstructed,
            threads: self.threads,
            hang: self.hang.map(hang),
        }
    }
}

/// Waiting by pattern, or time in collectives after the last rank entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitTotal {
    /// The wait-state pattern.
    pub pattern: Pattern,
    /// Function and call site; null in totals over call sites.
    pub at: Option<(String, SourceLine)>,
    /// Number of occurrences.
    pub count: u64,
    /// Time over all ranks.
    pub ns: i64,
    /// Share of the time of all ranks.
    pub share: f64,
    /// The rank that waited longest.
    pub worst_rank: u32,
    /// How long it waited.
    pub worst_ns: i64,
}

/// A part of the critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathPart {
    /// Name of a function, or `computation before` one.
    pub what: String,
    /// Call site.
    pub place: SourceLine,
    /// The rank with the largest part.
    pub rank: u32,
    /// Time over all ranks.
    pub ns: i64,
    /// Share of the path.
    pub share: f64,
    /// Time on the path beyond the mean of all ranks there: what a perfect balance would remove.
    pub imbalance_ns: i64,
}

/// Calls of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallTotal {
    /// Full name of the function.
    pub function: String,
    /// Call site; null in totals over call sites.
    pub place: Option<SourceLine>,
    /// Number of calls.
    pub calls: u64,
    /// Time over all ranks.
    pub ns: i64,
    /// Share of the time of all ranks.
    pub share: f64,
    /// Bytes sent, or passed to collectives.
    pub bytes: u64,
}

/// Computation before the calls of one call site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComputationTotal {
    /// The function called there.
    pub function: String,
    /// Call site.
    pub place: SourceLine,
    /// Number of occurrences.
    pub times: u64,
    /// Time over all ranks.
    pub ns: i64,
    /// Share of the time of all ranks.
    pub share: f64,
}

/// Time of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankTime {
    /// The rank.
    pub rank: u32,
    /// Computation.
    pub computation_ns: i64,
    /// Time inside MPI.
    pub mpi_ns: i64,
    /// The part of `mpi_ns` spent waiting for other ranks.
    pub waiting_ns: i64,
}

/// Messages from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixCell {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Number of messages.
    pub messages: u64,
    /// Total bytes.
    pub bytes: u64,
}

/// Messages of similar size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeClass {
    /// Smallest size.
    pub from_bytes: u64,
    /// Largest size.
    pub to_bytes: u64,
    /// Number of messages.
    pub messages: u64,
    /// Total bytes.
    pub bytes: u64,
}

/// Network parameters fitted to the fastest messages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetworkFit {
    /// Time of the smallest message; 0 if unknown.
    pub latency_ns: f64,
    /// Bytes per second; 0 if unknown.
    pub bandwidth: f64,
}

impl NetworkFit {
    /// As derived from messages; zeros if too few were observed.
    pub(crate) fn of(fit: &Fit) -> NetworkFit {
        if fit.is_of_collectives() {
            return NetworkFit { latency_ns: 0.0, bandwidth: 0.0 };
        }
        let per_byte_ns = fit.per_byte_ns();
        let bandwidth = if per_byte_ns == 0.0 { 0.0 } else { 1e9 / per_byte_ns };
        NetworkFit { latency_ns: fit.latency_ns(), bandwidth }
    }
}

/// What was not analysed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotUnderstood {
    /// Calls that may wait in a way that is not analysed.
    pub not_followed: u64,
    /// Calls without a partner in the trace, and messages without a receive.
    pub unmatched: u64,
    /// What the trace lacks, one sentence each.
    pub problems: Vec<String>,
    /// Those of the sentences that name calls of the program that were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}
