//! What sealing promises, one promise a test, on segments written as a traced process writes them.

mod place;

use kizami_model::{Call, CommKind, Ending, Length, Moment, ObjectKind, Peer, Rank, StopReason};
use kizami_records::{CallRecord, Completion, Definition, PEER_ANY, PEER_NULL, PEER_ROOT, Started};
use kizami_seal::{SealError, SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define, op};
use kizami_trace::{RankSelection, Trace, TraceError};
use place::Place;
use std::path::Path;

const WORLD: u32 = 0;

/// Seals one rank of eight that recorded what `write` writes.
fn one_rank(write: impl FnOnce(&mut SegmentWriter)) -> (Place, Vec<Call>) {
    let place = Place::new();
    let who = SegmentOwner::rank(2, 8);
    define(&place.trace, &who, &[]);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    write(&mut segment);
    segment.finish();
    place.seal();
    let calls = place.calls();
    (place, calls)
}

fn on_world(call: CallRecord) -> CallRecord {
    CallRecord { comm: WORLD, ..call }
}

#[test]
fn a_send_becomes_a_row() {
    let (place, calls) = one_rank(|segment| {
        let send = on_world(call("MPI_Send", 100, 50));
        segment.call(&CallRecord { peer: 5, tag: 7, bytes_out: 4096, ..send });
    });
    assert_eq!(calls.len(), 1);
    let row = &calls[0];
    assert_eq!((row.rank, row.op), (Rank(2), op("MPI_Send")));
    assert_eq!((row.start, row.end), (Moment(100), Moment(150)));
    assert_eq!((row.peer, row.tag, row.comm), (Peer::Rank(Rank(5)), Some(7), Some(0)));
    assert_eq!((row.bytes_out, row.bytes_in), (Some(4096), None));
    assert_eq!((row.calls, row.weight, row.callsite, row.object), (1, 1.0, None, None));
    let trace = place.open();
    assert_eq!(trace.run().totals.events, 1);
    assert_eq!(trace.run().ranks, 8);
    assert!(!place.trace.join("raw").exists());
}

/// The ranks of a group are rows behind the call that was given it, and a lock says which kind it is.
#[test]
fn groups_and_locks_of_windows_are_stored() {
    let place = Place::new();
    let who = SegmentOwner::rank(2, 8);
    let window = Definition::Object {
        local: 1,
        kind: ObjectKind::Window,
        comm: WORLD,
        name: String::new(),
        bytes: 64,
    };
    define(&place.trace, &who, &[window]);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    let on_window = |record: CallRecord| CallRecord { object: 1, ..on_world(record) };
    let start = on_window(call("MPI_Win_start", 100, 50));
    segment.call(&start);
    for peer in [5, 7, -32_766] {
        segment.call(&CallRecord { duration_ticks: 0, part: true, peer, ..start });
    }
    segment.call(&CallRecord { peer: 3, tag: 1, ..on_window(call("MPI_Win_lock", 200, 10)) });
    segment.call(&CallRecord { peer: 3, tag: 0, ..on_window(call("MPI_Win_lock", 300, 10)) });
    segment.finish();
    place.seal();
    let calls = place.calls();
    let shown = |row: &Call| (row.calls, row.start.0, row.end.0, row.peer, row.tag);
    let expected = [
        (1, 100, 150, Peer::None, None),
        (0, 100, 100, Peer::Rank(Rank(5)), None),
        (0, 100, 100, Peer::Rank(Rank(7)), None),
        (0, 100, 100, Peer::Unknown, None),
        (1, 200, 210, Peer::Rank(Rank(3)), Some(1)),
        (1, 300, 310, Peer::Rank(Rank(3)), Some(0)),
    ];
    assert_eq!(calls.iter().map(shown).collect::<Vec<_>>(), expected);
    assert!(calls.iter().all(|row| row.object == Some(0)));
    assert_eq!(place.open().run().totals.calls, 3);
}

