//! Which algorithm Open MPI takes for a number of ranks and bytes: `coll_tuned_decision_fixed` of versions 4.1 and 5, for
//! operations whose order does not matter.
//!
//! Bytes are those the library looks at: of one part in `ALLTOALL`, `ALLGATHER`, `ALLGATHERV`, `GATHER` and `SCATTER`, of all
//! in the others. Names are those of the simulator SimGrid 3.32 where it takes a relative of the library's algorithm. Only
//! data; what is done under a name is said in `library`.

use Pick::*;

/// An algorithm in a table; what it is depends on the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Their names are those of the field.
pub enum Pick {
    AtOnce,
    Binary,
    Binomial,
    Bruck,
    Butterfly,
    Chain,
    Doubling,
    Halving,
    InOrderBinary,
    Knomial,
    Linear,
    Neighbours,
    Pairwise,
    Pipeline,
    Rabenseifner,
    ReduceBroadcast,
    Ring,
    ScatterDoubling,
    SplitBinary,
    Synchronised,
}

/// For fewer ranks than the first of each row, and of these for fewer bytes than the first of each pair.
pub type Table = &'static [(u32, &'static [(u64, Pick)])];

/// Any larger number.
const ANY: u64 = u64::MAX;
/// Any larger number of ranks.
const ANY_RANKS: u32 = u32::MAX;

/// The row and the column that hold.
pub fn look_up(table: Table, ranks: u32, bytes: u64) -> Option<Pick> {
    let (_, columns) = table.iter().find(|(below, _)| ranks < *below).or(table.last())?;
    columns.iter().find(|(below, _)| bytes < *below).or(columns.last()).map(|(_, pick)| *pick)
}

/// `MPI_Allreduce`.
pub const ALLREDUCE: Table = &[
    (
        4,
        &[
            (8, Ring),
            (4 << 10, Doubling),
            (8 << 10, Ring),
            (16 << 10, Doubling),
            (256 << 10, Ring),
            (ANY, Rabenseifner),
        ],
    ),
    (8, &[(16, Ring), (8 << 10, Doubling), (ANY, Rabenseifner)]),
    (16, &[(8 << 10, Doubling), (ANY, Rabenseifner)]),
    (32, &[(64, Ring), (4 << 10, Doubling), (ANY, Rabenseifner)]),
    (64, &[(128, Ring), (ANY, Rabenseifner)]),
    (128, &[(256 << 10, Doubling), (ANY, Rabenseifner)]),
    (256, &[(128 << 10, ReduceBroadcast), (256 << 10, Doubling), (ANY, Rabenseifner)]),
    (512, &[(4 << 10, ReduceBroadcast), (ANY, Rabenseifner)]),
    (2048, &[(2 << 10, ReduceBroadcast), (16 << 10, Doubling), (ANY, Rabenseifner)]),
    (4096, &[(2 << 10, ReduceBroadcast), (4 << 10, Ring), (16 << 10, Doubling), (ANY, Rabenseifner)]),
    (ANY_RANKS, &[(2 << 10, ReduceBroadcast), (16 << 10, Ring), (32 << 10, Doubling), (ANY, Rabenseifner)]),
];

/// `MPI_Alltoall`.
pub const ALLTOALL: Table = &[
    (
        3,
        &[
            (2, Pairwise),
            (4, Linear),
            (16, Pairwise),
            (64, Linear),
            (256, Pairwise),
            (4 << 10, Linear),
            (32 << 10, Pairwise),
            (1 << 20, Linear),
            (ANY, Pairwise),
        ],
    ),
    (8, &[(512 << 10, Linear), (1 << 20, Pairwise), (ANY, Linear)]),
    (16, &[(ANY, Linear)]),
    (32, &[(4, Linear), (512, Bruck), (ANY, Linear)]),
    (64, &[(512, Bruck), (ANY, Linear)]),
    (256, &[(1 << 10, Bruck), (256 << 10, Linear), (ANY, Pairwise)]),
    (512, &[(1 << 10, Bruck), (32 << 10, Linear), (ANY, Pairwise)]),
    (1024, &[(512, Bruck), (256 << 10, Linear), (ANY, Pairwise)]),
    (2048, &[(512, Bruck), (ANY, Linear)]),
    (4096, &[(1 << 10, Bruck), (ANY, Linear)]),
    (ANY_RANKS, &[(2 << 10, Bruck), (ANY, Linear)]),
];

/// `MPI_Alltoallv`.
pub const ALLTOALLV: Table = &[
    (4, &[(ANY, Pairwise)]),
    (64, &[(ANY, Linear)]),
    (128, &[(ANY, Pairwise)]),
    (256, &[(ANY, Linear)]),
    (1024, &[(ANY, Pairwise)]),
    (ANY_RANKS, &[(ANY, Linear)]),
];

