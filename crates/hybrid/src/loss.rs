//! Time of threads in which nothing was computed.

use kizami_trace::SourceLine;
use serde::{Deserialize, Serialize};

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// Threads of a region wait for the one that has most to do.
    Imbalance,
    /// Threads of a region wait otherwise: in turn, for tasks, for each other at barriers, or for the region to begin and end.
    InRegion,
    /// Threads of a region wait for locks.
    Locks,
    /// A region has fewer threads than there are.
    FewerThreads,
    /// One thread computes outside of regions, and the others have nothing to do.
    Serial,
    /// One thread is in MPI, and the others have nothing to do.
    IdleInMpi,
    /// A thread is in MPI.
    Mpi,
    /// The system kept threads of a region off their processors.
    Away,
    /// The tracer took it.
    Tracer,
}

/// Time that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// To what.
    pub kind: LossKind,
    /// Where: the region, the region that comes after a serial part, or the call.
    pub place: SourceLine,
    /// The call, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// How much, of all threads together.
    pub ns: i64,
}

impl Loss {
    /// In words.
    pub fn words(&self) -> String {
        let (place, call) = (&self.place, self.call.as_deref().unwrap_or("MPI"));
        match self.kind {
            LossKind::Imbalance => format!("threads wait for the slowest in the parallel region at {place}"),
            LossKind::InRegion => {
                format!("threads wait for tasks, barriers or their turn in the parallel region at {place}")
            }
            LossKind::Locks => format!("threads wait for locks in the parallel region at {place}"),
            LossKind::FewerThreads => format!("the parallel region at {place} has fewer threads than others"),
            LossKind::Serial if self.place.is_unknown() => {
                "one thread computes after the last parallel region, the others are idle".to_owned()
            }
            LossKind::Serial => {
                format!("one thread computes before the parallel region at {place}, the others are idle")
            }
            LossKind::IdleInMpi => format!("threads are idle while one is in {call} at {place}"),
            LossKind::Mpi => format!("in {call} at {place}"),
            LossKind::Away => format!("kept off processors in the parallel region at {place}"),
            LossKind::Tracer => format!("taken by the tracer in the parallel region at {place}"),
        }
    }
}
