//! Programs that load MPI at run time, by a library that brings it along: every call is recorded, whichever way the library
//! was loaded and bound; and OpenMP runtimes and tools beside ours work as without us, and are said not to be recorded.

use crate::mpi::{Mpi, Program, Scratch, mpi, sorted_lines};
use crate::truth::{calls_by_function, rows};
use kizami_trace::Trace;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program with and without the recorder, and compares what it prints.
fn recorded(mpi: &Mpi, ranks: u32, program: &Program, directory: &Path) -> Trace {
    let bare = mpi.run_bare(ranks, program, directory);
    assert!(bare.status.success(), "{bare:?}");
    let (output, trace) = mpi.record(ranks, program, directory);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results with the recorder differ");
    trace
}

fn loaded_at_run_time(mpi: &Mpi) {
    for how in ["path", "name", "lazy", "deep", "asked"] {
        let scratch = Scratch::new();
        let trace = recorded(mpi, 2, &mpi.workload("plugin", &[how]), scratch.path());
        assert!(trace.run().health.complete, "{how}: {:?}", trace.run().health);
        for rank in 0..2 {
            let calls = calls_by_function(&rows(&trace, rank));
            let exchanged = if how == "asked" { None } else { Some(&50) };
            let expected = [
                ("MPI_Init", Some(&1)),
                ("MPI_Sendrecv", exchanged),
                ("MPI_Allreduce", Some(&50)),
                ("MPI_Finalize", Some(&1)),
            ];
            for (name, count) in expected {
                assert_eq!(calls.get(name), count, "{how}, rank {rank}, {name}: {calls:?}");
            }
        }
    }
}

/// Compiles a source of `workloads/openmp`.
fn compile(compiler: &str, source: &str, flags: &[&str], output: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../workloads/openmp").join(source);
    let mut compile = Command::new(compiler);
    compile.args(["-g", "-O1"]).arg(source).args(flags).arg("-o").arg(output);
    compile.envs([("OMPI_CC", "clang-19"), ("MPICH_CC", "clang-19")]);
    assert!(compile.status().is_ok_and(|status| status.success()), "{compile:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is a text")
}

/// The same bytes with another name, as long as the old one, for GNU's runtime.
fn rename_runtime(file: &Path, letter: char) -> Vec<u8> {
    const NAME: &[u8] = b"libgomp.so.1";
    let mut bytes = std::fs::read(file).expect("a library");
    let name = format!("libgomp{letter}.so1");
    for at in 0..bytes.len() - NAME.len() {
        if bytes[at..].starts_with(NAME) {
            bytes[at..at + NAME.len()].copy_from_slice(name.as_bytes());
        }
    }
    bytes
}

/// Libraries that use OpenMP: two with a copy of GNU's runtime each, one with LLVM's.
fn clients(folder: &Path) -> [PathBuf; 3] {
    let here = format!("-Wl,-rpath,{}", folder.display());
    let gnu = folder.join("libclient.so");
    compile("gcc", "copies/client.c", &["-fopenmp", "-shared", "-fPIC", &here], &gnu);
    let runtime = Command::new("gcc").arg("-print-file-name=libgomp.so.1").output().expect("gcc runs");
    let runtime = PathBuf::from(String::from_utf8_lossy(&runtime.stdout).trim());
    let copy = |letter: char| {
        let client = folder.join(format!("libclient{letter}.so"));
        std::fs::write(&client, rename_runtime(&gnu, letter)).expect("a copy");
        let name = folder.join(format!("libgomp{letter}.so1"));
        std::fs::write(name, rename_runtime(&runtime, letter)).expect("a copy");
        client
    };
    let llvm = folder.join("libclientL.so");
    let mut flags = vec!["-shared", "-fPIC"];
    flags.extend(LLVM_FLAGS);
    compile("clang-19", "copies/client.c", &flags, &llvm);
    [copy('A'), copy('B'), llvm]
}

const LLVM_FLAGS: [&str; 3] =
    ["-fopenmp=libomp", "-L/usr/lib/llvm-19/lib", "-Wl,-rpath,/usr/lib/llvm-19/lib"];

fn several_openmp_runtimes(mpi: &Mpi) {
    let scratch = Scratch::new();
    let clients = clients(scratch.path());
    let several = scratch.path().join("several");
    compile(&format!("mpicc.{}", mpi.name), "copies/several.c", &["-ldl"], &several);
    for (order, unrecorded) in [([0, 1, 2], ["libgompB", "libomp"]), ([2, 1, 0], ["libgompA", "libgompB"])] {
        let words = order.map(|client| clients[client].clone().into_os_string());
        let program = Program(std::iter::once(several.clone().into()).chain(words).collect());
        let directory = scratch.make(&format!("from{}", order[0]));
        let trace = recorded(mpi, 1, &program, &directory);
        let health = &trace.run().health;
        assert!(!health.complete);
        let named = unrecorded.iter().all(|name| health.unrecorded.iter().any(|text| text.contains(name)));
        assert!(named && health.unrecorded.len() == unrecorded.len(), "{order:?}: {health:?}");
        // Nothing is said without that.
        let report =
            Command::new(env!("CARGO_BIN_EXE_kizami")).arg("report").arg(directory.join("run.kz")).output();
        let report = String::from_utf8_lossy(&report.expect("kizami runs").stdout).into_owned();
        let first = report.lines().take(3).collect::<Vec<_>>().join(" ");
        assert!(first.contains("is not recorded"), "{report}");
    }
}

fn other_tools_of_openmp(mpi: &Mpi) {
    let scratch = Scratch::new();
    let (alone, linked) = (scratch.path().join("alone"), scratch.path().join("linked"));
    let tool = scratch.path().join("libtool.so");
    let compiler = format!("mpicc.{}", mpi.name);
    let mut shared = vec!["-shared", "-fPIC"];
    shared.extend(LLVM_FLAGS);
    compile("clang-19", "tool/tool.c", &shared, &tool);
    compile(&compiler, "tool/regions.c", &LLVM_FLAGS, &alone);
    let rpath = format!("-Wl,-rpath,{}", scratch.path().display());
    let mut with_tool = LLVM_FLAGS.to_vec();
    with_tool.extend([text(&tool), &rpath]);
    compile(&compiler, "tool/regions.c", &with_tool, &linked);
    let named = format!("OMP_TOOL_LIBRARIES={}", tool.display());
    let programs = [vec!["env", &named, text(&alone)], vec![text(&linked)]];
    for (words, number) in programs.into_iter().zip(0..) {
        let program = Program(words.iter().map(Into::into).collect());
        let trace = recorded(mpi, 1, &program, &scratch.make(&number.to_string()));
        let health = &trace.run().health;
        assert!(
            health.unrecorded.iter().any(|text| text.contains("another OMPT tool")),
            "{words:?}: {health:?}"
        );
    }
    // Without another tool there is ours.
    let trace = recorded(mpi, 1, &Program(vec![alone.into()]), &scratch.make("ours"));
    assert!(trace.run().health.complete, "{:?}", trace.run().health);
}

macro_rules! on_both {
    ($($test:ident),+) => {
        mod openmpi { $(#[test] fn $test() { super::$test(&super::mpi("openmpi")); })+ }
        mod mpich { $(#[test] fn $test() { super::$test(&super::mpi("mpich")); })+ }
    };
}

on_both!(loaded_at_run_time, several_openmp_runtimes, other_tools_of_openmp);