#[test]
fn a_posted_receive_learns_its_message() {
    let (_place, calls) = one_rank(|segment| {
        let receive = on_world(call("MPI_Irecv", 100, 10));
        let any =
            CallRecord { peer: PEER_ANY, tag: -1, any_source: true, any_tag: true, bytes_in: 800, ..receive };
        segment.call(&CallRecord { request: 1, ..any });
        segment.call(&CallRecord { request: 2, start_ticks: 120, peer: 3, tag: 4, bytes_in: 16, ..receive });
        segment.call(&CallRecord { request: 3, start_ticks: 140, ..any });
        let came = Completion::Received { request: 1, peer: 6, tag: 9, bytes: 100 };
        let more = Completion::MoreBytes { request: 1, bytes: 1 << 32 };
        let posted = Completion::AsPosted { request: 2, count: 1 };
        segment.completion(&call("MPI_Waitsome", 200, 10), &[came, more, posted]);
    });
    let [first, second, third, wait] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(
        (first.peer, first.tag, first.bytes_in),
        (Peer::Rank(Rank(6)), Some(9), Some(100 + (1 << 32)))
    );
    assert!(first.any_source && first.any_tag);
    assert_eq!((second.peer, second.tag, second.bytes_in), (Peer::Rank(Rank(3)), Some(4), Some(16)));
    assert_eq!((third.peer, third.tag, third.bytes_in), (Peer::Any, None, None), "never completed");
    assert_eq!(wait.completes, [1, 2]);
    assert_eq!(second.request, Some(2));
}

#[test]
fn a_cancelled_receive_got_nothing() {
    let (_place, calls) = one_rank(|segment| {
        let receive = on_world(call("MPI_Irecv", 100, 10));
        segment.call(&CallRecord { peer: 3, tag: 4, bytes_in: 16, request: 1, ..receive });
        segment.completion(&call("MPI_Wait", 200, 10), &[Completion::Cancelled { request: 1 }]);
    });
    assert_eq!((calls[0].peer, calls[0].bytes_in), (Peer::Rank(Rank(3)), None));
    assert_eq!(calls[1].completes, [1]);
}

#[test]
fn a_send_receive_has_two_halves() {
    let (_place, calls) = one_rank(|segment| {
        let both = on_world(call("MPI_Isendrecv", 100, 10));
        let both =
            CallRecord { peer: 1, tag: 5, bytes_out: 10, recv_peer: PEER_ANY, any_source: true, ..both };
        segment.call(&CallRecord { request: 1, recv_tag: 6, bytes_in: 99, ..both });
        let came = Completion::Received { request: 1, peer: 4, tag: 6, bytes: 20 };
        segment.completion(&call("MPI_Wait", 200, 10), &[came]);
    });
    let row = &calls[0];
    assert_eq!((row.peer, row.tag, row.bytes_out), (Peer::Rank(Rank(1)), Some(5), Some(10)));
    assert_eq!((row.recv_peer, row.recv_tag, row.bytes_in), (Peer::Rank(Rank(4)), Some(6), Some(20)));
}

#[test]
fn calls_with_null_peers_move_nothing() {
    let (_place, calls) = one_rank(|segment| {
        segment.call(&CallRecord { peer: PEER_NULL, ..on_world(call("MPI_Send", 1, 1)) });
        segment.call(&CallRecord { peer: PEER_NULL, request: 1, ..on_world(call("MPI_Irecv", 3, 1)) });
        segment.completion(&call("MPI_Wait", 5, 1), &[Completion::AsPosted { request: 1, count: 1 }]);
        segment.call(&CallRecord { peer: 1, tag: 2, bytes_in: 64, ..on_world(call("MPI_Probe", 7, 1)) });
    });
    assert_eq!((calls[0].peer, calls[0].bytes_out), (Peer::Null, None));
    assert_eq!((calls[1].peer, calls[1].bytes_in), (Peer::Null, None));
    let probe = &calls[3];
    assert_eq!((probe.peer, probe.tag, probe.bytes_in), (Peer::Rank(Rank(1)), Some(2), None));
}

