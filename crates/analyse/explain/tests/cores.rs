//! Runs in which threads had no core for known times: what is told of it, and the run without it, are exact.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_explain::{Diagnosis, Report};
use kizami_model::{Call, Length};
use kizami_testing::{call, definitions};
use scripts::report_of;

const RANKS: u32 = 4;
const ITERATIONS: i64 = 20;
const COMPUTING_NS: i64 = 1_000_000;
const CALL_NS: i64 = 1_000;

/// Ranks compute and meet. In each iteration one of them, in turn, lacks a core for `lacking_ns` before it comes.
fn report(lacking_ns: i64) -> Report {
    report_where(lacking_ns, |iteration| iteration as u32 % RANKS)
}

/// The same, and which of them does.
fn report_where(lacking_ns: i64, who: impl Fn(i64) -> u32) -> Report {
    let mut rows = Vec::new();
    for rank in 0..RANKS {
        let mut at = 0;
        rows.push(Call { comm: None, ..call("MPI_Init", rank, 0, CALL_NS) });
        at += CALL_NS;
        for iteration in 0..ITERATIONS {
            let lacks = who(iteration) == rank && lacking_ns > 0;
            let came = at + COMPUTING_NS + if lacks { lacking_ns } else { 0 };
            at += COMPUTING_NS + lacking_ns + CALL_NS;
            let sum = Call { comm: Some(0), ..call("MPI_Allreduce", rank, came, at) };
            rows.push(Call { off_core_before: lacks.then_some(Length(lacking_ns)), ..sum });
        }
        at += CALL_NS;
        rows.push(Call { comm: None, ..call("MPI_Finalize", rank, at, at + CALL_NS) });
    }
    report_of(&rows, definitions(&[(0..RANKS).collect()]), 1)
}

#[test]
fn time_without_a_core_is_a_factor_of_its_own() {
    let (alone, crowded) = (report(0), report(COMPUTING_NS));
    assert_eq!(alone.shared_cores, None);
    assert_eq!((alone.efficiency.cores, alone.efficiency.own_cores_ns), (None, None));
    let shared = crowded.shared_cores.expect("a rank lacked a core in each iteration");
    assert_eq!(shared.waiting_ns, ITERATIONS * COMPUTING_NS);
    assert_eq!((shared.ranks, shared.cores), (RANKS, None));
    assert_eq!(crowded.efficiency.own_cores_ns, Some(alone.run_ns));
    assert_eq!(shared.gain.map(|gain| gain.ns), Some(crowded.run_ns - alone.run_ns));
    let (of, other) = (&crowded.efficiency, &alone.efficiency);
    let same = [
        (of.load_balance, other.load_balance),
        (of.serialisation, other.serialisation),
        (of.transfer, other.transfer),
    ];
    assert!(same.iter().all(|(one, other)| (one - other).abs() < 1e-9), "{of:?}, {other:?}");
    let cores = of.cores.expect("a factor");
    assert!((cores * other.parallel - of.parallel).abs() < 1e-9, "{of:?}, {other:?}");
}

#[test]
fn a_rank_that_lacks_its_core_has_no_imbalance() {
    let report = report_where(COMPUTING_NS, |_| 2);
    assert!(report.shared_cores.is_some());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn short_times_without_a_core_are_noise() {
    let report = report(COMPUTING_NS / 16);
    assert_eq!(report.shared_cores, None);
    let finding = &report.findings[0];
    assert_eq!(finding.diagnosis, Diagnosis::SystemNoise { ranks: RANKS as usize });
    assert_eq!(finding.gain.map(|gain| gain.ns), Some(ITERATIONS * COMPUTING_NS / 16));
    assert_eq!(finding.option.as_ref().map(ToString::to_string).as_deref(), Some("--own-cores"));
}
