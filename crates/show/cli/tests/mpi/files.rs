//! `record --io`: calls of the C library on files, in C, Fortran and Python, against what the programs themselves know of
//! them; and that nothing of it is recorded, or changed, where it was not asked for.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi, sorted_lines};
use crate::truth::{calls_by_function, rows};
use kizami_model::kind::{FileCall, Kind};
use kizami_model::{Call, Family, ObjectKind};
use kizami_trace::{Definitions, Trace};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

const RANKS: u32 = 2;

/// Records a program with these options, in a directory of its own.
fn record(mpi: &Mpi, program: &Program, options: &[&str], directory: &Path) -> (Output, Trace) {
    let out = directory.join("run.kz");
    let mut line =
        vec![env!("CARGO_BIN_EXE_kizami").into(), "record".into(), "-o".into(), out.clone().into()];
    line.extend(options.iter().map(std::ffi::OsString::from));
    line.push("--".into());
    line.extend(mpi.launch(RANKS, program));
    let mut command = mpi.command(&line, directory);
    command.env("WORKLOAD_COUNTS", directory);
    let output = finish(command);
    assert!(output.status.success(), "{}: {}", mpi.name, String::from_utf8_lossy(&output.stderr));
    let trace = Trace::open(&out).expect("a trace");
    assert!(trace.run().health.complete, "{:?}", trace.run().health);
    (output, trace)
}

/// What a rank called until it came to the end of MPI, behind which workloads write down what they counted.
fn rows_of_work(trace: &Trace, rank: u32) -> Vec<Call> {
    let mut rows = rows(trace, rank);
    let end = rows.iter().position(|row| row.op.kind() == Kind::Finalize).expect("MPI_Finalize");
    rows.truncate(end + 1);
    rows
}

fn is_on_file(row: &Call) -> bool {
    row.op.function().is_some_and(|function| !function.is_mpi())
}

/// Name of the file a row is about.
fn file_of<'a>(definitions: &'a Definitions, row: &Call) -> Option<&'a str> {
    let object = &definitions.objects[row.object? as usize];
    assert_eq!((object.kind, object.rank), (ObjectKind::File, row.rank));
    Some(&object.name)
}

/// Bytes out and in by function.
fn bytes(rows: &[Call]) -> BTreeMap<&'static str, (u64, u64)> {
    let mut sums: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let sum = sums.entry(row.op.name()).or_default();
        *sum = (sum.0 + row.bytes_out.unwrap_or(0), sum.1 + row.bytes_in.unwrap_or(0));
    }
    sums.retain(|_, moved| *moved != (0, 0));
    sums
}

fn check_c(mpi: &Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("files", &[]);
    let bare = mpi.run_bare(RANKS, &program, &scratch.make("bare"));
    let directory = scratch.make("recorded");
    let (output, trace) = record(mpi, &program, &["--io"], &directory);
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results with the recorder differ");
    let definitions = trace.definitions().expect("definitions");
    for rank in 0..RANKS {
        let rows = rows_of_work(&trace, rank);
        let counted = std::fs::read_to_string(directory.join(format!("{rank}.counts"))).expect("counts");
        let expected: BTreeMap<String, u64> = counted
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, count)| (name.to_owned(), count.parse().expect("a count")))
            .collect();
        assert_eq!(calls_by_function(&rows), expected, "{} rank {rank}", mpi.name);
        assert_eq!(
            bytes(&rows),
            BTreeMap::from([
                ("MPI_Allreduce", (4, 4)),
                ("MPI_File_write_at", (100, 0)),
                ("fclose", (2_416, 0)),
                ("fflush", (3_712, 0)),
                ("fgets", (0, 12_288)),
                ("fprintf", (8_192, 0)),
                ("fputs", (8_192, 0)),
                ("fread", (0, 16_100)),
                ("fwrite", (13_088, 0)),
                ("getline", (0, 6_412)),
                ("pread", (0, 100)),
                ("preadv", (0, 100)),
                ("pwrite", (100, 0)),
                ("pwritev", (100, 0)),
                ("read", (0, 2_000)),
                ("readv", (0, 100)),
                ("write", (1_801, 0)),
                ("writev", (100, 0)),
            ]),
            "{} rank {rank}",
            mpi.name
        );
        assert!(rows.iter().all(|row| row.thread.0 == 0), "a thread that never calls MPI has no rows");
        for row in rows.iter().filter(|row| is_on_file(row)) {
            let failed = file_of(&definitions, row).is_none();
            assert_eq!(row.failed, failed, "{row:?}");
            assert!(
                failed || file_of(&definitions, row).unwrap().starts_with(&format!("files.{rank}.")),
                "{row:?}"
            );
            let site = row.callsite.map(|site| &definitions.callsites[site as usize]);
            let file = site.and_then(|site| site.file.as_deref());
            // In a signal handler nobody looks where that is; the C library has some of its functions in its headers.
            let in_handler = row.op.name() == "write" && row.bytes_out == Some(1) && site.is_none();
            let in_header =
                row.op.name() == "getline" && file == Some("/usr/include/x86_64-linux-gnu/bits/stdio.h");
            let in_program = file.is_some_and(|file| file.ends_with("files.c"));
            assert!(in_program || in_handler || in_header, "{row:?}, {file:?}");
        }
        let failed = rows.iter().filter(|row| row.failed).map(|row| row.op.name());
        assert_eq!(failed.collect::<Vec<_>>(), ["open"]);
    }
}

