//! Time of threads in which nothing was computed.

use kizami_trace::SourceLine;
use kizami_whatif::{Change, Changes, Gain, Location};
use serde::{Deserialize, Serialize};

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// What the run would gain without it, where that was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// It gains that in the best case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// The options of `kizami replay` that reproduce the gain; none if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<Changes>,
}

/// What is different without a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The options of `kizami replay`; none if there are none.
    pub option: Option<Changes>,
    /// It may not be possible to do without all of it.
    pub at_most: bool,
}

impl LossKind {
    /// The change that removes it; none where it cannot be avoided.
    pub fn fix(self, place: &SourceLine) -> Option<Fix> {
        let option = |change: fn(Location) -> Change| Changes::at([place], change);
        match self {
            LossKind::Imbalance => Some(Fix { option: option(Change::BalanceThreads), at_most: false }),
            // Some of it may have to be done in order.
            LossKind::Serial => Some(Fix { option: option(Change::ShareSerial), at_most: true }),
            LossKind::IdleInMpi => Some(Fix { option: option(Change::Overlap), at_most: true }),
            LossKind::InRegion | LossKind::Locks | LossKind::FewerThreads | LossKind::Away => {
                Some(Fix { option: None, at_most: true })
            }
            LossKind::Mpi | LossKind::Tracer => None,
        }
    }
}
