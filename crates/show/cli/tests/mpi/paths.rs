//! Call paths: the functions that led to each call are those that the program itself knows of.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi};
use kizami_trace::{PathFrame, RankSelection, SourceLine, Trace, function_name};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The functions that a program notes.
fn is_noted(name: &str) -> bool {
    name.starts_with("p_") && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// Functions on the path to each barrier, innermost first, of those that the program notes.
fn recorded(trace: &Trace) -> Vec<Vec<String>> {
    let definitions = trace.definitions().expect("definitions");
    let calls = trace.calls(RankSelection::All).expect("rows").map(|call| call.expect("a row"));
    let path = |site: Option<u32>| {
        let site = &definitions.callsites[site.expect("a call site") as usize];
        let own = std::iter::once(&site.function).chain(&site.inlined_into);
        let of_frame =
            |frame: &'_ PathFrame| std::iter::once(frame.function.clone()).chain(frame.inlined_into.clone());
        let callers = definitions.callers(site.path).flat_map(of_frame);
        let names = own.cloned().chain(callers).map(|name| function_name::short(&name));
        let names = names.map(|name| name.replace("(anonymous namespace)::", ""));
        names.filter(|name| is_noted(name)).collect()
    };
    calls.filter(|call| call.op.name() == "MPI_Barrier").map(|call| path(call.callsite)).collect()
}

fn check_program(mpi: &Mpi, program: &Program, what: &str) {
    let scratch = Scratch::new();
    let (output, trace) = mpi.record(1, program, scratch.path());
    assert!(output.status.success(), "{what}");
    let noted = std::fs::read_to_string(scratch.path().join("noted.txt")).expect("what it noted");
    let noted: Vec<Vec<String>> =
        noted.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    let recorded = recorded(&trace);
    assert_eq!(noted.len(), recorded.len(), "{what}");
    for (call, (noted, recorded)) in noted.iter().zip(&recorded).enumerate() {
        assert_eq!(noted, recorded, "{what}: call {call} of {}", trace.path().display());
    }
}

/// Paths as compilers leave them: with and without frame pointers, and hardly a function as it was written.
#[test]
fn paths_are_those_the_program_notes_however_it_is_compiled() {
    let (mpi, folder) = (mpi("openmpi"), Scratch::new());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../workloads/paths.cpp");
    for (compiler, flags) in [
        // With holes between the segments of the program.
        ("g++", &["-O0", "-Wl,-z,max-page-size=0x200000"][..]),
        ("g++", &["-O2", "-march=native"]),
        ("g++", &["-O3", "-fomit-frame-pointer"]),
        ("clang++-19", &["-O0"]),
        ("clang++-19", &["-O2"]),
        ("clang++-19", &["-O3", "-fomit-frame-pointer"]),
    ] {
        let program = folder.path().join("paths");
        let mut compile = Command::new("mpicxx.openmpi");
        compile.env("OMPI_CXX", compiler).arg("-g").args(flags).arg("-o").arg(&program).arg(&source);
        assert!(compile.status().is_ok_and(|status| status.success()), "{compile:?}");
        let line = [program.into(), "noted.txt".into(), "3000".into(), "7".into()];
        check_program(&mpi, &Program(line.into()), &format!("{compiler} {flags:?}"));
    }
}

#[test]
fn ten_thousand_paths_are_told_apart_under_both_mpis() {
    for name in ["openmpi", "mpich"] {
        let mpi = mpi(name);
        let scratch = Scratch::new();
        let program = mpi.workload("paths", &["noted.txt"]);
        check_program(&mpi, &program, name);
        let (_, trace) = mpi.record(1, &program, scratch.path());
        let different: BTreeSet<Vec<String>> = recorded(&trace).into_iter().collect();
        assert!(different.len() >= 10_000, "{} paths", different.len());
    }
}

#[test]
fn without_paths_only_the_call_sites_are_recorded() {
    let (mpi, scratch) = (mpi("mpich"), Scratch::new());
    let out = scratch.path().join("run.kz");
    let mut line: Vec<std::ffi::OsString> = vec![env!("CARGO_BIN_EXE_kizami").into()];
    line.extend(["record", "--paths", "off", "-o"].map(Into::into));
    line.extend([out.clone().into(), "--".into()]);
    line.extend(mpi.launch(1, &mpi.workload("paths", &["noted.txt", "100"])));
    let output = finish(mpi.command(&line, scratch.path()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let definitions = Trace::open(&out).expect("a trace").definitions().expect("definitions");
    assert!(definitions.paths.is_empty() && definitions.callsites.iter().all(|site| site.path.is_none()));
}

/// Calls of a script are named by its own lines and functions, not by those of the interpreter.
#[test]
fn calls_of_a_script_are_named_by_its_lines() {
    for name in ["openmpi", "mpich"] {
        let (mpi, scratch) = (mpi(name), Scratch::new());
        let script = mpi.script("ring.py", &["3", "64"]);
        let (_, trace) = mpi.record(2, &script, scratch.path());
        let definitions = trace.definitions().expect("definitions");
        let source = std::fs::read_to_string(&script.0[1]).expect("the script");
        let line_of =
            |part: &str| source.lines().position(|line| line.contains(part)).map(|line| line as u32 + 1);
        for (op, part) in [("MPI_Allreduce", "comm.Allreduce("), ("MPI_Barrier", "comm.Barrier(")] {
            let calls = trace.calls(RankSelection::All).expect("rows").map(|call| call.expect("a row"));
            let sites: Vec<Option<u32>> = calls
                .filter(|call| call.op.name().trim_end_matches("_c") == op)
                .map(|call| call.callsite)
                .collect();
            assert_eq!(sites.len(), 6, "{name} {op}");
            for site in sites {
                let path = SourceLine::path(&definitions, site);
                assert_eq!(path.first(), Some(&SourceLine::of(&definitions, site).of_any_caller()));
                let functions: Vec<&str> = path.iter().map(|place| place.function.as_str()).collect();
                assert_eq!(functions, ["main", "<module>"], "{name} {op}: {path:?}");
                assert!(path.iter().all(|place| place.file.as_deref() == Some("ring.py")), "{path:?}");
                assert_eq!(path[0].line, line_of(part), "{name} {op}: {path:?}");
            }
        }
    }
}
