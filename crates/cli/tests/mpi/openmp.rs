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

/// Runs that a busy machine may spoil before one must do.
const ATTEMPTS: usize = 5;

/// Records a program whose threads nap; whether what is told of them is what its own clocks say, and all that in words.
fn is_as_it_says(name: &'static str, compiler: &str) -> (bool, String) {
    let (mpi, scratch) = (mpi(name), Scratch::new());
    let trace = scratch.path().join("hybrid.kz");
    let program = programs(compiler).join(format!("hybrid.{name}"));
    let program = Program(vec![program.into(), "30".into(), "3000".into()]);
    let mut record = mpi.record_command(2, &program, scratch.path(), &trace);
    record.envs([("OMP_NUM_THREADS", "4"), ("OMP_WAIT_POLICY", "passive")]);
    let said = String::from_utf8_lossy(&finish(record).stdout).into_owned();
    // "... by clocks 45.1 %, 62.3 %, ..."
    let clocks = said.split("by clocks ").nth(1).expect("what its clocks say").split(" %").take(2);
    let clocks: Vec<f64> = clocks.filter_map(|text| text.trim_matches([',', ' ']).parse().ok()).collect();
    let told = report(&trace)["threads"].clone();
    let number = |field: &str| told[field].as_f64().expect("a number");
    let losses = told["losses"].as_array().expect("losses");
    let lost: i64 = losses.iter().map(|loss| loss["ns"].as_i64().expect("a number")).sum();
    assert_eq!(told["threads"], 8, "{name}: {told}");
    assert!((lost as f64 / number("all_ns") + number("useful") - 1.0).abs() < 1e-6, "{told}");
    let worst = (losses[0]["kind"].as_str(), losses[0]["place"]["file"].as_str());
    let holds = (100.0 * number("in_regions") - clocks[1]).abs() < 2.0
        // The program counts from its first iteration on, the report from MPI_Init.
        && (100.0 * number("useful") - clocks[0]).abs() < 4.0
        && worst == (Some("imbalance"), Some("hybrid.c"));
    (holds, format!("{name}: {said} {told}"))
}

#[test]
fn threads_of_a_hybrid_program_compute_as_long_as_it_says() {
    for (name, compiler) in [("openmpi", "gcc"), ("mpich", "clang")] {
        let mut seen = Vec::new();
        let any = (0..ATTEMPTS).any(|_| {
            let (holds, what) = is_as_it_says(name, compiler);
            seen.push(what);
            holds
        });
        assert!(any, "{seen:#?}");
    }
}

/// Records `hybrid`, whose work is the same with any number of threads; gives the trace and how long it worked.
fn recorded(scratch: &Scratch, name: &'static str, threads: &str, shares: &str) -> (PathBuf, f64) {
    let trace = scratch.path().join(format!("{threads}-{shares}.kz"));
    let program = programs("gcc").join(format!("hybrid.{name}"));
    let program = Program(vec![program.into(), "20".into(), "3000".into(), shares.into(), "48".into()]);
    let mut record = mpi(name).record_command(2, &program, scratch.path(), &trace);
    record.envs([("OMP_NUM_THREADS", threads), ("OMP_WAIT_POLICY", "passive")]);
    finish(record);
    let work_ns = report(&trace)["run_ns"].as_f64().expect("a number");
    (trace, work_ns)
}

/// How far off what is foretold may be here, where tests run beside each other: a part of the run.
const FAR_OFF: f64 = 0.1;

/// Whether other threads and even shares take as long as is foretold, and all that in words.
fn is_foretold(name: &'static str) -> (bool, String) {
    let scratch = Scratch::new();
    let (uneven, _) = recorded(&scratch, name, "4", "uneven");
    let threads = report(&uneven)["threads"].clone();
    // On a machine that is busy otherwise, something else may cost more.
    let Some(balance) = threads["losses"][0]["option"].as_str() else {
        return (false, format!("{name}: nothing can be balanced in {threads:#}"));
    };
    let cases =
        [(balance, "4", "even"), ("--omp-threads 2x", "8", "uneven"), ("--omp-threads 2", "2", "uneven")];
    let mut said = format!("{name}, {threads:#}");
    let mut holds = balance.starts_with("--balance-threads hybrid.c:");
    for (options, threads, shares) in cases {
        let (_, really_ns) = recorded(&scratch, name, threads, shares);
        let words: Vec<&str> = ["replay", "--json"].into_iter().chain(options.split(' ')).collect();
        let replayed: Value = serde_json::from_slice(&finish(command(&words, &uneven)).stdout).expect("JSON");
        let foretold_ns = replayed["replayed_work_ns"].as_f64().expect("a number");
        holds &= (foretold_ns / really_ns - 1.0).abs() < FAR_OFF;
        said += &format!("\n{options}: {foretold_ns} ns foretold, {really_ns} ns really");
    }
    (holds, said)
}

#[test]
fn other_threads_and_even_shares_gain_what_is_foretold() {
    let mut seen = Vec::new();
    let any = (0..ATTEMPTS).any(|_| {
        let (holds, what) = is_foretold("mpich");
        seen.push(what);
        holds
    });
    assert!(any, "{}", seen.join("\n"));
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
