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
