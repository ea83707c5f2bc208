//! Runs that stop, made up call by call: what is said about them.

use kizami_hang::{CauseState, Hang, HangKind, Outside};
use kizami_model::{Call, Ending, Length, Moment, Peer, Rank, ThreadIndex};
use kizami_phrases::hang::{sentences, waits_until};
use kizami_testing::{Act, Costs, Script, call, definitions, op};
use kizami_trace::run::Watched;
use kizami_trace::{CallSite, Definitions, Pid, RankInfo, UnderWay};

const SECOND: i64 = 1_000_000_000;

/// A run of so many ranks that all vanished, with call sites `a.c:0` and so on, and a second communicator of ranks 0 and 1.
fn run(ranks: u32, under_way: Vec<UnderWay>) -> Definitions {
    let rank =
        |rank: u32| RankInfo { pid: Some(Pid(100 + rank)), threads: 1, ..RankInfo::absent(Rank(rank)) };
    let site = |line: u32| CallSite {
        index: line,
        offset: u64::from(line),
        module: None,
        function: "main".to_owned(),
        file: Some("/src/a.c".to_owned()),
        line: Some(line),
        inlined_into: Vec::new(),
        path: None,
    };
    Definitions {
        ranks: (0..ranks).map(rank).collect(),
        callsites: (0..100).map(site).collect(),
        under_way,
        ..definitions(&[(0..ranks).collect(), vec![0, 1]])
    }
}

fn inside(rank: u32, name: &str, start_s: f64, line: u32) -> UnderWay {
    let start = Moment((start_s * 1e9) as i64);
    let call = UnderWay::new(Rank(rank), ThreadIndex(0), op(name), start);
    UnderWay { callsite: Some(line), comm: Some(0), ..call }
}

fn message(rank: u32, name: &str, peer: u32, tag: i32) -> UnderWay {
    UnderWay { peer: Some(Peer::Rank(Rank(peer))), tag: Some(tag), ..inside(rank, name, 1.0, 10 + rank) }
}

fn until(seconds: i64, running: bool) -> Option<Watched> {
    Some(Watched { until_ns: seconds * SECOND, running, interrupted_ns: None })
}

fn hang(definitions: &Definitions, rows: &[Call]) -> Hang {
    Hang::of_rows(definitions, until(5, false), rows).expect("it hangs")
}

fn died_first(hang: &Hang) -> Option<u32> {
    hang.died_first.as_ref().map(|death| death.rank)
}

/// Rows as a script makes them; every rank has entered one barrier.
fn after_a_barrier(ranks: usize) -> Vec<Call> {
    let acts = vec![vec![Act::Together("MPI_Barrier")]; ranks];
    Script { acts, costs: Costs::default() }.run()
}

#[test]
fn a_run_that_ended_well_does_not_hang() {
    let mut definitions = run(2, Vec::new());
    definitions.ranks.iter_mut().for_each(|rank| rank.ending = Ending::Finalized);
    assert_eq!(Hang::of_rows(&definitions, None, &after_a_barrier(2)), None);
}

#[test]
fn two_receives_from_each_other_are_a_deadlock_and_the_others_wait_for_it() {
    let mut calls = vec![message(0, "MPI_Recv", 1, 7), message(1, "MPI_Recv", 0, 7)];
    calls.extend([inside(2, "MPI_Barrier", 0.5, 20), inside(3, "MPI_Barrier", 0.6, 20)]);
    let found = hang(&run(4, calls), &after_a_barrier(4));
    assert_eq!((found.kind, found.cycle.as_slice()), (HangKind::Deadlock, &[0, 1][..]));
    assert_eq!(
        sentences(&found),
        [
            "Deadlock: rank 0 waits in MPI_Recv at a.c:10 for a message from rank 1 (tag 7); rank 1 waits in MPI_Recv \
             at a.c:11 for a message from rank 0 (tag 7); since 1.00 s after the start, for 4.00 s.",
            "Ranks 2 and 3 wait for them in MPI_Barrier at a.c:20, since 0.500 s after the start, for 4.50 s.",
        ]
    );
    let waits: Vec<Vec<u32>> = found.calls.iter().map(|call| call.awaited_ranks()).collect();
    assert_eq!(waits, [vec![1], vec![0], vec![0, 1], vec![0, 1]]);
    assert!(found.causes.is_empty() && !found.running);
}

