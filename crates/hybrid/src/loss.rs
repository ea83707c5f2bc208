//! Time of threads in which nothing was computed.

use kizami_replay::Gain;
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Options of `kizami replay` that give the gain again; none if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
}

impl LossKind {
    /// What is without it; none where nobody can do without.
    pub fn mended(self, place: &SourceLine) -> Option<Mended> {
        // Options name lines; a place without one cannot be asked for.
        let option = |name: &str| place.line.is_some().then(|| format!("{name} {place}"));
        let mended = |what: String, option, at_most| Some(Mended { what, option, at_most });
        match self {
            LossKind::Imbalance => {
                let what = format!("threads share the work of the parallel region at {place} evenly");
                mended(what, option("--balance-threads"), false)
            }
            LossKind::Serial => {
                let before = if place.is_unknown() { "after the last parallel region" } else { "before" };
                let place = if place.is_unknown() { String::new() } else { format!(" {place}") };
                let what = format!("threads share what one computes {before}{place}");
                // Some of it may have to be done in order.
                mended(what, option("--share-serial"), true)
            }
            LossKind::InRegion => mended(
                format!("threads wait only for the slowest in the parallel region at {place}"),
                None,
                true,
            ),
            LossKind::Locks => {
                mended(format!("no waiting for locks in the parallel region at {place}"), None, true)
            }
            LossKind::FewerThreads => {
                mended(format!("all threads in the parallel region at {place}"), None, true)
            }
            LossKind::Away => {
                mended(format!("a processor for each thread of the parallel region at {place}"), None, true)
            }
            LossKind::IdleInMpi => {
                let what = format!("overlap the wait at {place} with the computation behind it");
                mended(what, option("--overlap"), true)
            }
            LossKind::Mpi | LossKind::Tracer => None,
        }
    }
}

/// A loss that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// In words.
    pub what: String,
    /// As an option of `kizami replay`; none if it has none.
    pub option: Option<String>,
    /// It may not be possible to do without all of it.
    pub at_most: bool,
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
