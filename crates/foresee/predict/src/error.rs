//! What a prediction can fail for.

use kizami_model::Rank;
use kizami_replay::ReplayError;
use kizami_trace::TraceError;
use std::path::PathBuf;

/// Why there is no prediction.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum PredictError {
    /// A trace.
    #[error(transparent)]
    Trace(#[from] TraceError),

    /// A replay.
    #[error(transparent)]
    Replay(#[from] ReplayError),

    /// A graph.
    #[error(transparent)]
    Graph(#[from] kizami_graph::GraphError),

    /// A network.
    #[error(transparent)]
    Platform(#[from] kizami_platform::PlatformError),

    /// The program that simulates is not there.
    #[error("cannot start {}: {source}; `kizami predict --network phases` needs no simulator", program.display())]
    NoSimGrid { program: PathBuf, source: std::io::Error },

    /// It did not succeed.
    #[error("the run cannot be simulated: {said}; `kizami predict --network phases` needs no simulator")]
    Simulation { said: String },

    /// A directory for a run that is simulated.
    #[error("cannot make a directory for a simulated run: {0}; is there room in the temporary directory?")]
    Scratch(std::io::Error),

    /// Fewer hosts than ranks.
    #[error("the platform has {hosts} hosts for {ranks} ranks; describe one with a host for each rank")]
    FewHosts { ranks: u32, hosts: usize },

    /// Several threads of a rank call MPI.
    #[error(
        "rank {rank} of {} calls MPI in several threads; how they take turns with more ranks is not known. \
         Predictions for the recorded number of ranks work",
        trace.display()
    )]
    Threads { trace: PathBuf, rank: Rank },

    /// A communicator of some ranks.
    #[error(
        "{op} at {place} is on a communicator of some of the ranks; which they would be among more ranks is not known. \
         Predictions for the recorded number of ranks work"
    )]
    SomeRanks { op: &'static str, place: String },

    /// A call whose like cannot be made for other ranks.
    #[error(
        "{op} at {place} cannot be foretold for other numbers of ranks yet (windows and persistent requests). \
         Predictions for the recorded number of ranks work"
    )]
    NotGeneralised { op: &'static str, place: String },

    /// Only one number of ranks.
    #[error(
        "to foretell other numbers of ranks, runs with at least two numbers of ranks are needed, three for an error; \
         all given have {ranks}"
    )]
    OneSize { ranks: u32 },

    /// Ranks do not fall into kinds.
    #[error(
        "ranks of the run with {ranks} do different things, and not by their place in a line or grid; \
         for example rank {rank}. Other numbers of ranks cannot be foretold"
    )]
    NoClasses { ranks: u32, rank: u32 },

    /// Runs do different things.
    #[error(
        "the runs with {few} and {many} ranks do different things ({what}); record the same program with the same options, \
         or give runs of more similar sizes"
    )]
    Different { few: u32, many: u32, what: String },

    /// A place whose peer follows no formula.
    #[error(
        "whom {op} at {place} talks to follows no known pattern; other numbers of ranks cannot be foretold"
    )]
    NoPeer { op: &'static str, place: String },

    /// A place whose size follows no formula.
    #[error("how many bytes {op} at {place} moves does not follow the number of ranks ({sizes})")]
    NoSize { op: &'static str, place: String, sizes: String },

    /// What a call costs with more ranks.
    #[error(
        "what {op} at {place} costs with {ranks} ranks is not known: from fewer ranks, what it took was foretold wrongly by a \
         factor of {factor:.1}, and it would take {percent:.0} % of the time. Measure it with `kizami bench` and give that \
         with --machine"
    )]
    NoCost { op: &'static str, place: String, ranks: u32, factor: f64, percent: f64 },

    /// How long computation takes.
    #[error("how long the computation before {op} at {place} takes cannot be foretold: {why}")]
    NoTime { op: &'static str, place: String, why: String },
}

impl PredictError {
    /// Whether the run could not be simulated; it may be foretold without.
    pub(crate) fn is_about_simgrid(&self) -> bool {
        matches!(self, PredictError::NoSimGrid { .. } | PredictError::Simulation { .. })
    }

    /// Without what to do about it.
    pub(crate) fn in_short(&self) -> String {
        match self {
            PredictError::Different { many, what, .. } => format!("next to {many} ranks: {what}"),
            other => other.to_string(),
        }
    }

    /// Whether it says that runs are not of one structure, as far as it is known.
    pub fn is_about_structure(&self) -> bool {
        matches!(
            self,
            PredictError::NoClasses { .. }
                | PredictError::Different { .. }
                | PredictError::NoPeer { .. }
                | PredictError::NoSize { .. }
        )
    }
}