/// The same, but rank 1 has sent: rank 0 can go on, so no rank is blocked for ever.
#[test]
fn a_message_that_is_there_is_no_deadlock() {
    let rows =
        [Call { peer: Peer::Rank(Rank(0)), tag: Some(7), bytes_out: Some(8), ..call("MPI_Send", 1, 0, 100) }];
    let definitions = run(2, vec![message(0, "MPI_Recv", 1, 7), message(1, "MPI_Recv", 0, 7)]);
    let found = hang(&definitions, &rows);
    assert_eq!((found.kind, found.cycle.len()), (HangKind::WaitsForBusy, 0));
    assert_eq!(
        sentences(&found)[0],
        "1 rank waits for rank 0, which is inside MPI_Recv at a.c:10, since 1.00 s after the start, for 4.00 s."
    );
    // With another tag it is not for that receive.
    let rows = [Call { tag: Some(8), ..rows[0].clone() }];
    assert_eq!(hang(&definitions, &rows).kind, HangKind::Deadlock);
}

#[test]
fn a_message_with_another_tag_is_named() {
    let sent =
        Call { peer: Peer::Rank(Rank(1)), tag: Some(8), bytes_out: Some(8), ..call("MPI_Send", 0, 0, 100) };
    let calls = vec![inside(0, "MPI_Barrier", 1.0, 20), message(1, "MPI_Recv", 0, 7)];
    let rows = [Call { callsite: Some(13), ..sent }];
    let found = hang(&run(2, calls), &rows);
    assert_eq!(
        sentences(&found)[0],
        "Tag mismatch: rank 1 waits for a message from rank 0 with tag 7, but rank 0 sent one with tag 8 in MPI_Send at \
         a.c:13, which has not been received."
    );
    // A receive for it may be posted, or the sender may still send the other.
    let mut posted = message(1, "MPI_Recv", 0, 7);
    posted.tag = None;
    let others = [vec![inside(0, "MPI_Barrier", 1.0, 20), posted], vec![message(1, "MPI_Recv", 0, 7)]];
    for calls in others {
        let sent = Call { callsite: Some(13), ..rows[0].clone() };
        assert_eq!(hang(&run(2, calls), &[sent]).mistakes, []);
    }
}

#[test]
fn different_collectives_in_one_turn_are_named() {
    // Ranks 2 and 3 have left their first collective, and are in the next.
    let reduce = |rank: u32| Call { callsite: Some(14), ..call("MPI_Reduce", rank, 0, 100) };
    let calls = (0..4).map(|rank| match rank {
        0 | 1 => inside(rank, "MPI_Bcast", 1.0, 12),
        _ => inside(rank, "MPI_Barrier", 1.0, 20),
    });
    let found = hang(&run(4, calls.collect()), &[reduce(2), reduce(3)]);
    assert_eq!(
        sentences(&found)[0],
        "Collective mismatch on one communicator: ranks 0 and 1 call MPI_Bcast at a.c:12, but ranks 2 and 3 call \
         MPI_Reduce at a.c:14."
    );
}

#[test]
fn sends_without_receives_are_a_deadlock() {
    let calls = (0..5).map(|rank| message(rank, "MPI_Send", (rank + 1) % 5, 3)).collect();
    let found = hang(&run(5, calls), &[]);
    assert_eq!((found.kind, found.cycle.as_slice()), (HangKind::Deadlock, &[0, 1, 2, 3, 4][..]));
    assert!(sentences(&found)[0].contains("and so on around 5 ranks"), "{:?}", sentences(&found));
    assert!(sentences(&found)[0].contains("waits in MPI_Send at a.c:10 for rank 1 to receive (tag 3)"));
}

