//! Programs of tasks. Those that sleep instead of computing have the work and the span that follow from their naps alone, whatever
//! the runtime and however few processors there are. Those whose processes and threads end, fork and become others do
//! what they do without the tracer, and nothing of them is lost.

use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program as built by a compiler, by `.ci/prepare`.
fn program(compiler: &str, name: &str) -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache/kizami");
    let folder = std::env::var_os("KIZAMI_TEST_DIR").map_or_else(home, PathBuf::from);
    folder.join("workloads").join(format!("openmp-{compiler}")).join(name)
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

/// Records a shape of naps, or of a pool of threads that takes them; whether the work and the span are as the program prints them, and
/// all that in words.
fn is_as_printed(compiler: &str, name: &str, shape: &str) -> (bool, String) {
    let scratch = tempfile::tempdir().unwrap();
    let program = program(compiler, name);
    let words = ["record", "-o", "naps.kz", "--", program.to_str().unwrap(), shape, "0", "5000"];
    let text = String::from_utf8_lossy(&kizami(&words, scratch.path()).stdout).into_owned();
    let told = kizami(&["tasks", "naps.kz", "--json"], scratch.path());
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let seconds = |field: &str| told[field].as_f64().unwrap() / 1e9;
    let (work, span) = (printed(&text, " of "), printed(&text, "longest chain "));
    let what =
        format!("{compiler} {name} {shape}: work {}, span {}; {text}", seconds("work"), seconds("span"));
    assert_eq!(told["unit"], "ns");
    assert!(seconds("work") > 0.95 * work && seconds("span") > 0.95 * span, "{what}");
    // Beside the program's tasks: its beginning, and where there are regions, two of at most four shares.
    let tasks = told["tasks"].as_f64().unwrap() - printed(&text, ", tasks ");
    assert!((1.0..=9.0).contains(&tasks), "{tasks} more tasks; {what}");
    // What the threads do besides napping is little; a machine that is busy makes naps longer.
    (seconds("work") < 1.2 * work + 0.02 && seconds("span") < 1.2 * span + 0.02, what)
}

#[test]
fn naps_have_the_work_and_the_span_that_the_program_prints() {
    for (compiler, shape) in [("gcc", "tree"), ("gcc", "wave"), ("clang", "tree"), ("clang", "wave")] {
        must_be_as_printed(compiler, "naps", shape);
    }
}

#[test]
fn tasks_of_any_runtime_have_the_work_and_the_span_that_the_program_prints() {
    for (compiler, shape) in [("gcc", "tree"), ("gcc", "wave"), ("clang", "tree"), ("clang", "wave")] {
        must_be_as_printed(compiler, "pool", shape);
    }
}

fn must_be_as_printed(compiler: &str, name: &str, shape: &str) {
    let mut seen = Vec::new();
    let any = (0..ATTEMPTS).any(|_| {
        let (holds, what) = is_as_printed(compiler, name, shape);
        seen.push(what);
        holds
    });
    assert!(any, "{seen:#?}");
}

#[test]
fn the_place_of_a_told_task_is_where_the_program_says_and_nobody_need_listen() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = program("gcc", "pool");
    for listening in ["tasks", "regions", "off"] {
        let trace = format!("{listening}.kz");
        let words = ["record", "--openmp", listening, "-o", &trace, "--", pool.to_str().unwrap(), "sort"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
        let output = command.args(words).current_dir(scratch.path()).output().expect("kizami runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.starts_with("pool: sort") && !text.contains("WRONG"), "{listening}: {output:?}");
    }
    let told = kizami(&["tasks", "tasks.kz"], scratch.path()).stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains("quicksort"), "{told}");
    assert!(!told.contains("kizami_tasks.h"), "{told}");
}

const SEGMENTATION_FAULT: i32 = 11;

/// What a program printed and how it ended.
#[derive(Debug, PartialEq)]
struct Ran {
    text: String,
    code: Option<i32>,
}

fn ran(output: &Output) -> Ran {
    Ran { text: String::from_utf8_lossy(&output.stdout).into_owned(), code: output.status.code() }
}

/// The number before these words in what `kizami record` says.
fn recorded(said: &str, after: &str) -> u64 {
    let before = said.split(after).next().filter(|before| before.len() < said.len());
    let word = before.and_then(|before| before.split_whitespace().last()).unwrap_or("0");
    word.replace(',', "").parse().unwrap_or_else(|_| panic!("no number before {after:?} in {said}"))
}

