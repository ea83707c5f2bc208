//! What is said of a run does not depend on how many threads look at it, whatever the run.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_testing::Act::{self, Compute, Receive, Send, Together};
use proptest::prelude::*;
use scripts::{Looped, Places};

const RANKS: usize = 7;

/// What all ranks do, by number: hand something on in a ring, one after the other, or come together.
fn part(kind: u8, rank: usize, compute_ns: i64) -> Vec<Act> {
    let (next, before) = (((rank + 1) % RANKS) as u32, ((rank + RANKS - 1) % RANKS) as u32);
    let acts = match kind {
        0 => vec![Send(next, 1, 8), Receive(before, 1)],
        1 if rank == 0 => vec![Send(next, 2, 8), Receive(before, 2)],
        1 => vec![Receive(before, 2), Send(next, 2, 8)],
        2 => vec![Together("MPI_Allreduce")],
        _ => vec![Together("MPI_Barrier")],
    };
    std::iter::once(Compute(compute_ns)).chain(acts).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn threads_change_nothing(
        parts in prop::collection::vec((0u8..4, prop::array::uniform7(0i64..300_000)), 1..8),
        iterations in 1usize..6,
    ) {
        let body = |rank: usize| parts.iter().flat_map(move |(kind, ns)| part(*kind, rank, ns[rank])).collect();
        let run = Looped { bodies: (0..RANKS).map(body).collect(), iterations, places: Places::OfEachRank };
        let one = run.report_with(1);
        for threads in [2, 3, 7] {
            prop_assert_eq!(&run.report_with(threads), &one, "{} threads", threads);
        }
    }
}
