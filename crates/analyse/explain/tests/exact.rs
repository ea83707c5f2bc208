//! On runs whose times are exactly known, everything that is said about them is exact.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_explain::{Cause, Diagnosis, Disease, Finding, Pattern, Report, Who};
use kizami_model::{Call, CommKind, Length, Moment, Peer, Rank, ThreadIndex};
use kizami_testing::Act::{self, Compute, Receive, Rooted, Scan, Send, SyncSend, Together, Window};
use kizami_testing::OnWindow::{AwaitCompletes, Complete, Lock, Post, Put, Start, Unlock};
use kizami_testing::{call, definitions};
use kizami_trace::RegionSpan;
use scripts::{Looped, Places, report_of};

/// What is injected into each iteration; more than anything else takes.
const DELAY_NS: i64 = 300_000;
const ITERATIONS: usize = 10;
/// The duration of a call that does not wait.
const CALL_NS: i64 = 500;
const LARGE: u64 = 1 << 20;

fn looped(bodies: Vec<Vec<Act>>) -> Looped {
    Looped { bodies, iterations: ITERATIONS, places: Places::OfEachRank }
}

/// Total of one pattern, over all ranks.
fn total(report: &Report, pattern: Pattern) -> i64 {
    report.waits.iter().filter(|wait| wait.pattern == pattern).map(|wait| wait.ns).sum()
}

/// What collectives took once all had come, over all ranks.
fn completion(report: &Report, pattern: Pattern) -> i64 {
    let by_place = report.completions_by_place.iter().filter(|total| total.pattern == pattern);
    let ns = by_place.map(|total| total.ns).sum();
    let all = report.completions.iter().filter(|total| total.pattern == pattern);
    assert_eq!(all.map(|total| total.ns).sum::<i64>(), ns, "by pattern and by place");
    ns
}

/// The worst finding.
fn worst(report: &Report) -> &Finding {
    report.findings.first().expect("there is a finding")
}

/// Asserts what must be true of any run.
fn assert_sound(report: &Report) {
    let waiting_ns: i64 = report.waits.iter().map(|wait| wait.ns).sum();
    let by_place_ns: i64 = report.waits_by_place.iter().map(|wait| wait.ns).sum();
    assert_eq!(waiting_ns, by_place_ns, "waiting by pattern and by place");
    let of_ranks_ns: i64 = report.rank_times.iter().map(|rank| rank.waiting_ns).sum();
    assert_eq!(waiting_ns, of_ranks_ns, "waiting by pattern and by rank");
    let path_ns: i64 = report.critical_path.iter().map(|part| part.ns).sum();
    assert_eq!(path_ns, report.run_ns, "the critical path is as long as the run");
    for rank in &report.rank_times {
        assert!(rank.computation_ns + rank.mpi_ns <= report.run_ns, "{rank:?}");
        assert!(rank.waiting_ns <= rank.mpi_ns, "{rank:?}");
    }
    let efficiency = &report.efficiency;
    let product = efficiency.load_balance * efficiency.serialisation * efficiency.transfer;
    assert!((efficiency.parallel - product).abs() < 1e-12, "{efficiency:?}");
    for factor in
        [efficiency.parallel, efficiency.load_balance, efficiency.serialisation, efficiency.transfer]
    {
        assert!((0.0..=1.0).contains(&factor), "{efficiency:?}");
    }
    assert_eq!((report.not_understood.unmatched, report.not_understood.not_followed), (0, 0));
}

/// Asserts that every nanosecond of waiting is blamed on a rank, once. Only where no wait is shorter than what is
/// looked at and there are no more findings than are listed.
fn assert_all_blamed(report: &Report) {
    let waiting_ns: i64 = report.waits.iter().map(|wait| wait.ns).sum();
    let blamed_ns: i64 = report.blame.iter().map(|finding| finding.waiting_ns + finding.propagated_ns).sum();
    assert_eq!(blamed_ns, waiting_ns);
}

/// One pattern: its total, who is to blame, where, and the gain, which is what the script gains without its delay.
struct Expected {
    pattern: Pattern,
    /// In each iteration, over all ranks.
    waiting_ns: i64,
    rank: u32,
    /// Index of the act the delay leads up to.
    before: u32,
    function: &'static str,
    waiting_in: &'static str,
}