#[test]
fn persistent_requests_move_when_they_start() {
    let (_place, calls) = one_rank(|segment| {
        let send = CallRecord {
            peer: 1,
            tag: 5,
            bytes_out: 10,
            request: 1,
            ..on_world(call("MPI_Send_init", 1, 1))
        };
        segment.call(&send);
        let receive = on_world(call("MPI_Recv_init", 3, 1));
        let receive =
            CallRecord { peer: PEER_ANY, any_source: true, tag: 6, bytes_in: 90, request: 2, ..receive };
        segment.call(&receive);
        let started = |persistent, request| Started { persistent, request };
        segment.start(&call("MPI_Startall", 5, 1), &[started(1, 3), started(2, 4)]);
        let came = Completion::Received { request: 4, peer: 0, tag: 6, bytes: 30 };
        segment
            .completion(&call("MPI_Waitall", 7, 1), &[Completion::AsPosted { request: 3, count: 1 }, came]);
        segment.start(&call("MPI_Start", 9, 1), &[started(1, 5)]);
    });
    let [send_init, recv_init, startall, part1, part2, _wait, start] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert_eq!(
        (send_init.peer, send_init.bytes_out, send_init.request),
        (Peer::Rank(Rank(1)), None, Some(1))
    );
    assert_eq!((recv_init.peer, recv_init.bytes_in), (Peer::Any, None));
    assert_eq!((startall.calls, startall.peer, startall.request), (1, Peer::None, None));
    assert_eq!((part1.op, part1.calls, part1.start, part1.end), (op("MPI_Start"), 0, Moment(5), Moment(5)));
    assert_eq!((part1.peer, part1.tag, part1.bytes_out), (Peer::Rank(Rank(1)), Some(5), Some(10)));
    assert_eq!((part2.peer, part2.bytes_in, part2.request), (Peer::Rank(Rank(0)), Some(30), Some(4)));
    assert_eq!((start.calls, start.bytes_out, start.request), (1, Some(10), Some(5)));
}

#[test]
fn collectives_have_roots() {
    let (_place, calls) = one_rank(|segment| {
        segment.call(&CallRecord { peer: 3, bytes_in: 8, ..on_world(call("MPI_Bcast", 1, 1)) });
        segment.call(&CallRecord { peer: PEER_ROOT, bytes_out: 8, ..on_world(call("MPI_Bcast", 3, 1)) });
        segment.call(&on_world(call("MPI_Barrier", 5, 1)));
    });
    assert_eq!((calls[0].root, calls[0].peer), (Peer::Rank(Rank(3)), Peer::None));
    assert_eq!((calls[0].bytes_out, calls[0].bytes_in), (None, Some(8)));
    assert_eq!(calls[1].root, Peer::Rank(Rank(2)));
    assert_eq!((calls[2].root, calls[2].bytes_out), (Peer::None, None));
}

#[test]
fn failed_polls_are_one_row() {
    let (place, calls) = one_rank(|segment| segment.fold(&call("MPI_Test", 100, 5), 1000, 9000, 5000));
    let row = &calls[0];
    assert_eq!(
        (row.start, row.end, row.calls, row.inside),
        (Moment(100), Moment(9000), 1000, Some(Length(5000)))
    );
    assert_eq!(place.open().run().totals.calls, 1000);
    assert_eq!(place.open().run().totals.mpi_ns, 5000);
}

