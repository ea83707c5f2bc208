//! A run stored by rank class replays as the same run with all its rows does, to the nanosecond.
//!
//! The run is a grid of ranks that exchange with their neighbours; those at borders compute for other times, so that what
//! happens there is felt one rank further on with each iteration, until all meet.

use kizami_model::{Call, CommKind, Peer, Rank};
use kizami_network::LogGops;
use kizami_rank_classes::{ExpandedCalls, RankClasses, all_ranks};
use kizami_replay::{Network, ReplayError, Request, Setting, retime};
use kizami_testing::call;
use kizami_trace::write::About;
use kizami_trace::{Definitions, RankSelection, Trace, TraceWriter};
use std::path::Path;

const SIDE: u32 = 32;
const RANKS: u32 = SIDE * SIDE;
const ITERATIONS: u32 = 12;
/// Ranks meet after so many iterations.
const TOGETHER: u32 = 5;

/// Up, down, left, right.
fn neighbours(rank: u32) -> [Option<u32>; 4] {
    let (row, column) = (rank / SIDE, rank % SIDE);
    [
        (row > 0).then(|| rank - SIDE),
        (row + 1 < SIDE).then(|| rank + SIDE),
        (column > 0).then(|| rank - 1),
        (column + 1 < SIDE).then(|| rank + 1),
    ]
}

/// Ranks with equal keys make the same calls: 0 is 0 for all.
fn key(rank: u32) -> [Option<u32>; 4] {
    neighbours(rank).map(|peer| peer.map(|peer| if peer == 0 { 0 } else { (peer + RANKS - rank) % RANKS }))
}

/// What a rank does. If they are to end with a gift, the first of each row of the grid gives something to its row at last: by a
/// tree, which reaches hardly two ranks at the same time.
fn rows(rank: u32, gift: bool) -> Vec<Call> {
    let near = neighbours(rank);
    let row_comm = 2 + rank / SIDE;
    let (mut rows, mut now, mut request) = (Vec::new(), 0, 0);
    let work = 10_000 + 700 * near.iter().flatten().count() as i64;
    rows.push(call("MPI_Init", rank, 0, 0));
    for iteration in 0..ITERATIONS {
        let first = request + 1;
        for sends in [false, true] {
            for (side, peer) in near.iter().enumerate() {
                request += 1;
                // Vertical messages are large enough to wait for their receivers.
                let bytes = Some(if side < 2 { 100_000 } else { 8_000 });
                let name = if sends { "MPI_Isend" } else { "MPI_Irecv" };
                let tag = if sends { side as i32 } else { side as i32 ^ 1 };
                rows.push(Call {
                    peer: peer.map_or(Peer::Null, |peer| Peer::Rank(Rank(peer))),
                    tag: Some(tag),
                    bytes_out: bytes.filter(|_| sends),
                    bytes_in: bytes.filter(|_| !sends),
                    request: Some(request),
                    ..call(name, rank, now, now)
                });
            }
        }
        let completes = (first..=request).collect();
        rows.push(Call { completes, comm: None, ..call("MPI_Waitall", rank, now, now) });
        now += work;
        if iteration % TOGETHER == TOGETHER - 1 {
            let bytes_out = Some(8);
            rows.push(Call { bytes_out, bytes_in: bytes_out, ..call("MPI_Allreduce", rank, now, now) });
        }
        if iteration % 4 == 3 {
            rows.push(Call {
                comm: Some(row_comm),
                bytes_out: Some(8),
                ..call("MPI_Barrier", rank, now, now)
            });
        }
    }
    if gift {
        rows.push(Call {
            comm: Some(row_comm),
            root: Peer::Rank(Rank(rank / SIDE * SIDE)),
            bytes_out: Some(8).filter(|_| rank.is_multiple_of(SIDE)),
            bytes_in: Some(8).filter(|_| !rank.is_multiple_of(SIDE)),
            ..call("MPI_Bcast", rank, now, now)
        });
    }
    rows.push(call("MPI_Finalize", rank, now, now));
    rows
}

fn definitions() -> Definitions {
    let mut comms = vec![(0..RANKS).collect::<Vec<u32>>(), Vec::new()];
    comms.extend((0..SIDE).map(|row| (row * SIDE..(row + 1) * SIDE).collect()));
    let mut definitions = kizami_testing::definitions(&comms);
    definitions.communicators[1].kind = CommKind::SelfOnly;
    definitions.ranks = all_ranks(RANKS);
    definitions
}