/// `MPI_Barrier`.
pub const BARRIER: Table = &[
    (4, &[(ANY, Doubling)]),
    (8, &[(ANY, Linear)]),
    (64, &[(ANY, Doubling)]),
    (256, &[(ANY, Bruck)]),
    (512, &[(ANY, Binomial)]),
    (1024, &[(ANY, Bruck)]),
    (4096, &[(ANY, Binomial)]),
    (ANY_RANKS, &[(ANY, Bruck)]),
];

/// `MPI_Bcast`.
pub const BCAST: Table = &[
    (
        4,
        &[
            (32, Pipeline),
            (256, Binary),
            (512, Pipeline),
            (1 << 10, Knomial),
            (32 << 10, Chain),
            (128 << 10, Binary),
            (256 << 10, Pipeline),
            (512 << 10, Chain),
            (1 << 20, Binomial),
            (ANY, Binary),
        ],
    ),
    (
        8,
        &[
            (64, Binary),
            (128, Binomial),
            (2 << 10, Binary),
            (8 << 10, Binomial),
            (1 << 20, Chain),
            (ANY, Pipeline),
        ],
    ),
    (
        16,
        &[
            (8, Knomial),
            (64, Binary),
            (4 << 10, Knomial),
            (16 << 10, Binary),
            (32 << 10, Binomial),
            (ANY, Chain),
        ],
    ),
    (32, &[(4 << 10, Knomial), (1 << 20, Binomial), (ANY, ScatterDoubling)]),
    (64, &[(2 << 10, Binomial), (ANY, Knomial)]),
    (128, &[(ANY, Knomial)]),
    (256, &[(2, Binomial), (16 << 10, Binary), (32 << 10, Chain), (64 << 10, Binary), (ANY, Knomial)]),
    (1024, &[(16 << 10, Knomial), (32 << 10, SplitBinary), (ANY, Knomial)]),
    (2048, &[(512 << 10, Knomial), (ANY, ScatterDoubling)]),
    (4096, &[(256 << 10, Knomial), (ANY, ScatterDoubling)]),
    (ANY_RANKS, &[(8 << 10, Knomial), (16 << 10, Binary), (256 << 10, Knomial), (ANY, ScatterDoubling)]),
];

/// `MPI_Reduce`.
pub const REDUCE: Table = &[
    (
        4,
        &[
            (8, Linear),
            (16, Binary),
            (32, Pipeline),
            (256 << 10, Linear),
            (512 << 10, Pipeline),
            (1 << 20, Chain),
            (ANY, Pipeline),
        ],
    ),
    (
        8,
        &[
            (4 << 10, Binary),
            (64 << 10, Chain),
            (256 << 10, Binomial),
            (512 << 10, Linear),
            (1 << 20, Binomial),
            (ANY, Linear),
        ],
    ),
    (16, &[(8 << 10, Binary), (ANY, Binomial)]),
    (32, &[(4 << 10, Binary), (ANY, Binomial)]),
    (256, &[(ANY, Binomial)]),
    (512, &[(8 << 10, Binomial), (16 << 10, InOrderBinary), (ANY, Binomial)]),
    (2048, &[(ANY, Binomial)]),
    (
        4096,
        &[
            (512, Binomial),
            (1 << 10, InOrderBinary),
            (8 << 10, Binomial),
            (16 << 10, InOrderBinary),
            (ANY, Binomial),
        ],
    ),
    (
        ANY_RANKS,
        &[
            (16, Binomial),
            (32, InOrderBinary),
            (1 << 10, Binomial),
            (2 << 10, InOrderBinary),
            (8 << 10, Binomial),
            (16 << 10, InOrderBinary),
            (ANY, Binomial),
        ],
    ),
];

/// `MPI_Reduce_scatter`.
pub const REDUCE_SCATTER: Table = &[
    (4, &[(64 << 10, Ring), (128 << 10, Butterfly), (ANY, Ring)]),
    (8, &[(8, Linear), (256 << 10, Halving), (ANY, Ring)]),
    (32, &[(256 << 10, Halving), (ANY, Ring)]),
    (64, &[(64, Linear), (2 << 10, Halving), (512 << 10, Butterfly), (ANY, Ring)]),
    (128, &[(256, Linear), (512, Halving), (2 << 10, Butterfly), (4 << 10, Halving), (ANY, Butterfly)]),
    (256, &[(256, Linear), (512, Halving), (ANY, Butterfly)]),
    (512, &[(256, Linear), (1 << 10, Halving), (ANY, Butterfly)]),
    (1024, &[(512, Linear), (2 << 10, Halving), (8 << 10, Butterfly), (16 << 10, Halving), (ANY, Butterfly)]),
    (
        2048,
        &[(512, Linear), (4 << 10, Halving), (16 << 10, Butterfly), (32 << 10, Halving), (ANY, Butterfly)],
    ),
    (4096, &[(512, Linear), (4 << 10, Halving), (ANY, Butterfly)]),
    (ANY_RANKS, &[(1 << 10, Linear), (8 << 10, Halving), (ANY, Butterfly)]),
];

