//! Everything that is said about a run, as plain data.

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

/// The report, with findings and hangs in whatever form who reads it needs.
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
    /// The MPI library.
    pub mpi_library: String,
    /// Ranks.
    pub ranks: u32,
    /// Rows of the trace.
    pub events: u64,
    /// From the first recorded moment to the last.
    pub span_ns: i64,
    /// From the first rank that leaves `MPI_Init` to the last that reaches `MPI_Finalize`: what shares are of.
    pub run_ns: i64,
    /// Efficiencies of that part.
    pub efficiency: Efficiency,
    /// What costs most, the worst first; only what surely gains something.
    pub findings: Vec<F>,
    /// All that waiting is blamed on, whether it is listed as a finding or not.
    #[serde(default = "Vec::<F>::new")]
    pub blame: Vec<F>,
    /// All waiting by pattern, longest first.
    pub waits: Vec<WaitTotal>,
    /// The same by pattern and place.
    pub waits_by_place: Vec<WaitTotal>,
    /// What collectives took once all had come, by pattern, longest first: no waiting.
    pub completions: Vec<WaitTotal>,
    /// The same by pattern and place.
    pub completions_by_place: Vec<WaitTotal>,
    /// What the critical path is made of, longest first.
    pub critical_path: Vec<PathPart>,
    /// Calls by function, longest first.
    pub functions: Vec<CallTotal>,
    /// Calls by function and place, longest first.
    pub places: Vec<CallTotal>,
    /// Computation by the place it leads up to, longest first.
    pub computation: Vec<ComputationTotal>,
    /// Time of each rank.
    pub rank_times: Vec<RankTime>,
    /// Ranks whose computation is far from that of the others.
    pub outliers: Vec<u32>,
    /// Messages between ranks, by sender and receiver.
    pub matrix: Vec<MatrixCell>,
    /// Messages by size.
    pub sizes: Vec<SizeClass>,
    /// Loops of the program.
    pub phases: Vec<Phase>,
    /// What the messages say about the network.
    pub network: NetworkFit,
    /// Which sends wait for their receivers, by pair of hosts and size.
    #[serde(default)]
    pub protocols: Vec<SendProtocol>,
    /// What was not understood.
    pub not_understood: NotUnderstood,
    /// If the run was reconstructed from a reduced trace: what is exact about it, and how far it is off.
    #[serde(default, rename = "drawn", skip_serializing_if = "Option::is_none")]
    pub reconstructed: Option<Reconstructed>,
    /// What threads did, if ranks have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Threads>,
    /// Why the run does not go on, or did not; none if it ended well.
    #[serde(default = "Option::<S>::default", rename = "stuck", skip_serializing_if = "Option::is_none")]
    pub hang: Option<S>,
}

impl<F, S> Report<F, S> {
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

/// Waiting of one kind, or what calls took beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitTotal {
    /// Which kind.
    pub pattern: Pattern,
    /// The function and the place; none in totals over places.
    pub at: Option<(String, SourceLine)>,
    /// How many waits.
    pub count: u64,
    /// How long, over all ranks.
    pub ns: i64,
    /// As a part of the time of all ranks.
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
    /// What was done: `computation before MPI_Send` or the name of a function.
    pub what: String,
    /// Where.
    pub place: SourceLine,
    /// The rank that has most of it.
    pub rank: u32,
    /// How long, over all ranks.
    pub ns: i64,
    /// As a part of the path.
    pub share: f64,
    /// Time on the path beyond what all ranks do there on average: what a perfect balance would take away.
    pub imbalance_ns: i64,
}

/// Calls of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallTotal {
    /// Full name.
    pub function: String,
    /// From where; none in totals over places.
    pub place: Option<SourceLine>,
    /// How many.
    pub calls: u64,
    /// How long, over all ranks.
    pub ns: i64,
    /// As a part of the time of all ranks.
    pub share: f64,
    /// Bytes sent, or given to collectives.
    pub bytes: u64,
}

/// Computation that leads up to the calls of one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComputationTotal {
    /// Function called there.
    pub function: String,
    /// The place.
    pub place: SourceLine,
    /// How often.
    pub times: u64,
    /// How long, over all ranks.
    pub ns: i64,
    /// As a part of the time of all ranks.
    pub share: f64,
}

/// Time of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankTime {
    /// Which.
    pub rank: u32,
    /// Computation.
    pub computation_ns: i64,
    /// Inside MPI.
    pub mpi_ns: i64,
    /// Of that, waiting for others.
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
    /// How many.
    pub messages: u64,
    /// How much.
    pub bytes: u64,
}

/// Messages of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeClass {
    /// Smallest size.
    pub from_bytes: u64,
    /// Largest size.
    pub to_bytes: u64,
    /// How many.
    pub messages: u64,
    /// How much.
    pub bytes: u64,
}

/// What the fastest messages say about the network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetworkFit {
    /// Time of the smallest message.
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

/// What was not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotUnderstood {
    /// Calls that may wait for others in a way that is not followed.
    pub not_followed: u64,
    /// Calls whose partners are not in the trace, and messages that were never received.
    pub unmatched: u64,
    /// What is missing in the trace.
    pub problems: Vec<String>,
    /// Calls of the program that were not recorded: nothing is known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}
