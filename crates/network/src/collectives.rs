//! Collectives as algorithms over messages.
//!
//! Given when each rank came, these say when each leaves, message by message. Which algorithm an MPI library takes
//! depends on the operation, the number of ranks and the size; [`algorithm`] chooses as Open MPI and MPICH do where
//! they agree, and as the simpler of the two where not.

use crate::LogGops;
use kizami_model::kind::{CollectiveKind, CommunicatorCall, Kind, WindowCall};
use kizami_model::{Length, Op};

/// How a collective is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A tree of halves from the root.
    BinomialFromRoot,
    /// The same to the root.
    BinomialToRoot,
    /// Partners at distances 1, 2, 4, ... exchange everything they have.
    RecursiveDoubling,
    /// Reduce-scatter by halving, then allgather by doubling.
    Rabenseifner,
    /// Everybody to the next one, once around.
    Ring,
    /// In each round to the one at twice the distance; for barriers.
    Dissemination,
    /// With each other rank in turn.
    Pairwise,
    /// Along the ranks, from the lowest on.
    Chain,
}

/// Messages above this many bytes are worth being cut into pieces.
const LONG_BYTES: u64 = 8 << 10;

/// Chooses for a function, ranks, and bytes of one rank's part.
pub fn algorithm(op: Op, ranks: u32, bytes: u64) -> Option<Algorithm> {
    let collective = match op.kind() {
        Kind::Collective(collective, _) => collective,
        Kind::Finalize
        | Kind::Communicator(CommunicatorCall::New)
        | Kind::Window(WindowCall::New | WindowCall::Free | WindowCall::Fence) => CollectiveKind::Barrier,
        _ => return None,
    };
    use CollectiveKind::*;
    Some(match collective {
        Barrier => Algorithm::Dissemination,
        Bcast | Scatter | Scatterv => Algorithm::BinomialFromRoot,
        Reduce | Gather | Gatherv => Algorithm::BinomialToRoot,
        Allreduce if bytes > LONG_BYTES && ranks > 2 => Algorithm::Rabenseifner,
        Allreduce => Algorithm::RecursiveDoubling,
        Allgather | Allgatherv | ReduceScatter | ReduceScatterBlock if bytes > LONG_BYTES => Algorithm::Ring,
        Allgather | Allgatherv | ReduceScatter | ReduceScatterBlock => Algorithm::RecursiveDoubling,
        Alltoall | Alltoallv | Alltoallw => Algorithm::Pairwise,
        Scan | Exscan => Algorithm::Chain,
        NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
            return None;
        }
    })
}

/// When each rank leaves, if they come at `enters` and each has a part of so many bytes; both are told as times since
/// one moment. `root` is an index.
pub fn leaves(how: Algorithm, enters: &[Length], root: usize, bytes: u64, net: &LogGops) -> Vec<Length> {
    let mut times: Vec<f64> = enters.iter().map(|enter| enter.0 as f64).collect();
    let ranks = times.len();
    if ranks < 2 {
        return enters.to_vec();
    }
    match how {
        Algorithm::BinomialFromRoot => binomial(&mut times, root, bytes, net, Direction::Out),
        Algorithm::BinomialToRoot => binomial(&mut times, root, bytes, net, Direction::In),
        Algorithm::RecursiveDoubling => doubling(&mut times, |_| bytes, net),
        Algorithm::Rabenseifner => {
            let rounds = rounds(ranks);
            doubling(&mut times, |round| bytes >> (round + 1).min(63), net);
            doubling(&mut times, |round| bytes >> (rounds - round).min(63), net);
        }
        Algorithm::Ring => (1..ranks).for_each(|_| shift(&mut times, 1, bytes / ranks as u64, net)),
        Algorithm::Dissemination => {
            (0..rounds(ranks)).for_each(|round| shift(&mut times, 1 << round, 0, net))
        }
        Algorithm::Pairwise => {
            let part = bytes / ranks as u64;
            (1..ranks).for_each(|distance| shift(&mut times, distance, part, net));
        }
        Algorithm::Chain => {
            for rank in 1..ranks {
                let there = times[rank - 1] + net.handling_ns(bytes) + net.way_ns(bytes);
                times[rank] = times[rank].max(there) + net.handling_ns(bytes);
                times[rank - 1] += net.handling_ns(bytes);
            }
        }
    }
    times.into_iter().map(Length::from_nanos_f64).collect()
}

/// How long a collective takes in which all come at once.
pub fn cost_ns(op: Op, ranks: u32, bytes: u64, net: &LogGops) -> f64 {
    let Some(how) = algorithm(op, ranks, bytes) else { return 0.0 };
    let (rounds, ranks) = (f64::from(rounds(ranks as usize)), f64::from(ranks.max(1)));
    let message = |bytes: f64| net.message_ns(bytes as u64);
    match how {
        Algorithm::BinomialFromRoot | Algorithm::BinomialToRoot | Algorithm::RecursiveDoubling => {
            rounds * message(bytes as f64)
        }
        Algorithm::Dissemination => rounds * message(0.0),
        // Twice all pieces but the own one, in twice the rounds.
        Algorithm::Rabenseifner => {
            let moved = 2.0 * (1.0 - 1.0 / ranks) * bytes as f64;
            2.0 * rounds * message(0.0) + moved * (net.per_byte_ns + 2.0 * net.overhead_per_byte_ns)
        }
        Algorithm::Ring | Algorithm::Pairwise => (ranks - 1.0) * message(bytes as f64 / ranks),
        Algorithm::Chain => (ranks - 1.0) * message(bytes as f64),
    }
}