fn write(directory: &Path, definitions: Definitions, ranks: &[Rank], gift: bool) -> Trace {
    let mut writer = TraceWriter::create(directory, About::default(), definitions).unwrap();
    for rank in ranks {
        rows(rank.0, gift).iter().for_each(|row| writer.call(row).unwrap());
    }
    writer.finish(|_| {}).unwrap();
    Trace::open(directory).unwrap()
}

fn replayed(trace: &Trace, setting: &Setting, output: &Path, unaligned: bool) -> Trace {
    let request =
        Request { output: Some(output), threads: 2, clocks_unaligned: unaligned, ..Request::default() };
    retime(trace, request, |_, _| Ok::<_, ReplayError>(setting.clone()), &|_| {}).unwrap();
    Trace::open(output).unwrap()
}

/// How long a run takes if no trace is written, and how that was found out.
fn timed(trace: &Trace, setting: &Setting) -> (i64, Option<i64>, Vec<String>) {
    let request = Request { threads: 2, ..Request::default() };
    let by_class = retime(trace, request, |_, _| Ok::<_, ReplayError>(setting.clone()), &|_| {}).unwrap();
    (by_class.replayed_ns, by_class.replayed_work_ns, by_class.setting)
}

fn model(of: LogGops) -> Setting {
    Setting { network: Network::Model(of), ..Setting::default() }
}

/// Compares the rows of all ranks, and returns how many classes there are.
fn compare(whole: &Trace, by_class: &Trace) -> usize {
    let own = whole.calls(RankSelection::All).unwrap().map(Result::unwrap);
    let mut expanded = ExpandedCalls::of(by_class, RankSelection::All).unwrap().map(Result::unwrap);
    for row in own {
        assert_eq!(expanded.next(), Some(row));
    }
    assert_eq!(expanded.next(), None);
    let (one, other) = (whole.run(), by_class.run());
    assert_eq!((one.span_ns, one.ranks), (other.span_ns, other.ranks));
    assert_eq!(one.functions, other.functions);
    let mut sums = other.totals.clone();
    sums.events = one.totals.events;
    assert_eq!(one.totals, sums);
    RankClasses::of(&by_class.definitions().unwrap()).unwrap().count()
}

const SLOW: LogGops = LogGops {
    latency_ns: 1_500.0,
    overhead_ns: 200.0,
    gap_ns: 50.0,
    per_byte_ns: 0.1,
    overhead_per_byte_ns: 0.01,
    eager_limit_bytes: 65_536,
};

/// The run with all its rows, and the same stored by rank class, in a folder; times fit together.
fn both(folder: &Path, gift: bool) -> [Trace; 2] {
    let at = |name: &str| folder.join(name);
    let all: Vec<Rank> = (0..RANKS).map(Rank).collect();
    let whole = write(&at("whole.kz"), definitions(), &all, gift);
    let keys: Vec<_> = (0..RANKS).map(key).collect();
    let mut by_class = definitions();
    let rank_classes = RankClasses::from_keys(&keys, &by_class);
    assert_eq!(rank_classes.count(), 11);
    by_class.rank_classes = rank_classes.table();
    let by_class = write(&at("kinds.kz"), by_class, rank_classes.with_rows(), gift);
    let none = model(LogGops { eager_limit_bytes: u64::MAX, ..LogGops::default() });
    [
        replayed(&whole, &none, &at("whole-fits.kz"), true),
        replayed(&by_class, &none, &at("kinds-fit.kz"), true),
    ]
}

#[test]
fn rank_classes_replay_like_all_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let [whole, by_class] = both(folder.path(), false);
    let rank_classes = compare(&whole, &by_class);
    assert!((11..200).contains(&rank_classes), "{rank_classes}");
    let (whole, by_class) = (
        replayed(&whole, &model(SLOW), &at("whole-slow.kz"), false),
        replayed(&by_class, &model(SLOW), &at("kinds-slow.kz"), false),
    );
    let finer = compare(&whole, &by_class);
    assert!((rank_classes..=RANKS as usize).contains(&finer), "{finer}");
}

#[test]
fn where_ranks_of_a_kind_differ_all_are_walked() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, by_class] = both(folder.path(), true);
    let (all, by_class) = (timed(&whole, &model(SLOW)), timed(&by_class, &model(SLOW)));
    assert_eq!((all.0, all.1), (by_class.0, by_class.1));
    assert_eq!(by_class.2, [format!("with each of {RANKS} ranks")]);
}
