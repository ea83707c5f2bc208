//! Which algorithm an MPI library takes for a collective, by its operation, ranks and bytes.
//!
//! Bytes are always what one rank moves in all, the larger of what it gives and gets: the vector of a broadcast or a
//! reduction, all that the root of a gather gets, all that each gives in an alltoall. Libraries look at one part in places;
//! that is worked out here.
//!
//! [`Library::OpenMpi`] and [`Library::Mpich`] do what the selectors `ompi` and `mpich` of the simulator SimGrid 3.32 do. The
//! libraries themselves differ from that: Open MPI sends a scan along the ranks, a linear broadcast from the root to all at
//! once, and synchronises a linear alltoall; what MPICH does otherwise is in [`Library::MpichClassic`]. Neither
//! knows of nodes with several ranks, of files with rules, or of operations whose order matters.

use super::tables::{self, Pick, look_up};
use super::{Algorithm, ELEMENT_BYTES, Tree};
use kizami_model::Op;
use kizami_model::kind::CollectiveKind;

/// What is known of the library that does a collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Library {
    /// Open MPI 4.1 or 5, as simulated.
    OpenMpi,
    /// MPICH with one rank a node, as simulated.
    Mpich,
    /// MPICH with one rank a node, as it chooses itself.
    MpichClassic,
    /// Nothing.
    #[default]
    Unknown,
}

/// Segments of linear and binary broadcasts of Open MPI.
const BROADCAST_SEGMENT_BYTES: u64 = 8 << 10;
/// How many messages MPICH sends at once in an alltoall, as it is simulated.
const AT_ONCE: u32 = 4;

impl Library {
    /// Whose choice of algorithms an MPI makes, by what it says of itself and how it was started: the simulator can be asked
    /// to choose as others do.
    pub fn of(mpi: &str, command: &str) -> Library {
        if mpi.contains("SMPI") {
            let chosen = |name: &str| {
                let asked_for = format!("coll-selector:{name}");
                command.contains(&asked_for) || mpi.contains(&asked_for)
            };
            return match (chosen("ompi"), chosen("mpich")) {
                (true, _) => Library::OpenMpi,
                (_, true) => Library::Mpich,
                _ => Library::Unknown,
            };
        }
        match () {
            () if mpi.contains("Open MPI") => Library::OpenMpi,
            () if mpi.contains("MPICH") || mpi.contains("Intel") => Library::MpichClassic,
            () => Library::Unknown,
        }
    }

    /// The name under which SimGrid chooses as it does.
    pub fn in_simgrid(self) -> &'static str {
        match self {
            Library::OpenMpi => "ompi",
            Library::Mpich | Library::MpichClassic => "mpich",
            Library::Unknown => "default",
        }
    }

    /// Chooses for a function, ranks and bytes. `partners` says with how many others each really has data to exchange, in
    /// an alltoall.
    pub fn algorithm(self, op: Op, ranks: u32, bytes: u64, partners: Option<u32>) -> Option<Algorithm> {
        let kind = super::collective_of(op)?;
        let others = ranks.saturating_sub(1);
        let partners = partners.unwrap_or(others).min(others);
        match self {
            Library::OpenMpi => open_mpi(kind, ranks, bytes, partners),
            Library::Mpich => mpich(kind, ranks, bytes, partners),
            Library::MpichClassic => mpich_classic(kind, ranks, bytes, partners),
            Library::Unknown => super::algorithm(op, ranks, bytes),
        }
    }
}

