//! Every workload under every MPI: results as without the recorder, counts, peers and bytes as the program
//! itself knows them, every receive with its send.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi, sorted_lines};
use crate::truth::{assert_counts, assert_matched, assert_messages, calls_by_function, rows};
use kizami_model::Peer;
use std::collections::BTreeMap;

/// Records a workload that counts its own calls and checks the trace against them.
pub fn check(mpi: &Mpi, name: &str, arguments: &[&str], ranks: u32) {
    let scratch = Scratch::new();
    let counts = scratch.make("counts");
    let bare = mpi.run_bare(ranks, &mpi.workload(name, arguments), &scratch.make("bare"));
    assert!(
        bare.status.success(),
        "{name} fails without the recorder: {}",
        String::from_utf8_lossy(&bare.stderr)
    );
    let directory = scratch.make("recorded");
    let out = directory.join("run.kz");
    let mut command = mpi.record_command(ranks, &mpi.workload(name, arguments), &directory, &out);
    command.env("WORKLOAD_COUNTS", &counts);
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "{name}: results with the recorder differ");
    let trace = kizami_trace::Trace::open(&out).expect("a trace");
    assert_eq!(trace.run().ranks, ranks);
    assert!(trace.run().health.complete, "{:?}", trace.run().health);
    assert_counts(&trace, &counts, ranks);
    assert_messages(&trace, &counts, ranks);
    assert_matched(&trace, ranks);
}