/// Rank 0 sends to rank 1, which has posted the receive long ago and computes.
#[test]
fn a_send_with_a_posted_receive_does_not_wait() {
    let receive =
        Call { peer: Peer::Rank(Rank(0)), tag: Some(3), request: Some(1), ..call("MPI_Irecv", 1, 0, 100) };
    let found = hang(&run(2, vec![message(0, "MPI_Send", 1, 3)]), &[receive]);
    assert_eq!(found.kind, HangKind::Inside);
    assert!(found.calls[0].awaited_ranks().is_empty());
}

#[test]
fn a_rank_that_computes_is_the_cause() {
    let calls = (0..3).map(|rank| inside(rank, "MPI_Allreduce", 2.0, 20)).collect();
    let mut definitions = run(4, calls);
    let found = hang(&definitions, &after_a_barrier(4));
    assert_eq!((found.kind, found.causes.len()), (HangKind::WaitsForBusy, 1));
    assert_eq!((found.causes[0].rank, found.causes[0].state), (3, CauseState::Outside(Outside::Unknown)));
    assert_eq!(found.causes[0].waiting_ranks, 3);
    assert_eq!(
        sentences(&found),
        [
            "All others wait for rank 3, which made no MPI call after MPI_Barrier at a.c:0, 5.00 s before the end: \
             it kept computing, or died.",
            "Ranks 0-2 wait in MPI_Allreduce at a.c:20 for rank 3 to enter, since 2.00 s after the start, for 3.00 s.",
        ]
    );
    definitions.ranks.iter_mut().for_each(|rank| rank.ending = Ending::Running);
    let found =
        Hang::of_rows(&definitions, until(5, true), &after_a_barrier(4)).expect("three seconds are long");
    assert_eq!(
        sentences(&found)[0],
        "All others wait for rank 3, which has been outside MPI for 5.00 s, after MPI_Barrier at a.c:0."
    );
    // In a run that goes on, short waits are normal.
    let short = Some(Watched { until_ns: 2 * SECOND + 1_000_000, running: true, interrupted_ns: None });
    assert_eq!(Hang::of_rows(&definitions, short, &after_a_barrier(4)), None);
}

#[test]
fn a_rank_that_is_gone_is_the_cause() {
    let mut definitions = run(3, vec![message(0, "MPI_Recv", 2, 1), message(1, "MPI_Recv", 0, 1)]);
    for (ending, state, words) in [
        (Ending::Exited, CauseState::Exited, "exited without MPI_Finalize after MPI_Barrier at a.c:0"),
        (Ending::Finalized, CauseState::Finalized, "ended by MPI_Finalize, 0.000 s after the start"),
        (Ending::Aborted, CauseState::Aborted { code: 0 }, "called MPI_Abort with code 0 at a.c:0"),
    ] {
        definitions.ranks[2].ending = ending;
        let found = hang(&definitions, &after_a_barrier(3));
        assert_eq!((found.kind, found.causes[0].state), (HangKind::WaitsForEnded, state));
        assert_eq!(sentences(&found)[0], format!("All others wait for rank 2, which {words}."));
    }
}

