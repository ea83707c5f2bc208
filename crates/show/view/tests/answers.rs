//! On runs whose times are exactly known, every answer is exact.

mod common;

use common::{rows, script, sealed, stencil};
use kizami_model::{Call, Length, Moment, Op, StopReason};
use kizami_records::Definition;
use kizami_testing::Act::{Compute, Receive, Send, Together};
use kizami_testing::process_group::played;
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::Trace;
use kizami_view::index::Index;
use kizami_view::index::category::{CATEGORIES, Category};
use kizami_view::layer::Opened;
use kizami_view::query::flow::StageKind;
use kizami_view::query::matrix::By;
use kizami_view::query::order::Order;
use kizami_view::query::phases::PhaseKind;
use kizami_view::query::timeline::{Timeline, from_cells, timeline};
use kizami_view::query::tree::NodeKind;
use kizami_view::query::{
    Selection, calls, collectives, flow, histogram, matrix, messages, parallelism, path, phases, stops, tree,
};
use std::sync::Arc;
use tempfile::TempDir;

const RANKS: u32 = 9;
const ITERATIONS: u64 = 40;

fn exchange() -> (TempDir, Trace) {
    let folder = tempfile::tempdir().unwrap();
    let (_, trace) = stencil(&folder.path().join("run.kz"), RANKS, ITERATIONS);
    (folder, trace)
}

/// Rank 1 waits in `MPI_Recv` for rank 0, which computes; rank 2 waits for rank 1.
fn late_sender() -> (TempDir, Arc<Opened>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.kz");
    script(
        &path,
        vec![
            vec![Together("MPI_Barrier"), Compute(400_000), Send(1, 0, 64), Together("MPI_Barrier")],
            vec![Together("MPI_Barrier"), Receive(0, 0), Send(2, 0, 128), Together("MPI_Barrier")],
            vec![Together("MPI_Barrier"), Receive(1, 0), Together("MPI_Barrier")],
        ],
    );
    (folder, Opened::open(&path).unwrap())
}

/// Whether a call is under way between two moments.
fn under_way(row: &Call, from_ns: i64, to_ns: i64) -> bool {
    row.start.0 < to_ns && (row.end.0 > from_ns || row.start.0 >= from_ns)
}

#[test]
fn an_index_has_every_row_and_is_found_again() {
    let (_folder, trace) = exchange();
    let built = Index::build(&trace, &|_| {}).unwrap();
    let kept = Index::kept(&trace).expect("it was kept");
    let expected = rows(&trace);
    assert_eq!(built.rows(), expected.len() as u64);
    for index in [&built, &kept] {
        let mut found = Vec::new();
        for rank in 0..index.ranks() {
            index.each(rank, i64::MIN, i64::MAX, |row| {
                let kind = index.kinds()[row.kind as usize];
                found.push((rank, kind.thread, row.start_ns, row.end_ns, kind.op(), kind.site()));
            });
        }
        let row = |row: &Call| (row.rank.0, row.thread.0, row.start.0, row.end.0, row.op, row.callsite);
        assert_eq!(found, expected.iter().map(row).collect::<Vec<_>>());
    }
}

/// All that an index tells of rows and shares of time; kinds have no order.
fn contents(index: &Index) -> String {
    let mut contents =
        format!("{} {} {} {:?}", index.begin_ns(), index.end_ns(), index.rows(), index.division());
    for rank in 0..index.ranks() {
        contents.push_str(&format!("\n{rank} {:?}", index.seen(rank)));
        index.each(rank, i64::MIN, i64::MAX, |row| {
            let kind = index.kinds()[row.kind as usize];
            contents.push_str(&format!("\n{} {} {kind:?}", row.start_ns, row.end_ns));
        });
        for level in 0..index.division().levels {
            contents.push_str(&format!("\n{:?}", index.cells(level, rank)));
        }
    }
    contents
}

