//! `kizami clocks` on traces of one host and of two.

use kizami_records::{CallRecord, Definition};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use std::path::Path;
use std::process::Command;

const RUN_NS: u64 = 10_000_000_000;

/// Records two ranks on so many hosts, and seals. The second host is 3 s ahead and runs 10 ppm fast; its wall
/// clock is 2 ms ahead.
fn record(trace: &Path, hosts: u32) {
    let ticks = |rank: u32, ns: u64| match rank % hosts {
        0 => 1_000_000_000 + ns,
        _ => 4_000_000_000 + ns + ns / 100_000,
    };
    for rank in 0..2 {
        let host = rank % hosts;
        let base = SegmentOwner::rank(rank, 2);
        let who = SegmentOwner {
            host: format!("node{host}"),
            boot_id: format!("boot-{host}"),
            base_ticks: ticks(rank, 0),
            last_ticks: ticks(rank, RUN_NS),
            realtime_ns: base.realtime_ns + 2_000_000 * u64::from(host),
            ..base
        };
        let question = |round: u64| Definition::ClockSample {
            round: round as u32,
            reference: 0,
            sent_ticks: ticks(1, round * 2_000_000_000),
            reference_ticks: ticks(0, round * 2_000_000_000 + 500),
            received_ticks: ticks(1, round * 2_000_000_000 + 1_000),
        };
        let asked: Vec<Definition> = if host == 1 { (0..6).map(question).collect() } else { Vec::new() };
        define(trace, &who, &asked);
        let mut segment = SegmentWriter::create(trace, &who, Some(0));
        let (name, start_ns, length) =
            if rank == 0 { ("MPI_Recv", 1_000, 5_000) } else { ("MPI_Send", 2_000, 500) };
        let start_ticks = ticks(rank, start_ns) - who.base_ticks;
        let message =
            CallRecord { comm: 0, peer: 1 - rank as i32, tag: 3, ..call(name, start_ticks, length) };
        segment.call(&message);
        segment.finish();
    }
    assert!(kizami(&["seal", trace.to_str().unwrap()]).contains("sealed"));
}

fn kizami(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kizami")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn one_host_needs_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.kz");
    record(&trace, 1);
    let text = kizami(&["clocks", trace.to_str().unwrap()]);
    assert_eq!(text, "clock     all ranks ran on one host and share its clock\n");
}

#[test]
fn two_hosts_are_listed_with_their_errors() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.kz");
    record(&trace, 2);
    let text = kizami(&["clocks", trace.to_str().unwrap()]);
    println!("{text}");
    assert!(text.contains("2 hosts, synchronised by measured offsets"), "{text}");
    assert!(text.contains("1 by wall clocks, 0 by this trace's clock"), "{text}");
    assert!(text.contains("none needed"), "{text}");
    let row = text.lines().find(|line| line.starts_with("node1")).unwrap();
    assert!(row.contains("-3.000000000") && row.contains("-3.00010000") && row.contains("-10.000"), "{row}");
    assert!(text.contains("(root)"), "{text}");
    let json = kizami(&["clocks", trace.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["method"], "measured");
    assert_eq!(json["messages"]["violations_wall_clock"], 1);
    assert_eq!(json["hosts"][1]["rounds"].as_array().map(Vec::len), Some(6));
    assert!(json["hosts"][1]["bound_ns"].as_i64().unwrap() < 5_000);
}
