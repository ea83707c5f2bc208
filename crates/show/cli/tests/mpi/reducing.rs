//! Real runs reduced afterwards: sums and the order of calls are those of the full trace, on every rank.

use crate::mpi::{Scratch, finish, kill, mpi, wait_until};
use crate::sealing::ranks;
use crate::truth::{assert_counts, assert_matched, assert_messages};
use kizami_reduced::SequenceCall;
use kizami_trace::reduced_tables::What;
use kizami_trace::{RankSelection, Trace};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

pub fn kizami(arguments: &[&str], trace: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    let (name, rest) = arguments.split_first().expect("a command");
    command.arg(name).arg(trace).args(rest);
    let output = finish(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// Calls and time by rank and function.
type Sums = BTreeMap<(u32, &'static str), (u64, i64)>;

/// Calls and nanoseconds by rank and function, of all rows and of the sums that were kept.
fn sums(full: &Trace, small: &Trace) -> [Sums; 2] {
    let [mut of_rows, mut of_sums] = [BTreeMap::new(), BTreeMap::new()];
    for call in full.calls(RankSelection::All).expect("rows") {
        let call = call.expect("a row");
        let inside = call.inside.map_or((call.end - call.start).0, |inside| inside.0);
        let sum: &mut (u64, i64) = of_rows.entry((call.rank.0, call.op.name())).or_default();
        (sum.0, sum.1) = (sum.0 + u64::from(call.calls), sum.1 + inside);
    }
    for row in &small.sums().expect("sums") {
        let op = row.op.expect("few functions").name();
        let sum: &mut (u64, i64) = of_sums.entry((row.rank.0, op)).or_default();
        let calls = if row.what == What::Call { row.calls } else { 0 };
        (sum.0, sum.1) = (sum.0 + calls, sum.1 + row.total.0);
    }
    [of_rows, of_sums]
}

#[test]
fn reduced_runs_keep_sums_and_order() {
    let mpi = mpi("openmpi");
    let programs: [(&str, &[&str]); 7] = [
        ("stencil2d", &["32", "1000"]),
        ("late_sender", &["5", "20"]),
        ("cg", &["1000", "60"]),
        ("radix_sort", &[]),
        ("persistent", &[]),
        ("onesided", &[]),
        ("spin_exchange", &[]),
    ];
    for (name, arguments) in programs {
        let scratch = Scratch::new();
        let (output, full) = mpi.record(4, &mpi.workload(name, arguments), scratch.path());
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let out = scratch.path().join("small.kz");
        kizami(
            &["reduce", "--keep", "0.1%", "--keep-all-below", "0", "-o", out.to_str().expect("a name")],
            full.path(),
        );
        let small = Trace::open(&out).expect("a reduced trace");
        let [of_rows, of_sums] = sums(&full, &small);
        assert_eq!(of_rows, of_sums, "{name}");
        assert_eq!(small.run().functions, full.run().functions, "{name}");
        let order = kizami_reduced::sequences_of(&small).expect("readable").expect("there");
        for (rank, thread) in order.threads() {
            let sequence = order.sequence(rank, thread).expect("undamaged").expect("there");
            let found: Vec<SequenceCall> = sequence.calls().map(|call| call.expect("undamaged")).collect();
            let rows = full.calls(RankSelection::One(rank)).expect("rows").map(|call| call.expect("a row"));
            let rows = rows.filter(|call| call.thread == thread);
            let expected: Vec<SequenceCall> = rows.map(|call| SequenceCall::of(&call)).collect();
            assert!(found == expected, "{name}, rank {rank}");
        }
    }
}

#[test]
fn commands_say_what_a_reduced_trace_contains() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let (_, full) = mpi.record(4, &mpi.workload("stencil2d", &["32", "3000"]), scratch.path());
    let out = scratch.path().join("small.kz");
    let name = out.to_str().expect("a name");
    let described =
        kizami(&["reduce", "--keep", "0.1%", "--keep-all-below", "0", "-o", name, "--json"], full.path());
    let described: serde_json::Value = serde_json::from_str(&described).expect("JSON");
    assert_eq!(described["sums_exact"], true);
    assert!(described["bytes_after"].as_u64() < described["bytes_before"].as_u64());

    let info = kizami(&["info"], &out);
    assert!(info.contains("p50") && info.contains("p99"), "{info}");
    assert!(info.contains("requested 0.1%") && info.contains("counts, times, bytes"), "{info}");
    let events = kizami(&["events", "--limit", "0"], &out);
    assert!(events.lines().next().is_some_and(|heading| heading.contains("weight")), "{events}");
    assert!(!kizami(&["events"], full.path()).contains("weight"));
    let csv = scratch.path().join("small.csv");
    let exported = kizami(&["export", "--to", "csv", "-o", csv.to_str().expect("a name")], &out);
    assert!(exported.contains("warning: this trace has"), "{exported}");

    // Reducing twice would take the rows that are left for all there were.
    let mut again = Command::new(env!("CARGO_BIN_EXE_kizami"));
    again.arg("reduce").arg(&out).args(["--keep", "10%", "-o"]).arg(scratch.path().join("smaller.kz"));
    let output = finish(again);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is already reduced"));
    assert!(!scratch.path().join("smaller.kz").exists());
}

/// Ranks of a drawn run drift apart before they are made to fit together; nobody may lose those it waits for.
#[test]
fn reconstructed_runs_follow_every_call() {
    let mpi = mpi("openmpi");
    let programs: [(&str, &[&str]); 3] =
        [("stencil2d", &["32", "1000"]), ("persistent", &["300"]), ("halo", &["500", "64"])];
    for (name, arguments) in programs {
        let scratch = Scratch::new();
        let (_, full) = mpi.record(4, &mpi.workload(name, arguments), scratch.path());
        let out = scratch.path().join("small.kz");
        kizami(
            &["reduce", "--keep", "0.1%", "--keep-all-below", "0", "-o", out.to_str().expect("a name")],
            full.path(),
        );
        let report = kizami(&["report"], &out);
        assert!(!report.contains("could not be analysed"), "{name}: {report}");
    }
}

/// Rows drawn as a paper does: 20 of every 500 of each rank, the rare ones among them.
fn check_reconstruction(mpi: &crate::mpi::Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("late_sender", &["1", "400"]);
    let (output, full) = mpi.record(3, &program, scratch.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = scratch.path().join("drawn.kz");
    let words =
        ["reduce", "--keep", "4%", "--importance", "paper:h2", "--paper-n", "500", "--seed", "7", "-o"];
    kizami(&[&words[..], &[out.to_str().expect("a name")]].concat(), full.path());
    let trace = Trace::open(&out).expect("a trace");
    let run = trace.run();
    let reconstructed = run.reduced.as_ref().expect("a reduced trace");
    assert_eq!((reconstructed.calls, run.totals.calls), (full.run().totals.calls, full.run().totals.calls));
    let described = (
        reconstructed.importance.as_str(),
        reconstructed.paper_n,
        reconstructed.paper_x,
        reconstructed.keep.as_deref(),
        reconstructed.seed,
    );
    assert_eq!(described, ("paper:h2", Some(500), Some(20), Some("4%"), Some(7)));
    assert!(!reconstructed.sums_exact && reconstructed.made_from.is_some());
    // Windows one behind the other, and of the rest a part; at the end of each rank it is rounded.
    let off = reconstructed.rows_kept as f64 - 0.04 * reconstructed.calls as f64;
    assert!(off.abs() <= 3.0, "{reconstructed:?}");
    for (rank, theirs) in run.rank_summaries.iter().zip(&full.run().rank_summaries) {
        assert_eq!((rank.rank, rank.calls), (theirs.rank, theirs.calls));
        let rows = trace.calls(RankSelection::One(kizami_model::Rank(rank.rank))).expect("rows");
        let rows: Vec<_> = rows.map(|call| call.expect("a row")).collect();
        assert!(rows.is_sorted_by_key(|call| call.start) && rows.iter().all(|call| call.weight == 1.0));
        // One call among hundreds, and a long one.
        let init = rows.iter().find(|call| call.op.name() == "MPI_Init").expect("what is rare is there");
        assert!((init.end - init.start).0 > 1_000_000, "{init:?}");
    }
    let info = kizami(&["info"], &out);
    assert!(info.contains("by paper:h2, 20 of every 500") && info.contains("requested 4%"), "{info}");
    let mut report = Command::new(env!("CARGO_BIN_EXE_kizami"));
    report.arg("report").arg(&out);
    let output = finish(report);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("sampled by a published scheme (paper:h2)"));
}

#[test]
fn open_mpi_reconstruction() {
    check_reconstruction(&mpi("openmpi"));
}

#[test]
fn mpich_reconstruction() {
    check_reconstruction(&mpi("mpich"));
}

/// A run that is reduced while it is recorded, and killed: what was added up is there, in whole.
#[test]
fn recordings_that_are_reduced_can_be_killed() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let out = scratch.path().join("run.kz");
    let program = mpi.workload("stencil2d", &["32", "100000000"]);
    let mut line = mpi.record_command(4, &program, scratch.path(), &out);
    line.env("KIZAMI_KEEP", "0.1%").env("KIZAMI_KEEP_ALL_BELOW", "0");
    let recording = std::thread::spawn(move || finish(line));
    // One rank is killed; the launcher ends the others.
    let calls = || {
        let mut info = Command::new(env!("CARGO_BIN_EXE_kizami"));
        info.arg("info").arg(&out).arg("--json");
        let run: serde_json::Value = serde_json::from_slice(&finish(info).stdout).ok()?;
        run["totals"]["calls"].as_u64()
    };
    wait_until("all ranks record", || ranks(&out).len() == 4 && calls().is_some_and(|calls| calls > 10_000));
    kill(*ranks(&out).first().expect("a rank"));
    recording.join().expect("the recording ends");
    let trace = Trace::open(&out).expect("a sealed trace");
    let run = trace.run();
    let reduced = run.reduced.as_ref().expect("it is reduced");
    assert!(reduced.sums_exact, "{:?}", run.health);
    assert!(run.totals.calls > 1000 && run.totals.events < run.totals.calls);
    let calls_of = |op: &str| run.functions.iter().find(|function| function.op == op).map_or(0, |f| f.calls);
    // Four sends and four receives in each round, but for the one in which each rank ended.
    assert!(calls_of("MPI_Isend").abs_diff(calls_of("MPI_Irecv")) <= 4 * 4, "{:?}", run.functions);
    let order = kizami_reduced::sequences_of(&trace).expect("readable").expect("there");
    for (rank, thread) in order.threads() {
        let sequence = order.sequence(rank, thread).expect("undamaged").expect("there");
        let calls = sequence.calls().map(|call| call.expect("undamaged").calls).sum::<u64>();
        let summed = trace.sums().expect("sums").into_iter();
        let summed = summed.filter(|row| row.rank == rank && row.what == What::Call);
        assert!(calls.abs_diff(summed.map(|row| row.calls).sum()) <= 1, "rank {rank}");
    }
}

/// A run with few calls has them all, although it was asked for less; one with more has a sample of them.
fn check_short_runs(mpi: &crate::mpi::Mpi) {
    for (name, arguments) in
        [("late_sender", &["1", "50"][..]), ("persistent", &["20"]), ("halo", &["30", "64"])]
    {
        let scratch = Scratch::new();
        let program = mpi.workload(name, arguments);
        let counts = scratch.make("counts");
        let out = scratch.path().join("run.kz");
        let mut command = mpi.record_command(4, &program, scratch.path(), &out);
        let output = finish({
            command.env("KIZAMI_KEEP", "0.1%").env("WORKLOAD_COUNTS", &counts);
            command
        });
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let trace = Trace::open(&out).expect("a trace");
        assert!(trace.run().reduced.is_none() && trace.run().health.complete, "{name}: {:?}", trace.run());
        if counts.join("0.counts").exists() {
            assert_counts(&trace, &counts, 4);
            assert_messages(&trace, &counts, 4);
        }
        assert_matched(&trace, 4);
    }
    let scratch = Scratch::new();
    let out = scratch.path().join("long.kz");
    let mut command = mpi.record_command(2, &mpi.workload("halo", &["3000", "64"]), scratch.path(), &out);
    command.env("KIZAMI_KEEP", "0.1%");
    assert!(finish(command).status.success());
    let trace = Trace::open(&out).expect("a trace");
    let reduced = trace.run().reduced.as_ref().expect("it is reduced");
    assert!(trace.run().health.complete && reduced.rows_kept * 4 < reduced.calls, "{reduced:?}");
}

#[test]
fn open_mpi_keeps_every_call_of_short_runs() {
    check_short_runs(&mpi("openmpi"));
}

#[test]
fn mpich_keeps_every_call_of_short_runs() {
    check_short_runs(&mpi("mpich"));
}