#[test]
fn ticks_of_a_counter_become_nanoseconds() {
    let place = Place::new();
    let who = SegmentOwner { tsc: true, call_cost: 100 << 10, ..SegmentOwner::rank(0, 1) };
    define(&place.trace, &who, &[]);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    segment.call(&call("MPI_Wtime", 2000, 100));
    segment.stop(2200, 1000, StopReason::ChunkWait, 0);
    segment.call(&call("MPI_Wtime", 4000, 100));
    segment.stop(5000, 600, StopReason::Paused, 0);
    segment.finish();
    place.seal();
    let calls = place.calls();
    assert_eq!((calls[0].start, calls[0].end, calls[0].overhead), (Moment(1000), Moment(1050), Length(50)));
    assert_eq!((calls[1].start, calls[1].overhead), (Moment(2000), Length(50)));
    let stops = place.open().stops().unwrap();
    let shown: Vec<_> = stops.iter().map(|s| (s.reason.name(), s.start.0, s.end.0)).collect();
    assert_eq!(shown, [("chunk-wait", 1100, 1600), ("paused", 2500, 2800)]);
}

#[test]
fn a_rehearsal_says_what_later_calls_cost() {
    let (place, calls) = one_rank(|segment| {
        segment.call(&on_world(call("MPI_Barrier", 100, 10)));
        segment.stop(200, 50, StopReason::Calibration, 40 << 10);
        segment.call(&on_world(call("MPI_Barrier", 300, 10)));
        segment.stop(400, 50, StopReason::Calibration, 60 << 10);
        segment.call(&on_world(call("MPI_Barrier", 500, 10)));
    });
    assert_eq!(calls.iter().map(|call| call.overhead).collect::<Vec<_>>(), [0, 40, 60].map(Length));
    let disturbance = place.open().run().disturbance.expect("it is known");
    assert_eq!(disturbance.overhead.total_ns, 40 + 60 + 2 * 50);
}

#[test]
fn threads_of_a_rank_are_merged_by_time() {
    let place = Place::new();
    let who = SegmentOwner::rank(0, 1);
    define(&place.trace, &who, &[]);
    let mut first = SegmentWriter::create(&place.trace, &who, Some(0));
    let mut second = SegmentWriter::create(&place.trace, &who, Some(1));
    first.call(&CallRecord { peer: 0, request: 1, bytes_in: 5, ..on_world(call("MPI_Irecv", 10, 5)) });
    second.completion(
        &call("MPI_Wait", 20, 5),
        &[Completion::Received { request: 1, peer: 0, tag: 3, bytes: 4 }],
    );
    first.call(&call("MPI_Wtime", 30, 1));
    first.finish();
    second.finish();
    place.seal();
    let calls = place.calls();
    assert_eq!(
        calls.iter().map(|c| (c.start.0, c.thread.0)).collect::<Vec<_>>(),
        [(10, 0), (20, 1), (30, 0)]
    );
    assert_eq!(calls[0].bytes_in, Some(4));
    assert_eq!(place.open().definitions().unwrap().ranks[0].threads, 2);
}

#[test]
fn regions_nest_and_are_closed_at_the_end() {
    let place = Place::new();
    let who = SegmentOwner::rank(0, 1);
    let region = |local, name: &str| Definition::Region { local, name: name.to_owned() };
    define(&place.trace, &who, &[region(1, "solve"), region(2, "halo")]);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    segment.region(10, 1, true);
    segment.region(20, 2, true);
    segment.region(30, 2, false);
    segment.region(40, 2, true);
    segment.call(&call("MPI_Wtime", 50, 50));
    segment.finish();
    place.seal();
    let trace = place.open();
    let names = trace.definitions().unwrap().regions;
    let spans = trace.region_spans().unwrap();
    let shown: Vec<_> =
        spans.iter().map(|s| (names[s.region as usize].name.as_str(), s.start.0, s.end.0, s.depth)).collect();
    assert_eq!(shown, [("solve", 10, 100, 0), ("halo", 20, 30, 1), ("halo", 40, 100, 1)]);
}