fn check(bodies: impl Fn(i64) -> Vec<Vec<Act>>, expected: Expected) {
    let report = looped(bodies(DELAY_NS)).report();
    assert_sound(&report);
    assert_all_blamed(&report);
    assert_eq!(total(&report, expected.pattern), ITERATIONS as i64 * expected.waiting_ns);
    let finding = worst(&report);
    assert_eq!(finding.cause, Cause::Computation, "{finding:?}");
    assert_eq!(finding.ranks, [expected.rank], "{finding:?}");
    assert_eq!(finding.function, expected.function);
    assert_eq!(finding.place.to_string(), format!("rank{}.c:{}", expected.rank, expected.before));
    assert_eq!(finding.waiting_in.as_ref().map(|(function, _)| &function[..]), Some(expected.waiting_in));
    let without = looped(bodies(0)).report();
    assert_sound(&without);
    let gain = finding.gain.expect("the delay can be taken away");
    assert_eq!(gain.ns, report.run_ns - without.run_ns, "{finding:?}");
}

#[test]
fn late_sender() {
    let bodies = |delay| {
        vec![
            vec![Compute(1_000), Compute(delay), Send(1, 5, 8), Together("MPI_Barrier")],
            vec![Compute(1_000), Receive(0, 5), Together("MPI_Barrier")],
        ]
    };
    check(
        bodies,
        Expected {
            pattern: Pattern::LateSender,
            waiting_ns: DELAY_NS,
            rank: 0,
            before: 3,
            function: "MPI_Send",
            waiting_in: "MPI_Recv",
        },
    );
}

#[test]
fn late_sender_in_the_wrong_order() {
    let bodies = |delay| {
        vec![
            vec![Send(1, 1, 8), Compute(delay), Send(1, 2, 8), Together("MPI_Barrier")],
            vec![Compute(CALL_NS), Receive(0, 2), Receive(0, 1), Together("MPI_Barrier")],
        ]
    };
    let expected = || Expected {
        pattern: Pattern::LateSenderWrongOrder,
        waiting_ns: DELAY_NS,
        rank: 0,
        before: 3,
        function: "MPI_Send",
        waiting_in: "MPI_Recv",
    };
    check(bodies, expected());
    assert_eq!(total(&looped(bodies(DELAY_NS)).report(), Pattern::LateSender), 0);
}

/// In the order in which they are sent nothing is wrong with the order.
#[test]
fn late_sender_in_the_right_order() {
    let report = looped(vec![
        vec![Send(1, 1, 8), Compute(DELAY_NS), Send(1, 2, 8), Together("MPI_Barrier")],
        vec![Compute(CALL_NS), Receive(0, 1), Receive(0, 2), Together("MPI_Barrier")],
    ])
    .report();
    assert_sound(&report);
    assert_eq!(total(&report, Pattern::LateSenderWrongOrder), 0);
    // The first message takes 2,000 ns from the start of its send, 1,500 beyond its end.
    assert_eq!(total(&report, Pattern::LateSender), ITERATIONS as i64 * (DELAY_NS - 1_500));
}

#[test]
fn late_receiver() {
    let bodies = |delay| {
        vec![
            vec![Compute(1_000), SyncSend(1, 5, LARGE), Together("MPI_Barrier")],
            vec![Compute(1_000), Compute(delay), Receive(0, 5), Together("MPI_Barrier")],
        ]
    };
    check(
        bodies,
        Expected {
            pattern: Pattern::LateReceiver,
            waiting_ns: DELAY_NS,
            rank: 1,
            before: 3,
            function: "MPI_Recv",
            waiting_in: "MPI_Ssend",
        },
    );
}

/// A synchronous send waits however small it is, and a plain one of that size does not.
#[test]
fn late_receiver_of_a_small_message() {
    let bodies = |delay| {
        vec![
            vec![Compute(1_000), SyncSend(1, 5, 8), Send(1, 6, 8), Together("MPI_Barrier")],
            vec![Compute(1_000), Compute(delay), Receive(0, 5), Receive(0, 6), Together("MPI_Barrier")],
        ]
    };
    check(
        bodies,
        Expected {
            pattern: Pattern::LateReceiver,
            waiting_ns: DELAY_NS,
            rank: 1,
            before: 3,
            function: "MPI_Recv",
            waiting_in: "MPI_Ssend",
        },
    );
}

