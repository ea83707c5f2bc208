//! Other libraries that stand between the program and MPI: what they do must happen when the run is recorded, too.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi, sorted_lines};
use crate::truth::{calls_by_function, rows};
use kizami_trace::Trace;
use std::ffi::OsString;
use std::path::Path;

/// A program with the library of wrappers preloaded by the launcher's own option.
fn preloading(mpi: &Mpi, program: Program) -> Program {
    let library = mpi.workload("libwrapper.so", &[]).0.remove(0);
    let mut words: Vec<OsString> = if mpi.name.starts_with("openmpi") {
        let mut assignment = OsString::from("LD_PRELOAD=");
        assignment.push(library);
        vec!["-x".into(), assignment]
    } else {
        vec!["-genv".into(), "LD_PRELOAD".into(), library]
    };
    words.extend(program.0);
    Program(words)
}

/// Lines of the file that the wrapper of `MPI_Finalize` writes.
fn log(directory: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(directory.join("wrapper.log")).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Runs a program with and without the recorder; whatever the wrappers do must be seen in both, and `check` finds what it
/// looks for in the trace.
fn check_same(mpi: &Mpi, program: &Program, ranks: u32, check: impl Fn(&Trace)) {
    let scratch = Scratch::new();
    let (bare_directory, directory) = (scratch.make("bare"), scratch.make("recorded"));
    let bare = mpi.run_bare(ranks, program, &bare_directory);
    assert!(bare.status.success(), "{}", String::from_utf8_lossy(&bare.stderr));
    let (output, trace) = mpi.record(ranks, program, &directory);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results with the recorder differ");
    assert_eq!(log(&bare_directory), log(&directory), "the wrapper's own file differs");
    assert_eq!(log(&directory).len(), ranks as usize, "every rank has gone through the wrapper");
    assert!(trace.run().health.complete, "{:?}", trace.run().health);
    check(&trace);
}

/// Every call of the program is there once, however many functions it went through.
fn assert_calls_of_wrapped(trace: &Trace) {
    for rank in 0..2 {
        let calls = calls_by_function(&rows(trace, rank));
        let expected = [
            ("MPI_Init", 1),
            ("MPI_Comm_size", 2),
            ("MPI_Allreduce", 20),
            (if rank == 0 { "MPI_Send" } else { "MPI_Recv" }, 20),
            ("MPI_Bcast", 1),
            ("MPI_Finalize", 1),
        ];
        for (name, count) in expected {
            assert_eq!(calls.get(name), Some(&count), "rank {rank}, {name}: {calls:?}");
        }
    }
}

fn linked(mpi: &Mpi) {
    check_same(mpi, &mpi.workload("wrapped", &[]), 2, assert_calls_of_wrapped);
}

fn inside_the_program(mpi: &Mpi) {
    check_same(mpi, &mpi.workload("wrapped_inside", &[]), 2, assert_calls_of_wrapped);
}

fn preloaded(mpi: &Mpi) {
    check_same(mpi, &preloading(mpi, mpi.workload("unwrapped", &[])), 2, assert_calls_of_wrapped);
}

/// By a variable that every process of the run inherits, the launcher and the recorder among them.
fn preloaded_by_the_environment(mpi: &Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("unwrapped", &[]);
    let library = mpi.workload("libwrapper.so", &[]).0.remove(0);
    let bare = mpi.run_bare(2, &preloading(mpi, program.clone()), &scratch.make("bare"));
    let directory = scratch.make("recorded");
    let mut command = mpi.record_command(2, &program, &directory, &directory.join("run.kz"));
    command.env("LD_PRELOAD", library);
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results with the recorder differ");
}

/// Bindings call one name or the other; wrappers written in C see only some of them, with us as without.
fn preloaded_into_fortran(mpi: &Mpi) {
    for binding in ["jacobi3d_mpif", "jacobi3d_usempi", "jacobi3d_f08"] {
        let scratch = Scratch::new();
        let program = preloading(mpi, mpi.workload(binding, &["8", "12"]));
        let bare = mpi.run_bare(2, &program, &scratch.make("bare"));
        let (output, trace) = mpi.record(2, &program, &scratch.make("recorded"));
        assert_eq!(sorted_lines(&bare), sorted_lines(&output), "{binding}: results differ");
        let calls = calls_by_function(&rows(&trace, 1));
        assert_eq!(calls.get("MPI_Allreduce"), Some(&12), "{binding}: {calls:?}");
    }
}

/// Python asks at run time which functions there are.
fn preloaded_into_python(mpi: &Mpi) {
    let program = preloading(mpi, mpi.ring(&["5", "256"]));
    check_same(mpi, &program, 3, |_| ());
}

/// A sanitizer that wants to be the first library of all, with options of the user's by the launcher's own option.
fn sanitized(mpi: &Mpi) {
    let scratch = Scratch::new();
    let program = mpi.attacker("sanitized", &["-fsanitize=address"], scratch.path());
    let options = "detect_leaks=0:exitcode=77";
    let forms = match mpi.name {
        "openmpi" => vec![vec!["-x".to_owned(), format!("ASAN_OPTIONS={options}")]],
        _ => vec![
            vec!["-genv".to_owned(), "ASAN_OPTIONS".to_owned(), options.to_owned()],
            vec!["-genv".to_owned(), format!("ASAN_OPTIONS={options}")],
        ],
    };
    for (form, number) in forms.into_iter().zip(0..) {
        for (fault, code) in [("clean", 0), ("memory", 77)] {
            let mut words: Vec<OsString> = form.iter().map(Into::into).collect();
            words.extend([program.clone().into(), fault.into()]);
            let directory = scratch.make(&format!("{fault}{number}"));
            let bare = mpi.run_bare(1, &Program(words.clone()), &directory);
            let (output, trace) = mpi.record(1, &Program(words), &directory);
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!((bare.status.code(), output.status.code()), (Some(code), Some(code)), "{printed}");
            assert!(trace.run().totals.calls >= 102, "{:?}", trace.run().totals);
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
    linked,
    inside_the_program,
    preloaded,
    preloaded_by_the_environment,
    preloaded_into_fortran,
    preloaded_into_python,
    sanitized
);
