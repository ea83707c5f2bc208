//! Which sends wait for their receivers is learned from times: on runs that are written down call by call.

use kizami_graph::protocol::{Basis, Decision, Shown, eager_limit_bytes};
use kizami_graph::{Builder, Clocks, Graph, Protocol, TieKind};
use kizami_model::{Call, Length, Peer, Rank};
use kizami_testing::{Jumble, call, definitions};
use kizami_trace::{Definitions, HostInfo, RankInfo};
use proptest::prelude::*;

/// Between two messages.
const APART_NS: i64 = 1_000_000;
/// How much later than its send a receive is posted.
const LATE_NS: i64 = 200_000;

fn message(name: &str, (rank, peer): (u32, u32), bytes: u64, (start_ns, end_ns): (i64, i64)) -> Call {
    let row = call(name, rank, start_ns, end_ns);
    let sends = name.contains("end");
    let (bytes_out, bytes_in) = if sends { (Some(bytes), None) } else { (None, Some(bytes)) };
    Call { peer: Peer::Rank(Rank(peer)), tag: Some(3), bytes_out, bytes_in, ..row }
}

/// A blocking message from rank 0 to rank 1, whose receive is posted late: the send is over at once, or when it is posted.
fn late(number: i64, bytes: u64, waits: bool) -> Vec<Call> {
    let start_ns = number * APART_NS;
    let posted_ns = start_ns + LATE_NS;
    let over_ns = if waits { posted_ns + 2_000 } else { start_ns + 1_000 };
    vec![
        message("MPI_Send", (0, 1), bytes, (start_ns, over_ns)),
        message("MPI_Recv", (1, 0), bytes, (posted_ns, posted_ns + 3_000)),
    ]
}

fn graph_with(definitions: &Definitions, clocks: Clocks, mut rows: Vec<Call>) -> Graph {
    rows.sort_by_key(|row| (row.rank, row.start));
    let mut builder = Builder::new(definitions, &[]).with_clocks(clocks);
    rows.iter().for_each(|row| builder.call(row));
    builder.finish()
}

fn graph(rows: Vec<Call>) -> Graph {
    let clocks = Clocks::Aligned { between_hosts: None };
    graph_with(&definitions(&[vec![0, 1, 2]]), clocks, rows)
}

/// Steps with a tie of this kind.
fn with(graph: &Graph, kind: TieKind) -> Vec<usize> {
    let has = |index: &usize| graph.ties_of(&graph.steps[*index]).iter().any(|tie| tie.kind() == kind);
    (0..graph.steps.len()).filter(has).collect()
}

fn decisions(graph: &Graph) -> Vec<(u64, Decision, Basis)> {
    let of = |protocol: &Protocol| (protocol.from_bytes, protocol.decision, protocol.basis);
    graph.protocols.iter().map(of).collect()
}

#[test]
fn small_sends_that_wait_for_late_receivers_are_followed() {
    let mut rows: Vec<Call> = (0..5).flat_map(|number| late(number, 8_000, true)).collect();
    // A receive that is posted in time shows nothing, and its send would wait if it were late.
    rows.push(message("MPI_Recv", (1, 0), 8_000, (9 * APART_NS, 9 * APART_NS + 8_000)));
    rows.push(message("MPI_Send", (0, 1), 8_000, (9 * APART_NS + 5_000, 9 * APART_NS + 7_000)));
    let graph = graph(rows);
    assert_eq!(decisions(&graph), [(8_000, Decision::Waits, Basis::Seen)]);
    assert_eq!(graph.protocols[0].shown, Shown { after_post: 5, ..Shown::default() });
    assert_eq!(with(&graph, TieKind::AwaitsPost), [0, 1, 2, 3, 4, 5]);
    assert_eq!(with(&graph, TieKind::Posts), [6, 7, 8, 9, 10, 11]);
    assert_eq!(eager_limit_bytes(&graph.protocols), Some(7_999));
}

#[test]
fn sends_that_are_over_before_their_receive_is_posted_have_no_ties_to_it() {
    let graph = graph((0..5).flat_map(|number| late(number, 8_000, false)).collect());
    assert_eq!(decisions(&graph), [(8_000, Decision::Eager, Basis::Seen)]);
    assert_eq!(graph.protocols[0].shown, Shown { before_post: 5, ..Shown::default() });
    assert!(with(&graph, TieKind::AwaitsPost).is_empty() && with(&graph, TieKind::Posts).is_empty());
    // Nothing is left where their ties were.
    assert_eq!(graph.ties.len(), 10);
}

