//! Collectives as algorithms over messages.
//!
//! Given when each rank came, [`leaves`] says when each leaves, message by message; [`Library`] says which algorithm an MPI
//! library takes for an operation, a number of ranks and a size, and with that what a collective costs at a number of
//! unmeasured numbers of ranks ([`Library::cost_ns`]). Where nothing is known of the library, [`algorithm`] chooses as Open MPI
//! and MPICH do where they agree, and as the simpler of the two where not; [`cost_ns`] and [`passing_ns`] are about that
//! choice, and quick enough to be asked for each call of a run.
//!
//! - `library` and `tables`: the choices;
//! - `walk`: ranks on their way, and what a message does to them;
//! - `trees`, `rounds`, `linear`: the algorithms.
//!
//! When it is wrong: reducing is taken to cost nothing, all ranks are equally far from each other, and what a library does
//! once for a communicator is not in it.

mod library;
mod linear;
mod rounds;
mod tables;
#[cfg(test)]
mod tests;
mod trees;
mod walk;

pub use library::Library;
pub use trees::Tree;

use crate::{LogGops, Messages};
use kizami_model::kind::{CollectiveKind, CommunicatorCall, Kind, WindowCall};
use kizami_model::{Length, Op};
use std::borrow::Borrow;
use trees::Order;
use walk::Walk;

/// How a collective is done. A part is what one rank has of all bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A tree of halves from the root.
    BinomialFromRoot,
    /// The same, but messages of one rank leave one after the other and do not share its link.
    PlainFromRoot,
    /// A tree of halves to the root.
    BinomialToRoot,
    /// A tree of halves from the root, through which each gets its part and those of all below it.
    BinomialScatter,
    /// The same to the root.
    BinomialGather,
    /// A tree from the root in which each sends to all but one of so many at each level at once.
    Knomial {
        /// How many.
        radix: u32,
    },
    /// A binary tree from the root; all segments are sent at once.
    Binary {
        /// Bytes of a segment.
        segment_bytes: u64,
    },
    /// Along the ranks from the root; all segments are sent at once.
    Chain {
        /// Bytes of a segment.
        segment_bytes: u64,
    },
    /// Along the ranks from the root, segment by segment.
    Pipeline {
        /// Bytes of a segment.
        segment_bytes: u64,
    },
    /// One half down each side of a binary tree, segment by segment; then both sides exchange.
    SplitBinary {
        /// Bytes of a segment.
        segment_bytes: u64,
    },
    /// Up a tree to the root, segment by segment.
    SegmentedToRoot {
        /// The tree.
        tree: Tree,
        /// Bytes of a segment; 0 if all is one.
        segment_bytes: u64,
    },
    /// The root sends each its part, one after the other.
    LinearScatter,
    /// The root sends each its part, all at once.
    ScatterAtOnce,
    /// The root takes the part of each, one after the other.
    LinearGather,
    /// The root takes the part of each, all at once.
    GatherAtOnce,
    /// The root asks each for its part, one after the other.
    SynchronisedGather,
    /// Parts are scattered in a tree, then gathered by all by doubling.
    ScatterDoubling,
    /// Parts are scattered in a tree, then passed around.
    ScatterRing,
    /// Reduce-scatter by halving, then a tree to the root.
    HalvingGather,
    /// Partners at distances 1, 2, 4, ... exchange everything they have.
    RecursiveDoubling,
    /// Reduce-scatter by halving, then allgather by doubling.
    Rabenseifner,
    /// Parts are reduced around the ranks, then passed around.
    RingAllreduce,
    /// Partners at distances 1, 2, 4, ... exchange all parts they have.
    DoublingAllgather,
    /// All parts that are there go to the one at twice the distance in each round.
    BruckAllgather,
    /// Everybody passes a part to the next one, once around.
    Ring,
    /// Neighbours exchange two parts, on one side and on the other in turn.
    NeighbourExchange,
    /// Halves are exchanged, beginning with the farthest.
    RecursiveHalving,
    /// Halves are exchanged, beginning with the nearest, then parts are put right.
    Butterfly,
    /// Partners at distances 1, 2, 4, ... exchange all that the other may need.
    DoublingReduceScatter,
    /// In each round to the one at twice the distance; for barriers.
    Dissemination,
    /// In each round half of all parts to the one at twice the distance.
    BruckAlltoall,
    /// With each other rank in turn.
    Pairwise {
        /// With how many there is data to exchange.
        partners: u32,
    },
    /// With all other ranks, some at once.
    LinearExchange {
        /// With how many there is data to exchange.
        partners: u32,
        /// With how many at once.
        at_once: u32,
    },
    /// Everybody to all of higher rank at once.
    LinearScan,
    /// Along the ranks, from the lowest on.
    ScanChain,
    /// One after the other, each with its own bytes.
    InTurn(Vec<(Algorithm, u64)>),
}