/// Launchers end the others when one dies: the first one is reported, unless all were interrupted.
#[test]
fn the_rank_that_died_first_is_reported() {
    let mut definitions =
        run(3, vec![inside(0, "MPI_Allreduce", 2.0, 20), inside(1, "MPI_Allreduce", 2.0, 20)]);
    for (rank, ended_ms) in definitions.ranks.iter_mut().zip([4_002, 4_003, 4_000]) {
        rank.ended = Some(Moment(ended_ms * 1_000_000));
    }
    let rows = after_a_barrier(3);
    let found = hang(&definitions, &rows);
    assert_eq!(died_first(&found), Some(2));
    assert_eq!(
        sentences(&found)[..2],
        [
            "Rank 2 was the first to end, 4.00 s after the start, outside MPI, after MPI_Barrier at a.c:0: it was killed, \
             crashed or left by _exit.",
            "All others wait for rank 2, which died.",
        ]
    );
    let interrupted = Some(Watched { interrupted_ns: Some(4_100_000_000), ..until(5, false).unwrap() });
    assert_eq!(died_first(&Hang::of_rows(&definitions, interrupted, &rows).unwrap()), None);
    let found = Hang::of_rows(&definitions, interrupted, &rows).unwrap();
    assert_eq!(
        sentences(&found)[0],
        "All others wait for rank 2, which was outside MPI for 4.00 s after MPI_Barrier at a.c:0, until it was interrupted."
    );
    definitions.ranks[0].ended = Some(Moment(3_999_000_000));
    assert_eq!(died_first(&hang(&definitions, &rows)), Some(2), "rank 0 had waited for long");
    definitions.ranks[0].ended = Some(Moment(3_900_000_000));
    assert_eq!(died_first(&hang(&definitions, &rows)), Some(0), "that early, rank 0 ended by itself");
    definitions.ranks[0].ended = definitions.ranks[2].ended;
    definitions.under_way.retain(|call| call.rank != Rank(0));
    assert_eq!(died_first(&hang(&definitions, &rows)), None, "the first is unknown");
}

#[test]
fn ranks_in_different_collectives_are_reported() {
    let calls = vec![inside(0, "MPI_Bcast", 1.0, 5), inside(1, "MPI_Barrier", 1.0, 6)];
    let found = hang(&run(2, calls), &after_a_barrier(2));
    assert_eq!(found.kind, HangKind::Deadlock);
    let said = sentences(&found);
    assert!(said[0].contains("rank 1 calls MPI_Barrier at a.c:6, but rank 0 calls MPI_Bcast at a.c:5"));
    assert!(
        said[1].contains("rank 0 waits in MPI_Bcast at a.c:5 for rank 1, which is in MPI_Barrier instead"),
        "{:?}",
        sentences(&found)
    );
}

/// Rank 1 is one barrier behind: it waits for no rank in the first, and rank 0 waits for it in the second.
#[test]
fn collectives_are_counted() {
    let rows: Vec<Call> = after_a_barrier(2).into_iter().filter(|row| row.rank == Rank(0)).collect();
    let calls = vec![inside(0, "MPI_Barrier", 1.0, 5), inside(1, "MPI_Barrier", 0.5, 5)];
    let found = hang(&run(2, calls), &rows);
    assert_eq!(found.calls[0].awaited_ranks(), [1]);
    assert!(found.calls[1].awaited_ranks().is_empty());
}

/// Of communicators of their own, ranks wait for their members alone.
#[test]
fn members_of_a_communicator_count() {
    let calls = vec![UnderWay { comm: Some(1), ..inside(0, "MPI_Barrier", 1.0, 5) }];
    let found = hang(&run(4, calls), &[]);
    assert_eq!(found.calls[0].awaited_ranks(), [1]);
}

#[test]
fn the_root_is_waited_for_where_it_gives() {
    let root = Some(Peer::Rank(Rank(2)));
    let calls = vec![UnderWay { root, ..inside(0, "MPI_Bcast", 1.0, 5) }];
    let found = hang(&run(4, calls), &[]);
    assert_eq!(found.calls[0].awaited_ranks(), [2]);
}

