//! Programs of tasks. Those that sleep instead of computing have the work and the span that follow from their naps alone, whatever
//! the runtime and however few processors there are. Those whose processes and threads end, fork and become others do
//! what they do without the tracer, and nothing of them is lost.

mod timing;

use kizami_trace::{ParallelRow, Trace};
use serde_json::Value;
use std::collections::BTreeSet;
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

#[test]
fn tasks_of_the_header_have_the_programs_source_lines() {
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
    let printed = kizami(&["tasks", "tasks.kz"], scratch.path()).stdout;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    assert!(printed.contains("quicksort"), "{printed}");
    assert!(!printed.contains("kizami_tasks.h"), "{printed}");
}

/// The lines at which a recording has parallel regions begin, each once.
fn lines_of_regions(trace: &Path) -> BTreeSet<u32> {
    let trace = Trace::open(trace).expect("a trace");
    let callsites = trace.definitions().expect("definitions").callsites;
    let rows = trace.parts_of::<ParallelRow>().expect("regions").flat_map(|part| part.expect("rows"));
    rows.map(|row| callsites[row.callsite.expect("a place") as usize].line.expect("a line")).collect()
}

/// Whatever the compiler, the language and the optimisation. (flang 19 gives loops other lines.)
#[test]
fn parallel_regions_have_the_lines_of_their_directives() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../workloads/openmp/constructs");
    let scratch = tempfile::tempdir().unwrap();
    let compilers: [(&str, &[&str]); 5] = [
        ("gcc", &["atomics.c", "critical_locks.c", "doacross.c"]),
        ("clang-19", &["atomics.c", "critical_locks.c", "doacross.c"]),
        ("g++", &["exceptions.cpp"]),
        ("clang++-19", &["exceptions.cpp"]),
        ("gfortran", &["fortran_loops.f90", "fortran_sections.f90"]),
    ];
    for (compiler, names) in compilers {
        for (name, optimised) in names.iter().flat_map(|name| [(name, "-O0"), (name, "-O2")]) {
            let what = format!("{compiler} {optimised} {name}");
            let (source, program) = (sources.join(name), scratch.path().join("program"));
            let mut command = Command::new(compiler);
            command
                .args([optimised, "-g", "-fopenmp", "-o"])
                .arg(&program)
                .arg(&source)
                .arg("-I")
                .arg(&sources);
            let built = command.arg("-lm").current_dir(scratch.path()).output().expect("the compiler runs");
            assert!(built.status.success(), "{what}: {}", String::from_utf8_lossy(&built.stderr));
            kizami(&["record", "-o", "it.kz", "--", program.to_str().unwrap()], scratch.path());
            let text = std::fs::read_to_string(&source).expect("the source");
            let is_directive = |line: &str| {
                line.contains("#pragma omp parallel") || line.trim_start().starts_with("!$omp parallel")
            };
            let expected: BTreeSet<u32> = (1..)
                .zip(text.lines())
                .filter(|(_, line)| is_directive(line))
                .map(|(number, _)| number)
                .collect();
            let trace = scratch.path().join("it.kz");
            assert_eq!(lines_of_regions(&trace), expected, "{what}");
            std::fs::remove_dir_all(trace).expect("it can be removed");
        }
    }
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
        let info = loses_nothing(compiler, "endings", &["exec", "2"], 1 + 40, 10 + 400);
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
fn short_runs_and_those_asked_for_are_whole() {
    for how in ["auto", "tasks"] {
        let scratch = tempfile::tempdir().unwrap();
        let (tasks, run) = fib_with_grace("gcc", how, scratch.path());
        assert_eq!(tasks["tasks"], 150_051);
        assert_eq!(run.get("counted_tasks"), None, "{how}");
    }
}
