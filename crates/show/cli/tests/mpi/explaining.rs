//! What `kizami report` says about runs whose waiting is known: `workloads/known_waits.c` injects it, and says how
//! much, by whom and where.

use crate::mpi::{Mpi, Scratch, finish, mpi};
use crate::simulated::describe_cluster;
use kizami_explain::{Cause, Pattern};
use kizami_graph::build;
use kizami_phrases::report::{WordedFinding, WordedReport};
use kizami_replay::{EndedStep, Observer, Setting, learn, replay};
use kizami_trace::Trace;
use std::ffi::OsString;
use std::path::Path;

/// The delay is several time slices, as there may be more ranks than cores.
const DELAY_MS: i64 = 40;
const ITERATIONS: i64 = 5;
/// Nothing disturbs a simulation. What calls cost by themselves is not waiting, but in `slow_rank` ranks leave the
/// first call at different times, and wait for that in the second. In `early_wait` origins are inside the start before
/// they are delayed, and in `lock_contention` they have the lock in turn.
const EXACT: f64 = 0.01;
const EXACT_IN_TURN: f64 = 0.04;
const IN_TURN: [&str; 3] = ["slow_rank", "early_wait", "lock_contention"];

/// A pattern of the workload, for a number of ranks.
pub struct Injected {
    pub name: &'static str,
    pattern: Pattern,
    /// Where others wait; in one of these.
    functions: Vec<&'static str>,
    waiting: u32,
    late: Vec<u32>,
    /// The function of the program the delay is in.
    place: &'static str,
}

pub fn patterns(ranks: u32) -> Vec<Injected> {
    let in_one_of = |name, pattern, functions: &[&'static str], waiting, late| Injected {
        name,
        pattern,
        functions: functions.to_vec(),
        waiting,
        late,
        place: if str::starts_with(name, "imbalanced") { "work_imbalanced" } else { name },
    };
    let injected =
        |name, pattern, function, waiting, late| in_one_of(name, pattern, &[function], waiting, late);
    let (others, last) = (ranks - 1, vec![ranks - 1]);
    let odd = (0..ranks).filter(|rank| rank % 2 == 1).collect();
    let even = (0..ranks).filter(|rank| rank % 2 == 0).collect();
    vec![
        injected("late_sender", Pattern::LateSender, "MPI_Recv", others, vec![0]),
        injected("late_receiver", Pattern::LateReceiver, "MPI_Send", ranks / 2, odd),
        injected("wrong_order", Pattern::LateSenderWrongOrder, "MPI_Recv", ranks / 2, even),
        injected("early_reduce", Pattern::EarlyReduce, "MPI_Reduce", 1, (1..ranks).collect()),
        injected("late_broadcast", Pattern::LateBroadcast, "MPI_Bcast", others, vec![0]),
        injected("early_scan", Pattern::EarlyScan, "MPI_Scan", others, vec![0]),
        // Each library lets origins wait for the post in a call of its own choice.
        in_one_of(
            "late_post",
            Pattern::LatePost,
            &["MPI_Win_start", "MPI_Put", "MPI_Win_complete"],
            others,
            vec![0],
        ),
        injected("early_wait", Pattern::EarlyWait, "MPI_Win_wait", 1, (1..ranks).collect()),
        injected("late_complete", Pattern::LateComplete, "MPI_Win_wait", 1, (1..ranks).collect()),
        injected("lock_contention", Pattern::LockContention, "MPI_Win_lock", others, vec![0]),
        injected("imbalanced_barrier", Pattern::WaitAtBarrier, "MPI_Barrier", others, last.clone()),
        injected("imbalanced_allreduce", Pattern::WaitAtNxN, "MPI_Allreduce", others, last.clone()),
        injected("slow_rank", Pattern::WaitAtNxN, "MPI_Allreduce", others, last),
    ]
}

