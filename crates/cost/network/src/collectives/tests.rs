//! Collectives worked out by hand, and what holds for all of them.

use super::*;
use kizami_model::Length;

/// 10 to send and to receive, 100 on the way, 1 a byte; nothing waits.
const NET: LogGops = LogGops {
    latency_ns: 100.0,
    overhead_ns: 10.0,
    gap_ns: 0.0,
    per_byte_ns: 1.0,
    overhead_per_byte_ns: 0.0,
    eager_limit_bytes: u64::MAX,
};

/// The same, in which messages of more than 100 bytes wait for their receiver.
const WAITING: LogGops = LogGops { eager_limit_bytes: 100, ..NET };

const OPERATIONS: [&str; 15] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Reduce_scatter",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Scan",
    "MPI_Exscan",
];

const LIBRARIES: [Library; 4] = [Library::OpenMpi, Library::Mpich, Library::MpichClassic, Library::Unknown];

fn op(name: &str) -> Op {
    Op::by_name(name).unwrap()
}

fn chosen(library: Library, name: &str, ranks: u32, bytes: u64) -> Algorithm {
    library.algorithm(op(name), ranks, bytes, None).unwrap()
}

/// When each leaves, if all come at 0.
fn walked(how: Algorithm, ranks: usize, bytes: u64, net: &LogGops) -> Vec<i64> {
    leaves(how, &vec![Length::ZERO; ranks], 0, bytes, net).into_iter().map(|leave| leave.0).collect()
}

#[test]
fn open_mpi_changes_its_algorithm_at_thresholds() {
    use Algorithm::*;
    let open_mpi = |name, ranks, bytes| chosen(Library::OpenMpi, name, ranks, bytes);
    assert_eq!(open_mpi("MPI_Allreduce", 64, 262_143), RecursiveDoubling);
    assert_eq!(open_mpi("MPI_Allreduce", 64, 262_144), Rabenseifner);
    assert_eq!(open_mpi("MPI_Allreduce", 63, 262_143), Rabenseifner);
    // One part counts, not all.
    assert_eq!(open_mpi("MPI_Alltoall", 64, 64 * 1_023), BruckAlltoall);
    assert_eq!(open_mpi("MPI_Alltoall", 64, 64 * 1_024), LinearExchange { partners: 63, at_once: 64 });
    assert_eq!(open_mpi("MPI_Alltoallv", 64, 8), Pairwise { partners: 63 });
    assert_eq!(open_mpi("MPI_Barrier", 255, 0), Dissemination);
    assert_eq!(open_mpi("MPI_Barrier", 256, 0), InTurn(vec![(BinomialToRoot, 0), (BinomialFromRoot, 0)]));
    assert_eq!(open_mpi("MPI_Bcast", 256, 16_384), SplitBinary { segment_bytes: 1_024 });
    assert_eq!(open_mpi("MPI_Bcast", 1_000_000, 1 << 20), ScatterDoubling);
    assert_eq!(open_mpi("MPI_Allgather", 256, 256 * 31), DoublingAllgather);
    assert_eq!(open_mpi("MPI_Allgather", 256, 256 * 32), BruckAllgather);
    assert_eq!(open_mpi("MPI_Gather", 256, 256 * 2_048), LinearGather);
    assert_eq!(open_mpi("MPI_Reduce_scatter", 32, 63), {
        InTurn(vec![(GatherAtOnce, 63 * 32), (ScatterAtOnce, 63)])
    });
}

#[test]
fn open_mpi_does_what_is_left_over_in_its_own_way() {
    use Algorithm::*;
    let rest = 20_000 - 16_384;
    let segments = 8 << 10;
    assert_eq!(chosen(Library::OpenMpi, "MPI_Bcast", 200, 20_000), {
        InTurn(vec![(Chain { segment_bytes: segments }, 16_384), (Binary { segment_bytes: segments }, rest)])
    });
    // 2,050 numbers over 3 ranks: one too many.
    assert_eq!(chosen(Library::OpenMpi, "MPI_Allreduce", 3, 8 * 2_050), {
        InTurn(vec![(RingAllreduce, 8 * 2_049), (RecursiveDoubling, 8)])
    });
}