/// Messages above this many bytes are worth being cut into pieces.
const LONG_BYTES: u64 = 8 << 10;

/// Reductions are mostly of numbers of this size; how they are done depends on how many there are.
const ELEMENT_BYTES: u64 = 8;

/// What a function does as a collective. Those that make or end something that all have are barriers.
fn collective_of(op: Op) -> Option<CollectiveKind> {
    match op.kind() {
        Kind::Collective(collective, _) => Some(collective),
        Kind::Finalize
        | Kind::Communicator(CommunicatorCall::New)
        | Kind::Window(WindowCall::New | WindowCall::Free | WindowCall::Fence) => {
            Some(CollectiveKind::Barrier)
        }
        _ => None,
    }
}

/// Chooses for a function, ranks, and bytes, if nothing is known of the library.
pub fn algorithm(op: Op, ranks: u32, bytes: u64) -> Option<Algorithm> {
    use CollectiveKind::*;
    Some(match collective_of(op)? {
        Barrier => Algorithm::Dissemination,
        Bcast | Scatter | Scatterv => Algorithm::PlainFromRoot,
        Reduce | Gather | Gatherv => Algorithm::BinomialToRoot,
        Allreduce if bytes > LONG_BYTES && ranks > 2 => Algorithm::Rabenseifner,
        Allreduce => Algorithm::RecursiveDoubling,
        Allgather | Allgatherv | ReduceScatter | ReduceScatterBlock if bytes > LONG_BYTES => Algorithm::Ring,
        Allgather | Allgatherv | ReduceScatter | ReduceScatterBlock => Algorithm::RecursiveDoubling,
        Alltoall | Alltoallv | Alltoallw => Algorithm::Pairwise { partners: ranks.saturating_sub(1) },
        Scan | Exscan => Algorithm::ScanChain,
        NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
            return None;
        }
    })
}

/// When each rank leaves, if they come at `enters` and each moves so many bytes; both are times since one moment.
/// `root` is an index.
pub fn leaves(
    how: impl Borrow<Algorithm>,
    enters: &[Length],
    root: usize,
    bytes: u64,
    messages: &(impl Messages + ?Sized),
) -> Vec<Length> {
    if enters.len() < 2 {
        return enters.to_vec();
    }
    let mut walk = Walk::new(enters.iter().map(|enter| enter.0 as f64).collect(), messages);
    walk.through(how.borrow(), root, bytes);
    walk.now.into_iter().map(Length::from_nanos_f64).collect()
}

impl Library {
    /// How long a collective takes in which all come at once; 0 if it is none. `partners` as in [`Library::algorithm`].
    pub fn cost_ns<M: Messages + ?Sized>(
        self,
        op: Op,
        ranks: u32,
        bytes: u64,
        partners: Option<u32>,
        messages: &M,
    ) -> f64 {
        let Some(how) = self.algorithm(op, ranks, bytes, partners).filter(|_| ranks > 1) else { return 0.0 };
        let mut walk = Walk::new(vec![0.0; ranks as usize], messages);
        walk.through(&how, 0, bytes);
        walk.last()
    }
}

