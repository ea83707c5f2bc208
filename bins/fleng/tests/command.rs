//! `kizami fleng` and `kizami tasks` on the programs of the workloads.

use kizami_testing::schemas::{committed, violation};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn kizami(words: &[&str], folder: &Path) -> Output {
    let kizami = Path::new(env!("CARGO_BIN_EXE_kizami-fleng")).with_file_name("kizami");
    assert!(kizami.exists(), "{} is missing: cargo build --release", kizami.display());
    Command::new(kizami).args(words).current_dir(folder).output().expect("kizami runs")
}

fn program(name: &str) -> String {
    format!("{}/../../workloads/fleng/{name}.fl", env!("CARGO_MANIFEST_DIR"))
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn tables_of_tasks_say_what_the_run_said() {
    let scratch = tempfile::tempdir().unwrap();
    for (name, query) in [
        ("reverse", "numbers(30, L), naive(L, R)"),
        ("reverse", "numbers(30, L), straight(L, R)"),
        ("primes", "primes(30, P)"),
        ("best_path", "best_path(a, h, Cost, Path)"),
        ("inference4", "infer(Answer)"),
    ] {
        let trace = format!("{}.kz", query.replace(|letter: char| !letter.is_alphanumeric(), ""));
        let run = json(&kizami(&["fleng", &program(name), query, "-o", &trace, "--json"], scratch.path()));
        assert_eq!(violation(&committed("kizami-fleng/1"), &run), None);
        let printed = json(&kizami(&["tasks", &trace, "--json", "--curve", "10"], scratch.path()));
        for (field, of_run) in [("tasks", "tasks"), ("work", "work"), ("span", "end"), ("peak", "peak")] {
            assert_eq!(printed[field], run[of_run], "{field} of {query}");
        }
        assert_eq!(printed["unit"], "units");
        let on_path =
            printed["places"].as_array().unwrap().iter().map(|place| place["on_critical_path"].as_u64());
        assert_eq!(on_path.map(Option::unwrap).sum::<u64>(), run["end"].as_u64().unwrap(), "{query}");
        assert_eq!(printed["curve"].as_array().unwrap().len(), 10);
        // Without all tasks in memory the same is told, but for schedules.
        let bounds = json(&kizami(&["tasks", &trace, "--json", "--bounds", "--curve", "10"], scratch.path()));
        for field in ["tasks", "work", "span", "peak", "parallelism", "places"] {
            assert_eq!(bounds[field], printed[field], "{field} of {query}");
        }
        let least = |printed: &Value| printed["processors"][2]["at_least"].clone();
        assert_eq!((least(&bounds), &bounds["processors"][2]["simulated"]), (least(&printed), &Value::Null));
        // A run in another order has the same tasks at the same times.
        let again = ["fleng", &program(name), query, "--order", "7", "--json"];
        assert_eq!(json(&kizami(&again, scratch.path())), run, "{query}");
    }
}

#[test]
fn each_version_of_the_inference_is_better() {
    let scratch = tempfile::tempdir().unwrap();
    let printed = |number: u32| {
        let words = ["fleng", &program(&format!("inference{number}")), "infer(Answer)", "--json"];
        let printed = json(&kizami(&words, scratch.path()));
        (printed["answers"]["Answer"].clone(), printed["end"].as_u64().unwrap())
    };
    let versions: Vec<(Value, u64)> = (1..=4).map(printed).collect();
    assert!(versions.windows(2).all(|pair| pair[0].0 == pair[1].0 && pair[0].1 > pair[1].1), "{versions:?}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("wrong.fl"), "a(X) :- b(X\n").unwrap();
    std::fs::write(scratch.path().join("stuck.fl"), "a(1, Y) :- Y = 2.\n").unwrap();
    let wrong = kizami(&["fleng", "wrong.fl", "a(1)"], scratch.path());
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("wrong.fl:"), "{wrong:?}");
    let stuck = kizami(&["fleng", "stuck.fl", "a(X, Y)"], scratch.path());
    assert_eq!(stuck.status.code(), Some(1));
    let said = String::from_utf8_lossy(&stuck.stdout);
    assert!(said.contains("1 goal hangs:") && said.contains("waits for X"), "{said}");
    let none = kizami(&["tasks", "no.kz"], scratch.path());
    assert_eq!(none.status.code(), Some(1));
    let picture = ["fleng", &program("primes"), "primes(9, P)", "-o", "p.kz"];
    assert!(kizami(&picture, scratch.path()).status.success());
    assert!(kizami(&["tasks", "p.kz", "--plot", "p.svg"], scratch.path()).status.success());
    assert!(std::fs::read_to_string(scratch.path().join("p.svg")).unwrap().starts_with("<svg"));
    assert_eq!(kizami(&["tasks", "p.kz", "--plot", "p.svg"], scratch.path()).status.code(), Some(2));
    assert_eq!(kizami(&["tasks", "p.kz", "-p", "0"], scratch.path()).status.code(), Some(2));
}
