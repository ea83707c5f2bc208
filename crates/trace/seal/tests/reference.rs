//! Sealed rows against a naive reference that holds a whole run in memory, for random runs, windows of all
//! sizes and completions far beyond them.

use kizami_model::{Call, Peer, Rank};
use kizami_records::{CallRecord, Completion, PEER_ANY};
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::{RankSelection, Trace};
use proptest::prelude::*;

const RANKS: u32 = 6;

/// One thing a program does.
#[derive(Clone, Debug)]
enum Action {
    Send {
        peer: u32,
        bytes: u64,
    },
    /// A receive, posted for `posted` bytes; completed so many actions later, or never.
    Receive {
        source: Option<u32>,
        posted: u64,
        after: Option<usize>,
        really: Option<(u32, u32, u32)>,
    },
    Reduce,
}

/// What a row should say.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    start: i64,
    peer: Peer,
    bytes_out: Option<u64>,
    bytes_in: Option<u64>,
    completes: Vec<u64>,
}

impl Expected {
    fn at(start: u64) -> Expected {
        let (peer, bytes_out, bytes_in) = (Peer::None, None, None);
        Expected { start: start as i64, peer, bytes_out, bytes_in, completes: Vec::new() }
    }

    fn of(call: &Call) -> Expected {
        Expected {
            start: call.start.0,
            peer: call.peer,
            bytes_out: call.bytes_out,
            bytes_in: call.bytes_in,
            completes: call.completes.clone(),
        }
    }
}

fn action(window: usize) -> impl Strategy<Value = Action> {
    let source = prop_oneof![Just(None), (0..RANKS).prop_map(Some)];
    let really = prop_oneof![Just(None), (0..RANKS, 0..100u32, any::<u32>()).prop_map(Some)];
    prop_oneof![
        (0..RANKS, 0..1u64 << 45).prop_map(|(peer, bytes)| Action::Send { peer, bytes }),
        (source, 0..1u64 << 30, 0..window, really).prop_map(|(source, posted, after, really)| {
            Action::Receive { source, posted, after: Some(after), really }
        }),
        Just(Action::Reduce),
    ]
}

fn run() -> impl Strategy<Value = (usize, Vec<Action>, Vec<usize>)> {
    (4usize..60).prop_flat_map(|window| {
        let actions = prop::collection::vec(action(window / 2), 0..300);
        // Few enough for the budget of looking far ahead.
        (Just(window), actions, prop::collection::vec(0usize..300, 0..2))
    })
}

/// Writes the actions over two threads; returns the rows to expect.
fn write(trace: &std::path::Path, actions: &[Action]) -> Vec<Expected> {
    let who = SegmentOwner::rank(1, RANKS);
    define(trace, &who, &[]);
    let mut threads = [0, 1].map(|thread| SegmentWriter::create(trace, &who, Some(thread)));
    let mut rows: Vec<Expected> = Vec::new();
    let mut open: Vec<(usize, usize, Completion, u64)> = Vec::new();
    let (mut now, mut request) = (0, 0);
    for (index, action) in actions.iter().enumerate() {
        now += 10;
        let thread = &mut threads[index % 2];
        let mut row = Expected::at(now);
        let on_world = |name| CallRecord { comm: 0, ..call(name, now, 5) };
        match *action {
            Action::Send { peer, bytes } => {
                thread.call(&CallRecord { peer: peer as i32, bytes_out: bytes, ..on_world("MPI_Send") });
                (row.peer, row.bytes_out) = (Peer::Rank(Rank(peer)), Some(bytes));
            }
            Action::Reduce => {
                thread.call(&CallRecord { bytes_in: 8, bytes_out: 8, ..on_world("MPI_Allreduce") });
                (row.bytes_in, row.bytes_out) = (Some(8), Some(8));
            }
            Action::Receive { source, posted, after, really } => {
                request += 1;
                let peer = source.map_or(PEER_ANY, |source| source as i32);
                let receive = CallRecord { peer, bytes_in: posted, request, ..on_world("MPI_Irecv") };
                thread.call(&CallRecord { any_source: source.is_none(), ..receive });
                row.peer = source.map_or(Peer::Any, |source| Peer::Rank(Rank(source)));
                if let Some(after) = after {
                    let completion = match really {
                        Some((peer, tag, bytes)) => {
                            Completion::Received { request, peer: peer as i32, tag: tag as i32, bytes }
                        }
                        None => Completion::AsPosted { request, count: 1 },
                    };
                    open.push((index + after, rows.len(), completion, posted));
                }
            }
        }
        rows.push(row);
        let due: Vec<_> =
            open.extract_if(.., |(when, ..)| *when <= index || index + 1 == actions.len()).collect();
        if !due.is_empty() {
            now += 10;
            let mut wait = Expected::at(now);
            for (_, row, completion, posted) in &due {
                let row = &mut rows[*row];
                match *completion {
                    Completion::Received { request, peer, bytes, .. } => {
                        (row.peer, row.bytes_in) = (Peer::Rank(Rank(peer as u32)), Some(u64::from(bytes)));
                        wait.completes.push(u64::from(request));
                    }
                    Completion::AsPosted { request, .. } => {
                        row.bytes_in = Some(*posted);
                        wait.completes.push(u64::from(request));
                    }
                    Completion::Cancelled { .. } | Completion::MoreBytes { .. } => {
                        unreachable!("none are made here")
                    }
                }
            }
            let items: Vec<Completion> = due.into_iter().map(|(_, _, completion, _)| completion).collect();
            threads[index / 2 % 2].completion(&call("MPI_Waitall", now, 5), &items);
            rows.push(wait);
        }
    }
    for thread in threads {
        thread.finish();
    }
    rows
}

fn sealed_rows(trace: &std::path::Path, window_rows: usize) -> Vec<Expected> {
    seal(trace, &SealOptions { window_rows, keep_raw: true, ..SealOptions::default() }, &|_| {}).unwrap();
    let opened = Trace::open(trace).unwrap();
    opened.calls(RankSelection::All).unwrap().map(|call| Expected::of(&call.unwrap())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn rows_are_what_happened((window, mut actions, special) in run()) {
        for (number, place) in special.into_iter().enumerate() {
            if let Some(Action::Receive { after, .. }) = actions.get_mut(place) {
                *after = if number == 0 { Some(usize::MAX / 2) } else { None };
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("run.kz");
        let expected = write(&trace, &actions);
        prop_assert_eq!(sealed_rows(&trace, window), expected);
    }
}

#[test]
fn receives_that_never_complete_do_not_hide_those_that_do() {
    let posted = |after| Action::Receive { source: None, posted: 8, after, really: Some((3, 1, 4)) };
    let actions: Vec<Action> = (0..20_000).map(|n| posted((n % 10 != 0).then_some(7))).collect();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.kz");
    let expected = write(&trace, &actions);
    assert_eq!(sealed_rows(&trace, 32), expected);
}