#[test]
fn a_limit_lies_between_sizes_that_wait_and_sizes_that_do_not() {
    let rows = (0..5)
        .flat_map(|number| [late(2 * number, 1_000, false), late(2 * number + 1, 40_000, true)].concat());
    let graph = graph(rows.collect());
    let expected = [(1_000, Decision::Eager, Basis::Seen), (40_000, Decision::Waits, Basis::Seen)];
    assert_eq!(decisions(&graph), expected);
    assert_eq!(with(&graph, TieKind::AwaitsPost), [1, 3, 5, 7, 9]);
    assert_eq!(eager_limit_bytes(&graph.protocols), Some(1_000));
}

#[test]
fn large_sends_that_do_not_wait_would_where_there_is_less_room() {
    let graph = graph((0..5).flat_map(|number| late(number, 1 << 20, false)).collect());
    assert_eq!(decisions(&graph), [(1 << 20, Decision::Eager, Basis::Seen)]);
    assert!(with(&graph, TieKind::AwaitsPost).is_empty());
    assert_eq!(with(&graph, TieKind::MayAwaitPost), [0, 1, 2, 3, 4]);
    assert_eq!(eager_limit_bytes(&graph.protocols), Some(1 << 20));
}

#[test]
fn sends_that_wait_now_and_then_are_followed_where_they_did() {
    let graph = graph((0..10).flat_map(|number| late(number, 1_000, number % 3 == 0)).collect());
    assert_eq!(decisions(&graph), [(1_000, Decision::ByTimes, Basis::Seen)]);
    assert_eq!(with(&graph, TieKind::AwaitsPost), [0, 3, 6, 9]);
    assert_eq!(with(&graph, TieKind::Posts), [10, 13, 16, 19]);
}

/// Whether the send of an exchange waited is undecided where its partner is late with both.
#[test]
fn what_a_call_also_waits_for_shows_nothing_about_its_send() {
    let exchange = |rank: u32, start_ns: i64, end_ns: i64| {
        let row = message("MPI_Sendrecv", (rank, 1 - rank), 8_000, (start_ns, end_ns));
        Call { recv_peer: row.peer, recv_tag: row.tag, bytes_in: Some(8_000), ..row }
    };
    let rows = (0..5).flat_map(|number| {
        let (start_ns, late_ns) = (number * APART_NS, number * APART_NS + LATE_NS);
        [exchange(0, start_ns, late_ns + 3_000), exchange(1, late_ns, late_ns + 2_000)]
    });
    let graph = graph(rows.collect());
    assert_eq!(decisions(&graph), [(8_000, Decision::Eager, Basis::Size)]);
    assert_eq!(graph.protocols[0].shown, Shown::default());
}

/// Rank 0 sends to rank 1, which has posted the receive and computes; the send is over when it comes back.
#[test]
fn a_receiver_that_stays_outside_mpi_is_waited_for_until_it_comes_back() {
    let rows = (0..5).flat_map(|number| {
        let start_ns = number * APART_NS;
        let back_ns = start_ns + LATE_NS;
        let mut rows = vec![
            message("MPI_Irecv", (1, 0), 100_000, (start_ns, start_ns + 1_000)),
            message("MPI_Send", (0, 1), 100_000, (start_ns + 2_000, back_ns + 20_000)),
            call("MPI_Wait", 1, back_ns, back_ns + 21_000),
        ];
        (rows[0].request, rows[2].completes) = (Some(number as u64 + 1), vec![number as u64 + 1]);
        rows
    });
    let graph = graph(rows.collect());
    assert_eq!(decisions(&graph), [(100_000, Decision::WaitsAbove(65_536), Basis::Size)]);
    assert_eq!(graph.protocols[0].shown, Shown { late_progress: 5, ..Shown::default() });
    assert_eq!(with(&graph, TieKind::AwaitsPost), [0, 1, 2, 3, 4]);
    // The waits decide, not the posts.
    assert_eq!(with(&graph, TieKind::Posts), [6, 8, 10, 12, 14]);
}

