//! Waiting of known lengths under real MPIs: how long the report says it was, and whom it blames.

use super::ATTEMPTS;
use crate::explaining::{deviation, is_named, patterns, report};
use crate::mpi::{Mpi, Scratch, mpi};
use kizami_testing::timing::{majority_of, must};

/// Where cores are busy, ranks also get theirs back a time slice late, which is waiting that was not injected.
const NOISE: f64 = 0.15;

fn check(mpi: &Mpi, ranks: u32) {
    for injected in patterns(ranks) {
        majority_of(ATTEMPTS, &format!("{} {}", mpi.name, injected.name), || {
            let report = report(mpi, ranks, &injected, Scratch::new().path());
            let deviation = deviation(&report, &injected);
            let first = report.findings.first().map(|finding| &finding.diagnosis.sentence);
            must(deviation.abs() < NOISE && is_named(&report, &injected), || {
                format!("waiting is off by {:+.2} %, {first:?}", 100.0 * deviation)
            })
        });
    }
}

#[test]
fn known_waits_are_found_with_open_mpi() {
    check(&mpi("openmpi"), 4);
}

/// MPICH's ranks never give up their core while they wait: with more of them than cores delays would be others.
#[test]
fn known_waits_are_found_with_mpich() {
    check(&mpi("mpich"), 2);
}