#[test]
fn early_reduce() {
    let bodies = |delay| {
        vec![
            vec![Compute(1_000), Rooted("MPI_Reduce", 0), Together("MPI_Barrier")],
            vec![Compute(1_000), Rooted("MPI_Reduce", 0), Together("MPI_Barrier")],
            vec![Compute(1_000), Compute(delay), Rooted("MPI_Reduce", 0), Together("MPI_Barrier")],
        ]
    };
    let report = looped(bodies(DELAY_NS)).report();
    assert_sound(&report);
    assert_eq!(total(&report, Pattern::EarlyReduce), ITERATIONS as i64 * DELAY_NS);
    assert_eq!(worst(&report).ranks, [2]);
    assert_eq!(worst(&report).place.to_string(), "rank2.c:3");
}

#[test]
fn late_broadcast() {
    let bodies = |delay| {
        let other = vec![Compute(1_000), Rooted("MPI_Bcast", 1), Together("MPI_Barrier")];
        let root = vec![Compute(1_000), Compute(delay), Rooted("MPI_Bcast", 1), Together("MPI_Barrier")];
        vec![other.clone(), root, other.clone(), other]
    };
    check(
        bodies,
        Expected {
            pattern: Pattern::LateBroadcast,
            waiting_ns: 3 * DELAY_NS,
            rank: 1,
            before: 3,
            function: "MPI_Bcast",
            waiting_in: "MPI_Bcast",
        },
    );
}

#[test]
fn early_scan() {
    let bodies = |delay| {
        let other = vec![Compute(1_000), Scan, Together("MPI_Barrier")];
        let late = vec![Compute(1_000), Compute(delay), Scan, Together("MPI_Barrier")];
        vec![other.clone(), late, other.clone(), other]
    };
    check(
        bodies,
        Expected {
            pattern: Pattern::EarlyScan,
            waiting_ns: 2 * DELAY_NS,
            rank: 1,
            before: 3,
            function: "MPI_Scan",
            waiting_in: "MPI_Scan",
        },
    );
}

#[test]
fn collectives_that_wait_for_all() {
    for (function, pattern) in [
        ("MPI_Barrier", Pattern::WaitAtBarrier),
        ("MPI_Allreduce", Pattern::WaitAtNxN),
        ("MPI_Alltoall", Pattern::WaitAtNxN),
        ("MPI_Allgather", Pattern::WaitAtNxN),
    ] {
        let bodies = |delay| {
            let other = vec![Compute(20_000), Together(function)];
            let late = vec![Compute(20_000), Compute(delay), Together(function)];
            vec![other.clone(), other.clone(), late, other]
        };
        check(
            bodies,
            Expected {
                pattern,
                waiting_ns: 3 * DELAY_NS,
                rank: 2,
                before: 3,
                function,
                waiting_in: function,
            },
        );
    }
}

#[test]
fn late_post() {
    let bodies = |delay| {
        let origin = |target| {
            let access = [Start(vec![target]), Put(target), Complete].map(Window);
            [vec![Compute(1_000)], access.to_vec(), vec![Together("MPI_Barrier")]].concat()
        };
        let opened = [Post(vec![0, 2]), AwaitCompletes].map(Window);
        let target = [&[Compute(1_000), Compute(delay)], &opened[..], &[Together("MPI_Barrier")]].concat();
        vec![origin(1), target, origin(1)]
    };
    check(
        bodies,
        Expected {
            pattern: Pattern::LatePost,
            waiting_ns: 2 * DELAY_NS,
            rank: 1,
            before: 3,
            function: "MPI_Win_post",
            waiting_in: "MPI_Win_start",
        },
    );
}

/// The origin computes `before_put` before its last access, and `before_complete` behind it.
fn late_origin(before_put: i64, before_complete: i64) -> Vec<Vec<Act>> {
    let barrier = Together("MPI_Barrier");
    vec![
        vec![
            Compute(1_000),
            Window(Start(vec![1])),
            Compute(before_put),
            Window(Put(1)),
            Compute(before_complete),
            Window(Complete),
            barrier.clone(),
        ],
        vec![Window(Post(vec![0])), Compute(CALL_NS), Window(AwaitCompletes), barrier],
    ]
}

