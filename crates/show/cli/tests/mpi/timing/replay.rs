//! `kizami replay` on a real run in which it is known who waits for whom, and for how long: three ranks, of which
//! the first sleeps three times for 50 ms before it sends.

use super::ATTEMPTS;
use crate::mpi::{Scratch, finish, mpi};
use kizami_model::Call;
use kizami_testing::timing::{majority_of, must};
use kizami_trace::{RankSelection, Trace};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command, Output};

/// Three times 50 ms.
const SLEPT_NS: i64 = 150_000_000;
/// Where rank 0 sends, after it has slept.
const SENDS: &str = "late_sender.c:46";

fn kizami(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    command.current_dir(folder).args(arguments);
    finish(command)
}

fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = kizami(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What `kizami replay run.kz --json` says, with more options.
fn replay(folder: &Path, options: &[&str]) -> serde_json::Value {
    let text = said(folder, &[&["replay", "run.kz", "--json"], options].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn replayed_ns(json: &serde_json::Value) -> i64 {
    json["replayed_ns"].as_i64().expect("a time")
}

fn rows(trace: &Trace) -> Vec<Call> {
    trace.calls(RankSelection::All).expect("rows").map(|call| call.expect("a row")).collect()
}

/// What the run gains if rank 0 does not sleep before it sends.
fn gained_ns(folder: &Path, recorded_ns: i64, place: &str) -> i64 {
    recorded_ns - replayed_ns(&replay(folder, &["--callsite", place]))
}

/// Between what the run can gain if rank 0 does not sleep, by what the rows say: in each iteration at most its sleep, and at
/// least what is left of it once the last of the others has come to its receive, which on a busy machine may be late. A tenth
/// is left to what the messages and barriers take.
fn bounds_of_gain_ns(rows: &[Call]) -> RangeInclusive<i64> {
    let of_rank = |rank: u32, name: &'static str| -> Vec<&Call> {
        rows.iter().filter(|call| call.rank.0 == rank && call.op.name() == name).collect()
    };
    let (barriers, sends) = (of_rank(0, "MPI_Barrier"), of_rank(0, "MPI_Send"));
    let (one, other) = (of_rank(1, "MPI_Recv"), of_rank(2, "MPI_Recv"));
    let (mut least_ns, mut most_ns) = (0, 0);
    for (iteration, barrier) in barriers.iter().enumerate() {
        let awake = sends[2 * iteration].start.0;
        let last = barrier.end.0.max(one[iteration].start.0).max(other[iteration].start.0);
        least_ns += (awake - last).max(0);
        most_ns += awake - barrier.end.0;
    }
    least_ns - SLEPT_NS / 10..=most_ns + SLEPT_NS / 10
}

/// One recording: what it takes as recorded, and what can be changed, is exact; what the sleeper costs is within bounds.
fn is_right(name: &'static str) -> Result<(), String> {
    let mpi = mpi(name);
    let scratch = Scratch::new();
    let (_, trace) = mpi.record(3, &mpi.workload("late_sender", &["50", "3"]), scratch.path());
    let folder = scratch.path();
    check_exact(folder, &trace);
    check_refusals(folder);
    let waited_less_ns = check_output(folder, &trace);
    gains_are_right(folder, &trace)?;
    must(waited_less_ns > SLEPT_NS, || format!("two ranks waited {waited_less_ns} ns less without the sleep"))
}

/// Whoever waits for the sleeper waits no more; nobody else did anything in that time.
fn gains_are_right(folder: &Path, trace: &Trace) -> Result<(), String> {
    let recorded_ns = trace.run().span_ns;
    let ideal_ns = replayed_ns(&replay(folder, &["--network", "ideal"]));
    must(ideal_ns < recorded_ns && recorded_ns - ideal_ns < SLEPT_NS, || {
        format!("ideal network: {ideal_ns} of {recorded_ns}")
    })?;
    let expected = bounds_of_gain_ns(&rows(trace));
    must(*expected.start() > SLEPT_NS / 2, || {
        format!("others were disturbed more than half the time: {expected:?}")
    })?;
    for place in [format!("{SENDS}=0"), format!("{SENDS}@0=0")] {
        let gained_ns = gained_ns(folder, recorded_ns, &place);
        must(expected.contains(&gained_ns), || format!("{place}: {gained_ns} of {expected:?}"))?;
    }
    let faster_ns = replayed_ns(&replay(folder, &["--cpu", "2x"]));
    must(recorded_ns - faster_ns > SLEPT_NS / 2, || format!("twice as fast: {faster_ns} of {recorded_ns}"))
}

fn check_exact(folder: &Path, trace: &Trace) {
    let recorded_ns = trace.run().span_ns;
    for threads in ["1", "3"] {
        let same = replay(folder, &["--threads", threads]);
        assert_eq!((replayed_ns(&same), same["recorded_ns"].as_i64()), (recorded_ns, Some(recorded_ns)));
        assert_eq!(same["unmatched"], 0);
    }
    let other = replay(folder, &["--callsite", &format!("{SENDS}@1=0")]);
    assert_eq!(replayed_ns(&other), recorded_ns, "rank 1 does not send");
    let same = said(folder, &["replay", "run.kz", "-o", "same.kz"]);
    assert!(same.lines().count() <= 8 && same.contains("as recorded"), "{same}");
    assert_eq!(rows(&Trace::open(&folder.join("same.kz")).expect("a trace")), rows(trace));
}

fn check_refusals(folder: &Path) {
    for wrong in [
        &["replay", "run.kz", "-o", "same.kz"][..],
        &["replay", "run.kz", "--callsite", "late_sender.c:1=0"],
        &["replay", "run.kz", "--balance", "nowhere.c:46"],
        &["replay", "run.kz", "--callsite", &format!("{SENDS}@3=0")],
        &["replay", "run.kz", "--network", "ideal", "--latency", "2x"],
        &["undisturb", "same.kz", "-o", "clean.kz"],
    ] {
        assert_eq!(kizami(folder, wrong).status.code(), Some(2), "{wrong:?}");
    }
    assert!(!folder.join("clean.kz").exists());
}

/// What comes out is a trace with other times that says what it is; gives by how much receives are shorter in it.
fn check_output(folder: &Path, recorded: &Trace) -> i64 {
    let place = format!("{SENDS}=0");
    let json = replay(folder, &["--callsite", &place, "--without-tracer", "-o", "awake.kz"]);
    let awake = Trace::open(&folder.join("awake.kz")).expect("a trace");
    let made = awake.run().replayed.as_ref().expect("it says how it was made");
    assert_eq!(made.setting, [format!("--callsite {place}"), "--without-tracer".to_owned()]);
    assert_eq!((made.replayed_ns, awake.run().span_ns), (replayed_ns(&json), replayed_ns(&json)));
    let (new, old) = (rows(&awake), rows(recorded));
    assert_eq!(new.len(), old.len());
    assert_eq!(new.iter().map(|call| call.end.0).max(), Some(made.replayed_ns));
    let receives = |calls: &[Call]| -> i64 {
        let receives = calls.iter().filter(|call| call.op.name() == "MPI_Recv");
        receives.map(|call| call.end.0 - call.start.0).sum()
    };
    assert!(new.iter().all(|call| call.overhead.0 == 0));
    let info = said(folder, &["info", "awake.kz"]);
    assert!(info.contains("run.kz, which took") && info.contains(&place), "{info}");
    let last_ns = made.replayed_ns.to_string();
    assert!(said(folder, &["export", "awake.kz", "--to", "csv"]).contains(&last_ns));
    assert!(said(folder, &["events", "awake.kz", "--rank", "0"]).contains("MPI_Send"));
    receives(&old) - receives(&new)
}

#[test]
fn openmpi() {
    majority_of(ATTEMPTS, "openmpi", || is_right("openmpi"));
}

#[test]
fn mpich() {
    majority_of(ATTEMPTS, "mpich", || is_right("mpich"));
}