#[test]
fn an_index_made_by_several_processes_is_that_of_one() {
    let folder = tempfile::tempdir().unwrap();
    // Every rank is a part.
    let (_, trace) = stencil(&folder.path().join("run.kz"), RANKS, 4_000);
    assert!(trace.spans().unwrap().groups() > 3);
    let one = contents(&Index::build(&trace, &|_| {}).unwrap());
    for count in [1, 2, 3, 20] {
        std::fs::remove_file(folder.path().join("run.kz/derived/view.bin")).unwrap();
        played(count, |group| Index::build_together(&trace, group, &|_| {}).unwrap());
        let kept = Index::kept(&trace).expect("it was kept");
        assert!(contents(&kept) == one, "{count}");
    }
    let mut kinds: Vec<_> =
        Index::kept(&trace).unwrap().kinds().iter().map(|kind| format!("{kind:?}")).collect();
    let all = kinds.len();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), all, "each kind has one number");
}

#[test]
fn an_index_that_is_damaged_or_of_another_trace_is_not_believed() {
    let (folder, trace) = exchange();
    drop(Index::build(&trace, &|_| {}).unwrap());
    let path = folder.path().join("run.kz/derived/view.bin");
    let whole = std::fs::read(&path).unwrap();
    for cut in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(Index::kept(&trace).is_none(), "{cut}");
    }
    // Head, packed rows, shares and tables.
    for place in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        assert!(Index::kept(&trace).is_none(), "{place}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(Index::kept(&trace).is_some());
    let (_other_folder, other) = late_sender();
    let other_path = other.trace.path().join("derived");
    std::fs::create_dir_all(&other_path).unwrap();
    std::fs::write(other_path.join("view.bin"), &whole).unwrap();
    assert!(Index::kept(&other.trace).is_none());
}

/// Who knows the format makes a checksum that is right: then what is said must not contradict itself.
#[test]
fn a_forged_index_is_rejected() {
    let (folder, trace) = exchange();
    drop(Index::build(&trace, &|_| {}).unwrap());
    let path = folder.path().join("run.kz/derived/view.bin");
    let whole = std::fs::read(&path).unwrap();
    const HEAD_WORDS: usize = 16;
    let signed = |word: usize, value: u64| {
        let mut forged = whole.clone();
        forged[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&forged[..8 * HEAD_WORDS - 8]);
        checksum.update(&forged[8 * HEAD_WORDS..]);
        let sum = u64::from(checksum.finalize()).to_le_bytes();
        forged[8 * HEAD_WORDS - 8..8 * HEAD_WORDS].copy_from_slice(&sum);
        forged
    };
    let word = |at: usize| u64::from_le_bytes(whole[8 * at..8 * at + 8].try_into().unwrap());
    for at in (5..15).chain(HEAD_WORDS..whole.len() / 8) {
        for value in [1, 1 << 31, 1 << 40, u64::MAX].into_iter().filter(|value| *value != word(at)) {
            std::fs::write(&path, signed(at, value)).unwrap();
            let Some(index) = Index::kept(&trace) else { continue };
            assert!(at >= HEAD_WORDS, "word {at} was {}, and is {value}", word(at));
            for rank in 0..index.ranks() {
                index.each(rank, i64::MIN, i64::MAX, |_| {});
                index.time(rank, i64::MIN, i64::MAX, |_, _, _| {});
            }
        }
    }
}

#[test]
fn shares_are_exact_and_add_up() {
    let (_folder, trace) = exchange();
    let index = Index::build(&trace, &|_| {}).unwrap();
    let all = Selection::all(&index);
    let (from_ns, to_ns, columns) = (all.from.0, all.to.0, 50);
    let made = timeline(&index, &all.ranks, from_ns, to_ns, columns, RANKS as usize);
    assert_eq!(made.first_ranks, (0..RANKS).collect::<Vec<_>>());
    for cell in made.shares.chunks_exact(CATEGORIES) {
        assert_eq!(cell.iter().map(|share| u32::from(*share)).sum::<u32>(), 255);
    }
    // The time of each category over the run is that of the rows.
    let width_ns = (to_ns - from_ns) as f64 / columns as f64;
    for rank in 0..RANKS as usize {
        let row = &made.shares[rank * columns * CATEGORIES..(rank + 1) * columns * CATEGORIES];
        for category in [Category::PointToPoint, Category::Receive, Category::Collective] {
            let shares = row.iter().skip(category as usize).step_by(CATEGORIES);
            let drawn_ns: f64 = shares.map(|share| f64::from(*share) / 255.0 * width_ns).sum();
            let of_rank = rows(&trace).into_iter().filter(|call| call.rank.0 as usize == rank);
            let own = of_rank.filter(|call| Category::of(call.op) == category);
            let exact_ns: i64 = own.map(|call| call.end.0 - call.start.0).sum();
            let error_ns = columns as f64 * width_ns / 255.0 / 2.0;
            assert!(
                (drawn_ns - exact_ns as f64).abs() <= error_ns,
                "{rank} {category:?} {drawn_ns} {exact_ns}"
            );
        }
    }
}