#[test]
fn early_wait() {
    let report = looped(late_origin(DELAY_NS, 0)).report();
    assert_sound(&report);
    // The complete follows the access at once.
    assert_eq!(total(&report, Pattern::LateComplete), 0);
    let finding = worst(&report);
    assert_eq!((finding.cause, &finding.ranks[..]), (Cause::Computation, &[0][..]), "{finding:?}");
    assert_eq!((&finding.function[..], finding.place.to_string()), ("MPI_Put", "rank0.c:4".to_owned()));
    let without = looped(late_origin(0, 0)).report();
    assert_eq!(finding.gain.map(|gain| gain.ns), Some(report.run_ns - without.run_ns));
    let more_ns = total(&report, Pattern::EarlyWait) - total(&without, Pattern::EarlyWait);
    assert_eq!(more_ns, ITERATIONS as i64 * DELAY_NS);
}

#[test]
fn late_complete() {
    let report = looped(late_origin(0, DELAY_NS)).report();
    assert_sound(&report);
    assert_eq!(total(&report, Pattern::LateComplete), ITERATIONS as i64 * DELAY_NS);
    let finding = worst(&report);
    assert_eq!(
        (&finding.function[..], finding.place.to_string()),
        ("MPI_Win_complete", "rank0.c:6".to_owned())
    );
    let without = looped(late_origin(0, 0)).report();
    assert_eq!(finding.gain.map(|gain| gain.ns), Some(report.run_ns - without.run_ns));
    assert_eq!(total(&report, Pattern::EarlyWait), total(&without, Pattern::EarlyWait));
}

/// Rank 1 has the lock of rank 0 for long, ranks 2 and 3 ask for it meanwhile.
#[test]
fn lock_contention() {
    let run = |delay| {
        let holds = |turn: usize, before: i64, within: i64| {
            vec![
                Compute(before),
                Window(Lock(0, turn)),
                Compute(within),
                Window(Put(0)),
                Window(Unlock(0, turn)),
                Together("MPI_Barrier"),
            ]
        };
        let bodies =
            vec![vec![Together("MPI_Barrier")], holds(0, 100, delay), holds(1, 200, 0), holds(2, 300, 0)];
        Looped { bodies, iterations: 1, places: Places::OfEachRank }.report()
    };
    let (report, without) = (run(DELAY_NS), run(0));
    assert_sound(&report);
    assert_sound(&without);
    // Rank 1 begins to unlock after it got the lock, computed, and put.
    let unlock_1_ns = 100 + CALL_NS + DELAY_NS + CALL_NS;
    let unlock_2_ns = unlock_1_ns + 2_000 + CALL_NS;
    assert_eq!(total(&report, Pattern::LockContention), unlock_1_ns - 200 + unlock_2_ns - 300);
    let finding = worst(&report);
    assert_eq!((finding.cause, &finding.ranks[..]), (Cause::Computation, &[1][..]), "{finding:?}");
    assert_eq!((&finding.function[..], finding.place.to_string()), ("MPI_Put", "rank1.c:4".to_owned()));
    assert_eq!(finding.gain.map(|gain| gain.ns), Some(report.run_ns - without.run_ns));
}

/// Once all have entered, no rank waits: the rest of the call is separate, and no rank is blamed for it.
#[test]
fn collectives_once_all_have_entered() {
    const COLLECTIVE_NS: i64 = 5_000;
    for (function, pattern, wait) in [
        ("MPI_Barrier", Pattern::BarrierCompletion, Pattern::WaitAtBarrier),
        ("MPI_Allreduce", Pattern::NxNCompletion, Pattern::WaitAtNxN),
    ] {
        let other = vec![Compute(20_000), Together(function)];
        let late = vec![Compute(20_000), Compute(DELAY_NS), Together(function)];
        let report = looped(vec![other.clone(), late, other]).report();
        assert_sound(&report);
        assert_all_blamed(&report);
        assert_eq!(total(&report, wait), 2 * ITERATIONS as i64 * DELAY_NS);
        assert_eq!(total(&report, pattern), 0, "it is no waiting");
        // With the barrier before the loop; the last one to come is kept as long as the others.
        let before = i64::from(pattern == Pattern::BarrierCompletion);
        assert_eq!(completion(&report, pattern), 3 * (ITERATIONS as i64 + before) * COLLECTIVE_NS);
        let called: i64 =
            report.functions.iter().filter(|calls| calls.function == function).map(|calls| calls.ns).sum();
        let of_window_ns = 3 * before * COLLECTIVE_NS;
        assert!(completion(&report, pattern) + total(&report, wait) - called <= of_window_ns);
    }
    // Where only some wait there is no moment at which all have come.
    let bodies = vec![vec![Rooted("MPI_Reduce", 0), Scan]; 2];
    let report = looped(bodies).report();
    assert_eq!(completion(&report, Pattern::NxNCompletion), 0);
}