fn open_mpi(kind: CollectiveKind, ranks: u32, bytes: u64, partners: u32) -> Option<Algorithm> {
    use CollectiveKind::*;
    let part = bytes / u64::from(ranks.max(1));
    let pick = |table, bytes| look_up(table, ranks, bytes);
    Some(match kind {
        Barrier => match pick(tables::BARRIER, 0)? {
            Pick::Linear => {
                Algorithm::InTurn(vec![(Algorithm::GatherAtOnce, 0), (Algorithm::ScatterAtOnce, 0)])
            }
            Pick::Doubling => Algorithm::RecursiveDoubling,
            Pick::Binomial => {
                Algorithm::InTurn(vec![(Algorithm::BinomialToRoot, 0), (Algorithm::BinomialFromRoot, 0)])
            }
            _ => Algorithm::Dissemination,
        },
        Bcast => open_mpi_bcast(ranks, bytes)?,
        Reduce => open_mpi_reduce(ranks, bytes)?,
        Allreduce => open_mpi_allreduce(ranks, bytes)?,
        ReduceScatter | ReduceScatterBlock => match pick(tables::REDUCE_SCATTER, bytes)? {
            Pick::Linear => Algorithm::InTurn(vec![
                (Algorithm::GatherAtOnce, bytes * u64::from(ranks)),
                (Algorithm::ScatterAtOnce, bytes),
            ]),
            Pick::Halving => Algorithm::RecursiveHalving,
            Pick::Butterfly => Algorithm::Butterfly,
            _ => Algorithm::Ring,
        },
        Allgather | Allgatherv => {
            let table = if kind == Allgather { tables::ALLGATHER } else { tables::ALLGATHERV };
            match pick(table, part)? {
                Pick::Linear => Algorithm::InTurn(vec![
                    (Algorithm::GatherAtOnce, bytes),
                    (open_mpi_bcast(ranks, bytes)?, bytes),
                ]),
                Pick::Bruck => Algorithm::BruckAllgather,
                Pick::Doubling => Algorithm::DoublingAllgather,
                Pick::Neighbours if ranks.is_multiple_of(2) => Algorithm::NeighbourExchange,
                _ => Algorithm::Ring,
            }
        }
        Alltoall => match pick(tables::ALLTOALL, part)? {
            Pick::Bruck => Algorithm::BruckAlltoall,
            Pick::Pairwise => Algorithm::Pairwise { partners },
            _ => Algorithm::LinearExchange { partners, at_once: ranks },
        },
        Alltoallv | Alltoallw => match pick(tables::ALLTOALLV, part)? {
            Pick::Pairwise => Algorithm::Pairwise { partners },
            _ => Algorithm::LinearExchange { partners, at_once: ranks },
        },
        Gather => match pick(tables::GATHER, part)? {
            Pick::Linear => Algorithm::LinearGather,
            Pick::Synchronised => Algorithm::SynchronisedGather,
            _ => Algorithm::BinomialGather,
        },
        Scatter => match pick(tables::SCATTER, part)? {
            Pick::Linear => Algorithm::LinearScatter,
            Pick::AtOnce => Algorithm::ScatterAtOnce,
            _ => Algorithm::BinomialScatter,
        },
        Gatherv => Algorithm::GatherAtOnce,
        Scatterv => Algorithm::ScatterAtOnce,
        Scan | Exscan => Algorithm::LinearScan,
        NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
            return None;
        }
    })
}

fn open_mpi_bcast(ranks: u32, bytes: u64) -> Option<Algorithm> {
    // Whole segments first, the rest as a broadcast of its own.
    let in_segments = |algorithm: Algorithm| {
        let rest = bytes % BROADCAST_SEGMENT_BYTES;
        Some(match bytes > BROADCAST_SEGMENT_BYTES && rest > 0 {
            true => Algorithm::InTurn(vec![(algorithm, bytes - rest), (open_mpi_bcast(ranks, rest)?, rest)]),
            false => algorithm,
        })
    };
    match look_up(tables::BCAST, ranks, bytes)? {
        Pick::Chain => in_segments(Algorithm::Chain { segment_bytes: BROADCAST_SEGMENT_BYTES }),
        Pick::Binary => in_segments(Algorithm::Binary { segment_bytes: BROADCAST_SEGMENT_BYTES }),
        Pick::Pipeline => {
            let below = |per_byte: f64, offset: f64| f64::from(ranks) < per_byte * bytes as f64 + offset;
            let segment_bytes = match () {
                () if below(1.6134e-6, 2.1102) => 128 << 10,
                () if below(2.3679e-6, 1.1787) => 64 << 10,
                () if below(3.2118e-6, 8.7936) => 16 << 10,
                () => 128 << 10,
            };
            Some(Algorithm::Pipeline { segment_bytes })
        }
        Pick::SplitBinary => {
            let segment_bytes = if bytes < 370_728 { 1 << 10 } else { 8 << 10 };
            Some(Algorithm::SplitBinary { segment_bytes })
        }
        Pick::Knomial => Some(Algorithm::Knomial { radix: 4 }),
        Pick::ScatterDoubling => Some(Algorithm::ScatterDoubling),
        _ => Some(Algorithm::BinomialFromRoot),
    }
}

fn open_mpi_reduce(ranks: u32, bytes: u64) -> Option<Algorithm> {
    let above =
        |per_kilobyte: f64, offset: f64| f64::from(ranks) > per_kilobyte * bytes as f64 / 1024.0 + offset;
    let (tree, segment_bytes) = match look_up(tables::REDUCE, ranks, bytes)? {
        // The root takes the whole vector of each.
        Pick::Linear => {
            return Some(Algorithm::InTurn(vec![(Algorithm::LinearGather, bytes * u64::from(ranks))]));
        }
        Pick::Chain => (Tree::Chains(ranks / 2), 64 << 10),
        Pick::Pipeline => {
            let segment = if above(0.041, 9.7128) { 1 } else { 64 };
            (Tree::Chains(1), if segment > 1 && above(0.0033, 1.6761) { 32 << 10 } else { segment << 10 })
        }
        Pick::Binary => (Tree::Binary, 32 << 10),
        Pick::InOrderBinary => (Tree::InOrderBinary, 0),
        _ => {
            let short = (ranks < 8 && bytes < 20 << 10) || bytes < 2 << 10;
            (Tree::Binomial, if !short && above(0.6016, 1.3496) { 1 << 10 } else { 0 })
        }
    };
    Some(Algorithm::SegmentedToRoot { tree, segment_bytes })
}