pub fn report(mpi: &Mpi, ranks: u32, injected: &Injected, directory: &Path) -> WordedReport {
    let arguments = [injected.name, &DELAY_MS.to_string(), &ITERATIONS.to_string()];
    let (output, trace) = mpi.record(ranks, &mpi.workload("known_waits", &arguments), directory);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line: Vec<OsString> =
        vec![env!("CARGO_BIN_EXE_kizami").into(), "report".into(), trace.path().into(), "--json".into()];
    let output = finish(mpi.command(&line, directory));
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// By which part the waiting that was found is longer than what was injected.
pub fn deviation(report: &WordedReport, injected: &Injected) -> f64 {
    let there = |(function, place): &(String, kizami_explain::SourceLine)| {
        injected.functions.contains(&&function[..]) && place.function != "start_together"
    };
    let waits = report.waits_by_place.iter().filter(|wait| wait.pattern == injected.pattern);
    let found_ns: i64 = waits.filter(|wait| wait.at.as_ref().is_some_and(there)).map(|wait| wait.ns).sum();
    let injected_ns = i64::from(injected.waiting) * ITERATIONS * DELAY_MS * 1_000_000;
    found_ns as f64 / injected_ns as f64 - 1.0
}

/// Whether a finding names the computation that was made longer.
fn names(finding: &WordedFinding, injected: &Injected) -> bool {
    finding.cause == Cause::Computation
        && finding.place.function == injected.place
        && finding.ranks == injected.late
}

/// Whether the first finding is the right one: the one that gains most.
pub fn is_named(report: &WordedReport, injected: &Injected) -> bool {
    report.findings.first().is_some_and(|finding| names(finding, injected))
}

#[test]
fn known_waits_are_found_to_the_microsecond_in_a_simulation() {
    for ranks in [4, 16] {
        for injected in patterns(ranks) {
            let scratch = Scratch::new();
            describe_cluster(scratch.path(), ranks);
            let report = report(&mpi("smpi"), ranks, &injected, scratch.path());
            let deviation = deviation(&report, &injected);
            println!("smpi {} on {ranks} ranks: {:+.3} %", injected.name, 100.0 * deviation);
            let limit = if IN_TURN.contains(&injected.name) { EXACT_IN_TURN } else { EXACT };
            assert!(deviation.abs() < limit, "{}: {deviation}", injected.name);
            // More than a few are named if they are late together.
            let named = injected.late.len() <= 4 || injected.pattern == Pattern::EarlyReduce;
            assert!(!named || is_named(&report, &injected), "{}: {:#?}", injected.name, report.findings);
        }
    }
}

/// The ends of the run, recorded and replayed, and by how much any step differs.
#[derive(Default)]
struct Ends {
    recorded_ns: i64,
    replayed_ns: i64,
    farthest_ns: i64,
}

impl Observer<1> for Ends {
    fn step(&mut self, seen: &EndedStep<'_, 1>) {
        self.recorded_ns = self.recorded_ns.max(seen.step.end.0);
        self.replayed_ns = self.replayed_ns.max(seen.end[0].0);
        self.farthest_ns = self.farthest_ns.max((seen.end[0].0 - seen.step.end.0).abs());
    }
}

fn replay_as_recorded(trace: &Trace) -> Ends {
    let graph = build(trace, 1, &|_| {}).expect("a graph");
    let learned = learn(&graph, 2, || (), &|_| {});
    assert_eq!(learned.unmatched, 0);
    let recorded = Setting::default();
    let replayed = replay(&graph, [&recorded], &learned.learned, 2, Ends::default, &|_| {});
    replayed.observers.into_iter().fold(Ends::default(), |all, ends| Ends {
        recorded_ns: all.recorded_ns.max(ends.recorded_ns),
        replayed_ns: all.replayed_ns.max(ends.replayed_ns),
        farthest_ns: all.farthest_ns.max(ends.farthest_ns),
    })
}

/// With nothing changed, every call of a real run ends when it ended.
#[test]
fn runs_replay_as_they_were_recorded() {
    let programs: [(&str, &[&str]); 7] = [
        ("stencil2d", &["64", "20"]),
        ("cg", &["400", "20"]),
        ("radix_sort", &["2000"]),
        ("matmul_shift", &["32"]),
        ("jacobi3d_f08", &["16", "10"]),
        ("known_waits", &["late_post", "5", "3"]),
        ("known_waits", &["lock_contention", "5", "3"]),
    ];
    for name in ["openmpi", "mpich"] {
        let mpi = mpi(name);
        for (program, arguments) in programs {
            let scratch = Scratch::new();
            let (output, trace) = mpi.record(4, &mpi.workload(program, arguments), scratch.path());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let ends = replay_as_recorded(&trace);
            println!("{name} {program}: {} ns, {} ns replayed", ends.recorded_ns, ends.replayed_ns);
            assert_eq!(ends.replayed_ns, ends.recorded_ns, "{name} {program}");
            assert_eq!(ends.farthest_ns, 0, "{name} {program}");
        }
    }
}
