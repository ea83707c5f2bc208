//! Counters read around each call: what the kernel counts, and what it refuses.

use crate::mpi::{Scratch, finish, mpi};
use kizami_trace::Trace;

/// Every call has its line; the kernel's counters count; a processor's counter is counted or refused with a reason.
#[test]
fn every_call_is_counted() {
    for name in ["openmpi", "mpich"] {
        let mpi = mpi(name);
        let scratch = Scratch::new();
        let out = scratch.path().join("run.kz");
        let program = mpi.workload("stencil2d", &["32", "20"]);
        let mut command = mpi.record_command(2, &program, scratch.path(), &out);
        command.env("KIZAMI_COUNTERS", "page-faults,context-switches,instructions");
        let output = finish(command);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let trace = Trace::open(&out).expect("a trace");
        let run = trace.run();
        let counter = |name: &str| run.counters.iter().find(|counter| counter.name == name).expect(name);
        assert_eq!(counter("page-faults").ranks, 2);
        assert_eq!(counter("context-switches").ranks, 2);
        let instructions = counter("instructions");
        assert!(instructions.ranks == 2 || instructions.refused.is_some());
        let counted = trace.counted().expect("what was counted");
        assert_eq!(counted.len() as u64, run.totals.events, "a line for each call");
        let faults: i64 = counted.iter().filter_map(|line| line.values["page_faults"]).sum();
        assert!(faults > 100, "{faults} page faults inside MPI, most of them in MPI_Init");
    }
}
