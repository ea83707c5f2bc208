//! Time of threads in which nothing was computed.

use kizami_trace::SourceLine;
use kizami_whatif::{Change, Changes, Gain, Location};
use serde::{Deserialize, Serialize};

/// Why threads did not compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// Waiting for the slowest thread of a region.
    Imbalance,
    /// Other waiting in a region: in turn, for tasks, at barriers, or for the region to begin and end.
    InRegion,
    /// Waiting for locks in a region.
    Locks,
    /// A region runs on fewer threads than the rank has.
    FewerThreads,
    /// Only one thread computes, outside regions.
    Serial,
    /// Other threads while one is in MPI.
    IdleInMpi,
    /// A thread is in MPI.
    Mpi,
    /// Threads of a region descheduled by the system.
    Away,
    /// Tracer overhead.
    Tracer,
}

/// Time of threads without computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Why.
    pub kind: LossKind,
    /// The region, the region after a serial part, or the call site.
    pub place: SourceLine,
    /// The call; only if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Time over all threads.
    pub ns: i64,
    /// Gain without this loss; only if it was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// The gain is a best case; only if it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Options of `kizami replay` that reproduce the gain; only if there are any.
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