#[test]
fn peers_of_other_communicators_become_world_ranks() {
    let place = Place::new();
    let comm = |local, identity, kind, rank, size, remote| Definition::Communicator {
        local,
        identity,
        parent: 0xAAAA,
        kind,
        rank,
        size,
        remote,
    };
    for rank in 0..4u32 {
        let who = SegmentOwner::rank(rank, 4);
        let (half, place_in_half) = (rank % 2, rank / 2);
        let split = comm(2, 0xB0 + u64::from(half), CommKind::Split, 1 - place_in_half, 2, None);
        let inter = comm(3, 0xC0, CommKind::Inter, place_in_half, 2, Some((2, half as u8)));
        let window =
            Definition::Object { local: 1, kind: ObjectKind::Window, comm: 2, name: "w".into(), bytes: 64 };
        let shape = Definition::Cartesian { local: 2, dims: vec![2], periodic: vec![true] };
        let near = Definition::Neighbours { local: 2, sources: vec![0], destinations: vec![1] };
        let name = Definition::CommunicatorName { local: 2, name: "rows".into() };
        define(&place.trace, &who, &[split, inter, window, shape, near, name]);
        let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
        segment.call(&CallRecord { comm: 2, peer: 0, ..call("MPI_Send", 10, 1) });
        segment.call(&CallRecord { comm: 3, peer: 1, ..call("MPI_Send", 20, 1) });
        segment.call(&CallRecord { comm: 1, peer: 0, ..call("MPI_Send", 30, 1) });
        segment.call(&CallRecord { comm: 9, peer: 0, ..call("MPI_Send", 40, 1) });
        segment.call(&CallRecord { object: 1, peer: 1, bytes_out: 8, ..call("MPI_Put", 50, 1) });
        segment.finish();
    }
    place.seal();
    let rank = |rank| Peer::Rank(Rank(rank));
    let peers: Vec<Vec<Peer>> =
        place.calls().chunks(5).map(|rows| rows.iter().map(|c| c.peer).collect()).collect();
    assert_eq!(peers[0], [rank(2), rank(3), rank(0), Peer::Unknown, rank(0)]);
    assert_eq!(peers[1], [rank(3), rank(2), rank(1), Peer::Unknown, rank(1)]);
    let calls = place.calls();
    assert_eq!((calls[3].comm, calls[4].comm, calls[4].object), (None, None, Some(0)));
    let definitions = place.open().definitions().unwrap();
    let kinds: Vec<_> = definitions.communicators.iter().map(|c| (c.kind, c.size)).collect();
    let (split, inter) = (CommKind::Split, CommKind::Inter);
    assert_eq!(kinds, [(CommKind::World, 4), (CommKind::SelfOnly, 1), (split, 2), (inter, 2), (split, 2)]);
    let rows = &definitions.communicators[2];
    assert_eq!(rows.members, [Some(Rank(2)), Some(Rank(0))]);
    assert_eq!((rows.parent, rows.name.as_deref(), &rows.dims[..]), (Some(0), Some("rows"), &[2][..]));
    let between = &definitions.communicators[3];
    assert_eq!(between.members, [Some(Rank(0)), Some(Rank(2))]);
    assert_eq!(between.remote_members, [Some(Rank(1)), Some(Rank(3))]);
    assert_eq!(definitions.neighbours[0].destinations, [Some(Rank(0))]);
    assert_eq!(definitions.objects[1].rank, Rank(1));
}

#[test]
fn spawned_worlds_follow_the_first() {
    let place = Place::new();
    for (key, pid) in [(0, 10), (77, 20)] {
        for rank in 0..2 {
            let who = SegmentOwner { world_key: key, pid: pid + rank, ..SegmentOwner::rank(rank, 2) };
            define(&place.trace, &who, &[]);
            let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
            segment.call(&CallRecord { peer: 1, ..on_world(call("MPI_Send", 10, 1)) });
            segment.finish();
        }
    }
    let run = place.seal();
    assert_eq!(run.ranks, 4);
    let peers: Vec<_> = place.calls().iter().map(|c| (c.rank.0, c.comm, c.peer)).collect();
    let peer = |rank| Peer::Rank(Rank(rank));
    assert_eq!(
        peers,
        [(0, Some(0), peer(1)), (1, Some(0), peer(1)), (2, Some(1), peer(3)), (3, Some(1), peer(3))]
    );
}