#[test]
fn mpich_changes_its_algorithm_at_thresholds() {
    use Algorithm::*;
    assert_eq!(chosen(Library::Mpich, "MPI_Alltoall", 64, 64 * 255), BruckAlltoall);
    assert_eq!(
        chosen(Library::Mpich, "MPI_Alltoall", 64, 64 * 256),
        LinearExchange { partners: 63, at_once: 4 }
    );
    assert_eq!(chosen(Library::Mpich, "MPI_Alltoall", 64, 64 << 15), Pairwise { partners: 63 });
    assert_eq!(chosen(Library::Mpich, "MPI_Allgather", 48, 81_921), Ring);
    assert_eq!(chosen(Library::Mpich, "MPI_Allgather", 64, 81_921), DoublingAllgather);
    assert_eq!(chosen(Library::Mpich, "MPI_Allreduce", 64, 1 << 20), RecursiveDoubling);
    assert_eq!(chosen(Library::MpichClassic, "MPI_Allreduce", 64, 1 << 20), Rabenseifner);
    assert_eq!(chosen(Library::MpichClassic, "MPI_Bcast", 64, 1 << 20), ScatterRing);
    assert_eq!(Library::Mpich.algorithm(op("MPI_Neighbor_allgather"), 8, 8, None), None);
}

#[test]
fn costs_and_walks_agree_when_all_enter_at_once() {
    for (name, ranks, bytes) in [
        ("MPI_Barrier", 16, 0),
        ("MPI_Allreduce", 8, 64),
        ("MPI_Allgather", 16, 100_000),
        ("MPI_Alltoall", 8, 800),
        ("MPI_Scan", 5, 10),
    ] {
        let cost = cost_ns(op(name), ranks, bytes, &NET);
        let walked = Library::Unknown.cost_ns(op(name), ranks, bytes, None, &NET);
        assert!((walked - cost).abs() <= 0.02 * cost + 1.0, "{name}: {walked} walked, {cost} worked out");
    }
}

#[test]
fn messages_of_a_tree_share_the_link_of_their_sender() {
    // One message takes 10 + 100 + 50 + 10. Of two that leave at once each is there when both have gone over the link.
    assert_eq!(walked(Algorithm::BinomialFromRoot, 2, 50, &NET), [10, 170]);
    assert_eq!(walked(Algorithm::BinomialFromRoot, 3, 50, &NET), [20, 220, 220]);
    // Whoever waits for receivers, which say so in 100, sends one after the other.
    assert_eq!(walked(Algorithm::BinomialFromRoot, 3, 200, &WAITING), [740, 740, 420]);
    // The first is received while the second is under way.
    assert_eq!(walked(Algorithm::BinomialToRoot, 3, 50, &NET), [180, 10, 10]);
    // A part of 10 to one, of 2 x 10 to another that has them at 150 and passes one on.
    assert_eq!(walked(Algorithm::BinomialScatter, 4, 40, &NET), [20, 140, 160, 280]);
    assert_eq!(walked(Algorithm::Knomial { radix: 4 }, 4, 0, &NET), [30, 120, 120, 120]);
}

#[test]
fn segments_follow_each_other() {
    // 170 for a segment of 50. Both are on the link at once, so both are there after 50 more.
    assert_eq!(walked(Algorithm::Pipeline { segment_bytes: 50 }, 3, 100, &NET)[1..], [220, 440]);
    let chain = Algorithm::SegmentedToRoot { tree: Tree::Chains(1), segment_bytes: 0 };
    assert_eq!(walked(chain, 3, 50, &NET)[0], 340);
    let binary = Algorithm::SegmentedToRoot { tree: Tree::InOrderBinary, segment_bytes: 0 };
    // Two below the last rank, then the result to the root.
    assert_eq!(walked(binary, 3, 50, &NET), [390, 10, 230]);
}

#[test]
fn rounds_are_exchanges() {
    assert_eq!(walked(Algorithm::RecursiveDoubling, 4, 50, &NET), [340; 4]);
    assert_eq!(walked(Algorithm::Rabenseifner, 4, 64, &NET), [2 * (152 + 136); 4]);
    assert_eq!(walked(Algorithm::RingAllreduce, 4, 80, &NET), [6 * 140; 4]);
    assert_eq!(walked(Algorithm::Ring, 5, 50, &NET), [4 * 130; 5]);
    assert_eq!(walked(Algorithm::NeighbourExchange, 6, 60, &NET), [130 + 2 * 140; 6]);
    assert_eq!(walked(Algorithm::BruckAlltoall, 4, 40, &NET), [2 * 140; 4]);
    assert_eq!(walked(Algorithm::BruckAllgather, 5, 50, &NET), [130 + 140 + 130; 5]);
    assert_eq!(walked(Algorithm::Dissemination, 5, 0, &NET), [3 * 120; 5]);
    assert_eq!(walked(Algorithm::RecursiveHalving, 4, 80, &NET), [160 + 140; 4]);
    assert_eq!(walked(Algorithm::Pairwise { partners: 3 }, 4, 40, &NET), [3 * 130; 4]);
    assert_eq!(walked(Algorithm::HalvingGather, 4, 64, &NET)[0], 2 * (152 + 136));
}

