//! Ranks that stop together go on together.

use super::ATTEMPTS;
use crate::meetings::{TOGETHER, opened, record};
use crate::mpi::{Mpi, Scratch, mpi};
use kizami_testing::timing::{majority_of, must};
use kizami_trace::{Stop, Trace};
use std::collections::BTreeMap;

/// How much longer one rank may be stopped than another, but for how late it went on.
const DIFFERENCE_NS: i64 = 20_000;

/// Stops of one reason, by rank.
fn stops(trace: &Trace, reason: &str) -> BTreeMap<u32, Vec<Stop>> {
    let mut by_rank: BTreeMap<u32, Vec<Stop>> = BTreeMap::new();
    for stop in trace.stops().expect("stops").into_iter().filter(|stop| stop.reason.name() == reason) {
        by_rank.entry(stop.rank.0).or_default().push(stop);
    }
    by_rank
}

/// By how much stops differ at most.
fn largest_difference_ns(mpi: &Mpi, suspend: &str) -> i64 {
    const CALLS: u64 = 120_000;
    let scratch = Scratch::new();
    let with: Vec<_> = TOGETHER.into_iter().chain([("KIZAMI_SUSPEND", suspend)]).collect();
    let output = record(mpi, 2, ("allreduce", &[&CALLS.to_string()]), scratch.path(), &with);
    let trace = opened(scratch.path(), &output);
    assert_eq!(trace.run().totals.lost_calls, 0);
    assert!(trace.run().totals.calls >= 2 * CALLS);
    let suspended = stops(&trace, "suspended");
    let counts: Vec<usize> = suspended.values().map(Vec::len).collect();
    assert_eq!(counts.len(), 2, "both ranks stop");
    assert!(counts[0] >= 3 && counts[0] == counts[1], "{counts:?} suspensions");
    let planned = |stop: &Stop| stop.end.0 - stop.start.0 - stop.late.expect("lateness").0;
    let pairs = suspended[&0].iter().zip(&suspended[&1]);
    pairs.map(|(first, second)| (planned(first) - planned(second)).abs()).max().expect("some stops")
}

fn check(name: &'static str, suspend: &str) {
    majority_of(ATTEMPTS, &format!("{name} {suspend}"), || {
        let ns = largest_difference_ns(&mpi(name), suspend);
        must(ns < DIFFERENCE_NS, || format!("stops differ by {ns} ns"))
    });
}

#[test]
fn stop_together_with_open_mpi() {
    check("openmpi", "dynamic");
}

#[test]
fn stop_together_with_mpich() {
    check("mpich", "dynamic");
}

#[test]
fn stop_for_a_fixed_time() {
    check("openmpi", "static:20ms");
    check("mpich", "unmeasured");
}
