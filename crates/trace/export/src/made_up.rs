//! A small made-up trace in which everything exporters must cope with happens once.
//!
//! Four ranks on two hosts. Rank 1 has a second thread. Beside the world and self there is a communicator of
//! ranks 3 and 1 in this order, an inter-communicator of ranks 0 and 2 with 1 and 3, and one with a member
//! are unknown.

use super::source::{Rows, Source};
use kizami_model::{Call, CommKind, Ending, Length, Moment, Peer, Rank, ThreadIndex};
use kizami_trace::{
    CallSite, CommIdentity, Communicator, Definitions, HostInfo, PathFrame, Pid, RankInfo, Region, RegionSpan,
};

pub(super) const WORLD: u32 = 0;
pub(super) const ITSELF: u32 = 1;
pub(super) const REVERSED: u32 = 2;
pub(super) const INTER: u32 = 3;
pub(super) const HALF_DEFINED: u32 = 4;

/// A row with nothing but a time, as a beginning.
pub(super) fn row(rank: u32, function: &str, start: i64, end: i64) -> Call {
    Call { comm: None, overhead: Length(50), ..kizami_testing::call(function, rank, start, end) }
}

/// A row that sends.
pub(super) fn send(call: Call, comm: u32, to: u32, tag: i32, bytes: u64) -> Call {
    Call { comm: Some(comm), peer: Peer::Rank(Rank(to)), tag: Some(tag), bytes_out: Some(bytes), ..call }
}

/// A row that receives.
pub(super) fn receive(call: Call, comm: u32, from: u32, tag: i32, bytes: u64) -> Call {
    Call { comm: Some(comm), peer: Peer::Rank(Rank(from)), tag: Some(tag), bytes_in: Some(bytes), ..call }
}

/// The same row with a request it starts.
pub(super) fn starts(call: Call, request: u64) -> Call {
    Call { request: Some(request), ..call }
}

/// The same row with requests it completes.
pub(super) fn completes(call: Call, requests: &[u64]) -> Call {
    Call { completes: requests.to_vec(), ..call }
}

/// A trace of these rows.
pub(super) fn source(mut calls: Vec<Call>, region_spans: Vec<RegionSpan>) -> Source<'static> {
    calls.sort_by_key(|call| (call.rank, call.start));
    Source {
        title: "sample --all".to_owned(),
        started_unix_ns: 1_700_000_000_000_000_000,
        span_ns: 100_000,
        whole: true,
        definitions: definitions(),
        rows: Rows { count: calls.len() as u64, calls: Box::new(calls.into_iter().map(Ok)), region_spans },
    }
}

/// The whole sample.
pub(super) fn everything() -> Source<'static> {
    let calls = [blocking(), waiting(), persistent(), groups(), collectives(), oddities()].concat();
    source(calls, regions())
}

/// Messages of the whole sample that are sent and received: sender, receiver, communicator, tag, bytes.
pub(super) const MESSAGES: [(u32, u32, u32, u32, u64); 13] = [
    (0, 1, WORLD, 7, 100),
    (1, 2, WORLD, 8, 200),
    (1, 2, WORLD, 8, 201),
    (0, 2, WORLD, 3, 10),
    (2, 0, WORLD, 3, 20),
    (2, 3, WORLD, 5, 300),
    (2, 3, WORLD, 6, 301),
    (3, 1, REVERSED, 1, 40),
    (0, 3, INTER, 2, 50),
    (2, 2, ITSELF, 9, 60),
    (0, 3, WORLD, 11, 70),
    (3, 0, WORLD, 11, 71),
    (1, 0, WORLD, 12, 80),
];

fn blocking() -> Vec<Call> {
    let sendrecv = |call: Call, from: u32, bytes_in: u64| Call {
        recv_peer: Peer::Rank(Rank(from)),
        recv_tag: Some(3),
        bytes_in: Some(bytes_in),
        ..call
    };
    let nobody = Call { peer: Peer::Null, comm: Some(WORLD), tag: Some(0), ..row(3, "MPI_Send", 900, 950) };
    vec![
        Call { callsite: Some(0), ..send(row(0, "MPI_Send", 1000, 1100), WORLD, 1, 7, 100) },
        Call {
            any_source: true,
            callsite: Some(1),
            ..receive(row(1, "MPI_Recv", 500, 1200), WORLD, 0, 7, 100)
        },
        sendrecv(send(row(0, "MPI_Sendrecv", 2000, 2100), WORLD, 2, 3, 10), 2, 20),
        sendrecv(send(row(2, "MPI_Sendrecv", 2050, 2200), WORLD, 0, 3, 20), 0, 10),
        nobody,
    ]
}