#[test]
fn all_at_once_is_limited_by_links() {
    // The first takes 130, the two others 10 each.
    let all = Algorithm::LinearExchange { partners: 3, at_once: 4 };
    assert_eq!(walked(all, 4, 40, &NET), [150; 4]);
    let sparse = Algorithm::LinearExchange { partners: 1, at_once: 4 };
    assert_eq!(walked(sparse, 4, 10, &NET), [130; 4]);
    let two = Algorithm::LinearExchange { partners: 3, at_once: 2 };
    assert_eq!(walked(two, 4, 40, &NET), [130 + 140; 4]);
    assert_eq!(walked(Algorithm::GatherAtOnce, 4, 40, &NET)[0], 150);
    assert_eq!(walked(Algorithm::LinearScan, 3, 10, &NET), [0, 140, 140]);
    assert_eq!(walked(Algorithm::ScanChain, 3, 10, &NET), [10, 140, 260]);
}

/// Collectives in which all ranks wait for all.
fn waits_for_all(name: &str) -> bool {
    name.starts_with("MPI_All") || name == "MPI_Barrier" || name == "MPI_Reduce_scatter"
}

#[test]
fn no_rank_leaves_before_those_it_waits_for_enter() {
    let late = Length(1_000_000);
    for (ranks, bytes) in
        [(2, 8), (5, 40), (8, 6_000), (13, 13 * 300), (16, 1 << 20), (24, 24_000), (70, 7_000)]
    {
        for (library, name) in LIBRARIES.iter().flat_map(|library| OPERATIONS.map(|name| (*library, name))) {
            let how = library.algorithm(op(name), ranks, bytes, None).unwrap();
            for latecomer in [0, 1, ranks as usize - 1] {
                let mut enters = vec![Length::ZERO; ranks as usize];
                enters[latecomer] = late;
                for net in [&NET, &WAITING] {
                    let leaves = leaves(&how, &enters, 0, bytes, net);
                    let what = format!("{library:?} {name} {ranks} {bytes} {latecomer} {how:?}: {leaves:?}");
                    assert!(leaves[latecomer] >= late, "{what}");
                    if waits_for_all(name) {
                        assert!(leaves.iter().all(|leave| *leave >= late), "{what}");
                    }
                    let from_root = matches!(name, "MPI_Bcast" | "MPI_Scatter" | "MPI_Scatterv");
                    if from_root && latecomer == 0 {
                        assert!(leaves.iter().all(|leave| *leave >= late), "{what}");
                    }
                    if matches!(name, "MPI_Reduce" | "MPI_Gather" | "MPI_Gatherv") {
                        assert!(leaves[0] >= late, "{what}");
                    }
                    if name.ends_with("can") {
                        assert!(leaves[latecomer..].iter().all(|leave| *leave >= late), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn late_ones_delay_as_if_each_step_were_walked() {
    let mut enters: Vec<Length> = (0..9).map(|rank| Length(rank * rank * 37 % 400)).collect();
    enters[4] = Length(2_000);
    let mut walk = Walk::new(enters.iter().map(|enter| enter.0 as f64).collect(), &NET);
    let cost = walk.cost(30);
    (0..8).for_each(|_| walk.shift(1, &cost));
    let around = leaves(Algorithm::Ring, &enters, 0, 9 * 30, &NET);
    assert_eq!(around.iter().map(|leave| leave.0 as f64).collect::<Vec<_>>(), walk.now);
}

#[test]
fn roots_may_be_anywhere() {
    for library in LIBRARIES {
        for name in ["MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter"] {
            let how = library.algorithm(op(name), 12, 120, None).unwrap();
            let mut enters = vec![Length::ZERO; 12];
            enters[7] = Length(1_000_000);
            let leaves = leaves(how, &enters, 7, 120, &NET);
            assert!(leaves[7] >= enters[7], "{library:?} {name}");
        }
    }
}
