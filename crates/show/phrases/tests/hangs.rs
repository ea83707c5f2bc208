//! Runs that do not go on, in words: every kind, every state of a cause, every event that is waited for.

// Each test takes what it needs.
#[allow(dead_code)]
mod samples;

use kizami_explain::{
    Awaited, BlockedCall, Called, CauseState, Death, EarlyEnd, EndedEarly, Event, Hang, HangCause, HangKind,
    LastSeen, Outside, WaitsFor,
};
use kizami_phrases::hang;
use samples::{at, check, unknown};

const SECOND: i64 = 1_000_000_000;

fn hang(kind: HangKind, calls: Vec<BlockedCall>) -> Hang {
    Hang {
        kind,
        ranks: 4,
        cycle: Vec::new(),
        causes: Vec::new(),
        died_first: None,
        mistakes: Vec::new(),
        ended_early: Vec::new(),
        calls,
        running: false,
        until_ns: Some(5 * SECOND),
    }
}

fn inside(rank: u32, function: &str, all: Vec<Awaited>) -> BlockedCall {
    BlockedCall {
        rank,
        thread: 0,
        function: function.to_owned(),
        place: at(10 + rank),
        callsite: Some(10 + rank),
        since_ns: SECOND,
        polls: false,
        waits_for: Some(WaitsFor { all, any: false, understood: true }),
    }
}

fn of(ranks: &[u32], event: Event) -> Awaited {
    Awaited { ranks: ranks.to_vec(), any: false, event }
}

fn called(function: &str) -> Called {
    Called { function: function.to_owned(), place: at(7) }
}

/// Each with its name, and its sentences below.
fn lines_of(all: &[(&str, Hang)]) -> Vec<String> {
    let lines = |(name, hang): &(&str, Hang)| {
        let sentences = hang::sentences(hang).into_iter().map(|sentence| format!("  {sentence}"));
        std::iter::once((*name).to_owned()).chain(sentences).collect::<Vec<_>>()
    };
    all.iter().flat_map(lines).collect()
}

#[test]
fn kinds_of_hangs() {
    let receive =
        |rank: u32, from: u32| inside(rank, "MPI_Recv", vec![of(&[from], Event::Send { tag: Some(7) })]);
    let ring = |ranks: u32| (0..ranks).map(|rank| receive(rank, (rank + 1) % ranks)).collect::<Vec<_>>();
    let barrier =
        |rank| BlockedCall { callsite: Some(3), place: at(3), ..inside(rank, "MPI_Barrier", Vec::new()) };
    let mut behind = ring(2);
    behind.extend([barrier(2), barrier(3)]);
    let many = (0..6).map(|rank| inside(rank, "MPI_Wait", vec![of(&[9], Event::Come)])).collect();
    let nobody = |call: BlockedCall| BlockedCall { waits_for: None, ..call };
    let early = |rank, how| EndedEarly { rank, how };
    let ends = vec![
        early(0, EarlyEnd::NothingLeft),
        early(1, EarlyEnd::Vanished(Some(called("MPI_Send")))),
        early(2, EarlyEnd::Vanished(Some(called("MPI_Send")))),
        early(3, EarlyEnd::Vanished(None)),
        early(4, EarlyEnd::Exited(Some(called("MPI_Send")))),
    ];
    let aborted = vec![early(0, EarlyEnd::Exited(None)), early(1, EarlyEnd::Aborted { code: 3 })];
    let all = [
        ("deadlock", Hang { cycle: vec![0, 1], ..hang(HangKind::Deadlock, behind) }),
        ("deadlock of many", Hang { cycle: (0..6).collect(), ..hang(HangKind::Deadlock, ring(6)) }),
        ("many groups", hang(HangKind::WaitsForBusy, many)),
        ("all has come", hang(HangKind::WaitsForBusy, vec![inside(0, "MPI_Wait", Vec::new())])),
        (
            "inside",
            hang(HangKind::Inside, vec![nobody(barrier(0)), nobody(barrier(1)), nobody(receive(2, 0))]),
        ),
        ("unwatched", Hang { until_ns: None, ..hang(HangKind::Inside, vec![nobody(barrier(0))]) }),
        ("ended", Hang { ended_early: ends, ..hang(HangKind::Ended, Vec::new()) }),
        ("aborted", Hang { ended_early: aborted, ..hang(HangKind::Ended, Vec::new()) }),
    ];
    check("hangs", &lines_of(&all));
}