/// Rank 0 waits for two requests, of which one is done: that message was sent.
#[test]
fn a_wait_is_for_messages_that_did_not_arrive() {
    let receive = |tag, request| Call {
        peer: Peer::Rank(Rank(1)),
        tag: Some(tag),
        request: Some(request),
        ..call("MPI_Irecv", 0, 0, 100)
    };
    let sent =
        Call { peer: Peer::Rank(Rank(0)), tag: Some(1), bytes_out: Some(8), ..call("MPI_Send", 1, 0, 100) };
    let rows = [receive(1, 1), receive(2, 2), sent];
    let wait = |name, requests| UnderWay { requests: Some(requests), ..inside(0, name, 1.0, 5) };
    for (name, requests) in [("MPI_Waitall", 2), ("MPI_Wait", 1)] {
        let found = hang(&run(2, vec![wait(name, requests)]), &rows);
        assert_eq!(waits_until(&found.calls[0]), "a message from rank 1 (tag 2)", "{name}");
        assert!(!found.calls[0].one_is_enough());
    }
    // If nothing was sent, it may be either.
    let found = hang(&run(2, vec![wait("MPI_Wait", 1)]), &rows[..2]);
    let both = "one of: a message from rank 1 (tag 1); a message from rank 1 (tag 2)";
    assert_eq!((&waits_until(&found.calls[0])[..], found.calls[0].one_is_enough()), (both, true));
}

/// Any rank may send: rank 0 is blocked only if all others are.
#[test]
fn a_wildcard_matches_any_sender() {
    let any = UnderWay { peer: Some(Peer::Any), tag: None, ..inside(0, "MPI_Recv", 1.0, 5) };
    let found = hang(&run(3, vec![any, message(1, "MPI_Recv", 0, 1)]), &[]);
    assert_eq!(found.kind, HangKind::WaitsForBusy, "rank 2 may still send");
    let found = hang(&run(2, vec![any, message(1, "MPI_Recv", 0, 1)]), &[]);
    assert_eq!((found.kind, found.cycle.as_slice()), (HangKind::Deadlock, &[0, 1][..]));
    assert!(sentences(&found)[0].contains("for a message from any rank"), "{:?}", sentences(&found));
}

#[test]
fn polls_to_the_end_are_waits() {
    let poll = |end_ns| Call {
        calls: 1000,
        inside: Some(Length(5)),
        callsite: Some(9),
        ..call("MPI_Test", 0, SECOND, end_ns)
    };
    let receive =
        Call { peer: Peer::Rank(Rank(1)), tag: Some(4), request: Some(1), ..call("MPI_Irecv", 0, 0, 100) };
    let found = hang(&run(2, Vec::new()), &[receive.clone(), poll(5 * SECOND - 10)]);
    assert_eq!(
        sentences(&found)[1],
        "Rank 0 waits by polling with MPI_Test at a.c:9 for a message from rank 1 (tag 4), since 1.00 s after the start, \
         for 4.00 s."
    );
    // Whoever stopped polling long before the end does something else.
    let found = hang(&run(2, Vec::new()), &[receive, poll(2 * SECOND)]);
    assert_eq!(found.kind, HangKind::Ended);
}

#[test]
fn a_lock_that_is_held_is_waited_for() {
    let target = Peer::Rank(Rank(2));
    let lock = Call { peer: target, tag: Some(1), ..call("MPI_Win_lock", 1, 0, 100) };
    let calls = vec![UnderWay { peer: Some(target), tag: Some(1), ..inside(0, "MPI_Win_lock", 1.0, 5) }];
    let found = hang(&run(3, calls.clone()), std::slice::from_ref(&lock));
    assert_eq!(waits_until(&found.calls[0]), "rank 1 to release the lock");
    let unlock =
        Call { op: op("MPI_Win_unlock"), tag: None, start: Moment(200), end: Moment(300), ..lock.clone() };
    assert!(hang(&run(3, calls), &[lock, unlock]).calls[0].awaited_ranks().is_empty());
}

/// Many ranks take few sentences and little time.
#[test]
fn a_thousand_ranks_take_two_sentences() {
    let calls = (0..1023).map(|rank| inside(rank, "MPI_Barrier", 1.0, 20)).collect();
    let found = hang(&run(1024, calls), &[]);
    assert_eq!(
        sentences(&found)[1],
        "Ranks 0-1022 wait in MPI_Barrier at a.c:20 for rank 1023 to enter, since 1.00 s after the start, for 4.00 s."
    );
    assert_eq!(sentences(&found).len(), 2);
}