/// What a collective costs a rank that waits for nobody in it: a root that gives sends to each of its branches, one
/// that takes part in what a root gathers sends once.
pub fn passing_ns(op: Op, ranks: u32, bytes: u64, net: &LogGops) -> f64 {
    match algorithm(op, ranks, bytes) {
        Some(Algorithm::BinomialFromRoot) => f64::from(rounds(ranks as usize)) * net.handling_ns(bytes),
        Some(_) => net.handling_ns(bytes),
        None => 0.0,
    }
}

enum Direction {
    Out,
    In,
}

fn rounds(ranks: usize) -> u32 {
    usize::BITS - ranks.saturating_sub(1).leading_zeros()
}

/// A tree in which the rank at relative place `p` is below `p` without its lowest bit.
fn binomial(times: &mut [f64], root: usize, bytes: u64, net: &LogGops, direction: Direction) {
    let ranks = times.len();
    let place = |relative: usize| (relative + root) % ranks;
    let handling = net.handling_ns(bytes);
    let way = net.way_ns(bytes);
    for round in 0..rounds(ranks) {
        let distance = match direction {
            Direction::Out => 1 << (rounds(ranks) - 1 - round),
            Direction::In => 1 << round,
        };
        for near in (0..ranks).step_by(2 * distance) {
            let far = near + distance;
            if far >= ranks {
                continue;
            }
            let (from, to) = match direction {
                Direction::Out => (place(near), place(far)),
                Direction::In => (place(far), place(near)),
            };
            times[from] += handling;
            times[to] = times[to].max(times[from] + way) + handling;
        }
    }
}

/// Partners at distances 1, 2, 4, ... exchange; ranks beyond the last power of two join the others before and hear
/// the result after.
fn doubling(times: &mut [f64], bytes_of: impl Fn(u32) -> u64, net: &LogGops) {
    let ranks = times.len();
    let even = 1 << (usize::BITS - 1 - ranks.leading_zeros());
    let (first, way) = (net.handling_ns(bytes_of(0)), net.way_ns(bytes_of(0)));
    for extra in even..ranks {
        times[extra] += first;
        times[extra - even] = times[extra - even].max(times[extra] + way) + first;
    }
    for round in 0..rounds(even) {
        let bytes = bytes_of(round);
        let (handling, way) = (net.handling_ns(bytes), net.way_ns(bytes));
        let before: Vec<f64> = times[..even].to_vec();
        for rank in 0..even {
            let partner = rank ^ (1 << round);
            times[rank] = (before[rank] + handling).max(before[partner] + handling + way) + handling;
        }
    }
    for extra in even..ranks {
        times[extra - even] += first;
        times[extra] = times[extra].max(times[extra - even] + way) + first;
    }
}

/// Everybody sends to the one at a distance and hears from the one at the same distance behind.
fn shift(times: &mut [f64], distance: usize, bytes: u64, net: &LogGops) {
    let ranks = times.len();
    let (handling, way) = (net.handling_ns(bytes), net.way_ns(bytes));
    let before = times.to_vec();
    for (rank, time) in times.iter_mut().enumerate() {
        let from = before[(rank + ranks - distance % ranks) % ranks];
        *time = (before[rank] + handling).max(from + handling + way) + handling;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NET: LogGops = LogGops {
        latency_ns: 100.0,
        overhead_ns: 10.0,
        gap_ns: 0.0,
        per_byte_ns: 1.0,
        overhead_per_byte_ns: 0.0,
        eager_limit_bytes: u64::MAX,
    };

    #[test]
    fn costs_and_walks_agree_when_all_come_at_once() {
        for (name, ranks, bytes) in [
            ("MPI_Barrier", 16, 0),
            ("MPI_Allreduce", 8, 64),
            ("MPI_Allgather", 16, 100_000),
            ("MPI_Alltoall", 8, 800),
            ("MPI_Scan", 5, 10),
        ] {
            let op = Op::by_name(name).unwrap();
            let how = algorithm(op, ranks, bytes).unwrap();
            let leaves = leaves(how, &vec![Length::ZERO; ranks as usize], 0, bytes, &NET);
            let last = leaves.iter().max().unwrap().0 as f64;
            let cost = cost_ns(op, ranks, bytes, &NET);
            assert!((last - cost).abs() <= 0.02 * cost + 1.0, "{name}: {last} walked, {cost} worked out");
        }
    }

    #[test]
    fn nobody_leaves_a_barrier_before_the_last_one_came() {
        let late = Length(1_000_000);
        let mut enters = vec![Length::ZERO; 13];
        enters[7] = late;
        for how in
            [Algorithm::Dissemination, Algorithm::RecursiveDoubling, Algorithm::Ring, Algorithm::Pairwise]
        {
            let leaves = leaves(how, &enters, 0, 8, &NET);
            assert!(leaves.iter().all(|leave| *leave >= late), "{how:?} {leaves:?}");
        }
        let from_root = leaves(Algorithm::BinomialFromRoot, &enters, 0, 8, &NET);
        assert!(from_root[1] < late);
        let late_root = leaves(Algorithm::BinomialFromRoot, &enters, 7, 8, &NET);
        assert!(late_root.iter().all(|leave| *leave > late));
    }
}
