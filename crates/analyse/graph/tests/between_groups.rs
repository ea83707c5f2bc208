//! Who waits for whom in rooted collectives of inter-communicators.

use kizami_graph::{Builder, Graph, TieKind};
use kizami_model::{Call, CommKind, Peer, Rank};
use kizami_testing::{call, definitions};

/// A communicator between ranks 0 and 1, and ranks 2, 3 and 4; index 1.
fn graph(rows: &[Call]) -> Graph {
    let mut definitions = definitions(&[(0..5).collect(), vec![0, 1]]);
    let inter = &mut definitions.communicators[1];
    inter.kind = CommKind::Inter;
    inter.remote_members = (2..5).map(|rank| Some(Rank(rank))).collect();
    let mut builder = Builder::new(&definitions, &[]);
    rows.iter().for_each(|row| builder.call(row));
    builder.finish()
}

fn rooted(name: &str, rank: u32, root: Peer, span: (i64, i64)) -> Call {
    Call { comm: Some(1), root, bytes_out: Some(12), bytes_in: Some(12), ..call(name, rank, span.0, span.1) }
}

/// All five ranks, with a root in the first group or in the second.
fn all(name: &str, root: u32) -> Vec<Call> {
    let fellow = |rank| (rank < 2) == (root < 2) && rank != root;
    let row = |rank| {
        let named = if fellow(rank) { Peer::Null } else { Peer::Rank(Rank(root)) };
        rooted(name, rank, named, (10 * i64::from(rank), 100))
    };
    (0..5).map(row).collect()
}

/// Who waits for whose message, of how many bytes.
fn waits(graph: &Graph) -> Vec<(usize, u32, u64)> {
    let mut waits = Vec::new();
    for (row, step) in graph.steps.iter().enumerate() {
        for tie in graph.ties_of(step).iter().filter(|tie| tie.kind() == TieKind::Awaits) {
            let sends = graph.steps.iter().filter(|step| {
                graph.ties_of(step).iter().any(|told| (told.kind(), told.key) == (TieKind::Departs, tie.key))
            });
            assert_eq!(sends.count(), 1, "one sends {tie:?}");
            waits.push((row, graph.channels[tie.place() as usize].from.0, tie.bytes()));
        }
    }
    waits
}

#[test]
fn the_other_group_waits_for_a_root_that_gives() {
    assert_eq!(waits(&graph(&all("MPI_Bcast", 1))), [(2, 1, 12), (3, 1, 12), (4, 1, 12)]);
    assert_eq!(waits(&graph(&all("MPI_Scatter", 3))), [(0, 3, 12), (1, 3, 12)]);
}

#[test]
fn a_root_that_takes_waits_for_the_other_group() {
    assert_eq!(waits(&graph(&all("MPI_Reduce", 0))), [(0, 2, 12), (0, 3, 12), (0, 4, 12)]);
    // Of what is gathered each gives a part.
    assert_eq!(waits(&graph(&all("MPI_Gather", 0))), [(0, 2, 4), (0, 3, 4), (0, 4, 4)]);
}

/// One that does not wait is over where its request is completed.
#[test]
fn started_ones_wait_where_they_are_completed() {
    let mut rows = all("MPI_Ibcast", 0);
    rows[2].request = Some(7);
    let done = Call { completes: vec![7], comm: None, ..call("MPI_Wait", 2, 200, 210) };
    rows.insert(3, done);
    assert_eq!(waits(&graph(&rows)), [(3, 0, 12), (4, 0, 12), (5, 0, 12)]);
}

/// Collectives of both groups in turn do not mix; a root that is not known is counted.
#[test]
fn each_is_counted_by_itself() {
    let twice = |rank: u32, root: u32| (all("MPI_Bcast", root)[rank as usize].clone(), rank);
    let mut rows = Vec::new();
    for rank in 0..5 {
        rows.push(twice(rank, 0).0);
        rows.push(twice(rank, 2).0);
    }
    let graph_of_both = graph(&rows);
    assert_eq!(graph_of_both.not_followed, 0);
    let expected = [(1, 2, 12), (3, 2, 12), (4, 0, 12), (6, 0, 12), (8, 0, 12)];
    assert_eq!(waits(&graph_of_both), expected);
    rows[4].root = Peer::Unknown;
    assert_eq!(graph(&rows).not_followed, 1);
}