#[test]
fn calls_on_files_are_counted_with_their_bytes_under_open_mpi() {
    check_c(&mpi("openmpi"));
}

#[test]
fn calls_on_files_are_counted_with_their_bytes_under_mpich() {
    check_c(&mpi("mpich"));
}

#[test]
fn nothing_on_files_is_recorded_unless_asked_for() {
    let scratch = Scratch::new();
    let mpi = mpi("mpich");
    let (_, trace) = record(&mpi, &mpi.workload("files", &[]), &[], scratch.path());
    for rank in 0..RANKS {
        assert_eq!(rows(&trace, rank).iter().filter(|row| is_on_file(row)).count(), 0);
    }
}

#[test]
fn less_can_be_kept_of_calls_on_files() {
    let scratch = Scratch::new();
    let mpi = mpi("openmpi");
    let program = mpi.workload("files", &[]);
    let (_, trace) =
        record(&mpi, &program, &["--io", "--keep", "1%", "--keep-all-below", "0"], scratch.path());
    let of = |name: &str| {
        let functions = &trace.run().functions;
        let total = functions.iter().find(|function| function.op == name).expect("a sum");
        (total.calls, total.bytes_out, total.bytes_in)
    };
    assert_eq!(of("write"), (2 * 19, 2 * 1_801, 0));
    assert_eq!(of("fwrite"), (2 * 11, 2 * 13_088, 0));
    assert_eq!(of("fread"), (2 * 4, 0, 2 * 16_100));
}

fn check_fortran(mpi: &Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("files_fortran", &[]);
    let (output, trace) = record(mpi, &program, &["--io"], scratch.path());
    assert_eq!(sorted_lines(&output), ["files_fortran: 0 wrong"]);
    let definitions = trace.definitions().expect("definitions");
    for rank in 0..RANKS {
        let rows = rows_of_work(&trace, rank);
        let own: Vec<Call> = rows
            .into_iter()
            .filter(is_on_file)
            .filter(|row| {
                file_of(&definitions, row).is_some_and(|name| name.contains(&format!("files.{rank}.")))
            })
            .collect();
        let count = |call| own.iter().filter(|row| row.op.kind() == Kind::File(call)).count();
        assert_eq!((count(FileCall::Open), count(FileCall::Close)), (3, 3), "{}", mpi.name);
        let moved = bytes(&own).into_values().fold((0, 0), |sum, (out, r#in)| (sum.0 + out, sum.1 + r#in));
        assert_eq!(moved, (801_100, 800_000), "{}", mpi.name);
        for row in &own {
            let site = row.callsite.map(|site| &definitions.callsites[site as usize]);
            let file = site.and_then(|site| site.file.as_deref()).unwrap_or_default();
            assert!(file.ends_with("files_fortran.f90"), "{} at {site:?}", row.op.name());
        }
    }
}

#[test]
fn fortran_statements_show_their_own_lines_under_open_mpi() {
    check_fortran(&mpi("openmpi"));
}

#[test]
fn fortran_statements_show_their_own_lines_under_mpich() {
    check_fortran(&mpi("mpich"));
}

fn check_python(mpi: &Mpi) {
    let scratch = Scratch::new();
    let (output, trace) = record(mpi, &mpi.script("files.py", &["50"]), &["--io"], scratch.path());
    assert_eq!(sorted_lines(&output), ["files.py: 0 wrong"]);
    let definitions = trace.definitions().expect("definitions");
    for rank in 0..RANKS {
        let name = format!("files.{rank}.python");
        let rows = rows_of_work(&trace, rank);
        let is_own = |row: &Call| is_on_file(row) && file_of(&definitions, row) == Some(&name);
        let own: Vec<Call> = rows.into_iter().filter(is_own).collect();
        assert!(own.iter().all(|row| row.op.function().is_some_and(|f| f.family == Family::Io)));
        let mut counts = calls_by_function(&own);
        // Which of the two Python uses is its own business.
        let opened = counts.remove("open").unwrap_or(0) + counts.remove("openat").unwrap_or(0);
        assert_eq!(opened, 2);
        let expected = [("close", 2), ("fsync", 1), ("read", 2), ("write", 50)];
        assert_eq!(counts, BTreeMap::from(expected.map(|(name, count)| (name.to_owned(), count))));
        assert_eq!(bytes(&own), BTreeMap::from([("read", (0, 50_000)), ("write", (50_000, 0))]));
    }
}

#[test]
fn python_files_under_open_mpi() {
    check_python(&mpi("openmpi"));
}

#[test]
fn python_files_under_mpich() {
    check_python(&mpi("mpich"));
}

#[test]
fn files_of_a_simulated_run_are_refused() {
    let scratch = Scratch::new();
    let mpi = mpi("smpi");
    let mut line = vec![env!("CARGO_BIN_EXE_kizami").into(), "record".into(), "--io".into(), "--".into()];
    line.extend(mpi.launch(RANKS, &mpi.workload("cheapest", &[])));
    let output = finish(mpi.command(&line, scratch.path()));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--io cannot be used with SimGrid"));
}
