//! On a platform that was fitted to a measured machine, simulated ping-pongs take what the calibration says, and are as near to
//! what was measured as it says; and what cannot be fitted is said in words.

use kizami_machine::{Machine, MessageRow};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What SimGrid's clock and six written digits may add, as a share.
const WRITTEN: f64 = 0.002;

/// The product's main command, which finds ours beside itself.
fn kizami() -> PathBuf {
    let found = Path::new(env!("CARGO_BIN_EXE_kizami-simgrid")).with_file_name("kizami");
    assert!(found.exists(), "{} is missing: cargo build --release", found.display());
    found
}

/// The ping-pong, built for SimGrid's MPI.
fn ping_pong() -> PathBuf {
    let cache = std::env::var("KIZAMI_TEST_DIR")
        .map_or_else(|_| PathBuf::from(std::env::var("HOME").unwrap()).join(".cache/kizami"), PathBuf::from);
    cache.join("workloads/smpi/pingpong")
}

/// A machine of the repository.
fn machine(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines").join(name)
}

fn ran(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}\n{said}");
    output
}

fn calibrated(folder: &Path, machines: &[PathBuf]) -> Value {
    let printed = ran(Command::new(kizami())
        .current_dir(folder)
        .args(["simgrid", "calibrate", "--json", "-o", "here.xml"])
        .args(machines));
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("it prints JSON");
    assert_eq!(printed["schema"], "kizami-simgrid-calibrate/1");
    printed
}

/// What a message takes one way on `here.xml`, with both ranks on the hosts of a list. Two numbers of rounds are played, so
/// that what comes before and behind them does not count.
fn simulated_ns(folder: &Path, bytes: u64, hosts: &str) -> f64 {
    let rounds = [10, 30];
    let [few, many] = rounds.map(|rounds| {
        let trace = format!("{bytes}-{rounds}.kz");
        if !folder.join(&trace).exists() {
            fs::write(folder.join("recorded.xml"), RECORDED).unwrap();
            ran(Command::new(kizami())
                .current_dir(folder)
                .args(["record", "-o", &trace, "--", "smpirun", "-np", "2", "-platform", "recorded.xml"])
                .args(["--cfg=smpi/simulate-computation:no", "--log=root.thres:error"])
                .arg(ping_pong())
                .args([rounds.to_string(), bytes.to_string()]));
        }
        fs::write(folder.join("hosts"), hosts).unwrap();
        let printed = ran(Command::new(kizami()).current_dir(folder).args([
            "simgrid",
            &trace,
            "--platform",
            "here.xml",
            "--hostfile",
            "hosts",
            "--json",
        ]));
        let printed: Value = serde_json::from_slice(&printed.stdout).expect("it prints JSON");
        printed["simulated_ns"].as_f64().unwrap()
    });
    (many - few) / (2 * (rounds[1] - rounds[0])) as f64
}

const RECORDED: &str = "<?xml version=\"1.0\"?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\
                        <platform version=\"4.1\"><cluster id=\"c\" prefix=\"r-\" radical=\"0-1\" suffix=\"\" \
                        speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/></platform>";

/// Plays every `every`th size of a calibration, and compares.
fn compare(folder: &Path, measured: &Value, hosts: &str, every: usize) {
    let mut seen = [0, 0];
    for size in measured["sizes"].as_array().unwrap().iter().step_by(every) {
        let number = |name: &str| size[name].as_f64().unwrap();
        let held_out = size["held_out"].as_bool().unwrap();
        let simulated_ns = simulated_ns(folder, number("bytes") as u64, hosts);
        let off = simulated_ns / number("platform_ns") - 1.0;
        assert!(off.abs() < WRITTEN, "{size}: simulated {simulated_ns} ns");
        let error = (simulated_ns / number("measured_ns") - 1.0).abs();
        let stated = &measured[if held_out { "held_out" } else { "fitted" }]["largest"];
        assert!(error <= stated.as_f64().unwrap() + WRITTEN, "{size}: simulated {simulated_ns} ns");
        seen[usize::from(held_out)] += 1;
    }
    assert!(seen.iter().all(|seen| *seen >= 2), "fitted and held out: {seen:?}");
}

#[test]
fn ping_pongs_take_what_was_measured_on_real_machines() {
    for (name, every) in [("vm-openmpi.kzm", 2), ("vm-mpich.kzm", 4)] {
        let scratch = tempfile::tempdir().unwrap();
        let printed = calibrated(scratch.path(), &[machine(name)]);
        let measured = &printed["measured"][0];
        assert!(measured["fitted"]["median"].as_f64().unwrap() < 0.05, "{measured}");
        assert!(measured["held_out"]["median"].as_f64().unwrap() < 0.1, "{measured}");
        assert!(measured["held_out"]["sizes"].as_u64().unwrap() >= 6, "{measured}");
        compare(scratch.path(), measured, "vm-0\nvm-1\n", every);
    }
}

