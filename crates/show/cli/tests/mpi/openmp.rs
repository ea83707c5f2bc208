//! Programs with OpenMP, built with GNU's and LLVM's compilers: they do what they do without the tracer, and what is
//! told of their threads is what they know themselves.

use super::mpi::{Scratch, finish, kill, prepared, wait_until};
use super::sealing::ranks;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const COMPILERS: [&str; 2] = ["gcc", "clang"];

pub fn programs(compiler: &str) -> PathBuf {
    prepared().join("workloads").join(format!("openmp-{compiler}"))
}

pub fn report(trace: &Path) -> Value {
    let output = finish(command(&["report", "--json"], trace));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

pub fn command(words: &[&str], trace: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    command.args(words).arg(trace);
    command
}

#[test]
fn results_are_as_without_the_tracer() {
    for compiler in COMPILERS {
        let scratch = Scratch::new();
        let script = format!("{}/../../../workloads/openmp/run-all.sh", env!("CARGO_MANIFEST_DIR"));
        let mut all = Command::new("bash");
        all.arg(script).arg(programs(compiler)).arg("env");
        // The library lies beside the command.
        let library = Path::new(env!("CARGO_BIN_EXE_kizami")).with_file_name("libkizami.so");
        all.arg(format!("LD_PRELOAD={}", library.display()));
        all.arg(format!("KIZAMI_RAW={}", scratch.make("raw").display()));
        all.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        let output = all.output().expect("bash runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{compiler}: {said}");
    }
}

#[test]
fn what_a_killed_program_did_is_kept() {
    for compiler in COMPILERS {
        let scratch = Scratch::new();
        let trace = scratch.path().join("killed.kz");
        // More than 3,000 tasks.
        let mut record = command(&["record", "-o"], &trace);
        record.arg("--").arg(programs(compiler).join("naps")).args(["tree", "7", "2000"]);
        record.env("OMP_NUM_THREADS", "2").stdout(Stdio::null()).stderr(Stdio::null());
        let mut recorder = record.spawn().expect("kizami runs");
        let tasks = || {
            let printed: Value =
                serde_json::from_slice(&finish(command(&["tasks", "--json"], &trace)).stdout).ok()?;
            printed["tasks"].as_u64()
        };
        let mut seen = 0;
        wait_until("tasks are recorded", || {
            seen = tasks().unwrap_or(0);
            seen > 100
        });
        ranks(&trace).into_iter().for_each(kill);
        recorder.wait().expect("it ends with its program");
        assert!(tasks().expect("a number") >= seen);
    }
}