#[test]
fn endings_are_reported() {
    let place = Place::new();
    let wait = (op("MPI_Recv"), 900);
    let kinds = [
        SegmentOwner { ending: Ending::Vanished, in_call: Some(wait), ..SegmentOwner::rank(0, 6) },
        SegmentOwner {
            ending: Ending::Vanished,
            in_call: Some((op("MPI_Wtime"), 10)),
            ..SegmentOwner::rank(1, 6)
        },
        SegmentOwner { ending: Ending::Aborted, abort_code: 9, ..SegmentOwner::rank(2, 6) },
        SegmentOwner { ending: Ending::Exited, ..SegmentOwner::rank(3, 6) },
        SegmentOwner { lost_calls: 12, lost_errno: 28, ..SegmentOwner::rank(4, 6) },
    ];
    for who in &kinds {
        define(&place.trace, who, &[]);
        let mut segment = SegmentWriter::create(&place.trace, who, Some(0));
        segment.call(&call("MPI_Wtime", 10, 5));
        segment.finish();
    }
    let nobody = SegmentOwner { rank: None, pid: 7, ..SegmentOwner::rank(0, 0) };
    SegmentWriter::create(&place.trace, &nobody, Some(0)).finish();
    let run = place.seal();
    assert!(!run.health.complete);
    let shown = run.health.problems.join("\n");
    for part in [
        "process 7 on node1 never learned a rank",
        "rank 0 ended inside MPI_Recv",
        "rank 1 ended without",
        "rank 2 called MPI_Abort with code 9",
        "rank 3 exited",
        "rank 4 made calls that could not be stored (No space left",
        "rank 5 left no data",
    ] {
        assert!(shown.contains(part), "{part:?} is not in:\n{shown}");
    }
    let ranks = place.open().definitions().unwrap().ranks;
    assert_eq!(ranks[0].last_call.as_deref(), Some("MPI_Recv"));
    assert_eq!((ranks[1].last_call.as_deref(), ranks[2].abort_code), (None, Some(9)));
    assert_eq!(ranks[4].lost_calls, 12 * 2, "both of its segments say so");
    let stops = place.open().stops().unwrap();
    assert_eq!((stops[0].reason.name(), stops[0].lost_calls, stops[0].start.0), ("lost", 12, 15));
}

#[test]
fn hosts_are_put_side_by_side_and_said_to_be_so() {
    let place = Place::new();
    for rank in 0..2u32 {
        let later = u64::from(rank) * 5_000;
        let base = SegmentOwner::rank(rank, 2);
        let who = SegmentOwner {
            host: format!("node{rank}"),
            boot_id: format!("boot-{rank}"),
            base_ticks: base.base_ticks * (1 + u64::from(rank)),
            last_ticks: base.last_ticks * 2,
            realtime_ns: base.realtime_ns + later,
            ..base
        };
        define(&place.trace, &who, &[]);
        let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
        segment.call(&call("MPI_Wtime", 10, 5));
        segment.finish();
    }
    let run = place.seal();
    assert!(!run.clocks.aligned);
    assert!(run.clocks.note.contains("not synchronised"));
    assert_eq!(place.calls().iter().map(|c| c.start.0).collect::<Vec<_>>(), [10, 5010]);
    assert_eq!(place.open().definitions().unwrap().hosts.len(), 2);
}

