//! What threads lose of their time, and what is different without that.

use kizami_explain::{Loss, LossKind, SourceLine};

/// What was lost, and where.
pub fn sentence(loss: &Loss) -> String {
    let (place, call) = (&loss.place, loss.call.as_deref().unwrap_or("MPI"));
    match loss.kind {
        LossKind::Imbalance => format!("threads wait for the slowest in the parallel region at {place}"),
        LossKind::InRegion => {
            format!("threads wait for tasks, barriers or their turn in the parallel region at {place}")
        }
        LossKind::Locks => format!("threads wait for locks in the parallel region at {place}"),
        LossKind::FewerThreads => format!("the parallel region at {place} has fewer threads than others"),
        LossKind::Serial if place.is_unknown() => {
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

/// What is different without it; nothing where nobody can do without.
pub(crate) fn without(kind: LossKind, place: &SourceLine) -> String {
    match kind {
        LossKind::Imbalance => format!("threads share the work of the parallel region at {place} evenly"),
        LossKind::Serial if place.is_unknown() => {
            "threads share what one computes after the last parallel region".to_owned()
        }
        LossKind::Serial => format!("threads share what one computes before {place}"),
        LossKind::InRegion => {
            format!("threads wait only for the slowest in the parallel region at {place}")
        }
        LossKind::Locks => format!("no waiting for locks in the parallel region at {place}"),
        LossKind::FewerThreads => format!("all threads in the parallel region at {place}"),
        LossKind::Away => format!("a processor for each thread of the parallel region at {place}"),
        LossKind::IdleInMpi => format!("overlap the wait at {place} with the computation behind it"),
        LossKind::Mpi | LossKind::Tracer => String::new(),
    }
}