#[test]
fn cells_agree_with_rows() {
    let (_folder, trace) = exchange();
    let index = Index::build(&trace, &|_| {}).unwrap();
    let all = Selection::all(&index);
    let whole_ns = (all.to.0 as u64).next_power_of_two() as i64;
    // Stretches that are whole numbers of cells, as pages ask for them: nothing but rounding is different.
    for (from_ns, to_ns, columns, rows) in [
        (0, whole_ns, 64, 9),
        (0, whole_ns, 16, 2),
        (whole_ns / 4, whole_ns / 2, 8, 9),
        (0, 4 * whole_ns, 64, 3),
    ] {
        let exact = timeline(&index, &all.ranks, from_ns, to_ns, columns, rows);
        let coarse = from_cells(&index, &all.ranks, from_ns, to_ns, columns, rows);
        assert_eq!(exact.first_ranks, coarse.first_ranks);
        for (one, other) in exact.shares.iter().zip(&coarse.shares) {
            assert!(one.abs_diff(*other) <= 2, "{one} {other} at {columns} x {rows}");
        }
    }
    // Any others: up to the end of each column, the time of each category is off by a part of a cell, and rounding.
    let (from_ns, to_ns, columns) = (all.to.0 / 3, all.to.0 / 2, 31);
    let exact = timeline(&index, &all.ranks, from_ns, to_ns, columns, RANKS as usize);
    let coarse = from_cells(&index, &all.ranks, from_ns, to_ns, columns, RANKS as usize);
    for (exact, coarse) in
        exact.shares.chunks(columns * CATEGORIES).zip(coarse.shares.chunks(columns * CATEGORIES))
    {
        for category in 0..CATEGORIES {
            let mut apart = 0;
            for column in 0..columns {
                let place = column * CATEGORIES + category;
                apart += i32::from(exact[place]) - i32::from(coarse[place]);
                assert!(apart.abs() <= 255 + column as i32, "{apart} in column {column} of {category}");
            }
        }
    }
    // Beyond the run there is nothing; cells know that from the end of the one the run ends in.
    let after_all_cells_ns = 2 * whole_ns;
    for (made, from_ns) in [
        (timeline as fn(&Index, &[u32], i64, i64, usize, usize) -> _, all.to.0 + 10),
        (from_cells, after_all_cells_ns),
    ] {
        let beyond: Timeline = made(&index, &[0], from_ns, from_ns + 1_000, 3, 1);
        assert!(beyond.shares.chunks_exact(CATEGORIES).all(|cell| cell[Category::NoRecord as usize] == 255));
    }
}

#[test]
fn ranks_can_be_ordered_by_waiting_and_by_likeness() {
    let (_folder, opened) = late_sender();
    let index = opened.index_now().unwrap();
    let all = Selection::all(&index);
    assert_eq!(Order::Rank.of(&index, &all), [0, 1, 2]);
    assert_eq!(Order::Wait.of(&index, &all).last(), Some(&0));
    let mut alike = Order::Cluster.of(&index, &all);
    let apart = alike.iter().position(|rank| *rank == 0).unwrap();
    assert!(apart == 0 || apart == 2, "rank 0 alone computes: {alike:?}");
    alike.sort_unstable();
    assert_eq!(alike, [0, 1, 2]);
}

