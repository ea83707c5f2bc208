//! Who waits for whom in one-sided communication, on rows written down by hand.

use kizami_graph::{Builder, Graph, TieKind};
use kizami_model::{Call, Peer, Rank};
use kizami_testing::{call, definitions_with_windows};

const RANKS: u32 = 5;

/// A call on a window.
fn on(window: u32, name: &str, rank: u32, peer: Option<u32>, span: (i64, i64)) -> Call {
    let mut row = call(name, rank, span.0, span.1);
    row.object = Some(window * RANKS + rank);
    row.peer = peer.map_or(Peer::None, |peer| Peer::Rank(Rank(peer)));
    row
}

/// A call that is given a group, and its ranks.
fn group(window: u32, name: &str, rank: u32, ranks: &[u32], span: (i64, i64)) -> Vec<Call> {
    let part = |peer: &u32| Call { calls: 0, ..on(window, name, rank, Some(*peer), (span.0, span.0)) };
    std::iter::once(on(window, name, rank, None, span)).chain(ranks.iter().map(part)).collect()
}

fn lock(rank: u32, exclusive: bool, span: (i64, i64)) -> Call {
    Call { tag: Some(i32::from(exclusive)), ..on(0, "MPI_Win_lock", rank, Some(0), span) }
}

fn unlock(rank: u32, span: (i64, i64)) -> Call {
    on(0, "MPI_Win_unlock", rank, Some(0), span)
}

fn graph(rows: &[Call]) -> Graph {
    let definitions = definitions_with_windows(&[(0..RANKS).collect()], 2);
    let mut builder = Builder::new(&definitions, &[]);
    rows.iter().for_each(|row| builder.call(row));
    builder.finish()
}

/// Who waits for whom: the row that waits, the row that is waited for, and how.
fn waits(graph: &Graph) -> Vec<(usize, usize, TieKind)> {
    let mut waits = Vec::new();
    for (waiting, step) in graph.steps.iter().enumerate() {
        for tie in graph.ties_of(step).iter().filter(|tie| tie.kind().awaits_readiness()) {
            let announces = |step: &&kizami_graph::Step| {
                graph
                    .ties_of(step)
                    .iter()
                    .any(|waited| (waited.kind(), waited.key) == (TieKind::Posts, tie.key))
            };
            let waited: Vec<usize> =
                (0..).zip(graph.steps.iter()).filter(|(_, step)| announces(step)).map(|(at, _)| at).collect();
            assert_eq!(waited.len(), 1, "one tells {tie:?}");
            waits.push((waiting, waited[0], tie.kind()));
        }
    }
    waits.sort_unstable_by_key(|(waiting, waited, _)| (*waiting, *waited));
    waits
}

#[test]
fn starts_wait_for_posts_and_waits_for_completes() {
    use TieKind::{AwaitsReady, LooksReady};
    let rows = [
        // 0..=2: rank 0 opens its window to ranks 1 and 2.
        group(0, "MPI_Win_post", 0, &[1, 2], (100, 110)),
        vec![on(0, "MPI_Win_wait", 0, None, (110, 300))],
        // 4..: rank 1, with accesses to rank 0 and to one that it has not opened.
        group(0, "MPI_Win_start", 1, &[0], (50, 120)),
        vec![
            on(0, "MPI_Put", 1, Some(0), (120, 130)),
            on(0, "MPI_Get", 1, Some(2), (130, 140)),
            on(0, "MPI_Win_complete", 1, None, (140, 150)),
        ],
        // 9..: rank 2.
        group(0, "MPI_Win_start", 2, &[0], (60, 70)),
        vec![on(0, "MPI_Win_complete", 2, None, (250, 280))],
    ]
    .concat();
    let graph = graph(&rows);
    assert_eq!(graph.not_followed, 0);
    let expected = [
        (3, 8, AwaitsReady),
        (3, 11, AwaitsReady),
        (4, 0, LooksReady),
        (6, 0, LooksReady),
        (8, 0, AwaitsReady),
        (9, 0, LooksReady),
        (11, 0, AwaitsReady),
    ];
    assert_eq!(waits(&graph), expected);
}