/// All ranks run the same code; the last one computes longer in both its parts.
#[test]
fn places_that_ranks_share() {
    let bodies = |factor: i64| {
        let body = |factor| {
            vec![
                Compute(20_000 * factor),
                Together("MPI_Allreduce"),
                Compute(10_000 * factor),
                Together("MPI_Allreduce"),
            ]
        };
        vec![body(2), body(2), body(2), body(factor)]
    };
    let run =
        |factor| Looped { bodies: bodies(factor), iterations: ITERATIONS, places: Places::Shared }.report();
    let (slow, even) = (run(3), run(2));
    assert_sound(&slow);
    assert_all_blamed(&slow);
    assert_eq!(total(&slow, Pattern::WaitAtNxN), ITERATIONS as i64 * 3 * (20_000 + 10_000));
    assert_eq!(total(&even, Pattern::WaitAtNxN), 0);
    let named: Vec<(String, &[u32], i64)> = slow
        .findings
        .iter()
        .map(|finding| {
            (finding.place.to_string(), &finding.ranks[..], finding.gain.map_or(0, |gain| gain.ns))
        })
        .collect();
    // One cause, where it costs most, with the gain of both parts.
    let expected: [(String, &[u32], i64); 1] = [("shared.c:2".to_owned(), &[3], ITERATIONS as i64 * 30_000)];
    assert_eq!(named, expected);
    assert_eq!(slow.findings[0].disease(), Disease::SlowRanks);
    assert_eq!(slow.run_ns - even.run_ns, ITERATIONS as i64 * 30_000);
    assert_eq!(even.efficiency.load_balance, 1.0);
    assert_eq!(slow.efficiency.load_balance, 2.25 / 3.0);
    assert_eq!(slow.efficiency.serialisation, 1.0);
    let length_ns = ITERATIONS as i64 * (90_000 + 2 * 5_000) + 5_000;
    assert_eq!((slow.run_ns, slow.efficiency.ideal_ns), (length_ns, ITERATIONS as i64 * 90_000));
}

/// Rank 0 is late, rank 1 waits for it and rank 2 for rank 1: all of that is rank 0's, one part propagated.
#[test]
fn blame_passes_to_the_rank_that_began_the_delay() {
    let run = |delay| {
        let bodies = vec![
            vec![Compute(delay), Send(1, 5, 8)],
            vec![Receive(0, 5), Compute(50_000), Send(2, 5, 8)],
            vec![Receive(1, 5)],
        ];
        Looped { bodies, iterations: 1, places: Places::OfEachRank }.report()
    };
    let (report, without) = (run(DELAY_NS), run(0));
    assert_sound(&report);
    assert_all_blamed(&report);
    const MESSAGE_NS: i64 = 2_000;
    assert_eq!(total(&report, Pattern::LateSender), 2 * DELAY_NS + MESSAGE_NS + 50_000);
    let find = |place: &str| {
        let found = report.blame.iter().find(|finding| finding.place.to_string() == place);
        found.unwrap_or_else(|| panic!("nothing at {place}"))
    };
    let first = find("rank0.c:2");
    assert_eq!((first.cause, &first.ranks[..], first.waiting_ranks), (Cause::Computation, &[0][..], 1));
    assert_eq!((first.waiting_ns, first.propagated_ns), (DELAY_NS, DELAY_NS));
    assert_eq!(first.gain.map(|gain| gain.ns), Some(report.run_ns - without.run_ns));
    let second = find("rank1.c:3");
    assert_eq!((second.cause, &second.ranks[..]), (Cause::Computation, &[1][..]));
    assert_eq!((second.waiting_ns, second.propagated_ns), (50_000, 0));
    assert_eq!(second.gain.map(|gain| gain.ns), Some(50_000));
    // While the message was on its way rank 1 was in its receive, and no longer waited for a rank.
    let call = find("rank1.c:1");
    assert_eq!((call.cause, call.waiting_ns, call.propagated_ns), (Cause::Call, MESSAGE_NS, 0));
}

