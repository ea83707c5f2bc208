//! What can be measured, by its names.

use crate::messages::Route;

/// The collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectiveName {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    NeighborAllgather,
    NeighborAlltoall,
}

/// How a collective is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocking,
    /// Started, then awaited.
    Started,
    /// Started, then as much computation as it takes alone, then awaited.
    Overlapped,
}

/// Who gives how much to whom, where ranks may give different amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// The same to all.
    Even,
    /// A quarter to each of four neighbours.
    Sparse,
    /// Half to the next rank, the rest evenly.
    Skewed,
}

/// One thing to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Collective(CollectiveName, Form, Spread),
    /// Messages between two ranks, or among all.
    Message(Route),
    Put,
    Get,
    /// A fixed amount of computation.
    Noise,
}

/// All that can be measured, as pairs of `OP` and `PATTERN`.
pub const OPERATIONS: &[(&str, &str)] = &[
    ("MPI_Barrier", "plain"),
    ("MPI_Bcast", "plain"),
    ("MPI_Reduce", "plain"),
    ("MPI_Allreduce", "plain"),
    ("MPI_Reduce_scatter", "plain"),
    ("MPI_Reduce_scatter_block", "plain"),
    ("MPI_Scan", "plain"),
    ("MPI_Exscan", "plain"),
    ("MPI_Gather", "plain"),
    ("MPI_Gatherv", "plain"),
    ("MPI_Scatter", "plain"),
    ("MPI_Scatterv", "plain"),
    ("MPI_Allgather", "plain"),
    ("MPI_Allgatherv", "plain"),
    ("MPI_Alltoall", "plain"),
    ("MPI_Alltoallv", "plain"),
    ("MPI_Alltoallv", "sparse"),
    ("MPI_Alltoallv", "skewed"),
    ("MPI_Alltoallw", "plain"),
    ("MPI_Neighbor_allgather", "plain"),
    ("MPI_Neighbor_alltoall", "plain"),
    ("MPI_Ibarrier", "plain"),
    ("MPI_Ibarrier", "overlapped"),
    ("MPI_Ibcast", "plain"),
    ("MPI_Ibcast", "overlapped"),
    ("MPI_Ireduce", "plain"),
    ("MPI_Ireduce", "overlapped"),
    ("MPI_Iallreduce", "plain"),
    ("MPI_Iallreduce", "overlapped"),
    ("MPI_Ireduce_scatter", "plain"),
    ("MPI_Ireduce_scatter", "overlapped"),
    ("MPI_Ireduce_scatter_block", "plain"),
    ("MPI_Ireduce_scatter_block", "overlapped"),
    ("MPI_Iscan", "plain"),
    ("MPI_Iscan", "overlapped"),
    ("MPI_Iexscan", "plain"),
    ("MPI_Iexscan", "overlapped"),
    ("MPI_Igather", "plain"),
    ("MPI_Igather", "overlapped"),
    ("MPI_Igatherv", "plain"),
    ("MPI_Igatherv", "overlapped"),
    ("MPI_Iscatter", "plain"),
    ("MPI_Iscatter", "overlapped"),
    ("MPI_Iscatterv", "plain"),
    ("MPI_Iscatterv", "overlapped"),
    ("MPI_Iallgather", "plain"),
    ("MPI_Iallgather", "overlapped"),
    ("MPI_Iallgatherv", "plain"),
    ("MPI_Iallgatherv", "overlapped"),
    ("MPI_Ialltoall", "plain"),
    ("MPI_Ialltoall", "overlapped"),
    ("MPI_Ialltoallv", "plain"),
    ("MPI_Ialltoallv", "overlapped"),
    ("MPI_Ialltoallw", "plain"),
    ("MPI_Ialltoallw", "overlapped"),
    ("MPI_Ineighbor_allgather", "plain"),
    ("MPI_Ineighbor_allgather", "overlapped"),
    ("MPI_Ineighbor_alltoall", "plain"),
    ("MPI_Ineighbor_alltoall", "overlapped"),
    ("MPI_Sendrecv", "shift"),
    ("MPI_Put", "plain"),
    ("MPI_Get", "plain"),
    ("message", "pingpong"),
    ("message", "send"),
    ("message", "receive"),
    ("message", "stream"),
    ("message", "exchange"),
    ("message", "crossing"),
    ("noise", "spin"),
];

impl Operation {
    /// What is meant, if it is one of [`OPERATIONS`].
    pub(crate) fn named(op: &str, pattern: &str) -> Option<Operation> {
        if !OPERATIONS.contains(&(op, pattern)) {
            return None;
        }
        Some(match (op, pattern) {
            ("message", _) => Operation::Message(Route::named(pattern)?),
            ("MPI_Sendrecv", _) => Operation::Message(Route::Shift),
            ("MPI_Put", _) => Operation::Put,
            ("MPI_Get", _) => Operation::Get,
            ("noise", _) => Operation::Noise,
            _ => {
                let (name, started) = collective(op.strip_prefix("MPI_")?)?;
                let form = match (started, pattern) {
                    (false, _) => Form::Blocking,
                    (true, "overlapped") => Form::Overlapped,
                    (true, _) => Form::Started,
                };
                let spread = match pattern {
                    "sparse" => Spread::Sparse,
                    "skewed" => Spread::Skewed,
                    _ => Spread::Even,
                };
                Operation::Collective(name, form, spread)
            }
        })
    }
}

/// A collective by its name without `MPI_`, and whether that is the name of its non-blocking form.
fn collective(name: &str) -> Option<(CollectiveName, bool)> {
    let started = name.starts_with('I');
    let base = if started { &name[1..] } else { name };
    use CollectiveName::*;
    let which = match base.to_ascii_lowercase().as_str() {
        "barrier" => Barrier,
        "bcast" => Bcast,
        "reduce" => Reduce,
        "allreduce" => Allreduce,
        "reduce_scatter" => ReduceScatter,
        "reduce_scatter_block" => ReduceScatterBlock,
        "scan" => Scan,
        "exscan" => Exscan,
        "gather" => Gather,
        "gatherv" => Gatherv,
        "scatter" => Scatter,
        "scatterv" => Scatterv,
        "allgather" => Allgather,
        "allgatherv" => Allgatherv,
        "alltoall" => Alltoall,
        "alltoallv" => Alltoallv,
        "alltoallw" => Alltoallw,
        "neighbor_allgather" => NeighborAllgather,
        "neighbor_alltoall" => NeighborAlltoall,
        _ => return None,
    };
    Some((which, started))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_listed_is_understood() {
        for (op, pattern) in OPERATIONS {
            assert!(Operation::named(op, pattern).is_some(), "{op} {pattern}");
        }
        assert_eq!(Operation::named("MPI_Allreduce", "sparse"), None);
        assert_eq!(Operation::named("MPI_Nothing", "plain"), None);
    }

    #[test]
    fn forms_follow_from_name_and_pattern() {
        use CollectiveName::Exscan;
        let of = |op, pattern| Operation::named(op, pattern);
        assert_eq!(
            of("MPI_Exscan", "plain"),
            Some(Operation::Collective(Exscan, Form::Blocking, Spread::Even))
        );
        assert_eq!(
            of("MPI_Iexscan", "overlapped"),
            Some(Operation::Collective(Exscan, Form::Overlapped, Spread::Even))
        );
    }
}