fn waiting() -> Vec<Call> {
    let halves = |call: Call, peer: u32, bytes: u64| Call {
        recv_peer: Peer::Rank(Rank(peer)),
        recv_tag: Some(11),
        bytes_in: Some(bytes),
        ..call
    };
    vec![
        starts(send(row(1, "MPI_Isend", 3000, 3010), WORLD, 2, 8, 200), 1),
        starts(send(row(1, "MPI_Isend", 3020, 3030), WORLD, 2, 8, 201), 2),
        completes(row(1, "MPI_Waitall", 3040, 3500), &[1, 2]),
        starts(
            Call {
                any_source: true,
                any_tag: true,
                ..receive(row(2, "MPI_Irecv", 2900, 2910), WORLD, 1, 8, 200)
            },
            1,
        ),
        starts(receive(row(2, "MPI_Irecv", 2920, 2930), WORLD, 1, 8, 201), 2),
        Call { calls: 500, inside: Some(Length(90)), ..row(2, "MPI_Test", 3000, 3100) },
        // The second receive is completed first.
        completes(row(2, "MPI_Wait", 3110, 3300), &[2]),
        completes(row(2, "MPI_Test", 3310, 3320), &[1]),
        starts(halves(send(row(0, "MPI_Isendrecv", 4000, 4010), WORLD, 3, 11, 70), 3, 71), 1),
        completes(row(0, "MPI_Wait", 4020, 4100), &[1]),
        starts(halves(send(row(3, "MPI_Isendrecv", 4000, 4010), WORLD, 0, 11, 71), 0, 70), 1),
        completes(row(3, "MPI_Wait", 4020, 4100), &[1]),
    ]
}

fn persistent() -> Vec<Call> {
    let part = |call: Call| Call { calls: 0, ..call };
    vec![
        starts(send(row(2, "MPI_Send_init", 5000, 5010), WORLD, 3, 5, 300), 10),
        starts(send(row(2, "MPI_Start", 5020, 5030), WORLD, 3, 5, 300), 11),
        send(row(2, "MPI_Send", 5031, 5033), WORLD, 3, 6, 301),
        completes(row(2, "MPI_Wait", 5040, 5100), &[11]),
        starts(receive(row(3, "MPI_Recv_init", 5000, 5005), WORLD, 2, 5, 300), 10),
        starts(receive(row(3, "MPI_Recv_init", 5006, 5009), WORLD, 2, 6, 301), 11),
        row(3, "MPI_Startall", 5020, 5030),
        part(starts(receive(row(3, "MPI_Start", 5020, 5020), WORLD, 2, 5, 300), 12)),
        part(starts(receive(row(3, "MPI_Start", 5020, 5020), WORLD, 2, 6, 301), 13)),
        completes(row(3, "MPI_Waitall", 5040, 5200), &[12, 13]),
    ]
}

fn groups() -> Vec<Call> {
    let second_thread = |call: Call| Call { thread: ThreadIndex(1), ..call };
    vec![
        send(row(3, "MPI_Ssend", 6000, 6100), REVERSED, 1, 1, 40),
        receive(row(1, "MPI_Recv", 6000, 6100), REVERSED, 3, 1, 40),
        send(row(0, "MPI_Send", 6200, 6300), INTER, 3, 2, 50),
        receive(row(3, "MPI_Recv", 6200, 6300), INTER, 0, 2, 50),
        starts(send(row(2, "MPI_Isend", 6400, 6410), ITSELF, 2, 9, 60), 20),
        receive(row(2, "MPI_Recv", 6420, 6430), ITSELF, 2, 9, 60),
        completes(row(2, "MPI_Wait", 6440, 6450), &[20]),
        second_thread(send(row(1, "MPI_Send", 6050, 6550), WORLD, 0, 12, 80)),
        receive(row(0, "MPI_Recv", 6500, 6600), WORLD, 1, 12, 80),
    ]
}

fn collectives() -> Vec<Call> {
    let mut calls = Vec::new();
    for rank in 0..4 {
        let world = |function, start, end| Call { comm: Some(WORLD), ..row(rank, function, start, end) };
        calls.push(world("MPI_Barrier", 7000, 7100));
        calls.push(Call {
            root: Peer::Rank(Rank(2)),
            bytes_out: (rank == 2).then_some(64),
            bytes_in: (rank != 2).then_some(64),
            ..world("MPI_Bcast", 7200, 7300)
        });
        calls.push(starts(
            Call { bytes_out: Some(8), bytes_in: Some(8), ..world("MPI_Iallreduce", 7400, 7410) },
            30,
        ));
        calls.push(completes(row(rank, "MPI_Wait", 7420, 7500), &[30]));
        calls.push(Call { comm: Some(REVERSED), ..row(rank, "MPI_Neighbor_alltoall", 7600, 7700) });
        let root = if rank == 2 { Peer::Null } else { Peer::Rank(Rank(0)) };
        calls.push(Call { comm: Some(INTER), root, ..row(rank, "MPI_Bcast", 7800, 7900) });
    }
    calls
}

