//! What `kizami report` says about senders whose receivers are late, where the library decides by size whether they wait:
//! `workloads/late_receiver.c` measures itself which of them did, and how long.

use crate::mpi::{Mpi, Scratch, finish, mpi};
use crate::simulated::describe_cluster;
use kizami_explain::{Cause, Pattern, SendsWait};
use kizami_phrases::report::WordedReport;
use kizami_testing::timing::must;
use std::ffi::OsString;
use std::path::Path;

const LATE_MS: &str = "20";
const ITERATIONS: u64 = 6;

/// What the program measured of one size.
#[derive(Clone, Copy, Debug)]
struct Truth {
    bytes: u64,
    waited: u64,
    waited_ms: f64,
}

fn truth(printed: &str) -> Vec<Truth> {
    let lines = printed.lines().filter(|line| line.starts_with("late_receiver "));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let after = |word| words[words.iter().position(|other| *other == word).expect("the word") + 1];
            let number = |word| after(word).parse().expect("a number");
            Truth { bytes: number("bytes") as u64, waited: number("waited") as u64, waited_ms: number("for") }
        })
        .collect()
}

fn run(mpi: &Mpi, (sizes, mode): (&str, &str), directory: &Path) -> (Vec<Truth>, WordedReport) {
    let program = mpi.workload("late_receiver", &[sizes, LATE_MS, &ITERATIONS.to_string(), mode]);
    let (output, trace) = mpi.record(2, &program, directory);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let truth = truth(&String::from_utf8_lossy(&output.stdout));
    let line: Vec<OsString> =
        vec![env!("CARGO_BIN_EXE_kizami").into(), "report".into(), trace.path().into(), "--json".into()];
    let output = finish(mpi.command(&line, directory));
    (truth, serde_json::from_slice(&output.stdout).expect("a report"))
}

/// By which part the waiting that was found is longer than it was.
fn deviation(truth: &[Truth], report: &WordedReport) -> f64 {
    let waits = report.waits.iter().filter(|wait| wait.pattern == Pattern::LateReceiver);
    let found_ms = waits.map(|wait| wait.ns as f64 / 1e6).sum::<f64>();
    found_ms / truth.iter().map(|size| size.waited_ms).sum::<f64>() - 1.0
}

/// Whether every size that always or never waited is known to.
fn is_learned(truth: &[Truth], report: &WordedReport) -> bool {
    truth.iter().all(|size| {
        let rows = &report.protocols;
        let row = rows.iter().find(|row| (row.from_bytes..=row.to_bytes).contains(&size.bytes));
        match (size.waited, row.map(|row| row.waits)) {
            (0, waits) => waits == Some(SendsWait::No),
            // Who waits only until a receiver that has posted is back in MPI shows nothing about posts.
            (ITERATIONS, Some(SendsWait::Some)) => row.is_some_and(|row| row.late_progress + 1 >= ITERATIONS),
            (ITERATIONS, waits) => waits == Some(SendsWait::Yes),
            _ => true,
        }
    })
}

/// Whether the receiver, which sleeps, is what is worst.
fn is_blamed(report: &WordedReport) -> bool {
    let first = report.findings.first();
    first.is_some_and(|finding| finding.cause == Cause::Computation && finding.ranks == [1])
}

/// One run of these sizes: all that is told of it is right, and waiting is off by less than this part.
pub fn is_right(mpi: &Mpi, sizes: &str, mode: &str, noise: f64) -> Result<(), String> {
    let scratch = Scratch::new();
    if mpi.name == "smpi" {
        describe_cluster(scratch.path(), 2);
    }
    let (truth, report) = run(mpi, (sizes, mode), scratch.path());
    let deviation = deviation(&truth, &report);
    let (learned, blamed) = (is_learned(&truth, &report), is_blamed(&report));
    must(deviation.abs() < noise && learned && blamed, || {
        let first = report.findings.first();
        format!("{mode}: {:+.2} %, {truth:?}, {:?}, {first:?}", 100.0 * deviation, report.protocols)
    })
}

/// There it is 64 KiB, and nothing disturbs.
#[test]
fn late_receivers_are_found_to_the_microsecond_in_a_simulation() {
    let right = is_right(&mpi("smpi"), "80,8000,60000,65536,65537,1000000", "send", 0.001);
    assert_eq!(right, Ok(()));
}
