//! Programs under SMPI, SimGrid's simulator: all ranks in one process, on a simulated clock and network.

use crate::mpi::{Program, Scratch, finish, mpi};
use crate::truth::{assert_counts, assert_matched, assert_messages, calls_by_function, rows};
use kizami_trace::Trace;
use std::path::Path;
use std::process::Command;

/// A simulated cluster with a node for each rank, for the arguments that `mpi("smpi")` gives the launcher.
pub fn describe_cluster(directory: &Path, nodes: u32) {
    describe_network(directory, nodes, "125MBps", "100us");
}

/// The same with another network.
pub fn describe_network(directory: &Path, nodes: u32, bandwidth: &str, latency: &str) {
    let platform = format!(
        r#"<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-{}" suffix="" speed="1Gf" bw="{bandwidth}" lat="{latency}"/>
</platform>
"#,
        nodes - 1
    );
    let hosts: String = (0..nodes).map(|node| format!("node-{node}\n")).collect();
    std::fs::write(directory.join("cluster.xml"), platform).expect("a platform can be written");
    std::fs::write(directory.join("hosts"), hosts).expect("a list of hosts can be written");
}

/// Records a program on so many simulated nodes.
pub fn record(ranks: u32, program: &Program, scratch: &Scratch) -> Trace {
    describe_cluster(scratch.path(), ranks);
    let (output, trace) = mpi("smpi").record(ranks, program, scratch.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(trace.run().ranks, ranks);
    trace
}

#[test]
fn every_rank_has_its_own_calls() {
    let smpi = mpi("smpi");
    let programs: [(&str, &[&str], bool); 5] = [
        ("stencil2d", &["32", "10"], true),
        ("matmul_shift", &["16"], true),
        ("radix_sort", &["500"], true),
        ("persistent", &["5", "100"], true),
        ("cg", &["200", "10"], false),
    ];
    for (name, arguments, knows_messages) in programs {
        let scratch = Scratch::new();
        let counts = scratch.make("counts");
        describe_cluster(scratch.path(), 16);
        let out = scratch.path().join("run.kz");
        let program = smpi.workload(name, arguments);
        let mut command = smpi.record_command(16, &program, scratch.path(), &out);
        command.env("WORKLOAD_COUNTS", &counts);
        let output = finish(command);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let bare = smpi.run_bare(16, &program, scratch.path());
        assert_eq!(output.stdout, bare.stdout, "{name} prints the same with and without the tracer");
        let trace = Trace::open(&out).expect("a trace");
        assert_counts(&trace, &counts, 16);
        if knows_messages {
            assert_messages(&trace, &counts, 16);
            assert_matched(&trace, 16);
        }
    }
}

/// A simulation that leaves out computation always takes the same time, and so does each of its calls.
#[test]
fn a_simulated_run_is_recorded_to_the_nanosecond() {
    let program = mpi("smpi").workload("stencil2d", &["32", "10"]);
    let (first, second) = (Scratch::new(), Scratch::new());
    let (first, second) = (record(64, &program, &first), record(64, &program, &second));
    for rank in 0..64 {
        let times =
            |trace| rows(trace, rank).iter().map(|row| (row.op, row.start, row.end)).collect::<Vec<_>>();
        assert_eq!(times(&first), times(&second), "rank {rank}");
    }
}

/// What a run would take on another network is what it takes there.
#[test]
fn a_slower_network_is_predicted() {
    let smpi = mpi("smpi");
    let program = smpi.workload("stencil2d", &["64", "20"]);
    let scratch = Scratch::new();
    let slow = record(64, &program, &scratch);
    let fast = Scratch::new();
    describe_network(fast.path(), 64, "1.25GBps", "2us");
    let (output, trace) = smpi.record(64, &program, fast.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let options = ["--latency", "50x", "--bandwidth", "0.1x", "--json"];
    let replayed =
        Command::new(env!("CARGO_BIN_EXE_kizami")).arg("replay").arg(trace.path()).args(options).output();
    let replayed = replayed.expect("kizami runs");
    let replayed: serde_json::Value = serde_json::from_slice(&replayed.stdout).expect("JSON");
    let (predicted, there) = (replayed["replayed_ns"].as_f64().expect("a time"), slow.run().span_ns as f64);
    println!("foretold {predicted} ns from {} ns, took {there} ns", trace.run().span_ns);
    assert!((predicted / there - 1.0).abs() < 0.05, "{predicted} instead of {there}");
}

/// The tracer shows the waiting time that the program injects, in simulated time: nothing disturbs it.
#[test]
fn a_simulated_wait_is_as_long_as_it_is() {
    let program = mpi("smpi").workload("known_waits", &["late_sender", "20", "5"]);
    let scratch = Scratch::new();
    let trace = record(8, &program, &scratch);
    for rank in 1..8 {
        let rows = rows(&trace, rank);
        let waited: i64 =
            rows.iter().filter(|row| row.op.name() == "MPI_Recv").map(|row| row.end.0 - row.start.0).sum();
        // A message takes half a millisecond at most.
        assert!((100_000_000..102_500_000).contains(&waited), "rank {rank} waited {waited} ns");
        assert_eq!(calls_by_function(&rows)["MPI_Recv"], 5);
    }
}
