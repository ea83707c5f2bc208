//! Words a loss of OpenMP thread time (imbalance, locks, serial computation, ...) and the change that avoids it.

use crate::location::call_at;
use kizami_explain::{Loss, LossKind, SourceLine};

/// The loss and its location.
pub fn sentence(loss: &Loss) -> String {
    let (place, call) = (&loss.place, loss.call.as_deref().unwrap_or("MPI"));
    match loss.kind {
        LossKind::Imbalance => {
            format!("load imbalance: threads wait for the slowest in the parallel region at {place}")
        }
        LossKind::InRegion => {
            format!("threads wait for tasks, barriers or ordered sections in the parallel region at {place}")
        }
        LossKind::Locks => {
            format!("lock contention: threads wait for locks in the parallel region at {place}")
        }
        LossKind::FewerThreads => format!("the parallel region at {place} has fewer threads than others"),
        LossKind::Serial if place.is_unknown() => {
            "serial computation after the last parallel region, with the other threads idle".to_owned()
        }
        LossKind::Serial => {
            format!("serial computation before the parallel region at {place}, with the other threads idle")
        }
        LossKind::IdleInMpi => format!("threads are idle while one is in {}", call_at(call, place)),
        LossKind::Mpi => format!("in {}", call_at(call, place)),
        LossKind::Away => {
            format!("threads are preempted, or wait for one that is, in the parallel region at {place}")
        }
        LossKind::Tracer => format!("tracer overhead in the parallel region at {place}"),
    }
}

/// The change that avoids it; empty if there is none.
pub(crate) fn without(kind: LossKind, place: &SourceLine) -> String {
    match kind {
        LossKind::Imbalance => format!("divide the work of the parallel region at {place} evenly"),
        LossKind::Serial if place.is_unknown() => {
            "parallelise the computation after the last parallel region".to_owned()
        }
        LossKind::Serial => format!("parallelise the computation before {place}"),
        LossKind::InRegion => {
            format!("wait only for the slowest thread in the parallel region at {place}")
        }
        LossKind::Locks => format!("avoid waiting for locks in the parallel region at {place}"),
        LossKind::FewerThreads => format!("use all threads in the parallel region at {place}"),
        LossKind::Away => format!("give each thread of the parallel region at {place} its own core"),
        LossKind::IdleInMpi => format!("overlap the wait at {place} with the computation after it"),
        LossKind::Mpi | LossKind::Tracer => String::new(),
    }
}
