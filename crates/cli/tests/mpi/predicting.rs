//! Machines that are measured under real launchers, and runs that are foretold and then made.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi};
use crate::simulated;
use std::ffi::OsString;
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

/// `kizami WORDS`, where `{P}` stands for a number of ranks.
fn kizami(mpi: &Mpi, words: &[OsString], directory: &Path) -> Output {
    let mut line: Vec<OsString> = vec![env!("CARGO_BIN_EXE_kizami").into()];
    line.extend(words.iter().cloned());
    let output = finish(mpi.command(&line, directory));
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// What `--json` prints.
fn json(mpi: &Mpi, asked: &[&str], directory: &Path) -> serde_json::Value {
    let output = kizami(mpi, &words(asked), directory);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Measures into `here.kzm`.
fn bench(mpi: &Mpi, options: &[&str], directory: &Path) -> Output {
    let mut line = words(&["bench", "-o", "here.kzm"]);
    line.extend(words(options));
    line.push("--".into());
    line.extend(launcher(mpi));
    kizami(mpi, &line, directory)
}

/// The launcher's words with `{P}` for the ranks.
fn launcher(mpi: &Mpi) -> Vec<OsString> {
    let mut line = mpi.launch(77, &Program(Vec::new()));
    let ranks = line.iter_mut().find(|word| *word == "77").expect("the number of ranks");
    *ranks = "{P}".into();
    line
}

fn record(mpi: &Mpi, ranks: u32, shape: &[&str], directory: &Path) {
    let program = mpi.workload("scaling", shape);
    let out = directory.join(format!("run{ranks}.kz"));
    let output = finish(mpi.record_command(ranks, &program, directory, &out));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Under the simulator, where the truth is exact: a run on the machine that was measured, and a larger one from smaller ones.
#[test]
fn simulated_runs_are_foretold() {
    let smpi = mpi("smpi");
    let scratch = Scratch::new();
    let directory = scratch.path();
    simulated::describe_cluster(directory, 32);
    bench(&smpi, &["--ranks", "4,8,16", "--seconds", "20", "--largest", "64k"], directory);
    for ranks in [4, 8, 16] {
        record(&smpi, ranks, &["stencil", "512", "10", "0.3"], directory);
    }
    let same = json(&smpi, &["predict", "run16.kz", "--machine", "here.kzm", "--json"], directory);
    let (told, truth) = (number(&same["points"][0]["time_s"]), number(&same["from"][0]["time_s"]));
    assert!((told / truth - 1.0).abs() < 0.10, "{told} s told, {truth} s recorded");
    let runs = ["run4.kz", "run8.kz", "run16.kz"];
    let checked = json(
        &smpi,
        &[&["predict", "--check", "--machine", "here.kzm", "--json"][..], &runs].concat(),
        directory,
    );
    assert!(number(&checked["error_share"]).abs() < 0.25, "{checked:#}");
    assert_eq!(checked["from"], serde_json::json!([4, 8]));

    // A number of ranks that nobody ran is a trace like any other.
    let more = ["--machine", "here.kzm", "--ranks", "32", "-o", "run32.kz", "--plot", "times.svg"];
    kizami(&smpi, &words(&[&["predict"][..], &runs, &more].concat()), directory);
    let info = json(&smpi, &["info", "run32.kz", "--json"], directory);
    assert_eq!(info["ranks"], 32);
    kizami(&smpi, &words(&["report", "run32.kz"]), directory);
    let picture = std::fs::read_to_string(directory.join("times.svg")).expect("a picture");
    assert!(picture.starts_with("<svg") && picture.contains("</svg>"));
}

/// A machine is measured by what runs under its launcher, and its costs foretell a run there.
fn check_machine(name: &'static str) {
    let mpi = mpi(name);
    let scratch = Scratch::new();
    let directory = scratch.path();
    bench(&mpi, &["--ranks", "2", "--seconds", "4", "--largest", "256k"], directory);
    let machines = json(&mpi, &["machines", "here.kzm", "--json"], directory);
    assert!(number(&machines["machines"][0]["rows"]) > 40.0, "{machines:#}");
    let large = machines["costs"].as_array().expect("costs").iter().filter(|cost| cost["bytes"] == 1 << 20);
    assert!(large.count() > 0, "{machines:#}");
    record(&mpi, 2, &["stencil", "1024", "10"], directory);
    let same = json(&mpi, &["predict", "run2.kz", "--machine", "here.kzm", "--json"], directory);
    let (told, truth) = (number(&same["points"][0]["time_s"]), number(&same["from"][0]["time_s"]));
    // Ten times 5 ms of sleep, and machines that tests share.
    assert!((told / truth - 1.0).abs() < 0.5, "{told} s told, {truth} s recorded");
}

#[test]
fn open_mpi_is_measured() {
    check_machine("openmpi");
}

#[test]
fn mpich_is_measured() {
    check_machine("mpich");
}

#[test]
fn a_load_beside_it_is_told() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        for _ in 0..2 * std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let output = bench(&mpi, &["--ranks", "2", "--seconds", "2", "--largest", "4k"], scratch.path());
        over.store(true, Ordering::Relaxed);
        output
    });
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("disturbed"), "{told}");
    let machine = std::fs::read_to_string(scratch.path().join("here.kzm/machine.json")).expect("a machine");
    assert!(machine.contains("something else keeps the cores busy"), "{machine}");
}