#[test]
fn causes_and_deaths() {
    let cause = |state| HangCause {
        rank: 3,
        state,
        function: Some("MPI_Send".to_owned()),
        place: Some(at(7)),
        since_ns: Some(2 * SECOND),
        waiting_ranks: 3,
    };
    let waits = |causes| Hang { causes, ..hang(HangKind::WaitsForBusy, Vec::new()) };
    let of_one = |state| waits(vec![cause(state)]);
    let running = CauseState::Outside(Outside::Running);
    let unknown_place = HangCause { place: Some(unknown()), waiting_ranks: 1, ..cause(CauseState::Inside) };
    let no_call = HangCause { function: None, place: None, since_ns: None, ..cause(running) };
    let many = (0..6).map(|rank| HangCause { rank, waiting_ranks: 2, ..cause(running) }).collect();
    let died = |last_seen| {
        let death = Death { rank: 2, ended_ns: 4 * SECOND, last_seen };
        Hang { died_first: Some(death), ..hang(HangKind::Ended, Vec::new()) }
    };
    let all = [
        ("died", of_one(CauseState::Outside(Outside::Died))),
        ("interrupted", of_one(CauseState::Outside(Outside::Interrupted { ended_ns: 4 * SECOND }))),
        ("running", of_one(running)),
        ("running, no call", waits(vec![no_call])),
        ("unknown", of_one(CauseState::Outside(Outside::Unknown))),
        ("unknown, unwatched", Hang { until_ns: None, ..of_one(CauseState::Outside(Outside::Unknown)) }),
        ("inside", of_one(CauseState::Inside)),
        ("inside, unknown place", waits(vec![unknown_place])),
        ("finalized", of_one(CauseState::Finalized)),
        ("exited", of_one(CauseState::Exited)),
        ("aborted", of_one(CauseState::Aborted { code: 3 })),
        ("absent", of_one(CauseState::Absent)),
        ("many", waits(many)),
        ("died inside", died(LastSeen::Inside(called("MPI_Send")))),
        ("died outside", died(LastSeen::After(called("MPI_Send")))),
        ("died before", died(LastSeen::BeforeFirstCall)),
    ];
    check("causes", &lines_of(&all));
}

#[test]
fn what_calls_wait_for() {
    let any = |event| Awaited { any: true, ..of(&[1, 2], event) };
    let send = |tag| of(&[1], Event::Send { tag: Some(tag) });
    let other = |ranks: &[u32]| of(ranks, Event::LeaveOther { function: "MPI_Bcast".to_owned() });
    let all = vec![
        vec![send(7)],
        vec![of(&[1], Event::Send { tag: None })],
        vec![any(Event::Send { tag: Some(7) })],
        vec![of(&[1], Event::Receive { tag: 7 })],
        vec![of(&[0, 1, 2, 5, 7], Event::Come)],
        vec![other(&[1]), other(&[2, 3])],
        vec![of(&[1], Event::Unlock)],
        (0..5).map(send).collect(),
    ];
    let mut calls: Vec<BlockedCall> = all.into_iter().map(|all| inside(0, "MPI_Wait", all)).collect();
    let mut one_of = inside(0, "MPI_Waitany", vec![send(1), send(2)]);
    one_of.waits_for.as_mut().expect("it waits").any = true;
    calls.push(one_of);
    check("events", &calls.iter().map(hang::waits_until).collect::<Vec<_>>());
    let polls = BlockedCall { polls: true, ..inside(0, "MPI_Test", vec![send(4)]) };
    let unknown = WaitsFor { all: Vec::new(), any: false, understood: false };
    let opaque = BlockedCall { waits_for: Some(unknown), ..inside(1, "MPI_Comm_accept", Vec::new()) };
    check("calls", &lines_of(&[("calls", hang(HangKind::WaitsForBusy, vec![polls, opaque]))]));
}
