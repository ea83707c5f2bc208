//! Machines that are measured under real launchers, and runs that are foretold and then made.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi};
use crate::simulated;
use kizami_trace::Trace;
use std::ffi::OsString;
use std::path::Path;
use std::process::Output;

/// `kizami WORDS`, where `{P}` stands for a number of ranks.
pub fn kizami(mpi: &Mpi, words: &[OsString], directory: &Path) -> Output {
    let mut line: Vec<OsString> = vec![env!("CARGO_BIN_EXE_kizami").into()];
    line.extend(words.iter().cloned());
    let output = finish(mpi.command(&line, directory));
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

pub fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// What `--json` prints.
pub fn json(mpi: &Mpi, asked: &[&str], directory: &Path) -> serde_json::Value {
    let output = kizami(mpi, &words(asked), directory);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Measures into `here.kzm`.
pub fn bench(mpi: &Mpi, options: &[&str], directory: &Path) -> Output {
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

pub fn record(mpi: &Mpi, ranks: u32, shape: &[&str], directory: &Path) {
    record_program(mpi, ranks, "scaling", shape, directory);
}

fn record_program(mpi: &Mpi, ranks: u32, name: &str, shape: &[&str], directory: &Path) {
    let program = mpi.workload(name, shape);
    let out = directory.join(format!("run{ranks}.kz"));
    let output = finish(mpi.record_command(ranks, &program, directory, &out));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

pub fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Under the simulator, where the truth is exact: a run on the machine that was measured, and a larger one from smaller ones.
#[test]
fn simulated_runs_are_predicted() {
    let smpi = mpi("smpi");
    let scratch = Scratch::new();
    let directory = scratch.path();
    simulated::describe_cluster(directory, 32);
    bench(&smpi, &["--ranks", "4,8,16", "--seconds", "20", "--largest", "64k"], directory);
    for ranks in [4, 8, 16] {
        record(&smpi, ranks, &["stencil", "512", "10", "0.3"], directory);
    }
    let same = json(&smpi, &["predict", "run16.kz", "--machine", "here.kzm", "--json"], directory);
    let (predicted, truth) = (number(&same["points"][0]["time_s"]), number(&same["from"][0]["time_s"]));
    assert!((predicted / truth - 1.0).abs() < 0.10, "{predicted} s told, {truth} s recorded");
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
    check_picture(directory, &["time", "efficiency: computation", "time of all ranks"]);
    check_page(&smpi, &runs, directory);
    check_provenance(&smpi, directory);
    check_counts_given(&smpi, &runs, directory);
}

/// Three panels, of which two have a ring for each recorded run and one for the legend.
fn check_picture(directory: &Path, titles: &[&str]) {
    let picture = std::fs::read_to_string(directory.join("times.svg")).expect("a picture");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    for title in titles {
        assert!(picture.contains(title), "{title} in {picture}");
    }
    assert_eq!(picture.matches("r=\"6\"").count(), 2 * (3 + 1), "{picture}");
    assert!(picture.contains(": waiting, up to") && picture.contains(": transfer, up to"), "{picture}");
}

/// One page that loads nothing, with the same panels and all points in a table.
fn check_page(smpi: &Mpi, runs: &[&str], directory: &Path) {
    let more = ["--machine", "here.kzm", "--ranks", "16,32", "--plot", "page.html", "--json"];
    let predicted = json(smpi, &[&["predict"][..], runs, &more].concat(), directory);
    for point in predicted["points"].as_array().expect("points") {
        let shares = &point["shares"];
        let whole =
            ["computation", "waiting", "transfer"].map(|share| number(&shares[share])).iter().sum::<f64>();
        assert!((0.9..=1.0 + 1e-9).contains(&whole), "{shares:#}");
        assert!(number(&shares["waiting"]) > 0.0 && number(&shares["transfer"]) > 0.0, "{shares:#}");
    }
    let page = std::fs::read_to_string(directory.join("page.html")).expect("a page");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("scaling, predicted for 16 to 32 ranks"),
        "{page}"
    );
    assert_eq!(page.matches("<svg ").count(), 3);
    for loads in ["<script", "src=", "href=", "url("] {
        assert!(!page.contains(loads), "{loads}");
    }
}

/// A foretold trace names the program, the runs and the machine.
fn check_provenance(smpi: &Mpi, directory: &Path) {
    let output = kizami(smpi, &words(&["info", "run32.kz"]), directory);
    let predicted = String::from_utf8_lossy(&output.stdout);
    let expected = "predicted from run4.kz, run8.kz, run16.kz, with --ranks 32 --machine here.kzm";
    assert!(predicted.contains(expected), "{predicted}");
    let info = json(smpi, &["info", "run32.kz", "--json"], directory);
    let executable = info["executable"].as_str().expect("a text");
    assert!(executable.ends_with("scaling"), "{executable}");
    assert_eq!(info["replayed"]["made_from"], "run4.kz, run8.kz, run16.kz");
}

/// Counts that fit nothing are refused by name.
fn check_counts_given(smpi: &Mpi, runs: &[&str], directory: &Path) {
    let refused = |text: &str, ranks: &str| {
        std::fs::write(directory.join("counts.csv"), format!("place,ranks,count\n{text}\n")).expect("a file");
        let more = ["--machine", "here.kzm", "--ranks", ranks, "--counts", "counts.csv"];
        let mut line: Vec<OsString> = vec![env!("CARGO_BIN_EXE_kizami").into(), "predict".into()];
        line.extend(words(runs).into_iter().chain(words(&more)));
        let output = finish(smpi.command(&line, directory));
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let predicted = refused("nowhere.c:7,4,100", "32");
    assert!(
        predicted.contains("counts.csv:2: no call is made at nowhere.c:7; calls are made at "),
        "{predicted}"
    );
    let definitions = kizami_trace::Trace::open(&directory.join("run16.kz")).expect("a trace");
    let definitions = definitions.definitions().expect("definitions");
    let site = definitions.callsites.iter().find(|site| site.line.is_some()).expect("a line").index;
    let place = kizami_trace::SourceLine::of(&definitions, Some(site)).of_any_caller();
    let predicted = refused(&format!("{place},5,100"), "32");
    assert!(
        predicted.contains("5 ranks are neither recorded nor requested; 4, 8, 16, 32 are"),
        "{predicted}"
    );
    let predicted = refused(&format!("{place},4,100\n{place},8,10\n{place},16,99"), "32");
    assert!(predicted.contains(&format!("counts of {place} are missing for 32 ranks")), "{predicted}");
}

/// Work that shrinks by no power of the ranks: what the program tells of it makes the difference. How long it computes with
/// the most ranks is known; how long ranks wait for each other depends on how busy the machine is.
pub fn check_counted_work(mpi: &Mpi, directory: &Path, ranks: [u32; 4], comparison_us: f64) -> [f64; 2] {
    let microseconds = comparison_us.to_string();
    let [.., most] = ranks;
    let keys = 256 / u64::from(most);
    let comparisons = keys * u64::from(keys.ilog2());
    let known_s = 4.0 * comparisons as f64 * comparison_us * 1e-6;
    let errors = ["0", "1"].map(|counting| {
        let mut runs = Vec::new();
        for ranks in ranks {
            let program = mpi.workload("told_work", &["256", "4", counting, &microseconds]);
            let trace = format!("told{counting}-{ranks}.kz");
            let output = finish(mpi.record_command(ranks, &program, directory, &directory.join(&trace)));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            runs.push(trace);
        }
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let checked = json(mpi, &[&["predict", "--check", "--json"][..], &runs].concat(), directory);
        assert_eq!(checked["from"], serde_json::json!(ranks[..3]));
        let predicted_point = &checked["foretold"];
        number(&predicted_point["efficiency"]) * number(&predicted_point["time_s"]) / known_s - 1.0
    });

    // Exactly what each rank told, and nothing in the run that told nothing.
    let counts = |counting: &str| {
        let trace = directory.join(format!("told{counting}-{most}.kz"));
        assert_eq!(trace.join("defs/counts.parquet").exists(), counting == "1");
        kizami_trace::Trace::open(&trace).expect("a trace").definitions().expect("definitions").counts
    };
    let predicted: Vec<_> =
        counts("1").into_iter().map(|count| (count.rank.0, count.name, count.times, count.amount)).collect();
    let expected: Vec<_> =
        (0..most).map(|rank| (rank, "comparisons".to_owned(), 4, 4 * comparisons)).collect();
    assert_eq!(predicted, expected);
    assert!(counts("0").is_empty());
    errors
}

#[test]
fn simulated_programs_count_their_work() {
    let scratch = Scratch::new();
    simulated::describe_cluster(scratch.path(), 16);
    let [times, counts] = check_counted_work(&mpi("smpi"), scratch.path(), [2, 4, 8, 16], 100.0);
    assert!(counts.abs() < 0.005 && times > 0.08, "{counts} with counts, {times} without");
}

/// What was measured with few ranks stays when more cannot be started.
#[test]
fn what_was_measured_stays_when_more_ranks_fail() {
    let mpi = mpi("mpich");
    let scratch = Scratch::new();
    let mut line =
        words(&["bench", "-o", "here.kzm", "--ranks", "2,3", "--seconds", "1", "--largest", "4k", "--"]);
    line.extend(words(&["sh", "-c", "if [ {P} = 3 ]; then exit 7; fi; exec \"$@\"", "sh"]));
    line.extend(launcher(&mpi));
    let predicted = kizami(&mpi, &line, scratch.path());
    let predicted = String::from_utf8_lossy(&predicted.stdout);
    assert!(predicted.contains("at 2 ranks") && predicted.contains("nothing from 3 ranks on"), "{predicted}");
    assert!(scratch.path().join("here.kzm/collectives.parquet").exists());
}

/// The trace says to how many others each rank gives.
#[test]
fn partners_of_exchanges_are_counted() {
    for name in ["openmpi", "mpich", "smpi"] {
        let (mpi, scratch) = (mpi(name), Scratch::new());
        simulated::describe_cluster(scratch.path(), 6);
        record(&mpi, 6, &["cg", "6000", "4"], scratch.path());
        let trace = Trace::open(&scratch.path().join("run6.kz")).expect("a trace");
        let counts = trace.definitions().expect("definitions").counts;
        let of = |name: &str| counts.iter().filter(|count| count.name == name).collect::<Vec<_>>();
        let given_to = of("MPI_Alltoallv: ranks given to");
        assert_eq!(given_to.len(), 6, "{name}");
        assert!(given_to.iter().all(|count| (count.times, count.amount) == (4, 16)), "{name}: {given_to:?}");
        assert!(of("MPI_Alltoallv: thousandths kept").iter().all(|count| count.amount == 0), "{name}");
    }
}

/// A line of one rank, which has nobody to talk to, does not keep others from being foretold.
#[test]
fn runs_that_do_something_else_are_left_out() {
    let (smpi, scratch) = (mpi("smpi"), Scratch::new());
    simulated::describe_cluster(scratch.path(), 8);
    for ranks in [1, 2, 4, 8] {
        record(&smpi, ranks, &["line", "100000", "4"], scratch.path());
    }
    let runs = ["run1.kz", "run2.kz", "run4.kz", "run8.kz"];
    let predicted =
        json(&smpi, &[&["predict", "--ranks", "16", "--json"][..], &runs].concat(), scratch.path());
    assert_eq!(predicted["left_out"][0]["ranks"], 1, "{predicted}");
    assert_eq!(predicted["points"][0]["ranks"], 16);
}

/// Messages that come while ranks compute: no run shows what they take, and holding one out does not either. Where
/// computation becomes short, they must not be made up from what a sum of eight bytes takes.
#[test]
fn overlapped_messages_are_predicted() {
    let smpi = mpi("smpi");
    let scratch = Scratch::new();
    let directory = scratch.path();
    simulated::describe_network(directory, 128, "1.25GBps", "1us");
    for shape in ["sum4", "alone", "levels"] {
        let made = |ranks: u32| directory.join(format!("run{ranks}.kz"));
        for ranks in [4, 8, 16, 128] {
            if made(ranks).exists() {
                std::fs::remove_dir_all(made(ranks)).expect("a directory can be removed");
            }
            record_program(&smpi, ranks, "overlapped", &[shape], directory);
        }
        let runs = ["run4.kz", "run8.kz", "run16.kz"];
        let asked = [&["predict"][..], &runs, &["--ranks", "128", "--json"]].concat();
        let point = &json(&smpi, &asked, directory)["points"][0];
        let truth = json(&smpi, &["replay", "run128.kz", "--json"], directory);
        let truth_s = number(&truth["recorded_work_ns"]) * 1e-9;
        let [low_s, time_s, high_s] = ["low_s", "time_s", "high_s"].map(|which| number(&point[which]));
        println!("{shape}: {time_s} [{low_s} .. {high_s}] s, recorded {truth_s} s");
        assert!((time_s / truth_s - 1.0).abs() < 0.05, "{shape}: {time_s} s instead of {truth_s} s");
        assert!(low_s <= truth_s && truth_s <= high_s, "{shape}: {low_s} .. {high_s} without {truth_s} s");
        assert_eq!(point["messages_assumed"], true, "{shape}");
    }
}
