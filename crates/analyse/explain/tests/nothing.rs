//! What is known of a run without findings is true of it.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_explain::NothingFound;
use kizami_testing::Act::{self, *};
use scripts::{Looped, Places};

/// What there would be to say of this loop if nothing were found in it.
fn nothing(bodies: Vec<Vec<Act>>) -> NothingFound {
    let mut report = Looped { bodies, iterations: 10, places: Places::Shared }.report();
    report.findings.clear();
    report.nothing_found()
}

#[test]
fn a_run_without_findings_is_described() {
    let even = |compute_ns| vec![vec![Compute(compute_ns), Together("MPI_Barrier")]; 4];
    assert_eq!(nothing(even(10_000_000)), NothingFound::HardlyAnyWaiting);
    let calls = nothing(even(1_000));
    let NothingFound::LongCalls { function, place: Some(place), .. } = &calls else { panic!("{calls:?}") };
    assert_eq!((&function[..], &place.to_string()[..]), ("MPI_Barrier", "shared.c:2"));
    let mut uneven = even(1_000_000);
    uneven[0][0] = Compute(2_000_000);
    let waiting = nothing(uneven);
    let NothingFound::WaitingWithoutCause { share, likeliest, consumers, .. } = waiting else {
        panic!("{waiting:?}")
    };
    assert!((0.3..0.4).contains(&share), "{share}");
    // What is certain is a finding.
    assert_eq!(likeliest, None);
    let most: Vec<_> = consumers.iter().map(|most| (most.computes, most.place.to_string())).collect();
    assert_eq!(most, [(true, "shared.c:2".to_owned()), (false, "shared.c:2".to_owned())]);
}