#[test]
fn calls_and_histograms_are_those_of_the_rows() {
    let (_folder, trace) = exchange();
    let index = Index::build(&trace, &|_| {}).unwrap();
    let rows = rows(&trace);
    let length_ns = index.end_ns();
    for (from_ns, to_ns, ranks) in
        [(0, length_ns + 1, vec![0, 1, 2, 3, 4, 5, 6, 7, 8]), (length_ns / 3, length_ns / 2, vec![1, 4])]
    {
        let selection = Selection { from: Moment(from_ns), to: Moment(to_ns), ranks, ..Selection::default() };
        let within = |row: &&Call| under_way(row, from_ns, to_ns) && selection.ranks.contains(&row.rank.0);
        let expected: Vec<&Call> = rows.iter().filter(within).collect();
        let found = calls::calls(&index, &selection, u64::MAX).unwrap();
        assert_eq!(found.start_ns, expected.iter().map(|row| row.start.0).collect::<Vec<_>>());
        assert_eq!(found.op, expected.iter().map(|row| row.op.0).collect::<Vec<_>>());
        let many = calls::calls(&index, &selection, 10).unwrap_err();
        assert_eq!(many.count, expected.len() as u64);

        for op in [None, Op::by_name("MPI_Waitall")] {
            let of_op: Vec<&&Call> = expected.iter().filter(|row| op.is_none_or(|op| row.op == op)).collect();
            let made = histogram::histogram(&index, &selection, op);
            assert_eq!(made.count, of_op.len() as u64);
            assert_eq!(made.total_ns, of_op.iter().map(|row| row.end.0 - row.start.0).sum::<i64>());
            for bucket in &made.buckets {
                let lengths = of_op.iter().map(|row| row.end.0 - row.start.0);
                let here = lengths.filter(|length| (bucket.low_ns..bucket.high_ns).contains(length));
                assert_eq!(bucket.count, here.count() as u64, "{bucket:?}");
                let lengths = Length(bucket.low_ns)..Length(bucket.high_ns);
                let listed = histogram::calls_of_length(&index, &selection, op, lengths, 20_000);
                assert_eq!(listed.len() as u64, bucket.count);
            }
        }
    }
}

#[test]
fn work_is_the_area_below_parallelism() {
    let (_folder, opened) = late_sender();
    let index = opened.index_now().unwrap();
    let all = Selection::all(&index);
    let made = parallelism::parallelism(&index, &all, 100);
    let area_ns = made.iter().map(|ranks| f64::from(*ranks)).sum::<f64>() * all.length().0 as f64 / 100.0;
    assert!((area_ns - 400_000.0).abs() < 100.0, "{area_ns}");
    assert!(made.iter().all(|ranks| *ranks <= 1.0001));
}

#[test]
fn messages_matrix_and_collectives_are_those_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    let (stencil, _) = stencil(&path, RANKS, ITERATIONS);
    let opened = Opened::open(&path).unwrap();
    let (index, insight) = (opened.index_now().unwrap(), opened.insight_now().unwrap());
    let all = Selection::all(&index);
    let sent = messages::messages(&insight, &all, u64::MAX).unwrap();
    assert_eq!(sent.len() as u64, u64::from(RANKS) * ITERATIONS * 4);
    assert!(messages::messages(&insight, &all, 5).is_err());
    let made = matrix::matrix(&insight, &opened.definitions, RANKS, &all, By::Rank);
    assert_eq!(made.size, RANKS as usize);
    let mut expected = vec![0.0; made.bytes.len()];
    for rank in 0..RANKS {
        for (side, neighbour) in stencil.neighbours(rank).into_iter().enumerate() {
            let bytes = if side < 2 { 8_192.0 } else { 32_768.0 };
            expected[(rank * RANKS + neighbour) as usize] += bytes * ITERATIONS as f64;
        }
    }
    assert_eq!(made.bytes, expected);
    assert_eq!(made.messages.iter().sum::<f64>() as usize, sent.len());
    let by_host = matrix::matrix(&insight, &opened.definitions, RANKS, &all, By::Host);
    assert_eq!((by_host.size, by_host.bytes), (1, vec![expected.iter().sum::<f64>()]));
    let (all_of_them, more) = collectives::collectives(&insight, &all, u64::MAX);
    assert_eq!((all_of_them.len() as u64, more), (ITERATIONS, false));
    assert!(all_of_them.iter().all(|one| one.ranks.len() == RANKS as usize));
    assert!(collectives::collectives(&insight, &all, 3).1);
}

