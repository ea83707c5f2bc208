//! What is kept of a run names the same first finding as all of it.

use super::ATTEMPTS;
use crate::mpi::{Scratch, finish, mpi};
use crate::reducing::kizami;
use kizami_model::Call;
use kizami_testing::timing::{majority_of, must};
use kizami_trace::{RankSelection, Trace};
use std::process::Command;

/// Rank 0 sends 5 ms late in each of 200 rounds: a thousandth of the trace names the same.
fn check_while_recording(mpi: &crate::mpi::Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("late_sender", &["5", "200"]);
    let out = scratch.path().join("run.kz");
    // Two ranks have a core each where tests run: others would wait for one.
    let mut command = mpi.record_command(2, &program, scratch.path(), &out);
    command.envs([("KIZAMI_KEEP", "0.1%"), ("KIZAMI_KEEP_ALL_BELOW", "0"), ("KIZAMI_SEED", "3")]);
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = Trace::open(&out).expect("a trace");
    // Beside the rounds each rank makes four calls.
    assert_eq!(trace.run().totals.calls, 2 * 4 + 200 * (2 + 2));
    let reduced = trace.run().reduced.as_ref().expect("a reduced trace");
    // On a busy machine many calls take long, and those are all kept.
    let long = |call: &Call| (call.end - call.start).0 > 10_000_000;
    let rows = trace.calls(RankSelection::All).expect("rows").map(|call| call.expect("a row"));
    let others = rows.filter(|call| !long(call)).count();
    assert!(reduced.sums_exact && others < 300, "{others} rows: {reduced:?}");
    assert_eq!((reduced.keep.as_deref(), reduced.seed), (Some("0.1%"), Some(3)));
    let order = kizami_reduced::sequences_of(&trace).expect("readable").expect("there");
    let calls: usize = order
        .threads()
        .map(|(rank, thread)| {
            order.sequence(rank, thread).expect("undamaged").expect("there").calls().count()
        })
        .sum();
    assert_eq!(calls as u64, trace.run().totals.calls);
    let report = kizami(&["report"], &out);
    let first = first_finding(&report);
    let late = "Load imbalance: rank 0 computes longer than the others between late_sender.c:42 and late_sender.c:46";
    assert!(first.contains(late), "{report}");
    assert!(first.contains("in MPI_Recv at late_sender.c:49"), "{report}");
    assert!(report.contains("times sampled from exact sums"), "{report}");
    // Not all calls are there to take the tracer out of.
    let mut undisturb = Command::new(env!("CARGO_BIN_EXE_kizami"));
    undisturb.arg("undisturb").arg(&out).arg("-o").arg(scratch.path().join("without.kz"));
    assert_eq!(finish(undisturb).status.code(), Some(2));
}

/// Its sentence, which may be broken into lines.
fn first_finding(report: &str) -> String {
    let finding = report.lines().skip_while(|line| !line.starts_with("1. "));
    finding.take_while(|line| !line.contains(" of waiting, ")).map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_thousandth_names_the_same_first_finding() {
    let mpi = mpi("mpich");
    // MPICH's ranks never give up their core: beside others that want it anything may be worst.
    majority_of(ATTEMPTS, "a thousandth", || {
        let scratch = Scratch::new();
        let (output, full) = mpi.record(2, &mpi.workload("late_sender", &["2", "300"]), scratch.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let out = scratch.path().join("small.kz");
        kizami(
            &["reduce", "--keep", "0.1%", "--keep-all-below", "0", "-o", out.to_str().expect("a name")],
            full.path(),
        );
        let reports = [full.path(), &out].map(|trace| kizami(&["report"], trace));
        let findings = reports.each_ref().map(|report| first_finding(report));
        must(findings[0].contains("late_sender.c:46; ") && findings[0] == findings[1], || {
            format!("{findings:#?}")
        })
    });
}

#[test]
fn open_mpi_while_recording() {
    check_while_recording(&mpi("openmpi"));
}

#[test]
fn mpich_while_recording() {
    check_while_recording(&mpi("mpich"));
}