/// The same, and then rank 0 itself waits for rank 2: not for its own delay, which was over by then.
#[test]
fn computation_before_others_wait_is_not_blamed() {
    let bodies = vec![
        vec![Compute(DELAY_NS), Send(1, 5, 8), Together("MPI_Barrier")],
        vec![Receive(0, 5), Compute(50_000), Send(2, 5, 8), Together("MPI_Barrier")],
        vec![Receive(1, 5), Together("MPI_Barrier")],
    ];
    let report = Looped { bodies, iterations: 1, places: Places::OfEachRank }.report();
    assert_sound(&report);
    assert_all_blamed(&report);
    let mut blamed: Vec<(String, i64, i64)> = report
        .blame
        .iter()
        .map(|finding| (finding.place.to_string(), finding.waiting_ns, finding.propagated_ns))
        .collect();
    blamed.sort();
    // Rank 0 enters the barrier 500 ns after it began to send, rank 1 likewise; rank 2 when its message is there.
    // What rank 0 waits until rank 1 comes, both who are late share: for rank 1 that is direct, for rank 2 most of it
    // is propagated to rank 1. Then rank 2 alone has what two wait.
    let expected = [
        ("rank0.c:2".to_owned(), DELAY_NS, DELAY_NS),
        ("rank1.c:1".to_owned(), 2_000 + 1_500 / 2, 1_500 / 2),
        // Its send, which is at the same place as the computation before it.
        ("rank1.c:3".to_owned(), 500 / 2, 0),
        ("rank1.c:3".to_owned(), 50_000 + 50_000 / 2, 50_000 / 2),
        ("rank2.c:1".to_owned(), 500 / 2 + 2 * 1_500, 0),
    ];
    assert_eq!(blamed, expected);
}

/// What is said does not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    let bodies: Vec<Vec<Act>> = (0..8)
        .map(|rank: u32| {
            let (next, before) = ((rank + 1) % 8, (rank + 7) % 8);
            vec![
                Compute(10_000 * i64::from(rank + 1)),
                Send(next, 1, 8),
                Receive(before, 1),
                Together("MPI_Allreduce"),
            ]
        })
        .collect();
    let run = looped(bodies);
    let one = run.report_with(1);
    assert_sound(&one);
    for threads in 2..4 {
        assert_eq!(run.report_with(threads), one, "{threads} threads");
    }
}

/// A message from rank 0 with tag 5, sent at 100,000.
fn message() -> Call {
    let send = call("MPI_Send", 0, 100_000, 100_500);
    Call { peer: Peer::Rank(Rank(1)), tag: Some(5), bytes_out: Some(8), ..send }
}

/// Probes that fail right before one that finds the message have waited for it; others have not.
#[test]
fn probes_that_find_something_in_the_end() {
    let probe = |start: i64, end: i64| {
        let probe = call("MPI_Iprobe", 1, start, end);
        Call { peer: Peer::Rank(Rank(0)), tag: Some(5), ..probe }
    };
    let failed = |start: i64, end: i64| {
        let inside = Some(Length(end - start - 9 * 100));
        let (any_source, any_tag) = (true, true);
        Call { calls: 10, inside, peer: Peer::Any, tag: None, any_source, any_tag, ..probe(start, end) }
    };
    let receive = call("MPI_Recv", 1, 103_000, 104_000);
    let receive = Call { peer: Peer::Rank(Rank(0)), tag: Some(5), bytes_in: Some(8), ..receive };
    let other = call("MPI_Comm_rank", 1, 20_100, 20_200);
    let rows =
        [message(), failed(10_000, 20_000), other, failed(30_000, 102_000), probe(102_100, 102_900), receive];
    let report = report_of(&rows, definitions(&[vec![0, 1]]), 1);
    assert_eq!((report.not_understood.unmatched, report.not_understood.not_followed), (0, 0));
    assert_eq!(total(&report, Pattern::LateSender), 100_000 - 30_000);
    let at: Vec<&str> =
        report.waits_by_place.iter().filter_map(|wait| Some(&wait.at.as_ref()?.0[..])).collect();
    assert_eq!(at, ["MPI_Iprobe"]);
}

