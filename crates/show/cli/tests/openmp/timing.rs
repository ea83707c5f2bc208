//! What depends on how long things take on this machine. These tests run alone (`.config/nextest.toml`), and more than half of
//! their attempts must hold.

use crate::{fib_with_grace, kizami, program};
use kizami_testing::timing::{majority_of, must};
use serde_json::Value;

/// The number behind these words in what the program prints.
fn printed(text: &str, before: &str) -> f64 {
    let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no {before:?} in {text:?}"));
    rest.split_whitespace().next().unwrap().trim_end_matches(',').parse().unwrap()
}

/// Of so many attempts more than half must hold.
const ATTEMPTS: usize = 5;

/// Records a shape of naps, or of a pool of threads that takes them: the work and the span are as the program prints them.
fn is_as_printed(compiler: &str, name: &str, shape: &str) -> Result<(), String> {
    let scratch = tempfile::tempdir().unwrap();
    let program = program(compiler, name);
    let words = ["record", "-o", "naps.kz", "--", program.to_str().unwrap(), shape, "0", "5000"];
    let text = String::from_utf8_lossy(&kizami(&words, scratch.path()).stdout).into_owned();
    let shown = kizami(&["tasks", "naps.kz", "--json"], scratch.path());
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    let seconds = |field: &str| shown[field].as_f64().unwrap() / 1e9;
    let (work, span) = (printed(&text, " of "), printed(&text, "longest chain "));
    let what =
        format!("{compiler} {name} {shape}: work {}, span {}; {text}", seconds("work"), seconds("span"));
    assert_eq!(shown["unit"], "ns");
    // Beside the program's tasks: its beginning, and where there are regions, two of at most four shares.
    let tasks = shown["tasks"].as_f64().unwrap() - printed(&text, ", tasks ");
    assert!((1.0..=9.0).contains(&tasks), "{tasks} more tasks; {what}");
    // The program counts the time in which a thread that has slept waits for a core, which is no work.
    let least = |name: &str, printed: f64| seconds(name) > 0.85 * printed;
    // What the threads do besides napping is little; a machine that is busy makes naps longer.
    let most = |name: &str, printed: f64| seconds(name) < 1.2 * printed + 0.02;
    let holds = |name: &str, printed: f64| least(name, printed) && most(name, printed);
    must(holds("work", work) && holds("span", span), || what)
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
    majority_of(ATTEMPTS, &format!("{compiler} {name} {shape}"), || is_as_printed(compiler, name, shape));
}

#[test]
fn expensive_tasks_are_counted_and_reported() {
    // As fib says itself: two in each call above 1.
    const TASKS: u64 = 150_048;
    for compiler in ["gcc", "clang"] {
        majority_of(ATTEMPTS, compiler, || {
            let (tasks, run) = fib_with_grace(compiler, "auto:1", tempfile::tempdir().unwrap().path());
            // On a busy machine recording may take a smaller part of the time than it may.
            let counted = run.get("counted_tasks").ok_or("no task is only counted")?;
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
            Ok(())
        });
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
        majority_of(ATTEMPTS, compiler, || {
            let (counted, recorded) = (computing(compiler, "auto:1"), computing(compiler, "tasks"));
            must(counted > 0.8 * recorded, || format!("{counted} of {recorded}"))
        });
    }
}