macro_rules! workloads {
    ($($test:ident: $workload:literal, $arguments:expr, $ranks:literal;)+) => {
        mod openmpi { $(#[test] fn $test() { super::check(&super::mpi("openmpi"), $workload, &$arguments, $ranks); })+ }
        mod mpich { $(#[test] fn $test() { super::check(&super::mpi("mpich"), $workload, &$arguments, $ranks); })+ }
        mod openmpi5 { $(#[test] fn $test() { super::check(&super::mpi("openmpi5"), $workload, &$arguments, $ranks); })+ }
        mod mpich5 { $(#[test] fn $test() { super::check(&super::mpi("mpich5"), $workload, &$arguments, $ranks); })+ }
        mod abi { $(#[test] fn $test() { super::check(&super::mpi("abi"), $workload, &$arguments, $ranks); })+ }
    };
}

workloads! {
    stencil: "stencil2d", ["32", "20"], 4;
    matrix_multiplication: "matmul_shift", [], 4;
    conjugate_gradient: "cg", ["200", "10"], 4;
    radix_sort: "radix_sort", [], 4;
    threads: "threads", [], 2;
    wildcards: "wildcard", [], 4;
    persistent: "persistent", [], 4;
    communicators: "communicators", [], 4;
    one_sided: "onesided", [], 2;
    files: "io", [], 2;
    neighbours: "neighbours", [], 4;
    coverage: "coverage", [], 4;
}

/// The Fortran solver makes, per iteration, two receives, two sends, one completion and one reduction at most;
/// all three bindings must show the same calls, from the solver's own source file.
fn check_fortran(mpi: &Mpi) {
    let mut seen: Vec<BTreeMap<String, u64>> = Vec::new();
    for binding in ["jacobi3d_mpif", "jacobi3d_usempi", "jacobi3d_f08"] {
        let scratch = Scratch::new();
        let program = mpi.workload(binding, &["8", "12"]);
        let bare = mpi.run_bare(4, &program, &scratch.make("bare"));
        let (output, trace) = mpi.record(4, &program, &scratch.make("recorded"));
        assert!(output.status.success(), "{binding}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(sorted_lines(&bare), sorted_lines(&output), "{binding}: results with the recorder differ");
        assert_matched(&trace, 4);
        let definitions = trace.definitions().expect("definitions");
        for row in rows(&trace, 1) {
            let site = row.callsite.map(|site| &definitions.callsites[site as usize]);
            let file = site.and_then(|site| site.file.as_deref()).unwrap_or_default();
            assert!(file.contains("jacobi3d"), "{binding}: {} was called from {site:?}", row.op.name());
        }
        seen.push(calls_by_function(&rows(&trace, 1)));
    }
    assert_eq!(seen[0].get("MPI_Allreduce"), Some(&12), "{seen:?}");
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

#[test]
fn fortran_with_open_mpi() {
    check_fortran(&mpi("openmpi"));
}

#[test]
fn fortran_with_mpich() {
    check_fortran(&mpi("mpich"));
}

/// The ring passes, in each round, one pickled object and one buffer to the next rank.
fn check_python(mpi: &Mpi) {
    const ROUNDS: u64 = 5;
    let scratch = Scratch::new();
    let program = mpi.ring(&["5", "256"]);
    let bare = mpi.run_bare(3, &program, &scratch.make("bare"));
    assert!(bare.status.success(), "{}", String::from_utf8_lossy(&bare.stderr));
    let (output, trace) = mpi.record(3, &program, &scratch.make("recorded"));
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results with the recorder differ");
    assert_matched(&trace, 3);
    for rank in 0..3 {
        let rows = rows(&trace, rank);
        let count = |name: &str| -> u64 {
            let large = format!("{name}_c");
            let by_function = calls_by_function(&rows);
            by_function.get(name).unwrap_or(&0) + by_function.get(&large).unwrap_or(&0)
        };
        assert_eq!(count("MPI_Send"), 2 * ROUNDS, "rank {rank}: {:?}", calls_by_function(&rows));
        assert_eq!(count("MPI_Init_thread"), 1);
        let next = Peer::Rank(kizami_model::Rank((rank + 1) % 3));
        let sends = rows.iter().filter(|row| row.op.name().starts_with("MPI_Send"));
        let buffers = sends.filter(|row| row.peer == next && row.bytes_out == Some(256)).count() as u64;
        assert_eq!(buffers, ROUNDS, "rank {rank}");
    }
}

#[test]
fn python_with_open_mpi() {
    check_python(&mpi("openmpi"));
}

#[test]
fn python_with_mpich() {
    check_python(&mpi("mpich"));
}

#[test]
fn python_with_open_mpi_5() {
    check_python(&mpi("openmpi5"));
}

#[test]
fn python_with_mpich_5() {
    check_python(&mpi("mpich5"));
}

/// The same counts when `kizami record` is what the launcher starts.
fn check_inside_launcher(mpi: &Mpi) {
    let scratch = Scratch::new();
    let (counts, directory) = (scratch.make("counts"), scratch.make("recorded"));
    let out = directory.join("run.kz");
    let mut line = vec![
        env!("CARGO_BIN_EXE_kizami").into(),
        "record".into(),
        "-o".into(),
        out.clone().into(),
        "--".into(),
    ];
    line.extend(mpi.workload("stencil2d", &["32", "20"]).0);
    let mut command = mpi.command(&mpi.launch(4, &Program(line)), &directory);
    command.env("WORKLOAD_COUNTS", &counts);
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = kizami_trace::Trace::open(&out).expect("a trace");
    assert_counts(&trace, &counts, 4);
    assert_messages(&trace, &counts, 4);
}

#[test]
fn inside_open_mpi() {
    check_inside_launcher(&mpi("openmpi"));
}

#[test]
fn inside_mpich() {
    check_inside_launcher(&mpi("mpich"));
}

/// 64 ranks on however few cores there are.
fn check_oversubscribed(mpi: &Mpi) {
    let scratch = Scratch::new();
    let counts = scratch.make("counts");
    let directory = scratch.make("recorded");
    let out = directory.join("run.kz");
    let mut command = mpi.record_command(64, &mpi.workload("stencil2d", &["8", "3"]), &directory, &out);
    command.env("WORKLOAD_COUNTS", &counts);
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = kizami_trace::Trace::open(&out).expect("a trace");
    assert!(trace.run().health.complete, "{:?}", trace.run().health);
    assert_counts(&trace, &counts, 64);
    assert_messages(&trace, &counts, 64);
    assert_matched(&trace, 64);
}

#[test]
fn sixty_four_ranks_with_open_mpi() {
    check_oversubscribed(&mpi("openmpi"));
}

#[test]
fn sixty_four_ranks_with_mpich() {
    check_oversubscribed(&mpi("mpich"));
}