fn open_mpi_allreduce(ranks: u32, bytes: u64) -> Option<Algorithm> {
    let reduce_broadcast = || {
        let (reduce, broadcast) = (open_mpi_reduce(ranks, bytes)?, open_mpi_bcast(ranks, bytes)?);
        Some(Algorithm::InTurn(vec![(reduce, bytes), (broadcast, bytes)]))
    };
    match look_up(tables::ALLREDUCE, ranks, bytes)? {
        Pick::Doubling => Some(Algorithm::RecursiveDoubling),
        Pick::Rabenseifner => Some(Algorithm::Rabenseifner),
        Pick::Ring if bytes / ELEMENT_BYTES >= u64::from(ranks) => {
            // Equal parts first, the rest as a reduction of its own.
            let rest = bytes % (ELEMENT_BYTES * u64::from(ranks));
            Some(match rest {
                0 => Algorithm::RingAllreduce,
                _ => Algorithm::InTurn(vec![
                    (Algorithm::RingAllreduce, bytes - rest),
                    (open_mpi_allreduce(ranks, rest)?, rest),
                ]),
            })
        }
        _ => reduce_broadcast(),
    }
}

fn mpich(kind: CollectiveKind, ranks: u32, bytes: u64, partners: u32) -> Option<Algorithm> {
    use CollectiveKind::*;
    let part = bytes / u64::from(ranks.max(1));
    Some(match kind {
        Barrier => Algorithm::Dissemination,
        Bcast => Algorithm::BinomialFromRoot,
        Reduce if bytes < 2 << 10 || bytes / ELEMENT_BYTES < u64::from(1_u32 << ranks.max(1).ilog2()) => {
            Algorithm::BinomialToRoot
        }
        Reduce => Algorithm::HalvingGather,
        Allreduce => Algorithm::RecursiveDoubling,
        ReduceScatter | ReduceScatterBlock if bytes / ELEMENT_BYTES > 512 << 10 => {
            Algorithm::Pairwise { partners: ranks.saturating_sub(1) }
        }
        ReduceScatter | ReduceScatterBlock => Algorithm::DoublingReduceScatter,
        Allgather | Allgatherv if ranks.is_power_of_two() && bytes < 512 << 10 => {
            Algorithm::DoublingAllgather
        }
        Allgather | Allgatherv if bytes <= 80 << 10 => Algorithm::BruckAllgather,
        Allgather | Allgatherv => Algorithm::Ring,
        Alltoall if part < 256 && ranks >= 8 => Algorithm::BruckAlltoall,
        Alltoall if part < 32 << 10 => Algorithm::LinearExchange { partners, at_once: AT_ONCE },
        Alltoall => Algorithm::Pairwise { partners },
        Alltoallv | Alltoallw => Algorithm::LinearExchange { partners, at_once: AT_ONCE },
        Gather => Algorithm::BinomialGather,
        Scatter => Algorithm::BinomialScatter,
        Gatherv => Algorithm::GatherAtOnce,
        Scatterv => Algorithm::ScatterAtOnce,
        Scan | Exscan => Algorithm::LinearScan,
        NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
            return None;
        }
    })
}

/// Where MPICH chooses otherwise than it is simulated.
fn mpich_classic(kind: CollectiveKind, ranks: u32, bytes: u64, partners: u32) -> Option<Algorithm> {
    use CollectiveKind::*;
    let few = bytes / ELEMENT_BYTES < u64::from(1_u32 << ranks.max(1).ilog2());
    Some(match kind {
        Bcast if bytes < 12 << 10 || ranks < 8 => Algorithm::BinomialFromRoot,
        Bcast if bytes < 512 << 10 && ranks.is_power_of_two() => Algorithm::ScatterDoubling,
        Bcast => Algorithm::ScatterRing,
        Allreduce if bytes <= 2 << 10 || few => Algorithm::RecursiveDoubling,
        Allreduce => Algorithm::Rabenseifner,
        ReduceScatter | ReduceScatterBlock if bytes < 512 << 10 => Algorithm::RecursiveHalving,
        ReduceScatter | ReduceScatterBlock => Algorithm::Pairwise { partners: ranks.saturating_sub(1) },
        Alltoallv | Alltoallw => Algorithm::LinearExchange { partners, at_once: 32 },
        Scan | Exscan => Algorithm::RecursiveDoubling,
        _ => return mpich(kind, ranks, bytes, partners),
    })
}