/// `MPI_Allgather`.
pub const ALLGATHER: Table = &[
    (32, &[(ANY, Doubling)]),
    (64, &[(1 << 10, Doubling), (64 << 10, Neighbours), (ANY, Ring)]),
    (128, &[(512, Doubling), (64 << 10, Neighbours), (ANY, Ring)]),
    (256, &[(512, Doubling), (128 << 10, Neighbours), (512 << 10, Ring), (1 << 20, Neighbours), (ANY, Ring)]),
    (
        512,
        &[
            (32, Doubling),
            (128, Bruck),
            (1 << 10, Doubling),
            (128 << 10, Neighbours),
            (512 << 10, Ring),
            (1 << 20, Neighbours),
            (ANY, Ring),
        ],
    ),
    (1024, &[(64, Doubling), (256, Bruck), (2 << 10, Doubling), (ANY, Neighbours)]),
    (
        2048,
        &[
            (4, Doubling),
            (8, Bruck),
            (16, Doubling),
            (32, Bruck),
            (256, Doubling),
            (512, Bruck),
            (4 << 10, Doubling),
            (ANY, Neighbours),
        ],
    ),
    (4096, &[(32, Bruck), (128, Doubling), (512, Bruck), (4 << 10, Doubling), (ANY, Neighbours)]),
    (
        ANY_RANKS,
        &[(2, Doubling), (8, Bruck), (16, Doubling), (512, Bruck), (4 << 10, Doubling), (ANY, Neighbours)],
    ),
];

/// `MPI_Allgatherv`.
pub const ALLGATHERV: Table = &[
    (3, &[(2 << 10, Ring), (4 << 10, Doubling), (8 << 10, Ring), (ANY, Doubling)]),
    (
        8,
        &[
            (256, Linear),
            (4 << 10, Neighbours),
            (8 << 10, Ring),
            (16 << 10, Neighbours),
            (256 << 10, Bruck),
            (ANY, Neighbours),
        ],
    ),
    (16, &[(1 << 10, Linear), (ANY, Bruck)]),
    (32, &[(128, Linear), (256 << 10, Bruck), (ANY, Ring)]),
    (64, &[(256, Linear), (8 << 10, Bruck), (ANY, Ring)]),
    (128, &[(256, Linear), (4 << 10, Bruck), (ANY, Ring)]),
    (256, &[(1 << 10, Bruck), (64 << 10, Neighbours), (ANY, Ring)]),
    (512, &[(1 << 10, Bruck), (ANY, Ring)]),
    (1024, &[(512, Bruck), (1 << 10, Linear), (4 << 10, Bruck), (1 << 20, Neighbours), (ANY, Ring)]),
    (ANY_RANKS, &[(4 << 10, Bruck), (ANY, Neighbours)]),
];

/// `MPI_Gather`.
pub const GATHER: Table = &[
    (
        4,
        &[
            (2, Synchronised),
            (4, Linear),
            (32 << 10, Binomial),
            (64 << 10, Linear),
            (128 << 10, Binomial),
            (ANY, Synchronised),
        ],
    ),
    (
        8,
        &[
            (1 << 10, Binomial),
            (8 << 10, Linear),
            (32 << 10, Binomial),
            (256 << 10, Linear),
            (ANY, Synchronised),
        ],
    ),
    (256, &[(ANY, Binomial)]),
    (512, &[(2 << 10, Binomial), (8 << 10, Linear), (ANY, Binomial)]),
    (ANY_RANKS, &[(ANY, Binomial)]),
];

/// `MPI_Scatter`.
pub const SCATTER: Table = &[
    (4, &[(2, AtOnce), (128 << 10, Linear), (256 << 10, AtOnce), (ANY, Linear)]),
    (
        8,
        &[
            (2 << 10, Binomial),
            (4 << 10, Linear),
            (8 << 10, Binomial),
            (32 << 10, Linear),
            (1 << 20, AtOnce),
            (ANY, Linear),
        ],
    ),
    (16, &[(16 << 10, Binomial), (1 << 20, AtOnce), (ANY, Linear)]),
    (32, &[(16 << 10, Binomial), (32 << 10, Linear), (ANY, AtOnce)]),
    (64, &[(512, Binomial), (8 << 10, AtOnce), (16 << 10, Binomial), (ANY, AtOnce)]),
    (ANY_RANKS, &[(512, Binomial), (ANY, AtOnce)]),
];