/// Windows do not mix, and the second time belongs to the second time.
#[test]
fn windows_and_times_are_kept_apart() {
    let target = |window, at: i64| {
        let mut rows = group(window, "MPI_Win_post", 0, &[1], (at, at + 1));
        rows.push(on(window, "MPI_Win_wait", 0, None, (at + 1, at + 9)));
        rows
    };
    let origin = |window, at: i64| {
        let mut rows = group(window, "MPI_Win_start", 1, &[0], (at, at + 4));
        rows.push(on(window, "MPI_Win_complete", 1, None, (at + 4, at + 6)));
        rows
    };
    // Posts are rows 0, 3 and 6, waits 2, 5 and 8; starts 9, 12 and 15, completes 11, 14 and 17.
    let rows =
        [target(0, 0), target(1, 10), target(0, 20), origin(1, 10), origin(0, 20), origin(0, 30)].concat();
    let waited: Vec<(usize, usize)> =
        waits(&graph(&rows)).into_iter().map(|(waiting, waited, _)| (waiting, waited)).collect();
    let expected = [(2, 14), (5, 11), (8, 17), (9, 3), (11, 3), (12, 0), (14, 0), (15, 6), (17, 6)];
    assert_eq!(waited, expected);
}

/// Who has the lock later waits for the unlock before, in the call in which that began.
#[test]
fn locks_wait_for_the_unlock_before() {
    let rows = [
        lock(0, true, (0, 10)),
        unlock(0, (100, 120)),
        // Asks at once, and waits in the lock.
        lock(1, true, (20, 130)),
        unlock(1, (140, 150)),
        // Asks in the access.
        lock(2, true, (20, 21)),
        on(0, "MPI_Put", 2, Some(0), (22, 160)),
        unlock(2, (161, 170)),
        // Asks in the unlock.
        lock(3, true, (30, 31)),
        on(0, "MPI_Put", 3, Some(0), (32, 33)),
        unlock(3, (34, 190)),
        // Comes when all is over.
        lock(4, true, (200, 210)),
        unlock(4, (220, 230)),
    ];
    use TieKind::AwaitsReady;
    let expected = [(2, 1, AwaitsReady), (5, 3, AwaitsReady), (9, 6, AwaitsReady)];
    assert_eq!(waits(&graph(&rows)), expected);
}

/// Those who share a lock do not wait for each other.
#[test]
fn shared_locks_wait_for_exclusive_ones_only() {
    let all = |rank, name, span| on(0, name, rank, None, span);
    let rows = [
        lock(0, false, (0, 10)),
        unlock(0, (100, 110)),
        lock(1, false, (5, 15)),
        unlock(1, (120, 130)),
        // Waits for the last of those who share it.
        lock(2, true, (20, 140)),
        unlock(2, (200, 210)),
        // Waits for the exclusive one, and so does one that locks the window of all.
        lock(3, false, (30, 220)),
        unlock(3, (230, 240)),
        all(4, "MPI_Win_lock_all", (30, 250)),
        all(4, "MPI_Win_unlock_all", (260, 270)),
    ];
    use TieKind::AwaitsReady;
    let expected = [(4, 3, AwaitsReady), (6, 5, AwaitsReady), (8, 5, AwaitsReady)];
    assert_eq!(waits(&graph(&rows)), expected);
}

/// A rank of a group that cannot be named is counted; nothing is said about it.
#[test]
fn a_group_with_unknown_ranks_is_not_followed() {
    let mut rows = group(0, "MPI_Win_start", 0, &[1], (0, 10));
    rows[1].peer = Peer::Unknown;
    rows.push(on(0, "MPI_Win_complete", 0, None, (10, 20)));
    let graph = graph(&rows);
    assert_eq!(graph.not_followed, 1);
    assert_eq!(waits(&graph), []);
}