#[test]
fn a_wait_is_followed_back_to_its_cause() {
    let (_folder, opened) = late_sender();
    let insight = opened.insight_now().unwrap();
    let rows = rows(&opened.trace);
    let receive = |rank| rows.iter().find(|row| row.rank.0 == rank && row.op.name() == "MPI_Recv").unwrap();
    let found = flow::flow(&insight, 2, Moment(receive(2).start.0)).unwrap();
    assert_eq!((found.event.rank, found.event.name.as_str()), (2, "MPI_Recv"));
    let chain: Vec<(u32, StageKind)> = found.chain.iter().map(|stage| (stage.rank, stage.kind)).collect();
    assert_eq!(
        chain,
        [(1, StageKind::Call), (1, StageKind::Call), (0, StageKind::Call), (0, StageKind::Compute)],
        "{:#?}",
        found.chain
    );
    let cause = found.chain.last().unwrap();
    assert_eq!(
        (cause.name.as_str(), cause.end_ns - cause.start_ns),
        ("computation before MPI_Send", 400_000)
    );
    // And the other way: rank 1 waited for the send of rank 0.
    let send = rows.iter().find(|row| row.rank.0 == 0 && row.op.name() == "MPI_Send").unwrap();
    let found = flow::flow(&insight, 0, Moment(send.start.0)).unwrap();
    assert_eq!(found.waiters.iter().map(|stage| stage.rank).collect::<Vec<_>>(), [1]);
    assert!(found.chain.is_empty());
    assert!(flow::flow(&insight, 77, Moment::START).is_none());
}

#[test]
fn the_verdict_leads_to_the_late_sender() {
    let (_folder, opened) = late_sender();
    let verdict = opened.verdict_now().unwrap();
    let worst = &verdict.report.findings[0];
    assert_eq!(worst.ranks, [0]);
    let jump = verdict.jumps[0].unwrap();
    let rows = rows(&opened.trace);
    let send = rows.iter().find(|row| row.rank.0 == 0 && row.op.name() == "MPI_Send").unwrap();
    assert_eq!(jump.rank, 0);
    assert!(jump.from_ns < send.start.0 && send.start.0 < jump.to_ns, "{jump:?}");
    // It is found again.
    assert_eq!(kizami_view::verdict::kept(&opened.trace).as_ref(), Some(&*verdict));
}

#[test]
fn the_critical_path_is_without_gaps() {
    let (_folder, opened) = late_sender();
    let insight = opened.insight_now().unwrap();
    let (segments, more) = path::path(&insight, Moment(i64::MIN), Moment(i64::MAX), 1_000);
    assert!(!more && !segments.is_empty());
    for pair in segments.windows(2) {
        assert_eq!(pair[0].end_ns, pair[1].start_ns, "{segments:#?}");
    }
    assert!(segments.iter().any(|part| part.rank == 0 && part.what == "computation"));
}

#[test]
fn an_ideal_network_takes_the_cost_of_messages_away() {
    let (_folder, opened) = late_sender();
    let (index, ideal) = (opened.index_now().unwrap(), opened.ideal_now().unwrap());
    assert_eq!(ideal.rows(), index.rows());
    assert!(ideal.end_ns() < index.end_ns());
    let all = Selection::all(&ideal);
    let made = parallelism::parallelism(&ideal, &all, 10);
    let area_ns = made.iter().map(|ranks| f64::from(*ranks)).sum::<f64>() * all.length().0 as f64 / 10.0;
    assert!((area_ns - 400_000.0).abs() < 1_000.0, "{area_ns}");
}