/// Between two groups the other group waits for the root, or the root for it; other ranks of the root's group do not wait.
#[test]
fn rooted_collectives_of_two_groups() {
    let rooted = |name: &str, starts: [i64; 4], root: u32| -> Vec<Call> {
        let row = |rank: u32| {
            // Ranks 0 and 1 are one group, 2 and 3 the other.
            let fellow = rank / 2 == root / 2 && rank != root;
            let named = if fellow { Peer::Null } else { Peer::Rank(Rank(root)) };
            let row = call(name, rank, starts[rank as usize], 60_000);
            Call { comm: Some(1), root: named, bytes_out: Some(8), bytes_in: Some(8), ..row }
        };
        (0..4).map(row).collect()
    };
    let report = |rows: &[Call]| {
        let mut definitions = definitions(&[vec![0, 1, 2, 3], vec![0, 1]]);
        definitions.communicators[1].kind = CommKind::Inter;
        definitions.communicators[1].remote_members = vec![Some(Rank(2)), Some(Rank(3))];
        let report = report_of(rows, definitions, 1);
        assert_eq!((report.not_understood.unmatched, report.not_understood.not_followed), (0, 0));
        report
    };
    let starts = [50_000, 10_000, 20_000, 30_000];
    let broadcast = report(&rooted("MPI_Bcast", starts, 0));
    assert_eq!(total(&broadcast, Pattern::LateBroadcast), 30_000 + 20_000);
    assert_eq!(broadcast.waits.len(), 1);
    let reduce = report(&rooted("MPI_Reduce", starts, 1));
    assert_eq!(total(&reduce, Pattern::EarlyReduce), 30_000 - 10_000);
    assert_eq!(reduce.waits.len(), 1);
}

/// Three of four come late, by nearly the same: all of them are to blame, and fixing all of them gains what it gains.
#[test]
fn ranks_late_at_the_same_time_share_the_blame() {
    let run = |delay: i64| {
        let body = |ns: i64| vec![Compute(ns), Together("MPI_Barrier")];
        let late = |more: i64| body(if delay == 0 { 20_000 } else { 20_000 + delay + more });
        let bodies = vec![body(20_000), late(0), late(2_000), late(6_000)];
        Looped { bodies, iterations: ITERATIONS, places: Places::Shared }.report()
    };
    let (report, even) = (run(DELAY_NS), run(0));
    assert_sound(&report);
    assert_all_blamed(&report);
    // All wait for the last one.
    let each_ns = (DELAY_NS + 6_000) + 6_000 + 4_000;
    assert_eq!(total(&report, Pattern::WaitAtBarrier), ITERATIONS as i64 * each_ns);
    let finding = worst(&report);
    assert_eq!((finding.cause, &finding.ranks[..]), (Cause::Computation, &[1, 2, 3][..]));
    assert_eq!(finding.waiting_ns, ITERATIONS as i64 * each_ns);
    assert_eq!(finding.diagnosis, Diagnosis::Imbalance { who: Who::Named(vec![1, 2, 3]) });
    assert_eq!(finding.gain.map(|gain| gain.ns), Some(report.run_ns - even.run_ns), "{finding:?}");
    assert_eq!(report.run_ns - even.run_ns, ITERATIONS as i64 * (DELAY_NS + 6_000));
}

/// Each stretch of a wait is shared by those who have yet to come.
#[test]
fn blame_is_shared_in_layers() {
    let rank = |ns: i64| vec![Compute(ns), Together("MPI_Allreduce")];
    let bodies = vec![rank(10_000), rank(40_000), rank(40_000), rank(100_000)];
    let report = Looped { bodies, iterations: 1, places: Places::OfEachRank }.report();
    assert_sound(&report);
    assert_all_blamed(&report);
    let mut blamed: Vec<(String, i64)> =
        report.blame.iter().map(|finding| (finding.place.to_string(), finding.waiting_ns)).collect();
    blamed.sort();
    // For 30 us one waits for three, then for 60 us three wait for one.
    let expected = [("rank1.c:2", 10_000), ("rank2.c:2", 10_000), ("rank3.c:2", 10_000 + 3 * 60_000)];
    assert_eq!(blamed, expected.map(|(place, ns)| (place.to_owned(), ns)));
}

