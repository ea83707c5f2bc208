//! Runs that do not end by `MPI_Finalize`, regions, forks, and call sites of stripped programs.

use crate::mpi::{Mpi, Scratch, mpi};
use crate::truth::rows;
use kizami_model::Ending;

fn check_abort(mpi: &Mpi) {
    let scratch = Scratch::new();
    let (output, trace) = mpi.record(3, &mpi.workload("abort", &["7"]), scratch.path());
    assert_eq!(output.status.code(), Some(7), "the application's exit code is passed on");
    let ranks = trace.definitions().expect("definitions").ranks;
    assert_eq!((ranks[2].ending, ranks[2].abort_code), (Ending::Aborted, Some(7)));
    assert_eq!(rows(&trace, 2).last().expect("rows").op.name(), "MPI_Abort");
    assert!(!trace.run().health.complete);
}

fn check_early_exit(mpi: &Mpi) {
    let scratch = Scratch::new();
    let (_, trace) = mpi.record(2, &mpi.workload("exit_early", &["3", "10"]), scratch.path());
    let ranks = trace.definitions().expect("definitions").ranks;
    // The launcher may kill the second one while it is leaving.
    assert!(ranks.iter().any(|rank| rank.ending == Ending::Exited), "{ranks:?}");
    assert!(ranks.iter().all(|rank| rank.ending != Ending::Finalized), "{ranks:?}");
}

fn check_fork(mpi: &Mpi) {
    let scratch = Scratch::new();
    let (output, trace) = mpi.record(2, &mpi.workload("fork", &[]), scratch.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(trace.run().health.complete, "{:?}", trace.run().health);
}

fn check_regions(mpi: &Mpi) {
    let scratch = Scratch::new();
    let (_, trace) = mpi.record(2, &mpi.workload("regions", &["5"]), scratch.path());
    let names: Vec<String> =
        trace.definitions().expect("definitions").regions.into_iter().map(|r| r.name).collect();
    assert!(!names.is_empty());
    let spans = trace.region_spans().expect("spans");
    assert!(spans.len() >= 10, "{} spans of {names:?}", spans.len());
    assert!(spans.iter().all(|span| span.start <= span.end));
    // Marks are where the program has them, not in the header that makes them calls.
    let places = trace.definitions().expect("definitions").callsites;
    let header =
        places.iter().filter(|place| place.file.as_ref().is_some_and(|file| file.ends_with("kizami.h")));
    assert_eq!(header.count(), 0, "{places:?}");
}

macro_rules! on_both {
    ($($test:ident),+) => {
        mod openmpi { $(#[test] fn $test() { super::$test(&super::mpi("openmpi")); })+ }
        mod mpich { $(#[test] fn $test() { super::$test(&super::mpi("mpich")); })+ }
    };
}

on_both!(check_abort, check_early_exit, check_fork, check_regions);

/// Call sites are named by function, file and line, and by function alone once the program is stripped.
#[test]
fn call_sites_with_and_without_debug_information() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let program = mpi.workload("stencil2d", &["16", "3"]);
    let (_, trace) = mpi.record(2, &program, &scratch.make("whole"));
    let sites = trace.definitions().expect("definitions").callsites;
    assert!(!sites.is_empty());
    for site in &sites {
        assert!(site.file.as_deref().is_some_and(|file| file.ends_with("stencil2d.c")), "{site:?}");
        assert!(site.line.is_some_and(|line| line > 1), "{site:?}");
    }
    let stripped = scratch.path().join("stripped");
    std::fs::copy(&program.0[0], &stripped).expect("a copy");
    let strip = std::process::Command::new("strip").arg(&stripped).status().expect("strip is installed");
    assert!(strip.success());
    let mut arguments = program.0.clone();
    arguments[0] = stripped.into();
    let (_, trace) = mpi.record(2, &crate::mpi::Program(arguments), &scratch.make("bare"));
    for site in trace.definitions().expect("definitions").callsites {
        assert!(site.function.contains("stripped+0x"), "{site:?}");
    }
}