#[test]
fn call_sites_are_resolved_or_named_by_their_place() {
    let place = Place::new();
    let own = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let who = SegmentOwner::rank(0, 1);
    let site = |local, address, module| Definition::Site { local, address, module, caller: 0 };
    let module =
        |local, path: &str| Definition::Module { local, bias: 0x1000, path: path.into(), build_id: vec![] };
    let here = call_sites_are_resolved_or_named_by_their_place as *const () as u64;
    let offset = here - load_address() + 1;
    let definitions =
        [module(1, &own), module(2, "/nowhere/libgone.so"), site(1, 0x1000 + offset, 1), site(2, 0x1234, 2)];
    define(&place.trace, &who, &definitions);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    for (site, start) in [(1, 10), (2, 20), (0, 30), (9, 40)] {
        segment.call(&CallRecord { site, ..call("MPI_Wtime", start, 1) });
    }
    segment.finish();
    place.seal();
    let sites = place.open().definitions().unwrap().callsites;
    assert!(sites[0].function.contains("call_sites_are_resolved"), "{:?}", sites[0]);
    assert!(sites[0].file.as_deref().is_some_and(|file| file.ends_with("seal.rs")));
    assert_eq!((sites[1].function.as_str(), sites[1].line), ("libgone.so+0x234", None));
    let used: Vec<_> = place.calls().iter().map(|c| c.callsite).collect();
    assert_eq!(used, [Some(0), Some(1), None, None]);
}

/// Where this executable was loaded.
fn load_address() -> u64 {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let own = std::env::current_exe().unwrap();
    let line = maps.lines().find(|line| line.ends_with(own.to_str().unwrap())).unwrap();
    u64::from_str_radix(line.split('-').next().unwrap(), 16).unwrap()
}

#[test]
fn only_the_wanted_ranks_are_read() {
    let place = Place::new();
    for rank in 0..5 {
        let who = SegmentOwner::rank(rank, 5);
        define(&place.trace, &who, &[]);
        let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
        (0..100).for_each(|n| segment.call(&call("MPI_Wtime", n * 10, 1)));
        segment.finish();
    }
    seal(&place.trace, &SealOptions { window_rows: 64, keep_raw: true, ..SealOptions::default() }, &|_| {})
        .unwrap();
    let trace = place.open();
    let ranks = |selection| {
        let calls: Vec<Call> = trace.calls(selection).unwrap().map(Result::unwrap).collect();
        assert!(calls.is_sorted_by_key(|call| (call.rank, call.start)));
        calls.iter().map(|call| call.rank.0).collect::<Vec<_>>()
    };
    assert_eq!(ranks(RankSelection::One(Rank(3))), [3; 100]);
    assert_eq!(ranks(RankSelection::Range(1..=2)).len(), 200);
    assert_eq!(ranks(RankSelection::All).len(), 500);
    assert!(place.trace.join("raw").is_dir(), "asked to keep it");
    place.seal();
    assert_eq!(place.calls().len(), 500, "sealing again gives the same");
}

#[test]
fn errors_name_the_next_step() {
    let place = Place::new();
    let sealing = |path: &Path| seal(path, &SealOptions::default(), &|_| {}).unwrap_err();
    assert!(matches!(sealing(&place.trace), SealError::Trace(TraceError::NoTrace { .. })));
    std::fs::create_dir_all(place.trace.join("raw")).unwrap();
    let nothing = sealing(&place.trace).to_string();
    assert!(nothing.contains("made no MPI call") && nothing.contains("LD_PRELOAD"), "{nothing}");
    assert!(matches!(Trace::open(&place.trace), Err(TraceError::NotSealed { .. })));
    std::fs::write(place.trace.join("raw/node1.1.0.calls"), b"rubbish").unwrap();
    assert!(matches!(sealing(&place.trace), SealError::NothingReadable { segments: 1, .. }));
    let (done, _) = one_rank(|segment| segment.call(&call("MPI_Wtime", 1, 1)));
    assert!(matches!(sealing(&done.trace), SealError::AlreadySealed { .. }));
}
