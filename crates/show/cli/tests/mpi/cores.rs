//! Ranks that share cores: how long they had none is what the kernel counted, and the report begins with it.

use crate::mpi::{Scratch, mpi};
use kizami_trace::RankSelection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

fn kizami(arguments: &[&str], trace: &std::path::Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    let output = command.args(arguments).arg(trace).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Nanoseconds without a core by rank, as the program read them: lines such as `rank 3 waited_ns 1234`.
fn printed(text: &str) -> BTreeMap<u32, i64> {
    let line = |line: &str| {
        let (rank, ns) = line.strip_prefix("rank ")?.split_once(" waited_ns ")?;
        Some((rank.parse().ok()?, ns.trim().parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn check(name: &'static str) {
    let (mpi, scratch) = (mpi(name), Scratch::new());
    let ranks = 2 * cores();
    let (output, trace) = mpi.record(ranks, &mpi.workload("crowded", &["60", "400000"]), scratch.path());
    let printed = printed(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(printed.len(), ranks as usize, "{printed:?}");
    let mut recorded: BTreeMap<u32, i64> = BTreeMap::new();
    for call in trace.calls(RankSelection::All).expect("rows").map(|call| call.expect("a row")) {
        // Starting MPI, and ending it, lie outside what the program looks at.
        let inside = call.off_core.filter(|_| !matches!(call.op.name(), "MPI_Init" | "MPI_Finalize"));
        let before = call.off_core_before;
        *recorded.entry(call.rank.0).or_default() +=
            inside.into_iter().chain(before).map(|length| length.0).sum::<i64>();
    }
    let (told, seen): (i64, i64) = (printed.values().sum(), recorded.values().sum());
    // The program reads a moment behind the one call and before the other.
    assert!((told - seen).abs() < told * 3 / 100 + 2_000_000 * i64::from(ranks), "{printed:?}, {recorded:?}");
    for rank in &trace.definitions().expect("definitions").ranks {
        assert!(rank.cores.is_some() && rank.off_core.is_some_and(|length| length.0 > 0), "{rank:?}");
    }

    // Twice as many ranks as cores that all compute: each lacks one for half of its time.
    let report: Value = serde_json::from_str(&kizami(&["report", "--json"], trace.path())).expect("JSON");
    let shared = &report["shared_cores"];
    assert_eq!((&shared["ranks"], &shared["cores"]), (&ranks.into(), &cores().into()), "{shared}");
    assert!(shared["share"].as_f64().expect("a share") > 0.25, "{shared}");
    let text = kizami(&["report"], trace.path());
    assert!(text.starts_with(&format!("Shared cores: {ranks} ranks share {} cores", cores())), "{text}");
    let efficiency = |name: &str| report["efficiency"][name].as_f64().expect("a number");
    let factors = ["cores", "load_balance", "serialisation", "transfer"].map(efficiency);
    assert!((factors.iter().product::<f64>() - efficiency("parallel")).abs() < 1e-9, "{report}");
    assert!(efficiency("cores") < 0.9, "{}", report["efficiency"]);

    // With cores of their own they lack none, and the run is shorter by what the report says.
    let own = scratch.path().join("own.kz");
    let replayed =
        kizami(&["replay", "--own-cores", "--json", "-o", own.to_str().expect("a name")], trace.path());
    let replayed: Value = serde_json::from_str(&replayed).expect("JSON");
    assert_eq!(replayed["replayed_work_ns"], report["efficiency"]["own_cores_ns"], "{replayed}");
    let report: Value = serde_json::from_str(&kizami(&["report", "--json"], &own)).expect("JSON");
    assert_eq!(report.get("shared_cores"), None);
    assert_eq!(report["run_ns"], replayed["replayed_work_ns"]);
}

#[test]
fn ranks_of_open_mpi_that_share_cores_are_told_apart() {
    check("openmpi");
}

#[test]
fn ranks_of_mpich_that_share_cores_are_told_apart() {
    check("mpich");
}