#[test]
fn the_book_names_every_field() {
    let page = include_str!("../../../docs/src/reference/json.md");
    let begin = page.find("## `kizami simgrid calibrate`").expect("a section");
    let section = page[begin + 2..].split("\n## ").next().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let printed = calibrated(scratch.path(), &[machine("vm-openmpi.kzm")]);
    let mut names = Vec::new();
    fields(&printed, "", &mut names);
    for name in names {
        assert!(section.contains(&format!("`{name}`")), "the page does not name {name}");
    }
}

/// Names of fields, such as `segments[].from_bytes`.
fn fields(value: &Value, path: &str, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                fields(value, &path, names);
                names.push(path);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fields(value, &format!("{path}[]"), names)),
        _ => {}
    }
}

#[test]
fn ranks_of_one_node_talk_over_its_loopback() {
    let scratch = tempfile::tempdir().unwrap();
    let printed = calibrated(scratch.path(), &[machine("smpi-flat-ompi.kzm"), machine("vm-openmpi.kzm")]);
    let [between, within] = [0, 1].map(|number| &printed["measured"][number]);
    assert_eq!([&between["distance"], &within["distance"]], ["between_nodes", "within_node"]);
    compare(scratch.path(), between, "n-0\nn-1\n", 2);
    compare(scratch.path(), within, "n-1\nn-1\n", 4);
}

/// A row as `kizami bench` writes it.
fn row(kind: &str, bytes: u64, time_ns: f64) -> MessageRow {
    let (kind, place) = (kind.to_owned(), "node".to_owned());
    let (low_ns, high_ns) = (time_ns, time_ns);
    MessageRow { kind, place, bytes, ranks: 2, time_ns, low_ns, high_ns, repetitions: 10, disturbed: None }
}

/// A network on which short messages come before they are received.
fn eager_network(sizes: std::ops::RangeInclusive<u32>) -> Machine {
    let mut made = Machine::default();
    made.about.name = "made-up".to_owned();
    for bytes in sizes.map(|exponent| 1_u64 << exponent) {
        let whole_ns = 1_500.0 + 0.1 * bytes as f64;
        let is_eager = bytes <= 8_192;
        made.messages.push(row("pingpong", bytes, whole_ns));
        made.messages.push(row("send", bytes, if is_eager { 200.0 } else { whole_ns }));
        made.messages.push(row("receive", bytes, if is_eager { 300.0 } else { whole_ns }));
    }
    made
}

#[test]
fn overheads_of_short_messages_are_a_part_of_their_time() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    eager_network(2..=20).write(&folder.join("made-up.kzm")).unwrap();
    let printed = calibrated(folder, &[folder.join("made-up.kzm")]);
    assert_eq!(printed["limits"]["detached_bytes"], 8_192);
    assert_eq!(printed["limits"]["early_bytes"], 8_192);
    assert!(printed["segments"][0]["receiving"]["fixed_ns"].as_f64().unwrap() > 200.0);
    let text = fs::read_to_string(folder.join("here.xml")).unwrap();
    for setting in ["smpi/os", "smpi/ois", "smpi/or", "smpi/async-small-thresh\" value=\"8193\""] {
        assert!(text.contains(setting), "{text}");
    }
    compare(folder, &printed["measured"][0], "node-0\nnode-1\n", 4);
}

#[test]
fn failures_are_reported() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("file.kzm"), "").unwrap();
    eager_network(2..=5).write(&folder.join("few.kzm")).unwrap();
    Machine::default().write(&folder.join("empty.kzm")).unwrap();
    fs::write(folder.join("there.xml"), "mine").unwrap();
    let said = |machine: &str, output: &str, code: i32| {
        let mut command = Command::new(kizami());
        let output = command
            .current_dir(folder)
            .args(["simgrid", "calibrate", machine, "-o", output])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{command:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for none in ["none.kzm", "other", "file.kzm"] {
        assert!(
            said(none, "x.xml", 1).contains(&format!("there is no machine {none}; give a directory that"))
        );
    }
    let few = said("few.kzm", "x.xml", 1);
    assert!(few.contains("made-up has ping-pongs of 4 sizes") && few.contains("6 are needed"), "{few}");
    let empty = said("empty.kzm", "x.xml", 1);
    assert!(empty.contains("has no measurements of single messages"), "{empty}");
    assert!(said("few.kzm", "there.xml", 2).contains("there.xml already exists"));
    assert!(said("few.kzm", "none/x.xml", 1).contains("too few"));
    assert!(!folder.join("x.xml").exists());
    assert_eq!(fs::read_to_string(folder.join("there.xml")).unwrap(), "mine");
}