/// Only the root of a reduction waits; all others are late.
#[test]
fn all_but_the_root_are_late() {
    let run = |delay: i64| {
        let body =
            |ns: i64| vec![Compute(ns), Rooted("MPI_Reduce", 0), Compute(1_000), Together("MPI_Barrier")];
        let bodies = vec![body(20_000), body(20_000 + delay), body(20_000 + delay), body(20_000 + delay)];
        Looped { bodies, iterations: ITERATIONS, places: Places::Shared }.report()
    };
    let (report, even) = (run(DELAY_NS), run(0));
    assert_sound(&report);
    assert_eq!(total(&report, Pattern::EarlyReduce), ITERATIONS as i64 * DELAY_NS);
    let finding = worst(&report);
    assert_eq!((&finding.ranks[..], finding.waiting_ranks), (&[1, 2, 3][..], 1), "{finding:?}");
    assert_eq!(finding.gain.map(|gain| gain.ns), Some(report.run_ns - even.run_ns), "{finding:?}");
}

/// Two are late because they waited for a third: what they are blamed for goes on to it.
#[test]
fn shared_blame_is_passed_on() {
    let bodies = vec![
        vec![Together("MPI_Allreduce")],
        vec![Receive(3, 5), Compute(10_000), Together("MPI_Allreduce")],
        vec![Receive(3, 6), Compute(20_000), Together("MPI_Allreduce")],
        vec![Compute(99_000), Send(1, 5, 8), Send(2, 6, 8), Together("MPI_Allreduce")],
    ];
    let report = Looped { bodies, iterations: 1, places: Places::OfEachRank }.report();
    assert_sound(&report);
    assert_all_blamed(&report);
    let find = |place: &str| {
        let found = report.blame.iter().find(|finding| finding.place.to_string() == place);
        found.map(|finding| (finding.waiting_ns, finding.propagated_ns))
    };
    // While rank 3 computes, ranks 1 and 2 wait for it, and rank 0 for all three.
    assert_eq!(find("rank3.c:2"), Some((2 * 99_000 + 99_000 / 3, 2 * 99_000 / 3)));
    // Rank 3 comes 1 us after it began to send, rank 1 11 us later and rank 2 10.5 us after that. While both compute
    // two wait for two, and then three for one.
    assert_eq!(find("rank1.c:3"), Some((10_000, 0)));
    assert_eq!(find("rank2.c:3"), Some((9_500 + 3 * 10_500, 0)));
}

/// A finding says the innermost region of the one who is to blame, at the time it is.
#[test]
fn findings_say_their_region() {
    let bodies = vec![
        vec![Compute(DELAY_NS), Send(1, 5, 8), Compute(50_000), Together("MPI_Barrier")],
        vec![Receive(0, 5), Together("MPI_Barrier")],
    ];
    let run = Looped { bodies, iterations: 1, places: Places::OfEachRank };
    let span = |rank, region, depth, (start_ns, end_ns)| RegionSpan {
        rank: Rank(rank),
        thread: ThreadIndex(0),
        start: Moment(start_ns),
        end: Moment(end_ns),
        region,
        depth,
    };
    // The first barrier takes 5 us. Rank 0 is in region 0 all the time, and in 1 while it is late for its message;
    // rank 1 is elsewhere.
    let spans = [
        span(0, 0, 0, (0, 1_000_000)),
        span(0, 1, 1, (5_000, 5_000 + DELAY_NS)),
        span(1, 2, 2, (0, 1_000_000)),
    ];
    let report = run.report_in_regions(&spans);
    let regions: Vec<(String, Option<&str>)> = report
        .blame
        .iter()
        .filter(|finding| finding.cause == Cause::Computation)
        .map(|finding| (finding.place.to_string(), finding.region.as_deref()))
        .collect();
    let expected = [("rank0.c:2", Some("region1")), ("rank0.c:4", Some("region0"))];
    assert_eq!(regions, expected.map(|(place, region)| (place.to_owned(), region)));
    let worst = &report.findings[0];
    let (place, region) = (worst.place.to_string(), worst.region.as_deref());
    assert_eq!((&place[..], region, worst.waiting_ranks), ("rank0.c:2", Some("region1"), 1), "{worst:?}");
    assert!(run.report().findings.iter().all(|finding| finding.region.is_none()));
}
