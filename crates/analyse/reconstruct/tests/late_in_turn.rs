//! What is said of a run that was reconstructed from a reduced trace is true, or said to be uncertain.

use kizami_explain::{Analysis, Disease, ExactCalls, NothingFound, Report, what_if};
use kizami_reconstruct::reconstruct;
use kizami_records::{CallRecord, Definition};
use kizami_reduced::{ALL_BELOW, Importance, Keep, ReduceOptions, reduce};
use kizami_rng::SplitMix64;
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::Trace;
use std::path::{Path, PathBuf};

const RANKS: u32 = 8;
const STEPS: u64 = 2_000;
const WORK_NS: u64 = 1_000_000;
/// What a sum takes once all ranks are there.
const SUM_NS: u64 = 5_000;

/// Sums of all ranks, each behind so much computation; a rank ends each when the last one has come.
fn record(trace: &Path, steps: u64, mut computes_ns: impl FnMut(u64, u32) -> u64) {
    let mut calls: Vec<Vec<CallRecord>> = vec![Vec::new(); RANKS as usize];
    let mut now = 0;
    for step in 0..steps {
        let arrivals: Vec<u64> = (0..RANKS).map(|rank| now + computes_ns(step, rank)).collect();
        now = arrivals.iter().max().unwrap() + SUM_NS;
        for (calls, arrival) in calls.iter_mut().zip(arrivals) {
            let sum = call("MPI_Allreduce", arrival, now - arrival);
            calls.push(CallRecord { comm: 0, site: 1, bytes_out: 8, bytes_in: 8, ..sum });
        }
    }
    let site = Definition::Site { local: 1, address: 0x1234, module: 0, caller: 0 };
    for (rank, calls) in (0..).zip(&calls) {
        let who = SegmentOwner { last_ticks: 1_000_000 + now, ..SegmentOwner::rank(rank, RANKS) };
        define(trace, &who, std::slice::from_ref(&site));
        let mut segment = SegmentWriter::create(trace, &who, Some(0));
        calls.iter().for_each(|call| segment.call(call));
        segment.finish();
    }
    seal(trace, &SealOptions::default(), &|_| {}).unwrap();
}

fn reduced(full: &Path, all_below: u64) -> PathBuf {
    let output = full.with_file_name(format!("reduced-{all_below}.kz"));
    let (keep, importance) = (Keep::Fraction(0.001), Importance::Classes);
    let options = ReduceOptions { keep, seed: 1, importance, all_below };
    reduce(&Trace::open(full).unwrap(), &output, &options, &|_, _| {}).unwrap();
    output
}

fn analysis(path: &Path) -> (Analysis, Report) {
    let trace = Trace::open(path).unwrap();
    let exact = ExactCalls::of(&trace).unwrap();
    let whole = reconstruct(trace, 1, &|_| {}, &|_| {}).unwrap();
    let mut analysis = Analysis::of(&whole, 1, &|_| {}).unwrap();
    if let Some(exact) = &exact {
        analysis.compare_with(exact);
    }
    let report = analysis.report(&whole);
    (analysis, report)
}

/// In each step some rank computes three times as long.
fn late_in_turn(folder: &Path, steps: u64) -> PathBuf {
    let (full, mut chance) = (folder.join("full.kz"), SplitMix64::new(7));
    let mut late = 0;
    record(&full, steps, |_, rank| {
        if rank == 0 {
            late = (chance.bits() % u64::from(RANKS)) as u32;
        }
        if rank == late { 3 * WORK_NS } else { WORK_NS }
    });
    full
}

#[test]
fn ranks_that_are_late_in_turn_are_not_taken_for_slow_messages() {
    let folder = tempfile::tempdir().unwrap();
    let full = late_in_turn(folder.path(), STEPS);
    let (_, truth) = analysis(&full);
    assert_eq!(truth.findings[0].disease(), Disease::RandomImbalance);
    let (analysis, report) = analysis(&reduced(&full, 0));
    assert_eq!(report.findings, [], "nothing is certain");
    let nothing = report.nothing_found();
    let NothingFound::Unknown { share, function, .. } = &nothing else { panic!("{nothing:?}") };
    // Seven of eight ranks wait two thirds of the time.
    assert!((share - 7.0 / 8.0 * 2.0 / 3.0).abs() < 0.01, "{share}");
    assert_eq!(function, "MPI_Allreduce");
    let error = report.efficiency.error.expect("it was reconstructed");
    assert!(error >= 0.98 * share, "{error}");
    let certain: Vec<_> = what_if(&analysis, None, &|_| {})
        .into_iter()
        .filter(|idea| idea.gain.is_sure() && matches!(idea.what, kizami_explain::Idea::Fix(_)))
        .collect();
    assert_eq!(certain, [], "nor is it elsewhere");
}

#[test]
fn a_rank_that_is_always_late_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let full = folder.path().join("full.kz");
    record(&full, STEPS, |_, rank| if rank == 3 { 3 * WORK_NS } else { WORK_NS });
    for trace in [full.clone(), reduced(&full, 0)] {
        let (_, report) = analysis(&trace);
        let first = report.findings.first().expect("there is a finding");
        assert_eq!((first.disease(), &first.ranks[..]), (Disease::Imbalance, &[3][..]));
        assert_eq!(report.long_unknown(), None);
    }
}

#[test]
fn short_runs_keep_all_calls() {
    let folder = tempfile::tempdir().unwrap();
    let full = late_in_turn(folder.path(), STEPS);
    let [all, reduced] = [ALL_BELOW, STEPS].map(|all_below| Trace::open(&reduced(&full, all_below)).unwrap());
    assert!(all.run().reduced.is_none() && reduced.run().reduced.is_some());
    assert_eq!(all.run().totals, Trace::open(&full).unwrap().run().totals);
    assert_eq!(analysis(all.path()).1.findings, analysis(&full).1.findings);
}
