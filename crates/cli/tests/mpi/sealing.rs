//! Sealing a run that is not over is refused, whoever still works on it, and takes nothing away.

use crate::mpi::{Scratch, mpi};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const RANKS: usize = 2;

fn seal(trace: &Path) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_kizami")).arg("seal").arg(trace).output().expect("runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, told)
}

/// Processes with segments, by the names of these: HOST.PID.0.calls.
fn ranks(trace: &Path) -> BTreeSet<i32> {
    let files = std::fs::read_dir(trace.join("raw")).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(".0.calls")?.rsplit('.').next()?.parse().ok()).collect()
}

fn kill(pid: i32) {
    // SAFETY: the process was started by this test.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(100), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn check(name: &'static str) {
    let mpi = mpi(name);
    let scratch = Scratch::new();
    let trace = scratch.path().join("run.kz");
    let program = mpi.workload("stencil2d", &["32", "100000000"]);
    let mut command = mpi.record_command(RANKS as u32, &program, scratch.path(), &trace);
    let mut recorder = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
    wait_until("all ranks record", || ranks(&trace).len() == RANKS);
    let pids = ranks(&trace);

    let (output, told) = seal(&trace);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("still being recorded by process") && told.contains(&recorder.id().to_string()),
        "{told}"
    );

    // The ranks go on without their recorder.
    recorder.kill().expect("it can be killed");
    recorder.wait().expect("it ends");
    let (output, told) = seal(&trace);
    let alive = pids.iter().all(|pid| Path::new(&format!("/proc/{pid}")).exists());
    assert!(alive, "{name}: the ranks ended with their recorder");
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        pids.iter().all(|pid| told.contains(&pid.to_string())) && told.contains("on this host"),
        "{told}"
    );
    assert_eq!(ranks(&trace), pids, "no segment was taken away");

    pids.iter().for_each(|pid| kill(*pid));
    let (output, told) = seal(&trace);
    assert!(output.status.success(), "{told}");
    let run = kizami_trace::RunInfo::read(&trace).expect("sealed");
    assert_eq!((run.ranks as usize, run.totals.lost_calls), (RANKS, 0));
    assert!(!trace.join("raw").exists());
}

#[test]
fn a_live_recording_is_left_alone_openmpi() {
    check("openmpi");
}

#[test]
fn a_live_recording_is_left_alone_mpich() {
    check("mpich");
}