/// The receiver takes another message first; that is when it makes room for this one.
#[test]
fn a_send_may_be_over_when_its_receiver_is_in_mpi_for_another_reason() {
    let rows = (0..5).flat_map(|number| {
        let start_ns = number * APART_NS;
        let back_ns = start_ns + LATE_NS;
        vec![
            message("MPI_Send", (0, 1), 1_000, (start_ns, back_ns + 2_000)),
            message("MPI_Send", (2, 1), 8, (start_ns, start_ns + 500)),
            message("MPI_Recv", (1, 2), 8, (back_ns, back_ns + 1_000)),
            message("MPI_Recv", (1, 0), 1_000, (back_ns + 500_000, back_ns + 501_000)),
        ]
    });
    let graph = graph(rows.collect());
    let shown = |bytes| graph.protocols.iter().find(|row| row.from_bytes == bytes).unwrap().shown;
    assert_eq!(shown(1_000), Shown { when_in_mpi: 4, before_post: 1, ..Shown::default() });
    assert_eq!(with(&graph, TieKind::AwaitsPost), [1, 2, 3, 4]);
    assert_eq!(with(&graph, TieKind::Posts), [7, 9, 11, 13]);
}

/// Ranks 0 and 1 share a host; rank 2 has one of its own.
fn two_hosts() -> Definitions {
    let host = |index: u32| HostInfo {
        index,
        name: format!("node{index}"),
        boot_id: format!("boot{index}"),
        clock: "tsc".to_owned(),
    };
    let rank = |rank: u32| RankInfo { host: Some(u32::from(rank == 2)), ..RankInfo::absent(Rank(rank)) };
    Definitions {
        hosts: (0..2).map(host).collect(),
        ranks: (0..3).map(rank).collect(),
        ..definitions(&[vec![0, 1, 2]])
    }
}

fn to_another_host(row: Call) -> Call {
    let rank = if row.rank == Rank(1) { Rank(2) } else { row.rank };
    let peer = if row.peer == Peer::Rank(Rank(1)) { Peer::Rank(Rank(2)) } else { row.peer };
    Call { rank, peer, ..row }
}

#[test]
fn hosts_are_distinguished() {
    let near = (0..5).flat_map(|number| late(number, 8_000, true));
    let far = (5..10).flat_map(|number| late(number, 8_000, false)).map(to_another_host);
    let rows: Vec<Call> = near.chain(far).collect();
    let clocks = |apart_ns| Clocks::Aligned { between_hosts: Some(Length(apart_ns)) };
    let graph = graph_with(&two_hosts(), clocks(10_000), rows.clone());
    let found: Vec<_> = graph
        .protocols
        .iter()
        .map(|row| (row.from_host, row.to_host, row.within_host, row.decision))
        .collect();
    assert_eq!(found, [(0, 0, true, Decision::Waits), (0, 1, false, Decision::Eager)]);
    assert_eq!(with(&graph, TieKind::AwaitsPost), [0, 1, 2, 3, 4]);
    // Clocks that may be further apart than a receive was late show nothing.
    let graph = graph_with(&two_hosts(), clocks(LATE_NS), rows);
    assert_eq!(graph.protocols[1].basis, Basis::Size);
    assert_eq!(graph.protocols[1].shown, Shown::default());
}

#[test]
fn times_that_do_not_fit_together_leave_it_to_sizes() {
    let rows = [late(0, 8_000, true), late(1, 100_000, false)].concat();
    let graph = graph_with(&definitions(&[vec![0, 1]]), Clocks::Unaligned, rows);
    assert!(graph.protocols.is_empty() && graph.clocks_unaligned);
    assert_eq!(with(&graph, TieKind::AwaitsPost), [1]);
}

/// The same program with its ranks numbered from the other end.
fn turned_round(ranks: u32, row: &Call) -> Call {
    let other = |rank: Rank| Rank(ranks - 1 - rank.0);
    let peer = |peer: Peer| match peer {
        Peer::Rank(rank) => Peer::Rank(other(rank)),
        peer => peer,
    };
    Call {
        rank: other(row.rank),
        peer: peer(row.peer),
        recv_peer: peer(row.recv_peer),
        root: peer(row.root),
        ..row.clone()
    }
}

proptest! {
    #[test]
    fn the_order_of_ranks_does_not_matter(ranks in 2u32..7, roomy: bool, seed: u64) {
        let program = Jumble { ranks, threads: 1, acts: 120, roomy, seed }.run();
        let clocks = Clocks::Aligned { between_hosts: None };
        let turned = program.rows.iter().map(|row| turned_round(ranks, row)).collect();
        let other: Vec<Vec<u32>> =
            program.comms.iter().map(|comm| comm.iter().map(|rank| ranks - 1 - rank).collect()).collect();
        let one = graph_with(&definitions(&program.comms), clocks, program.rows);
        let other = graph_with(&definitions(&other), clocks, turned);
        prop_assert_eq!(one.protocols, other.protocols);
    }
}