#[test]
fn a_tree_has_the_time_of_all_its_parts() {
    let (_folder, trace) = exchange();
    let index = Index::build(&trace, &|_| {}).unwrap();
    let nodes = tree::tree(&index, &trace.definitions().unwrap(), &[], &Selection::all(&index));
    let root = &nodes[0];
    assert_eq!((root.kind, root.parent), (NodeKind::Run, None));
    let inside: i64 =
        nodes.iter().filter(|node| node.kind == NodeKind::Function).map(|node| node.inclusive_ns).sum();
    let exact: i64 = rows(&trace).iter().map(|row| row.end.0 - row.start.0).sum();
    assert_eq!((inside, root.inclusive_ns - root.exclusive_ns), (exact, exact));
    let calls: u64 = nodes.iter().filter(|node| node.kind == NodeKind::CallSite).map(|node| node.calls).sum();
    assert_eq!(calls, rows(&trace).len() as u64);
    let own = |kind| nodes.iter().filter(move |node| node.kind == kind);
    assert!(own(NodeKind::CallSite).all(|node| nodes[node.parent.unwrap()].kind == NodeKind::Function));
}

#[test]
fn runs_of_one_rank_one_call_and_none_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (name, acts) in [("one.kz", vec![vec![Together("MPI_Barrier")]]), ("none.kz", vec![vec![Compute(5)]])]
    {
        let path = folder.path().join(name);
        script(&path, acts);
        let opened = Opened::open(&path).unwrap();
        let index = opened.index_now().unwrap();
        let all = Selection::all(&index);
        let made = timeline(&index, &all.ranks, all.from.0, all.to.0, 10, 10);
        assert_eq!(made.shares.len(), 10 * CATEGORIES);
        assert!(
            made.shares
                .chunks_exact(CATEGORIES)
                .all(|cell| cell.iter().map(|s| u32::from(*s)).sum::<u32>() == 255)
        );
        assert_eq!(histogram::histogram(&index, &all, None).count, index.rows());
        let insight = opened.insight_now().unwrap();
        assert_eq!(messages::messages(&insight, &all, 10).unwrap(), []);
        assert!(!path::path(&insight, Moment(i64::MIN), Moment(i64::MAX), 10).1);
        let verdict = opened.verdict_now().unwrap();
        assert!(verdict.report.findings.is_empty());
        assert_eq!(opened.ideal_now().unwrap().rows(), index.rows());
    }
}

/// Two ranks that begin and end MPI, name their parts and are stopped; nobody ever heard of the third.
fn parts(path: &std::path::Path) -> Arc<Opened> {
    for rank in 0..2 {
        let who = SegmentOwner { last_ticks: 1_100_000, ..SegmentOwner::rank(rank, 3) };
        let region = |local, name: &str| Definition::Region { local, name: name.to_owned() };
        define(path, &who, &[region(1, "setup"), region(2, "solve")]);
        let (mut segment, late) = (SegmentWriter::create(path, &who, Some(0)), u64::from(rank) * 50);
        segment.call(&call("MPI_Init", late, 1_000));
        segment.region(2_000 + late, 1, true);
        segment.call(&call("MPI_Wtime", 2_500, 100));
        segment.region(3_000 + late, 1, false);
        for stay in 0..3 {
            segment.region(10_000 * (stay + 1) + late, 2, true);
            segment.call(&call("MPI_Wtime", 10_000 * (stay + 1) + 500, 100));
            segment.region(10_000 * (stay + 1) + 5_000 + late, 2, false);
        }
        segment.stop(40_000, 2_000, StopReason::Paused, 0);
        segment.stop(44_000, 3_000, StopReason::Suspended, 0);
        segment.call(&call("MPI_Finalize", 60_000 + late, 1_000));
        segment.finish();
    }
    sealed(path);
    Opened::open(path).unwrap()
}

