//! Which collectives these benchmarks know, and what their sizes mean.

/// What the size in a table means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// There is none.
    Nothing,
    /// All that one rank moves.
    Whole,
    /// The part that one rank has for, or from, one other.
    Part,
}

/// A collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Collective {
    /// The MPI function.
    pub operation: String,
    pub extent: Extent,
}

/// By the name in lower case without `MPI_`.
const EXTENTS: &[(&str, Extent)] = &[
    ("barrier", Extent::Nothing),
    ("bcast", Extent::Whole),
    ("reduce", Extent::Whole),
    ("allreduce", Extent::Whole),
    ("scan", Extent::Whole),
    ("exscan", Extent::Whole),
    ("reduce_scatter", Extent::Whole),
    ("reduce_scatter_block", Extent::Whole),
    ("gather", Extent::Part),
    ("gatherv", Extent::Part),
    ("scatter", Extent::Part),
    ("scatterv", Extent::Part),
    ("allgather", Extent::Part),
    ("allgatherv", Extent::Part),
    ("alltoall", Extent::Part),
    ("alltoallv", Extent::Part),
    ("alltoallw", Extent::Part),
];

/// The one of this name, in lower case and without `MPI_`; none if it is not known.
pub(super) fn blocking(name: &str) -> Option<Collective> {
    let (known, extent) = *EXTENTS.iter().find(|(known, _)| *known == name)?;
    let (first, rest) = known.split_at(1);
    Some(Collective { operation: format!("MPI_{}{rest}", first.to_uppercase()), extent })
}

/// The one that does not wait; the name is that of the one that does.
pub(super) fn nonblocking(name: &str) -> Option<Collective> {
    let extent = blocking(name)?.extent;
    Some(Collective { operation: format!("MPI_I{name}"), extent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::Op;

    #[test]
    fn all_are_functions_of_mpi() {
        for (name, _) in EXTENTS {
            for known in [blocking(name), nonblocking(name)] {
                let operation = known.unwrap().operation;
                assert!(Op::by_name(&operation).is_some(), "{operation}");
            }
        }
        assert_eq!(blocking("hello"), None);
    }
}
