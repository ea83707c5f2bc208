//! Programs that take away what a recorder needs (descriptors, rights, stack, space) or give it nothing to look at: they must
//! not notice it, and what could not be stored is counted.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi, sorted_lines};
use crate::trouble::SmallDisk;
use kizami_trace::Trace;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a workload with and without the recorder; gives what was recorded.
fn record_same(mpi: &Mpi, workload: &str, arguments: &[&str]) -> Trace {
    let scratch = Scratch::new();
    let program = mpi.workload(workload, arguments);
    let bare = mpi.run_bare(2, &program, &scratch.make("bare"));
    assert!(bare.status.success(), "{}", String::from_utf8_lossy(&bare.stderr));
    let (output, trace) = mpi.record(2, &program, &scratch.make("recorded"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results with the recorder differ");
    trace
}

fn assert_complete(trace: &Trace, calls: u64) {
    let run = trace.run();
    assert!(run.health.complete, "{:?}", run.health);
    assert_eq!((run.totals.calls, run.totals.lost_calls), (calls, 0));
}

/// The program's files get the numbers that the recorder's had.
fn descriptors_that_were_closed(mpi: &Mpi) {
    let trace = record_same(mpi, "closefrom", &["80", "100000"]);
    assert_complete(&trace, 2 * 100_003);
}

fn few_descriptors(mpi: &Mpi) {
    let trace = record_same(mpi, "late_threads", &["files", "16", "20000"]);
    assert_complete(&trace, 2 * (4 + 16 * 20_000));
}

fn small_stacks(mpi: &Mpi) {
    for bytes in ["16384", "20480"] {
        assert_complete(&record_same(mpi, "small_stacks", &[bytes]), 2 * 50_003);
    }
}

/// What a program need not give for an exchange in place is not looked at.
fn arguments_that_point_nowhere(mpi: &Mpi) {
    assert_complete(&record_same(mpi, "in_place", &["100"]), 2 * 304);
}

/// New threads cannot make a file any more.
fn threads_without_a_segment(mpi: &Mpi) {
    for (way, reason) in [("root", "Permission denied"), ("place", "No such file or directory")] {
        let trace = record_same(mpi, "late_threads", &[way, "16", "3000"]);
        let totals = &trace.run().totals;
        assert_eq!((totals.calls, totals.lost_calls), (2 * 4, 2 * 16 * 3000), "{way}");
        let problems = trace.run().health.problems.join("\n");
        assert!(problems.contains(reason), "{way}: {problems}");
    }
}

/// However little of a run fits on the disk: recorded and lost are all there are.
fn full_disk(mpi: &Mpi) {
    const CALLS: u64 = 2 * (4 + 4 * 5000);
    let scratch = Scratch::new();
    for size in ["4k", "8k", "12k", "24k", "32k", "48k", "96k", "256k", "1m"] {
        let directory = scratch.make(size);
        let disk = SmallDisk::mount(&directory, size);
        let program = mpi.workload("late_threads", &["nothing", "4", "5000"]);
        let output = finish(mpi.record_command(2, &program, scratch.path(), &directory.join("run.kz")));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let trace = sealed_elsewhere(&directory.join("run.kz"), &scratch.path().join(format!("{size}.kz")));
        let totals = &trace.run().totals;
        assert_eq!(totals.calls + totals.lost_calls, CALLS, "{size}: {totals:?}");
        assert_eq!(trace.run().health.complete, totals.lost_calls == 0, "{size}: {:?}", trace.run().health);
        drop(disk);
    }
}

/// A trace whose disk may have no room for sealing.
fn sealed_elsewhere(full: &Path, copy: &Path) -> Trace {
    if let Ok(trace) = Trace::open(full) {
        return trace;
    }
    let run = |command: &mut Command| {
        let output = command.output().expect("it can be run");
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new("cp").arg("-r").arg(full).arg(copy));
    run(Command::new(env!("CARGO_BIN_EXE_kizami")).arg("seal").arg(copy));
    Trace::open(copy).expect("a trace")
}

/// Threads begin when the process may take hardly any more memory: it goes on, and no call goes uncounted.
fn little_memory(mpi: &Mpi) {
    const CALLS: u64 = 2 * (4 + 16 * 1000);
    const ATTEMPTS: u32 = 3;
    let scratch = Scratch::new();
    let program = mpi.attacker("limits", &[], scratch.path());
    for bytes in ["65536", "1048576", "4194304", "8388608"] {
        for keep in ["", "1%"] {
            let words = [program.to_str().expect("text"), "memory", bytes, "16", "1000"];
            let program = Program(words.iter().map(Into::into).collect());
            let record = |attempt: u32| {
                let directory = scratch.make(&format!("{bytes}-{keep}-{attempt}"));
                let mut command = mpi.record_command(2, &program, &directory, &directory.join("run.kz"));
                if !keep.is_empty() {
                    command.env("KIZAMI_KEEP", keep).env("KIZAMI_KEEP_ALL_BELOW", "0");
                }
                (finish(command), directory)
            };
            // UCX below MPICH has to find memory, too. Where it does not, it ends the program, or lets it hang: without a
            // tracer that was seen 2 times in 100.
            let ended_by_ucx = |output: &Output| String::from_utf8_lossy(&output.stderr).contains("log.c:");
            let (mut output, mut directory) = record(0);
            for attempt in 1..ATTEMPTS {
                if ended_by_ucx(&output) {
                    (output, directory) = record(attempt);
                }
            }
            assert!(output.status.success(), "{bytes}: {}", String::from_utf8_lossy(&output.stderr));
            let trace = Trace::open(&directory.join("run.kz")).expect("a trace");
            let totals = &trace.run().totals;
            let calls: u64 = trace.run().functions.iter().map(|function| function.calls).sum();
            assert_eq!(calls + totals.lost_calls, CALLS, "{bytes} {keep}: {:?}", trace.run().health);
        }
    }
}

macro_rules! on_both {
    ($($test:ident),+) => {
        mod openmpi { $(#[test] fn $test() { super::$test(&super::mpi("openmpi")); })+ }
        mod mpich { $(#[test] fn $test() { super::$test(&super::mpi("mpich")); })+ }
    };
}

on_both!(
    descriptors_that_were_closed,
    few_descriptors,
    small_stacks,
    arguments_that_point_nowhere,
    threads_without_a_segment,
    full_disk,
    little_memory
);
