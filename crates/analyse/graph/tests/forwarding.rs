//! Who waits for a rank that data passes through, on rows written down by hand.

use kizami_graph::{Builder, Graph, TieKind};
use kizami_model::{Call, Peer, Rank};
use kizami_testing::{call, definitions};

const RANKS: u32 = 4;

/// A collective whose root is rank 0.
fn part(name: &str, rank: u32, span: (i64, i64)) -> Call {
    Call { comm: Some(0), root: Peer::Rank(Rank(0)), ..call(name, rank, span.0, span.1) }
}

/// The same collective again and again, as `parts` says when each rank comes and goes in each of them.
fn graph(name: &str, parts: &[[(i64, i64); RANKS as usize]]) -> Graph {
    let definitions = definitions(&[(0..RANKS).collect()]);
    let mut builder = Builder::new(&definitions, &[]);
    for rank in 0..RANKS {
        parts.iter().for_each(|spans| builder.call(&part(name, rank, spans[rank as usize])));
    }
    builder.finish()
}

/// Which step waits for which, beside the root.
fn waits(graph: &Graph) -> Vec<(usize, usize)> {
    let has = |step: usize, kind: TieKind, key: u64| {
        graph.ties_of(&graph.steps[step]).iter().any(|tie| (tie.kind(), tie.key) == (kind, key))
    };
    let mut waits = Vec::new();
    for (waiting, step) in graph.steps.iter().enumerate() {
        for tie in graph.ties_of(step).iter().filter(|tie| tie.kind() == TieKind::AwaitsReady) {
            let waited = (0..graph.steps.len()).find(|step| has(*step, TieKind::Posts, tie.key));
            waits.push((waiting, waited.expect("somebody announces what is awaited")));
        }
    }
    waits
}

/// Rank 2 comes late in the second broadcast, and rank 3 returns right after that; rank 1 had returned before.
#[test]
fn a_broadcast_waits_for_a_rank_on_the_way() {
    let usual = |at: i64| [(at, at + 500), (at, at + 2_000), (at, at + 2_000), (at, at + 2_500)];
    let late = [(100_000, 100_500), (100_000, 102_000), (150_000, 151_500), (100_000, 152_000)];
    let graph = graph("MPI_Bcast", &[usual(0), late, usual(200_000)]);
    // Ranks have three steps each.
    assert_eq!(waits(&graph), [(3 * 3 + 1, 2 * 3 + 1)]);
}

/// In a reduction, a rank on the way waits for one behind it although it is not the root.
#[test]
fn a_reduction_waits_on_the_way() {
    let usual = |at: i64| [(at, at + 2_500), (at, at + 2_000), (at, at + 1_000), (at, at + 1_000)];
    let late = [(100_000, 153_000), (100_000, 101_000), (100_000, 152_000), (150_000, 151_000)];
    let graph = graph("MPI_Reduce", &[usual(0), late, usual(200_000)]);
    assert_eq!(waits(&graph), [(2 * 3 + 1, 3 * 3 + 1)]);
}

/// Data may take long: who returns long after the last has come did not wait for that one.
#[test]
fn a_long_transfer_waits_for_nobody() {
    let long = |at: i64| [(at, at + 500), (at, at + 90_000), (at + 50_000, at + 90_000), (at, at + 91_000)];
    let graph = graph("MPI_Bcast", &[long(0), long(100_000), long(200_000)]);
    assert_eq!(waits(&graph), []);
}