impl<M: Messages + ?Sized> Walk<'_, M> {
    /// From where they are through a collective.
    fn through(&mut self, how: &Algorithm, root: usize, bytes: u64) {
        let ranks = self.ranks();
        let part = bytes / ranks as u64;
        // A part of all stays with oneself, unless there are only few to exchange with.
        let message_bytes = |partners: u32| match partners {
            few if (few as usize) < ranks - 1 => bytes / u64::from(few.max(1)),
            _ => part,
        };
        match how {
            Algorithm::BinomialFromRoot => self.binomial_from_root(root, bytes),
            Algorithm::PlainFromRoot => self.plain_from_root(root, bytes),
            Algorithm::BinomialToRoot => self.binomial_to_root(root, bytes),
            Algorithm::BinomialScatter => self.binomial_scatter(root, part, Order::NearFirst),
            Algorithm::BinomialGather => self.binomial_gather(root, part),
            Algorithm::Knomial { radix } => self.knomial(root, *radix as usize, bytes),
            Algorithm::Binary { segment_bytes } => self.all_segments_at_once(root, 2, bytes, *segment_bytes),
            Algorithm::Chain { segment_bytes } => self.all_segments_at_once(root, 1, bytes, *segment_bytes),
            Algorithm::Pipeline { segment_bytes } => self.pipeline(root, bytes, *segment_bytes),
            Algorithm::SplitBinary { segment_bytes } => self.split_binary(root, bytes, *segment_bytes),
            Algorithm::SegmentedToRoot { tree, segment_bytes } => {
                self.segmented_to_root(*tree, root, bytes, *segment_bytes);
            }
            Algorithm::LinearScatter => self.linear_scatter(root, part),
            Algorithm::ScatterAtOnce => self.scatter_at_once(root, part),
            Algorithm::LinearGather => self.linear_gather(root, part),
            Algorithm::GatherAtOnce => self.gather_at_once(root, part),
            Algorithm::SynchronisedGather => self.synchronised_gather(root, part),
            Algorithm::ScatterDoubling => {
                let part = bytes.div_ceil(ranks as u64);
                self.binomial_scatter(root, part, Order::FarFirst);
                self.doubling_of_parts(|parts| parts as u64 * part);
            }
            Algorithm::ScatterRing => {
                let part = bytes.div_ceil(ranks as u64);
                self.binomial_scatter(root, part, Order::FarFirst);
                self.shift_around(ranks - 1, &self.cost(part));
            }
            Algorithm::HalvingGather => self.halving_gather(root, bytes),
            Algorithm::RecursiveDoubling => self.recursive_doubling(bytes),
            Algorithm::Rabenseifner => self.rabenseifner(bytes),
            Algorithm::RingAllreduce => {
                let cost = self.cost(part);
                self.shift_around(ranks - 1, &cost);
                self.shift_around(ranks - 1, &cost);
            }
            Algorithm::DoublingAllgather => self.doubling_of_parts(|parts| parts as u64 * part),
            Algorithm::BruckAllgather => {
                self.dissemination(|distance| distance.min(ranks - distance) as u64 * part);
            }
            Algorithm::Ring => self.shift_around(ranks - 1, &self.cost(part)),
            Algorithm::NeighbourExchange => self.neighbour_exchange(part),
            Algorithm::RecursiveHalving => self.recursive_halving(bytes),
            Algorithm::Butterfly => self.butterfly(bytes),
            Algorithm::DoublingReduceScatter => {
                self.doubling_of_parts(|parts| bytes - parts as u64 * part);
            }
            Algorithm::Dissemination => self.dissemination(|_| 0),
            Algorithm::BruckAlltoall => {
                // Parts whose number has the bit of the distance.
                let parts = |distance: usize| {
                    ranks / (2 * distance) * distance + (ranks % (2 * distance)).saturating_sub(distance)
                };
                self.dissemination(|distance| parts(distance) as u64 * part);
            }
            Algorithm::Pairwise { partners } => {
                self.pairwise(message_bytes(*partners), *partners as usize);
            }
            Algorithm::LinearExchange { partners, at_once } => {
                self.all_at_once(message_bytes(*partners), *partners as usize, *at_once as usize);
            }
            Algorithm::LinearScan => self.scan_at_once(bytes),
            Algorithm::ScanChain => self.scan_chain(bytes),
            Algorithm::InTurn(steps) => steps.iter().for_each(|(how, bytes)| self.through(how, root, *bytes)),
        }
    }
}

/// How long a collective takes in which all come at once, if nothing is known of the library.
pub fn cost_ns(op: Op, ranks: u32, bytes: u64, net: &LogGops) -> f64 {
    let Some(how) = algorithm(op, ranks, bytes) else { return 0.0 };
    let (rounds, ranks) = (f64::from(rounds(ranks as usize)), f64::from(ranks.max(1)));
    let message = |bytes: f64| net.message_ns(bytes as u64);
    match how {
        Algorithm::Dissemination => rounds * message(0.0),
        // Twice all pieces but the own one, in twice the rounds.
        Algorithm::Rabenseifner => {
            let moved = 2.0 * (1.0 - 1.0 / ranks) * bytes as f64;
            2.0 * rounds * message(0.0) + moved * (net.per_byte_ns + 2.0 * net.overhead_per_byte_ns)
        }
        Algorithm::Ring | Algorithm::Pairwise { .. } => (ranks - 1.0) * message(bytes as f64 / ranks),
        Algorithm::ScanChain => (ranks - 1.0) * message(bytes as f64),
        _ => rounds * message(bytes as f64),
    }
}

/// What a collective costs a rank that does not wait in it: a root that gives sends to each of its branches, one
/// that takes part in what a root gathers sends once.
pub fn passing_ns(op: Op, ranks: u32, bytes: u64, net: &LogGops) -> f64 {
    match algorithm(op, ranks, bytes) {
        Some(Algorithm::PlainFromRoot) => f64::from(rounds(ranks as usize)) * net.handling_ns(bytes),
        Some(_) => net.handling_ns(bytes),
        None => 0.0,
    }
}

fn rounds(ranks: usize) -> u32 {
    usize::BITS - ranks.saturating_sub(1).leading_zeros()
}
