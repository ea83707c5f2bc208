//! Calls that do not return, threads that are cancelled, and calls before `main`: the program goes on as without the
//! recorder, and every call is there.

use crate::mpi::{Mpi, Scratch, finish, mpi, sorted_lines};
use crate::truth::{assert_counts, calls_by_function, rows};
use kizami_model::Call;
use kizami_trace::Trace;
use std::collections::BTreeMap;

const RANKS: u32 = 2;

/// Runs a workload with and without the recorder; the calls of the trace are those that it counted itself.
fn check_counted(mpi: &Mpi, name: &str, arguments: &[&str], options: &[&str], scratch: &Scratch) -> Trace {
    let program = mpi.workload(name, arguments);
    let bare = mpi.run_bare(RANKS, &program, &scratch.make("bare"));
    assert!(bare.status.success(), "{name} fails without the recorder: {bare:?}");
    let (directory, counts) = (scratch.make("recorded"), scratch.make("counts"));
    let out = directory.join("run.kz");
    let mut line =
        vec![env!("CARGO_BIN_EXE_kizami").into(), "record".into(), "-o".into(), out.clone().into()];
    line.extend(options.iter().map(std::ffi::OsString::from));
    line.push("--".into());
    line.extend(mpi.launch(RANKS, &program));
    let mut command = mpi.command(&line, &directory);
    command.env("WORKLOAD_COUNTS", &counts);
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "{name}: results with the recorder differ");
    let trace = Trace::open(&out).expect("a trace");
    assert!(trace.run().health.complete, "{:?}", trace.run().health);
    assert_counts(&trace, &counts, RANKS);
    trace
}

fn failed(rows: &[Call]) -> BTreeMap<String, u64> {
    let failed: Vec<Call> = rows.iter().filter(|row| row.failed).cloned().collect();
    calls_by_function(&failed)
}

fn check_left_calls(mpi: &Mpi) {
    const PAUSE_NS: i64 = 20_000_000;
    let scratch = Scratch::new();
    let trace = check_counted(mpi, "left_calls", &["3", "20"], &[], &scratch);
    for rank in 0..RANKS {
        let rows = rows(&trace, rank);
        let expected = [
            ("MPI_Bcast", 3),
            ("MPI_Recv", 3),
            ("MPI_Reduce_local", 3),
            ("MPI_Send", 6),
            ("MPI_Startall", 3),
            ("MPI_Waitall", 3),
        ];
        let expected = expected.map(|(name, count)| (name.to_owned(), count)).into_iter().collect();
        assert_eq!(failed(&rows), expected, "rank {rank}: what failed");
        assert!(rows.iter().all(|row| row.callsite.is_some()), "rank {rank}: each has its call site");
        // What the program does after it caught an exception is not part of the call.
        let next_starts = rows.iter().skip(1).map(|row| row.start);
        for (left, next) in rows.iter().zip(next_starts).filter(|(row, _)| row.failed) {
            let gap_ns = (next - left.end).0;
            assert!(left.op.name() == "MPI_Recv" || gap_ns >= PAUSE_NS, "{left:?}: {gap_ns} ns to the next");
        }
    }
}

fn check_cancelled(mpi: &Mpi) {
    for options in [&[][..], &["--counters", "page-faults"]] {
        let scratch = Scratch::new();
        let trace = check_counted(mpi, "cancelled", &["20", "3000"], options, &scratch);
        for rank in 0..RANKS {
            let expected = [("MPI_Reduce_local".to_owned(), 20)].into_iter().collect();
            assert_eq!(failed(&rows(&trace, rank)), expected, "rank {rank}: what failed");
        }
    }
}

fn check_early_call(mpi: &Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("early_call", &["a word", "", "--last"]);
    let (output, trace) = mpi.record(RANKS, &program, scratch.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let words: Vec<String> = program.0.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    assert_eq!(trace.run().command, words);
    for rank in 0..RANKS {
        let calls = calls_by_function(&rows(&trace, rank));
        let names = ["MPI_Comm_rank", "MPI_Finalize", "MPI_Init", "MPI_Initialized"];
        assert_eq!(calls, names.map(|name| (name.to_owned(), 1)).into_iter().collect(), "rank {rank}");
    }
}

macro_rules! on_both {
    ($($test:ident),+) => {
        mod openmpi { $(#[test] fn $test() { super::$test(&super::mpi("openmpi")); })+ }
        mod mpich { $(#[test] fn $test() { super::$test(&super::mpi("mpich")); })+ }
    };
}

on_both!(check_left_calls, check_cancelled, check_early_call);
