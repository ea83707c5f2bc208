//! From sources to a trace of a run nobody made: built by each MPI's own compiler, checked against a recorded run, run at
//! more ranks than there were, opened by the product's own report.

mod product;
mod real_mpi;

use product::{json, kizami, ran, workloads};
use real_mpi::{MPICH, Mpi, OPEN_MPI};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const RANKS: usize = 4;
const MORE_RANKS: usize = 64;

/// Builds a program as its makers would, with a skeleton beside it; observes it if that is asked for.
fn build(program: &str, mpi: &Mpi, folder: &Path) -> (PathBuf, PathBuf) {
    let (binary, skeleton) = (folder.join(program), folder.join(format!("{program}.skel")));
    let here = workloads();
    ran(Command::new(kizami())
        .args(["skeleton", "build", "-o"])
        .arg(&skeleton)
        .args(["--", &format!("mpicc{}", mpi.ending), "-std=gnu11", "-O2", "-g", "-w"])
        .arg(format!("-I{}", here.display()))
        .arg(format!("-I{}", here.join("../include").display()))
        .arg("-o")
        .arg(&binary)
        .arg(here.join(format!("{program}.c")))
        .arg("-lm")
        .env("KIZAMI_SKELETON_STORE", folder.join("store")));
    if skeleton.join("observe").exists() {
        ran(Command::new(kizami())
            .args(["skeleton", "observe"])
            .arg(&skeleton)
            .arg("--")
            .args(mpi.launcher)
            .args(["-n", &RANKS.to_string(), "{}"]));
    }
    (binary, skeleton)
}

fn whole_way(program: &str, mpi: &Mpi) {
    let folder = tempfile::tempdir().unwrap();
    let (binary, skeleton) = build(program, mpi, folder.path());
    let recorded = folder.path().join("recorded.kz");
    ran(Command::new(kizami())
        .args(["record", "-o"])
        .arg(&recorded)
        .args(mpi.launcher)
        .args(["-n", &RANKS.to_string()])
        .arg(&binary));

    let checked = json(&ran(Command::new(kizami())
        .args(["skeleton", "check", "--json"])
        .arg(&skeleton)
        .arg(&recorded)));
    assert_eq!(checked["schema"], "kizami-skeleton-check/1");
    assert_eq!(checked["identical"], RANKS, "{program}: {checked:#}");
    assert_eq!(checked["ranks"], RANKS);
    assert!(checked["compared"].as_u64() >= Some(36), "{program}: {checked:#}");

    let big = folder.path().join("big.kz");
    let printed = json(&ran(Command::new(kizami())
        .args(["skeleton", "run", "--json", "--ranks", &MORE_RANKS.to_string(), "--like"])
        .arg(&recorded)
        .arg("-o")
        .arg(&big)
        .arg(&skeleton)));
    assert_eq!(printed["schema"], "kizami-skeleton-run/1");
    assert_eq!(printed["ranks"], MORE_RANKS);
    let report = json(&ran(Command::new(kizami()).args(["report", "--json"]).arg(&big)));
    assert_eq!(report["schema"], "kizami-report/1");
    let run: Value = serde_json::from_slice(&std::fs::read(big.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["ranks"], MORE_RANKS);
    assert_eq!(run["replayed"]["setting"][0], "predicted");
    assert_eq!(run["replayed"]["unmatched"], 0, "every message has two sides");
    let costly =
        ran(Command::new(kizami()).args(["replay", "--json", "--loggops", "L=1us,o=200ns"]).arg(&big));
    let costly = json(&costly);
    assert_eq!(costly["unmatched"], 0, "times of ranks fit together: {costly:#}");
    assert!(costly["replayed_ns"].as_i64() > run["span_ns"].as_i64(), "messages cost something: {costly:#}");
    assert_eq!(run["totals"]["events"], printed["calls"], "all its calls are rows");
}

#[test]
fn stencil2d_with_mpich() {
    whole_way("stencil2d", &MPICH);
}

#[test]
fn stencil2d_with_open_mpi() {
    whole_way("stencil2d", &OPEN_MPI);
}

#[test]
fn cg_with_mpich() {
    whole_way("cg", &MPICH);
}

#[test]
fn cg_with_open_mpi() {
    whole_way("cg", &OPEN_MPI);
}

/// A skeleton that does something else than was recorded is told by exit code 1, with the first difference.
#[test]
fn other_arguments_differ_from_those_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (_, skeleton) = build("stencil2d", &MPICH, folder.path());
    let recorded = workloads().join("../crates/show/cli/tests/golden/schema-1/mpich4.kz");
    let check = |arguments: &[&str]| {
        let mut command = Command::new(kizami());
        command.args(["skeleton", "check"]).arg(&skeleton).arg(&recorded).args(arguments);
        let output = command.output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, printed) = check(&[]);
    assert_eq!(code, Some(0), "the arguments of the recorded run are taken: {printed}");
    let (code, printed) = check(&["--", "32", "12", "300"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.starts_with("0 of 4 ranks identical") && printed.contains("  recorded "), "{printed}");
}
