//! OpenMP programs that sleep instead of computing: what is recorded of them has the work and the span that follow from their
//! naps alone, whatever the runtime and however few processors there are.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program as built by a compiler, by `.ci/prepare`.
fn naps(compiler: &str) -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache/kizami");
    let folder = std::env::var_os("KIZAMI_TEST_DIR").map_or_else(home, PathBuf::from);
    folder.join("workloads").join(format!("openmp-{compiler}")).join("naps")
}

fn kizami(words: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    command.args(words).current_dir(folder).env("OMP_NUM_THREADS", "4");
    let output = command.output().expect("kizami runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The number behind these words in what the program prints.
fn printed(text: &str, before: &str) -> f64 {
    let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no {before:?} in {text:?}"));
    rest.split_whitespace().next().unwrap().trim_end_matches(',').parse().unwrap()
}

/// Runs that a busy machine may spoil before one must do.
const ATTEMPTS: usize = 5;

/// Records a shape of naps; whether the work and the span are as the program prints them, and all that in words.
fn is_as_printed(compiler: &str, shape: &str) -> (bool, String) {
    let scratch = tempfile::tempdir().unwrap();
    let program = naps(compiler);
    let words = ["record", "-o", "naps.kz", "--", program.to_str().unwrap(), shape, "0", "5000"];
    let text = String::from_utf8_lossy(&kizami(&words, scratch.path()).stdout).into_owned();
    let told = kizami(&["tasks", "naps.kz", "--json"], scratch.path());
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let seconds = |field: &str| told[field].as_f64().unwrap() / 1e9;
    let (work, span) = (printed(&text, " of "), printed(&text, "longest chain "));
    let what = format!("{compiler} {shape}: work {}, span {}; {text}", seconds("work"), seconds("span"));
    assert_eq!(told["unit"], "ns");
    assert!(seconds("work") > 0.95 * work && seconds("span") > 0.95 * span, "{what}");
    // Beside the program's tasks: its beginning, and two regions of at most four shares.
    let tasks = told["tasks"].as_f64().unwrap() - printed(&text, ", tasks ");
    assert!((1.0..=9.0).contains(&tasks), "{tasks} more tasks; {what}");
    // What the threads do besides napping is little; a machine that is busy makes naps longer.
    (seconds("work") < 1.2 * work + 0.02 && seconds("span") < 1.2 * span + 0.02, what)
}

#[test]
fn naps_have_the_work_and_the_span_that_the_program_prints() {
    for (compiler, shape) in [("gcc", "tree"), ("gcc", "wave"), ("clang", "tree"), ("clang", "wave")] {
        let mut seen = Vec::new();
        let any = (0..ATTEMPTS).any(|_| {
            let (holds, what) = is_as_printed(compiler, shape);
            seen.push(what);
            holds
        });
        assert!(any, "{seen:#?}");
    }
}

/// Records `fib` with so many milliseconds that recording its tasks may cost; what `tasks --json` and `info --json` tell.
fn fib_with_grace(compiler: &str, grace: &str, folder: &Path) -> (Value, Value) {
    let program = naps(compiler).with_file_name("fib");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    command.args(["record", "-o", "fib.kz", "--", program.to_str().unwrap(), "24", "40"]);
    command.current_dir(folder).env("OMP_NUM_THREADS", "2").env("KIZAMI_TRACER_OPENMP", grace);
    let output = command.output().expect("kizami runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = |words: &[&str]| serde_json::from_slice(&kizami(words, folder).stdout).expect("JSON");
    (json(&["tasks", "fib.kz", "--json"]), json(&["info", "fib.kz", "--json"]))
}

#[test]
fn tasks_that_cost_too_much_are_counted_and_what_was_left_out_is_told() {
    // As fib says itself: two in each call above 1.
    const TASKS: u64 = 150_048;
    for compiler in ["gcc", "clang"] {
        let scratch = tempfile::tempdir().unwrap();
        let (tasks, run) = fib_with_grace(compiler, "auto:1", scratch.path());
        let counted = &run["counted_tasks"];
        let (left_out, recorded) = (counted["tasks"].as_u64().unwrap(), tasks["tasks"].as_u64().unwrap());
        // Beside the tasks that the program made: its beginning and two shares.
        assert_eq!(left_out + recorded, TASKS + 3, "{compiler}: {counted}");
        assert!(left_out > 0 && counted["since_ns"].as_i64().unwrap() > 0, "{compiler}: {counted}");
        assert_eq!(&tasks["counted_tasks"], counted);
        let problems = run["health"]["problems"].as_array().unwrap();
        assert!(
            matches!(&problems[..], [Value::String(only)] if only.contains("only counted")),
            "{problems:?}"
        );
    }
}

#[test]
fn threads_do_not_look_idle_in_tasks_that_are_only_counted() {
    // The part of their time in regions in which threads compute, by the report.
    let computing = |compiler: &str, grace: &str| {
        let scratch = tempfile::tempdir().unwrap();
        fib_with_grace(compiler, grace, scratch.path());
        let report = kizami(&["report", "fib.kz", "--json"], scratch.path());
        let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
        report["threads"]["in_regions"].as_f64().unwrap()
    };
    for compiler in ["gcc", "clang"] {
        let mut seen = Vec::new();
        let any = (0..ATTEMPTS).any(|_| {
            let (counted, recorded) = (computing(compiler, "auto:1"), computing(compiler, "tasks"));
            seen.push((counted, recorded));
            counted > 0.8 * recorded
        });
        assert!(any, "{compiler}: {seen:?}");
    }
}

#[test]
fn short_runs_and_those_asked_for_are_whole() {
    for how in ["auto", "tasks"] {
        let scratch = tempfile::tempdir().unwrap();
        let (tasks, run) = fib_with_grace("gcc", how, scratch.path());
        assert_eq!(tasks["tasks"], 150_051);
        assert_eq!(run.get("counted_tasks"), None, "{how}");
    }
}
