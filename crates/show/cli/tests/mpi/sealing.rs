//! Sealing a run that is not over is refused, whoever still works on it, and takes nothing away. What was sealed can be sealed
//! again, and one rank's damage is its own.

use crate::mpi::{Scratch, finish, kill, mpi, wait_until};
use kizami_trace::RunInfo;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const RANKS: usize = 2;

fn seal(trace: &Path) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_kizami")).arg("seal").arg(trace).output().expect("runs");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, printed)
}

/// Processes with segments, by the names of these: HOST.PID.0.calls.
pub fn ranks(trace: &Path) -> BTreeSet<i32> {
    let files = std::fs::read_dir(trace.join("raw")).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(".0.calls")?.rsplit('.').next()?.parse().ok()).collect()
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

    let (output, printed) = seal(&trace);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("still being recorded by process") && printed.contains(&recorder.id().to_string()),
        "{printed}"
    );

    // The ranks go on without their recorder.
    recorder.kill().expect("it can be killed");
    recorder.wait().expect("it ends");
    let (output, printed) = seal(&trace);
    let alive = pids.iter().all(|pid| Path::new(&format!("/proc/{pid}")).exists());
    assert!(alive, "{name}: the ranks ended with their recorder");
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        pids.iter().all(|pid| printed.contains(&pid.to_string())) && printed.contains("on this host"),
        "{printed}"
    );
    assert_eq!(ranks(&trace), pids, "no segment was taken away");

    pids.iter().for_each(|pid| kill(*pid));
    let (output, printed) = seal(&trace);
    assert!(output.status.success(), "{printed}");
    let run = RunInfo::read(&trace).expect("sealed");
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

/// Records a short run with these options; gives the trace's directory.
fn record(name: &'static str, scratch: &Scratch, options: &[&str]) -> PathBuf {
    let mpi = mpi(name);
    let mut line: Vec<OsString> = vec![env!("CARGO_BIN_EXE_kizami").into(), "record".into()];
    line.extend(options.iter().map(OsString::from));
    line.extend(["-o", "run.kz", "--"].map(OsString::from));
    line.extend(mpi.launch(RANKS as u32, &mpi.workload("stencil2d", &["32", "50"])));
    let output = finish(mpi.command(&line, scratch.path()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    scratch.path().join("run.kz")
}

fn sealed_again(name: &'static str) {
    let scratch = Scratch::new();
    let trace = record(name, &scratch, &["--counters", "page-faults", "--keep-raw"]);
    let tables = |run: &RunInfo| run.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    let before = RunInfo::read(&trace).expect("sealed");
    assert!(tables(&before).iter().any(|path| path.starts_with("counters")), "{:?}", tables(&before));
    let (output, printed) = seal(&trace);
    assert!(output.status.success(), "{printed}");
    let after = RunInfo::read(&trace).expect("sealed");
    assert_eq!((tables(&after), after.totals.calls), (tables(&before), before.totals.calls));
    assert!(after.files.iter().all(|file| trace.join(&file.path).is_file()));
}

fn one_forged_world(name: &'static str) {
    const WORLD_SIZE_AT: u64 = 28;
    for size in [u32::MAX, 1 << 24, 1 << 20] {
        let scratch = Scratch::new();
        let trace = record(name, &scratch, &["--no-seal"]);
        let forged = *ranks(&trace).last().expect("a rank");
        for entry in std::fs::read_dir(trace.join("raw")).expect("segments").flatten() {
            if entry.file_name().to_string_lossy().contains(&format!(".{forged}.")) {
                let file = OpenOptions::new().write(true).open(entry.path()).expect("a segment");
                file.write_all_at(&size.to_le_bytes(), WORLD_SIZE_AT).expect("written");
            }
        }
        let (output, printed) = seal(&trace);
        assert!(output.status.success(), "{size}: {printed}");
        let run = RunInfo::read(&trace).expect("sealed");
        assert_eq!((run.ranks as usize, run.totals.lost_calls), (RANKS, 0), "{size}");
    }
}

#[test]
fn a_trace_is_sealed_again_openmpi() {
    sealed_again("openmpi");
}

#[test]
fn a_trace_is_sealed_again_mpich() {
    sealed_again("mpich");
}

#[test]
fn a_forged_size_of_the_world_harms_no_other_rank_openmpi() {
    one_forged_world("openmpi");
}

#[test]
fn a_forged_size_of_the_world_harms_no_other_rank_mpich() {
    one_forged_world("mpich");
}