fn oddities() -> Vec<Call> {
    vec![
        // A receive that was cancelled, one of a lost rank, a send that failed, a send that was never received.
        starts(
            Call { peer: Peer::Any, comm: Some(WORLD), tag: Some(1), ..row(0, "MPI_Irecv", 8000, 8010) },
            40,
        ),
        completes(row(0, "MPI_Wait", 8020, 8030), &[40]),
        Call { peer: Peer::Unknown, ..receive(row(0, "MPI_Recv", 8040, 8050), HALF_DEFINED, 0, 1, 1) },
        Call { failed: true, ..send(row(1, "MPI_Send", 8000, 8010), WORLD, 99, 1, 1) },
        Call { weight: 2.5, ..send(row(1, "MPI_Send", 8020, 8030), WORLD, 2, 77, 5) },
        row(1, "MPI_Pcontrol", 8100, 8110),
    ]
}

fn regions() -> Vec<RegionSpan> {
    let span = |rank: u32, start: i64, end: i64, region: u32, depth: u32| RegionSpan {
        rank: Rank(rank),
        thread: ThreadIndex(0),
        start: Moment(start),
        end: Moment(end),
        region,
        depth,
    };
    vec![
        // Around calls, with another inside that begins and ends with a call.
        span(0, 900, 5000, 0, 0),
        span(0, 2000, 2100, 1, 1),
        // Its end falls into a call; the inner one outlasts it.
        span(1, 8000, 8105, 0, 0),
        span(1, 8015, 9000, 1, 1),
    ]
}

fn definitions() -> Definitions {
    let ranks = (0..4).map(rank_info).collect();
    let host = |index: u32, name: &str| HostInfo {
        index,
        name: name.to_owned(),
        boot_id: String::new(),
        clock: "tsc".to_owned(),
    };
    let site = |index: u32, function: &str, file: Option<&str>| CallSite {
        index,
        offset: 0,
        module: None,
        function: function.to_owned(),
        file: file.map(str::to_owned),
        line: file.map(|_| 42),
        inlined_into: Vec::new(),
        path: None,
    };
    let frame = |index: u32, caller: Option<u32>, function: &str, line: u32| PathFrame {
        index,
        caller,
        function: function.to_owned(),
        file: Some("main.c".to_owned()),
        line: Some(line),
        module: None,
        offset: 0,
        inlined_into: Vec::new(),
    };
    let region = |index: u32, name: &str| Region { index, name: name.to_owned() };
    Definitions {
        ranks,
        hosts: vec![host(0, "alpha"), host(1, "beta")],
        communicators: communicators(),
        callsites: vec![
            CallSite { path: Some(1), ..site(0, "send<int, \"x\">", Some("a, b.cc")) },
            site(1, "main", Some("main.c")),
            site(2, "app+0x12", None),
        ],
        paths: vec![frame(0, None, "main", 7), frame(1, Some(0), "solve", 30)],
        regions: vec![region(0, "solve"), region(1, "exchange")],
        ..Definitions::default()
    }
}

fn rank_info(rank: u32) -> RankInfo {
    RankInfo {
        host: Some(rank / 2),
        pid: Some(Pid(1000 + rank)),
        threads: 1,
        ending: Ending::Finalized,
        ..RankInfo::absent(Rank(rank))
    }
}

fn communicators() -> Vec<Communicator> {
    let comm = |index: u32, kind: CommKind, name: Option<&str>, members: &[u32], remote: &[u32]| {
        let known = |rank: &u32| (*rank < 4).then_some(Rank(*rank));
        Communicator {
            index,
            identity: CommIdentity(index.into()),
            parent: (index > 1).then_some(WORLD),
            kind,
            name: name.map(str::to_owned),
            size: members.len() as u32,
            members: members.iter().map(known).collect(),
            remote_members: remote.iter().map(known).collect(),
            dims: Vec::new(),
            periodic: Vec::new(),
        }
    };
    vec![
        comm(WORLD, CommKind::World, None, &[0, 1, 2, 3], &[]),
        comm(ITSELF, CommKind::SelfOnly, None, &[], &[]),
        comm(REVERSED, CommKind::Split, Some("reversed"), &[3, 1], &[]),
        comm(INTER, CommKind::Inter, None, &[0, 2], &[1, 3]),
        comm(HALF_DEFINED, CommKind::Create, None, &[0, 99], &[]),
    ]
}
