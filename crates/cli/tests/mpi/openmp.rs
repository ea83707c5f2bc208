//! Programs with OpenMP, built with GNU's and LLVM's compilers: they do what they do without the tracer, and what is
//! told of their threads is what they know themselves.

use super::mpi::{Program, Scratch, finish, mpi, prepared};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPILERS: [&str; 2] = ["gcc", "clang"];

fn programs(compiler: &str) -> PathBuf {
    prepared().join("workloads").join(format!("openmp-{compiler}"))
}

fn report(trace: &Path) -> Value {
    let output = finish(command(&["report", "--json"], trace));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn command(words: &[&str], trace: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    command.args(words).arg(trace);
    command
}

#[test]
fn results_are_as_without_the_tracer() {
    for compiler in COMPILERS {
        let scratch = Scratch::new();
        let script = format!("{}/../../workloads/openmp/run-all.sh", env!("CARGO_MANIFEST_DIR"));
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
fn threads_of_a_hybrid_program_compute_as_long_as_it_says() {
    for (name, compiler) in [("openmpi", "gcc"), ("mpich", "clang")] {
        let (mpi, scratch) = (mpi(name), Scratch::new());
        let trace = scratch.path().join("hybrid.kz");
        let program = programs(compiler).join(format!("hybrid.{name}"));
        let program = Program(vec![program.into(), "30".into(), "3000".into()]);
        let mut record = mpi.record_command(2, &program, scratch.path(), &trace);
        record.envs([("OMP_NUM_THREADS", "4"), ("OMP_WAIT_POLICY", "passive")]);
        let output = finish(record);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // "... by clocks 45.1 %, 62.3 %, ..."
        let clocks: Vec<f64> = said
            .split("by clocks ")
            .nth(1)
            .map(|rest| {
                rest.split(" %").take(2).filter_map(|text| text.trim_matches([',', ' ']).parse().ok())
            })
            .expect("what its clocks say")
            .collect();
        let told = report(&trace)["threads"].clone();
        let of = |field: &str| 100.0 * told[field].as_f64().expect("a number");
        assert_eq!(told["threads"], 8, "{name}: {told}");
        assert!((of("in_regions") - clocks[1]).abs() < 4.0, "{name}: {said} {told}");
        // The program counts from its first iteration on, the report from MPI_Init.
        assert!((of("useful") - clocks[0]).abs() < 8.0, "{name}: {said} {told}");
        let losses = told["losses"].as_array().expect("losses");
        let lost: i64 = losses.iter().map(|loss| loss["ns"].as_i64().expect("a number")).sum();
        let all = told["all_ns"].as_f64().expect("a number");
        assert!(
            (lost as f64 / all + told["useful"].as_f64().expect("a number") - 1.0).abs() < 1e-6,
            "{told}"
        );
        assert_eq!(
            (losses[0]["kind"].as_str(), losses[0]["place"]["file"].as_str()),
            (Some("imbalance"), Some("hybrid.c"))
        );
    }
}

#[test]
fn what_a_killed_program_did_is_kept() {
    for compiler in COMPILERS {
        let scratch = Scratch::new();
        let trace = scratch.path().join("killed.kz");
        let program = programs(compiler).join("naps");
        let line = format!("{} tree 7 2000 & sleep 1; kill -9 $!; wait", program.display());
        let mut record = command(&["record", "-o"], &trace);
        record.args(["--", "sh", "-c", &line]).env("OMP_NUM_THREADS", "2");
        finish(record);
        let output = finish(command(&["tasks", "--json"], &trace));
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(told["tasks"].as_u64().expect("a number") > 100, "{told}");
    }
}
