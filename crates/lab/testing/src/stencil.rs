//! A halo exchange of any size.
//!
//! Each iteration of each rank is computation, four `MPI_Irecv`, four `MPI_Isend`, an `MPI_Waitall` and an
//! `MPI_Allreduce`. A rank's times follow from its own number and those of its neighbours, so any rank can be made
//! without the others; only the end of each `MPI_Allreduce` needs all, and is worked out once.

use crate::{Costs, op, row, scattered};
use kizami_model::{Call, Moment, Op, Peer, Rank};
use kizami_rng::{SplitMix64, mix};

/// Neighbours of each rank.
pub const NEIGHBOURS: usize = 4;
/// Calls of an iteration.
pub const CALLS: u64 = 2 * NEIGHBOURS as u64 + 2;
const COMPUTATION_NS: u64 = 60_000;
const SCATTER_NS: u64 = 20_000;

/// The run.
#[derive(Clone, Debug)]
pub struct Stencil {
    /// How many ranks.
    pub ranks: u32,
    /// How many iterations.
    pub iterations: u64,
    costs: Costs,
    /// When each iteration begins: on all ranks at once, as all leave `MPI_Allreduce` at once.
    begins_ns: Vec<i64>,
    /// `MPI_Irecv`, `MPI_Isend`, `MPI_Waitall` and `MPI_Allreduce`.
    ops: [Op; 4],
}

impl Stencil {
    /// Works out when iterations begin.
    pub fn new(ranks: u32, iterations: u64, costs: Costs) -> Stencil {
        let ops = ["MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"].map(op);
        let mut stencil = Stencil { ranks, iterations, costs, begins_ns: vec![1_000], ops };
        for iteration in 0..iterations {
            let begin_ns = stencil.begins_ns[iteration as usize];
            let computed = |rank| stencil.computation_ns(rank, iteration);
            let slowest_ns = (0..ranks).map(computed).max().unwrap_or(0);
            // Whoever computes longest comes last: its neighbours' messages are there before its own.
            let last_ns = begin_ns + slowest_ns + stencil.posting_ns() + costs.message_ns;
            stencil.begins_ns.push(last_ns + costs.collective_ns);
        }
        stencil
    }

    /// Calls of all ranks.
    pub fn calls(&self) -> u64 {
        u64::from(self.ranks) * self.iterations * CALLS
    }

    /// Ranks a rank exchanges messages with, in the order of its calls.
    pub fn neighbours(&self, rank: u32) -> [u32; NEIGHBOURS] {
        let across = (f64::from(self.ranks).sqrt() as u32).max(1) % self.ranks;
        [1 % self.ranks, self.ranks - 1, across, self.ranks - across]
            .map(|step| ((u64::from(rank) + u64::from(step)) % u64::from(self.ranks)) as u32)
    }

    /// The rows of one rank.
    pub fn rank(&self, rank: u32) -> impl Iterator<Item = Call> + '_ {
        (0..self.iterations).flat_map(move |iteration| self.iteration(rank, iteration))
    }

    /// How long a rank computes in an iteration.
    pub fn computation_ns(&self, rank: u32, iteration: u64) -> i64 {
        let mut random = SplitMix64::new(mix(u64::from(rank) << 32 ^ iteration));
        (COMPUTATION_NS + scattered(&mut random, SCATTER_NS)) as i64
    }

    /// From the end of computation to the start of `MPI_Waitall`.
    fn posting_ns(&self) -> i64 {
        2 * NEIGHBOURS as i64 * self.costs.call_ns
    }

    /// The rows of one iteration of a rank.
    pub fn iteration(&self, rank: u32, iteration: u64) -> [Call; CALLS as usize] {
        let begin_ns = self.begins_ns[iteration as usize];
        let ready_ns = |rank| begin_ns + self.computation_ns(rank, iteration);
        let neighbours = self.neighbours(rank);
        let first_request = iteration * 2 * NEIGHBOURS as u64 + 1;
        let mut now_ns = ready_ns(rank);
        let mut arrival_ns = now_ns;
        std::array::from_fn(|index| {
            let start_ns = now_ns;
            now_ns += self.costs.call_ns;
            let side = index % NEIGHBOURS;
            match index {
                0..=7 => {
                    let receiving = index < NEIGHBOURS;
                    let mut row = row(self.ops[usize::from(!receiving)], rank, start_ns, now_ns);
                    row.peer = Peer::Rank(Rank(neighbours[side]));
                    // What goes one way comes from the other: sides 0 and 1, 2 and 3 face each other.
                    row.tag = Some(100 + if receiving { side as i32 ^ 1 } else { side as i32 });
                    let bytes = Some(if side < 2 { 8_192 } else { 32_768 });
                    (row.bytes_in, row.bytes_out) = if receiving { (bytes, None) } else { (None, bytes) };
                    row.request = Some(first_request + index as u64);
                    row.callsite = Some(u32::from(!receiving));
                    if receiving {
                        let sends = (NEIGHBOURS + (side ^ 1)) as i64;
                        let sent_ns = ready_ns(neighbours[side]) + sends * self.costs.call_ns;
                        arrival_ns = arrival_ns.max(sent_ns + self.costs.message_ns);
                    }
                    row
                }
                8 => {
                    now_ns = now_ns.max(arrival_ns);
                    let mut row = row(self.ops[2], rank, start_ns, now_ns);
                    row.comm = None;
                    row.completes = (first_request..first_request + 2 * NEIGHBOURS as u64).collect();
                    row.callsite = Some(2);
                    row
                }
                _ => {
                    let end_ns = self.begins_ns[iteration as usize + 1];
                    let mut row = row(self.ops[3], rank, start_ns, end_ns);
                    (row.bytes_in, row.bytes_out) = (Some(8), Some(8));
                    row.callsite = Some(3);
                    row
                }
            }
        })
    }

    /// When the run is over.
    pub fn end(&self) -> Moment {
        Moment(*self.begins_ns.last().unwrap_or(&0))
    }
}
