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
    #[error("cannot create a directory for a simulated run: {0}; is there room in the temporary directory?")]
    Scratch(std::io::Error),

    /// Fewer hosts than ranks.
    #[error("the platform has {hosts} hosts for {ranks} ranks; describe one with a host for each rank")]
    FewHosts { ranks: u32, hosts: usize },

    /// Several threads of a rank call MPI.
    #[error(
        "rank {rank} of {} calls MPI in several threads; their order with more ranks is unknown. \
         Predictions for the recorded number of ranks work",
        trace.display()
    )]
    Threads { trace: PathBuf, rank: Rank },

    /// A communicator of some ranks.
    #[error(
        "{op} at {place} is on a communicator of some of the ranks; its members among more ranks are unknown. \
         Predictions for the recorded number of ranks work"
    )]
    SomeRanks { op: &'static str, place: String },

    /// A call whose like cannot be made for other ranks.
    #[error(
        "{op} at {place} cannot be predicted for other numbers of ranks yet (windows and persistent requests). \
         Predictions for the recorded number of ranks work"
    )]
    NotGeneralised { op: &'static str, place: String },

    /// Only one number of ranks.
    #[error(
        "predicting other numbers of ranks needs runs with at least two numbers of ranks, or three for an error estimate; \
         all given have {ranks}"
    )]
    OneSize { ranks: u32 },

    /// Ranks do not fall into classes.
    #[error(
        "ranks of the run with {ranks} ranks behave differently, and not by their position in a line or grid; \
         for example rank {rank}. Other numbers of ranks cannot be predicted"
    )]
    NoClasses { ranks: u32, rank: u32 },

    /// Runs do different things.
    #[error(
        "the runs with {few} and {many} ranks differ in structure ({what}); record the same program with the same options, \
         or give runs of more similar sizes"
    )]
    Different { few: u32, many: u32, what: String },

    /// A place whose peer follows no formula.
    #[error(
        "the peers of {op} at {place} follow no known pattern; other numbers of ranks cannot be predicted"
    )]
    NoPeer { op: &'static str, place: String },

    /// A place whose size follows no formula.
    #[error("the message sizes of {op} at {place} do not follow the number of ranks ({sizes})")]
    NoSize { op: &'static str, place: String, sizes: String },

    /// What a call costs with more ranks.
    #[error(
        "the cost of {op} at {place} with {ranks} ranks is unknown: predicted from fewer ranks it was wrong by a factor of \
         {factor:.1}, and it would take {percent:.0} % of the time. Measure it with `kizami bench` and pass the result by \
         --machine"
    )]
    NoCost { op: &'static str, place: String, ranks: u32, factor: f64, percent: f64 },

    /// How long computation takes.
    #[error("the length of the computation before {op} at {place} cannot be predicted: {why}")]
    NoTime { op: &'static str, place: String, why: String },
}

impl PredictError {
    /// Whether the run could not be simulated; it may be predicted without.
    pub fn is_about_simgrid(&self) -> bool {
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
