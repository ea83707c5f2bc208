//! What is said of a run without findings is true of it.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_testing::Act::{self, *};
use scripts::{Looped, Places};

/// What would be said of this loop if nothing were found in it.
fn said(bodies: Vec<Vec<Act>>) -> String {
    let mut report = Looped { bodies, iterations: 10, places: Places::Shared }.report();
    report.findings.clear();
    report.nothing_found()
}

#[test]
fn a_run_without_findings_is_told_for_what_it_is() {
    let even = |compute_ns| vec![vec![Compute(compute_ns), Together("MPI_Barrier")]; 4];
    assert_eq!(said(even(10_000_000)), "No rank kept others waiting for long.");
    let calls = said(even(1_000));
    assert!(calls.starts_with("No rank kept others waiting for long, but "), "{calls}");
    assert!(calls.ends_with("calls that waited for nobody, most into MPI_Barrier at shared.c:2."), "{calls}");
    let mut uneven = even(1_000_000);
    uneven[0][0] = Compute(2_000_000);
    let waiting = said(uneven);
    assert!(
        waiting.starts_with("Ranks waited for 3") && waiting.contains("no cause stands out"),
        "{waiting}"
    );
}
