//! Threads of real programs that nap: what is told of them, and what other threads gain, by their own clocks.

use super::ATTEMPTS;
use crate::mpi::{Program, Scratch, finish, mpi};
use crate::openmp::{command, programs, report};
use kizami_testing::timing::{majority_of, must};
use serde_json::Value;
use std::path::PathBuf;

/// Records a program whose threads nap: what is told of them is what its own clocks say.
fn is_as_it_says(name: &'static str, compiler: &str) -> Result<(), String> {
    let (mpi, scratch) = (mpi(name), Scratch::new());
    let trace = scratch.path().join("hybrid.kz");
    let program = programs(compiler).join(format!("hybrid.{name}"));
    let program = Program(vec![program.into(), "10".into(), "9000".into()]);
    let mut record = mpi.record_command(2, &program, scratch.path(), &trace);
    record.envs([("OMP_NUM_THREADS", "4"), ("OMP_WAIT_POLICY", "passive")]);
    let said = String::from_utf8_lossy(&finish(record).stdout).into_owned();
    // "... by clocks 45.1 %, 62.3 %, ..."
    let clocks = said.split("by clocks ").nth(1).expect("what its clocks say").split(" %").take(2);
    let clocks: Vec<f64> = clocks.filter_map(|text| text.trim_matches([',', ' ']).parse().ok()).collect();
    let printed = report(&trace)["threads"].clone();
    let number = |field: &str| printed[field].as_f64().expect("a number");
    let losses = printed["losses"].as_array().expect("losses");
    let lost: i64 = losses.iter().map(|loss| loss["ns"].as_i64().expect("a number")).sum();
    assert_eq!(printed["threads"], 8, "{name}: {printed}");
    assert!((lost as f64 / number("all_ns") + number("useful") - 1.0).abs() < 1e-6, "{printed}");
    let worst = (losses[0]["kind"].as_str(), losses[0]["place"]["file"].as_str());
    let holds = (100.0 * number("in_regions") - clocks[1]).abs() < 2.0
        // The program counts from its first iteration on, the report from MPI_Init.
        && (100.0 * number("useful") - clocks[0]).abs() < 4.0
        && worst == (Some("imbalance"), Some("hybrid.c"));
    must(holds, || format!("{said} {printed}"))
}

#[test]
fn threads_of_a_hybrid_program_compute_as_long_as_it_says() {
    for (name, compiler) in [("openmpi", "gcc"), ("mpich", "clang")] {
        majority_of(ATTEMPTS, name, || is_as_it_says(name, compiler));
    }
}

/// Records `hybrid`, whose work is the same with any number of threads; gives the trace and how long it worked.
fn recorded(scratch: &Scratch, name: &'static str, threads: &str, shares: &str) -> (PathBuf, f64) {
    let trace = scratch.path().join(format!("{threads}-{shares}.kz"));
    let program = programs("gcc").join(format!("hybrid.{name}"));
    let program = Program(vec![program.into(), "6".into(), "10000".into(), shares.into(), "48".into()]);
    let mut record = mpi(name).record_command(2, &program, scratch.path(), &trace);
    record.envs([("OMP_NUM_THREADS", threads), ("OMP_WAIT_POLICY", "passive")]);
    finish(record);
    let work_ns = report(&trace)["run_ns"].as_f64().expect("a number");
    (trace, work_ns)
}

/// How far off what is foretold may be here, where tests run beside each other: a part of the run.
const FAR_OFF: f64 = 0.1;

/// Other threads and even shares take as long as is predicted.
fn is_predicted(name: &'static str) -> Result<(), String> {
    let scratch = Scratch::new();
    let (uneven, _) = recorded(&scratch, name, "4", "uneven");
    let threads = report(&uneven)["threads"].clone();
    // On a machine that is busy otherwise, something else may cost more.
    let Some(balance) = threads["losses"][0]["option"].as_str() else {
        return Err(format!("nothing can be balanced in {threads:#}"));
    };
    let cases =
        [(balance, "4", "even"), ("--omp-threads 2x", "8", "uneven"), ("--omp-threads 2", "2", "uneven")];
    let mut said = format!("{threads:#}");
    let mut holds = balance.starts_with("--balance-threads hybrid.c:");
    for (options, threads, shares) in cases {
        let (_, really_ns) = recorded(&scratch, name, threads, shares);
        let words: Vec<&str> = ["replay", "--json"].into_iter().chain(options.split(' ')).collect();
        let replayed: Value = serde_json::from_slice(&finish(command(&words, &uneven)).stdout).expect("JSON");
        let predicted_ns = replayed["replayed_work_ns"].as_f64().expect("a number");
        holds &= (predicted_ns / really_ns - 1.0).abs() < FAR_OFF;
        said += &format!("\n{options}: {predicted_ns} ns foretold, {really_ns} ns really");
    }
    must(holds, || said)
}

#[test]
fn other_threads_and_even_shares_gain_as_predicted() {
    majority_of(ATTEMPTS, "mpich", || is_predicted("mpich"));
}
