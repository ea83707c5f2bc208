//! The applications of `workloads/apps`: calls and messages as the programs count them themselves, in C, C++ and
//! Fortran, with neighbours and sizes that follow from geometry, from data, and from what ranks tell each other.

use crate::mpi::{Scratch, finish, mpi};
use crate::recording::check;
use crate::simulated::describe_cluster;
use crate::truth::{assert_counts, assert_matched, assert_messages};
use kizami_trace::Trace;

macro_rules! applications {
    ($($test:ident: $application:literal, $arguments:expr, $ranks:literal;)+) => {
        mod openmpi { $(#[test] fn $test() { super::check(&super::mpi("openmpi"), $application, &$arguments, $ranks); })+ }
        mod mpich { $(#[test] fn $test() { super::check(&super::mpi("mpich"), $application, &$arguments, $ranks); })+ }
    };
}

applications! {
    hydrodynamics: "hydro3d", ["4", "5"], 8;
    molecular_dynamics: "molecules", ["2", "10", "5"], 4;
    multigrid_in_cpp: "mgcg", ["8", "4", "0"], 4;
    matrix_cut_twice: "cg2d", ["512", "8"], 4;
    multigrid_in_fortran: "mg3d", ["8", "2"], 4;
    fourier_transforms: "fft3d", ["16", "3"], 4;
    wavefront: "ssor", ["6", "8", "4"], 4;
    sorting: "bucket_sort", ["1000", "3"], 4;
    finite_elements: "fem", ["8", "10"], 4;
    finite_elements_by_probing: "fem", ["8", "10", "probe"], 4;
}

/// Programs of several files and in C++ under SMPI, with as many ranks as real MPIs would be slow with.
#[test]
fn simulated() {
    let smpi = mpi("smpi");
    let programs: [(&str, &[&str]); 6] = [
        ("hydro3d", &["4", "5"]),
        ("molecules", &["2", "10"]),
        ("mgcg", &["8", "4", "0"]),
        ("fft3d", &["32", "3"]),
        ("bucket_sort", &["500", "3"]),
        ("fem", &["10", "10", "probe"]),
    ];
    for (name, arguments) in programs {
        let ranks = if name == "fft3d" { 32 } else { 27 };
        let scratch = Scratch::new();
        let counts = scratch.make("counts");
        describe_cluster(scratch.path(), ranks);
        let out = scratch.path().join("run.kz");
        let program = smpi.workload(name, arguments);
        let mut command = smpi.record_command(ranks, &program, scratch.path(), &out);
        command.env("WORKLOAD_COUNTS", &counts);
        let output = finish(command);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let trace = Trace::open(&out).expect("a trace");
        assert_counts(&trace, &counts, ranks);
        assert_messages(&trace, &counts, ranks);
        assert_matched(&trace, ranks);
    }
}
