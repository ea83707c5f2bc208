//! Calls on files, by MPI and by the C library: they are calls, with their bytes, and no network makes them faster.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_explain::Report;
use kizami_model::Call;
use kizami_testing::{call, definitions};
use scripts::report_of;

const BYTES: u64 = 3_000_000;

fn barrier(rank: u32, start_ns: i64, end_ns: i64) -> Call {
    Call { comm: Some(0), ..call("MPI_Barrier", rank, start_ns, end_ns) }
}

/// Rank 0 computes 10 us, writes for 80 us and enters a barrier; rank 1 computes 10 us and waits for it there.
fn written_alone(writes: &str) -> Report {
    let write = Call { bytes_out: Some(BYTES), ..call(writes, 0, 20_000, 100_000) };
    let rows = [
        barrier(0, 9_000, 10_000),
        write,
        barrier(0, 100_000, 101_000),
        barrier(1, 9_000, 10_000),
        barrier(1, 20_000, 101_000),
    ];
    report_of(&rows, definitions(&[vec![0, 1]]), 1)
}

#[test]
fn a_rank_that_writes_alone_is_in_a_call() {
    for name in ["write", "fwrite", "MPI_File_write_at"] {
        let report = written_alone(name);
        let written = report.functions.iter().find(|total| total.function == name).expect("a line");
        assert_eq!((written.calls, written.bytes, written.ns), (1, BYTES, 80_000), "{name}");
        let computed: Vec<i64> = report.rank_times.iter().map(|rank| rank.computation_ns).collect();
        assert_eq!(computed, [10_000, 10_000], "{name}: what a call takes is no computation");
        let waited: Vec<i64> = report.rank_times.iter().map(|rank| rank.waiting_ns).collect();
        assert_eq!(waited, [0, 80_000], "{name}");
        let finding = report.findings.first().expect("a finding");
        assert!(finding.ranks.iter().eq(&[0]), "{name}: {finding:?}");
        // Only the two barriers pass on an ideal network.
        assert_eq!(report.efficiency.ideal_ns, report.run_ns - 2_000, "{name}");
    }
}

#[test]
fn bytes_of_windows_are_reported() {
    let rows = [
        Call { bytes_out: Some(BYTES), ..call("MPI_Put", 0, 10_000, 11_000) },
        Call { bytes_in: Some(7), ..call("MPI_Get", 0, 12_000, 13_000) },
        barrier(1, 10_000, 13_000),
    ];
    let report = report_of(&rows, definitions(&[vec![0, 1]]), 1);
    let bytes = |name: &str| report.functions.iter().find(|total| total.function == name).map(|t| t.bytes);
    assert_eq!((bytes("MPI_Put"), bytes("MPI_Get")), (Some(BYTES), Some(7)));
}