/// Runs a program alone and recorded: it must do the same, and as many regions and tasks must be in the trace. Gives what `kizami
/// info` says.
fn loses_nothing(compiler: &str, name: &str, arguments: &[&str], regions: u64, tasks: u64) -> Value {
    let scratch = tempfile::tempdir().unwrap();
    let program = program(compiler, name);
    let what = format!("{compiler} {name} {arguments:?}");
    // LLVM's runtime crashes by itself where several threads begin their first regions at once, about once in 1,500 runs on a
    // busy machine, recorded or not. What the recorder broke would break again.
    let run = || {
        let alone = Command::new(&program).args(arguments).output().expect("the program runs");
        let _ = std::fs::remove_dir_all(scratch.path().join("it.kz"));
        let mut record = Command::new(env!("CARGO_BIN_EXE_kizami"));
        record.args(["record", "-o", "it.kz", "--"]).arg(&program).args(arguments);
        (alone, record.current_dir(scratch.path()).output().expect("kizami runs"))
    };
    let crashed = |(alone, with): &(Output, Output)| {
        alone.status.signal() == Some(SEGMENTATION_FAULT)
            || with.status.code() == Some(128 + SEGMENTATION_FAULT)
    };
    let (alone, output) = (0..3).map(|_| run()).find(|both| !crashed(both)).expect("a run without a crash");
    let (alone, with) = (ran(&alone), ran(&output));
    assert_eq!(alone.text, with.text, "{what}");
    // Kizami ends by a signal's number where the program is ended by one.
    assert_eq!(alone.code.unwrap_or(128 + 9), with.code.unwrap_or(128 + 9), "{what}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(recorded(&said, " parallel region"), regions, "{what}: {said}");
    assert_eq!(recorded(&said, " task"), tasks, "{what}: {said}");
    kizami(&["tasks", "it.kz"], scratch.path());
    let info = kizami(&["info", "it.kz", "--json"], scratch.path());
    let info: Value = serde_json::from_slice(&info.stdout).expect("JSON");
    assert_eq!(info["totals"]["lost_calls"], 0, "{what}: {info}");
    info
}

const COMPILERS: [&str; 2] = ["gcc", "clang"];

#[test]
fn threads_that_end_and_regions_at_once_lose_nothing() {
    for compiler in COMPILERS {
        for (arguments, regions, tasks) in [(&["threads", "100"], 100, 0), (&["together", "4"], 80, 800)] {
            let info = loses_nothing(compiler, "endings", arguments, regions, tasks);
            assert_eq!(info["health"]["complete"], true, "{compiler} {arguments:?}: {info}");
        }
    }
}

#[test]
fn a_process_that_forks_goes_on_and_its_child_is_not_recorded() {
    for compiler in COMPILERS {
        for (arguments, regions, tasks) in [("fork", 2, 20), ("child", 1, 10)] {
            let info = loses_nothing(compiler, "endings", &[arguments], regions, tasks);
            assert_eq!(info["health"]["complete"], true, "{compiler} {arguments}: {info}");
        }
    }
}

#[test]
fn a_process_that_becomes_another_program_leaves_what_it_did_before() {
    for compiler in COMPILERS {
        let info = loses_nothing(compiler, "endings", &["exec", "5"], 6, 10);
        assert_eq!(info["ranks"], 2, "{compiler}: {info}");
    }
}

#[test]
fn a_process_that_is_killed_leaves_all_it_did() {
    for compiler in COMPILERS {
        // The region in which it is killed, and its tasks, were begun.
        let info = loses_nothing(compiler, "endings", &["kill", "200"], 201, 2_010);
        let problems = info["health"]["problems"].as_array().expect("a list");
        assert_eq!(problems.len(), 1, "{compiler}: {info}");
    }
}

#[test]
fn a_runtime_that_is_unloaded_and_loaded_again_is_recorded_each_time() {
    // GNU's keeps threads of regions, and cannot be unloaded under them.
    for (compiler, threads) in [("gcc", "1"), ("clang", "1"), ("clang", "2")] {
        let info = loses_nothing(compiler, "loaded", &["3", threads], 3, 30);
        assert_eq!(info["health"]["complete"], true, "{compiler}: {info}");
    }
}

/// Records `fib` with so many milliseconds that recording its tasks may cost; what `tasks --json` and `info --json` tell.
fn fib_with_grace(compiler: &str, grace: &str, folder: &Path) -> (Value, Value) {
    let program = program(compiler, "fib");
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
        // On a busy machine recording may take a smaller part of the time than it may.
        let recorded = || fib_with_grace(compiler, "auto:1", tempfile::tempdir().unwrap().path());
        let mut attempts = std::iter::repeat_with(recorded).take(ATTEMPTS);
        let (tasks, run) =
            attempts.find(|(_, run)| run.get("counted_tasks").is_some()).expect("some are counted");
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
