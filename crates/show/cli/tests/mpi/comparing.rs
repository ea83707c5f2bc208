//! `kizami diff` on two runs in simulated time, with and without a delay that one of them has injected.

use crate::mpi::{Scratch, finish, mpi};
use crate::simulated::describe_cluster;
use kizami_explain::diff::{Diff, Kind, Measure};
use std::ffi::OsString;
use std::path::Path;
use std::process::Output;

fn diff(directory: &Path, options: &[&str]) -> Output {
    let mut line: Vec<OsString> =
        [env!("CARGO_BIN_EXE_kizami"), "diff", "slow.kz", "quick.kz"].map(Into::into).into();
    line.extend(options.iter().map(OsString::from));
    finish(mpi("smpi").command(&line, directory))
}

#[test]
fn a_delay_that_is_gone_is_the_first_change() {
    let mpi = mpi("smpi");
    let scratch = Scratch::new();
    describe_cluster(scratch.path(), 3);
    for (name, delay) in [("slow.kz", "20"), ("quick.kz", "0")] {
        let program = mpi.workload("known_waits", &["late_sender", delay, "20"]);
        let command = mpi.record_command(3, &program, scratch.path(), &scratch.path().join(name));
        assert!(finish(command).status.success());
    }
    let output = diff(scratch.path(), &["--json"]);
    assert_eq!(output.status.code(), Some(0));
    let found: Diff = serde_json::from_slice(&output.stdout).expect("a diff");
    // Two of three ranks waited 400 ms, and the third computed as long.
    let run_time = found.measure(Measure::RunTime).expect("the run time");
    assert!(run_time.before - run_time.after > 0.3, "{run_time:?}");
    let first: Vec<_> = found.changes.iter().take(2).map(|change| (change.kind, &change.name[..])).collect();
    assert!(first.contains(&(Kind::Call, "MPI_Recv")), "{first:?}");
    assert!(first.contains(&(Kind::Waiting, "late sender")), "{first:?}");
    for change in &found.changes[..2] {
        assert!(change.change_ns < -150_000_000, "{change:?}");
    }
    let receive = found.changes.iter().find(|change| change.name == "MPI_Recv").expect("it is there");
    assert_eq!(receive.place.as_ref().map(|place| &place.function[..]), Some("receive"));

    let text = String::from_utf8(diff(scratch.path(), &[]).stdout).expect("text");
    assert!(text.contains("MPI_Recv at known_waits.c:"), "{text}");
    let kept = diff(scratch.path(), &["--fail-if", "change(run_time) > 5 %"]);
    assert_eq!(kept.status.code(), Some(0));
    let broken = diff(scratch.path(), &["--fail-if", "change(run_time) > 5 %", "--fail-if", "run_time < 1h"]);
    assert_eq!(broken.status.code(), Some(2), "hours are no unit");
    let broken =
        diff(scratch.path(), &["--fail-if", "change(run_time) > 5 %", "--fail-if", "run_time < 3600s"]);
    assert_eq!(broken.status.code(), Some(3));
    let said = String::from_utf8_lossy(&broken.stderr).into_owned();
    assert!(said.contains("run_time < 3600s") && said.lines().count() == 1, "{said}");
}
