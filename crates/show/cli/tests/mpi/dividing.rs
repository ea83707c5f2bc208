//! Commands that divide other work than replays, or none, where a launcher has started several processes.

use crate::mpi::{Mpi, Scratch, mpi};
use crate::together::{KIZAMI, alone, line, recorded, stdout, together};
use kizami_testing::segments::{self, RingTimes, SegmentOwner};
use std::ffi::OsString;
use std::path::Path;
use std::process::Output;

const RANKS: u32 = 6;
/// Calls of a rank: more than a megabyte, so that each is a part.
const MESSAGES: u64 = 20_000;

/// The raw segments of a ring.
fn write_ring(trace: &Path, every_ns: u64) {
    write_long_ring(trace, every_ns, MESSAGES);
}

fn write_long_ring(trace: &Path, every_ns: u64, messages: u64) {
    for rank in 0..RANKS {
        let who =
            SegmentOwner { last_ticks: messages * every_ns + 2_000_000, ..SegmentOwner::rank(rank, RANKS) };
        let times = RingTimes { every: every_ns, receives_after: 2_000, call: 700 + 100 * u64::from(rank) };
        segments::write_ring(trace, &who, (rank, RANKS), messages, times);
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Sealed by any number of processes it is the same trace.
fn check_seal(mpi: &Mpi) {
    let scratch = Scratch::new();
    let folder = |name: &str| scratch.make(name);
    let (one, explain) = (folder("one"), ["report", "run.kz", "--json"]);
    write_ring(&one.join("run.kz"), 10_000);
    let said = stdout(&alone(&one, &["seal", "run.kz"]));
    assert_eq!(said.lines().count(), 2, "{said}");
    let (rows, report) = (stdout(&alone(&one, &["events", "run.kz"])), stdout(&alone(&one, &explain)));
    for processes in [1, 2, 3] {
        let several = folder(&processes.to_string());
        write_ring(&several.join("run.kz"), 10_000);
        assert_eq!(stdout(&together(mpi, processes, &several, &["seal", "run.kz"])), said);
        assert!(stdout(&alone(&several, &["events", "run.kz"])) == rows, "{processes}");
        assert_eq!(stdout(&alone(&several, &explain)), report);
        assert!(!several.join("run.kz/raw").exists() && !several.join("run.kz/sealing.tmp").exists());
    }
    // There is nothing left to do, which one says for all.
    let again = together(mpi, 2, &one, &["seal", "run.kz"]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(stderr(&again).matches("is sealed already").count(), 1, "{}", stderr(&again));
}

/// If one is killed, all end, and what was recorded is as it was.
fn check_killed_while_sealing(mpi: &Mpi) {
    let scratch = Scratch::new();
    write_ring(&scratch.path().join("run.kz"), 10_000);
    let mut command_line = line(mpi, 1, &["seal", "run.kz"]);
    // The kernel kills who writes more than that into a file.
    let limited = format!("ulimit -f 100; exec {KIZAMI} seal run.kz");
    command_line.extend([":", "-n", "1", "sh", "-c", &limited].map(OsString::from));
    let output = crate::mpi::finish(mpi.command(&command_line, scratch.path()));
    assert!(!output.status.success(), "{output:?}");
    let trace = scratch.path().join("run.kz");
    assert!(trace.join("raw").exists() && !trace.join("run.json").exists());
    stdout(&alone(scratch.path(), &["seal", "run.kz"]));
}

/// What is said of two runs is the same, and so is the exit code.
fn check_diff(mpi: &Mpi) {
    // Few rounds: processes that do not have a core each wait long for each other.
    let scratch = recorded(mpi);
    let (trace, later) = (scratch.path().join("run.kz"), scratch.path().join("after.kz"));
    stdout(&alone(scratch.path(), &["replay", "run.kz", "--cpu", "0.5x", "-o", "after.kz"]));
    assert!(trace.exists() && later.exists());
    let text: &[&str] = &["diff", "run.kz", "after.kz", "--threads", "1"];
    let json: &[&str] = &["diff", "run.kz", "after.kz", "--json"];
    for (words, processes) in [(text, 2), (json, 1), (json, 2), (json, 4)] {
        let (one, several) = (alone(scratch.path(), words), together(mpi, processes, scratch.path(), words));
        assert_eq!(stdout(&several), stdout(&one), "{processes}");
    }
    let words = ["diff", "run.kz", "after.kz", "--fail-if", "run_time > 1us"];
    let failed = together(mpi, 2, scratch.path(), &words);
    assert_eq!(failed.status.code(), Some(3), "{failed:?}");
    assert_eq!(stderr(&failed).matches("kizami: failed:").count(), 1, "{}", stderr(&failed));
}

/// Lists of a large run grow by tens of megabytes where MPI stands between a process and the system's memory.
fn check_large(mpi: &Mpi) {
    let scratch = Scratch::new();
    write_long_ring(&scratch.path().join("run.kz"), 10_000, 3 * MESSAGES);
    stdout(&alone(scratch.path(), &["seal", "run.kz"]));
    let words = ["report", "run.kz", "--json"];
    let report = stdout(&together(mpi, 2, scratch.path(), &words));
    assert!(report == stdout(&alone(scratch.path(), &words)), "the same report");
}

/// One picture, one export, one answer: each command line is done once.
fn check_once(mpi: &Mpi) {
    let scratch = Scratch::new();
    write_ring(&scratch.path().join("run.kz"), 10_000);
    stdout(&alone(scratch.path(), &["seal", "run.kz"]));
    let at = scratch.path();
    let shown = stdout(&together(mpi, 2, at, &["view", "run.kz", "--snapshot", "page.html"]));
    assert_eq!(shown.matches("wrote page.html").count(), 1, "{shown}");
    assert!(at.join("page.html").exists() && at.join("run.kz/derived/view.bin").exists());
    let info = stdout(&alone(at, &["info", "run.kz"]));
    // One alone has no colours either, though its launcher may pass for a terminal.
    for processes in [1, 3] {
        assert_eq!(stdout(&together(mpi, processes, at, &["info", "run.kz"])), info);
    }
    // Who was given something else does that.
    let mut different = line(mpi, 1, &["info", "run.kz"]);
    different.extend([":", "-n", "1", KIZAMI, "info", "run.kz", "--json"].map(OsString::from));
    let both = stdout(&crate::mpi::finish(mpi.command(&different, at)));
    let json = stdout(&alone(at, &["info", "run.kz", "--json"]));
    assert_eq!(both.len(), info.len() + json.len(), "{both}");
    // A script may have but one of its processes ask, whatever it asks.
    for words in ["info run.kz --json", "report run.kz", "diff run.kz run.kz"] {
        let script = format!("case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in 0) {KIZAMI} {words}; esac; true");
        let script = ["sh", "-c", &script].map(OsString::from);
        let line = mpi.launch(2, &crate::mpi::Program(script.into()));
        let one = alone(at, &words.split(' ').collect::<Vec<_>>());
        assert_eq!(stdout(&crate::mpi::finish(mpi.command(&line, at))), stdout(&one), "{words}");
    }
    // What fails is said once.
    let refused = together(mpi, 2, at, &["view", "run.kz", "--snapshot", "page.html"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(stderr(&refused).matches("kizami: error:").count(), 1, "{}", stderr(&refused));
}

macro_rules! on_both {
    ($($test:ident),+) => {
        mod openmpi { $(#[test] fn $test() { super::$test(&super::mpi("openmpi")); })+ }
        mod mpich { $(#[test] fn $test() { super::$test(&super::mpi("mpich")); })+ }
    };
}

on_both!(check_seal, check_killed_while_sealing, check_diff, check_large, check_once);