/// One pause was fifty times as long as the others: it is not what a finding is about.
#[test]
fn the_verdict_leads_to_a_typical_wait() {
    const TYPICAL_NS: i64 = 400_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.kz");
    let pause = |round: i64| Compute(if round == 7 { 50 * TYPICAL_NS } else { TYPICAL_NS });
    // Rank 1 waits for each of many small sends, too: for no time worth mentioning.
    let sender =
        |round| vec![Together("MPI_Barrier"), pause(round), Send(1, 0, 64), Send(1, 0, 64), Send(1, 0, 64)];
    let receiver = |_| vec![Together("MPI_Barrier"), Receive(0, 0), Receive(0, 0), Receive(0, 0)];
    script(&path, vec![(0..20).flat_map(sender).collect(), (0..20).flat_map(receiver).collect()]);
    let opened = Opened::open(&path).unwrap();
    let verdict = opened.verdict_now().unwrap();
    let jump = verdict.jumps[0].unwrap();
    let waited_ns = jump.to_ns - jump.from_ns;
    assert!(waited_ns > TYPICAL_NS / 2 && waited_ns < 2 * TYPICAL_NS, "{jump:?}");
    // What all who show it show is what its share is of.
    let finding = &verdict.report.findings[0];
    assert_eq!(finding.all_waiting_ns(), finding.waiting_ns + finding.propagated_ns);
}

#[test]
fn the_program_works_between_starting_and_ending_mpi() {
    let folder = tempfile::tempdir().unwrap();
    let opened = parts(&folder.path().join("run.kz"));
    let index = opened.index_now().unwrap();
    let work = Selection::at_work(&index);
    assert_eq!((work.from, work.to), (Moment(1_000), Moment(60_050)));
    let of_reports = kizami_replay::WorkInterval::of(&opened.insight_now().unwrap().graph);
    assert_eq!((work.from, work.to), (of_reports.begin, of_reports.end), "as reports have it");
    let (_folder, late) = late_sender();
    let index = late.index_now().unwrap();
    assert_eq!(
        Selection::at_work(&index),
        Selection::all(&index),
        "who never began MPI is shown from the start"
    );
}

#[test]
fn phases_last_from_the_first_entry_to_the_last_exit() {
    let folder = tempfile::tempdir().unwrap();
    let opened = parts(&folder.path().join("run.kz"));
    let index = opened.index_now().unwrap();
    let found = phases::phases(&index, &opened.definitions, opened.regions());
    let contents: Vec<_> = found
        .iter()
        .map(|phase| (phase.kind, &phase.name[..], phase.instance, phase.from, phase.to))
        .collect();
    assert_eq!(
        contents,
        [
            (PhaseKind::Program, "MPI_Init to MPI_Finalize", 0, 1_000, 60_050),
            (PhaseKind::Region, "setup", 0, 2_000, 3_050),
            (PhaseKind::Region, "solve", 0, 10_000, 15_050),
            (PhaseKind::Region, "solve", 1, 20_000, 25_050),
            (PhaseKind::Region, "solve", 2, 30_000, 35_050),
        ]
    );
    let (_folder, late) = late_sender();
    let found = phases::phases(&late.index_now().unwrap(), &late.definitions, late.regions());
    assert_eq!(found, [], "a program that never began MPI has no such phase");
}

#[test]
fn every_gap_has_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let opened = parts(&folder.path().join("run.kz"));
    let index = opened.index_now().unwrap();
    let all = Selection::all(&index);
    let (found, more) = stops::gaps(&index, &all, 100);
    let contents: Vec<_> =
        found.iter().map(|gap| (gap.rank, &gap.reason[..], gap.start_ns, gap.end_ns)).collect();
    let stops = [(0, "suspended", 44_000, 47_000), (1, "suspended", 44_000, 47_000)];
    let pauses = [(0, "paused", 40_000, 42_000), (1, "paused", 40_000, 42_000)];
    let ends = [(0, "after-last-call", 61_000, 61_050), (1, "before-first-call", 0, 50)];
    let never = [(2, "never-seen", 0, 61_050)];
    assert_eq!((contents, more), ([&never[..], &stops, &pauses, &ends].concat(), false));
    let part = Selection { from: Moment(41_000), to: Moment(43_000), ranks: vec![1], ..all.clone() };
    let (found, _) = stops::gaps(&index, &part, 100);
    assert_eq!(found.iter().map(|gap| &gap.reason[..]).collect::<Vec<_>>(), ["paused"]);
    let (found, more) = stops::gaps(&index, &all, 2);
    assert_eq!((found.len(), found[0].rank, more), (2, 2, true), "the longest are told");
}
