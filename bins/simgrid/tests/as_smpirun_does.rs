//! Runs that `kizami simgrid` plays take as long as SimGrid's own smpirun says, on the platform they were recorded on and on
//! another one; and what it cannot do it says in words.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RANKS: u32 = 16;

/// The product's main command, which finds ours beside itself.
fn kizami() -> PathBuf {
    let found = Path::new(env!("CARGO_BIN_EXE_kizami-simgrid")).with_file_name("kizami");
    assert!(found.exists(), "{} is missing: cargo build --release", found.display());
    found
}

fn built(program: &str) -> PathBuf {
    let cache = std::env::var("KIZAMI_TEST_DIR")
        .map_or_else(|_| PathBuf::from(std::env::var("HOME").unwrap()).join(".cache/kizami"), PathBuf::from);
    cache.join("workloads/smpi").join(program)
}

fn ran(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}\n{said}");
    output
}

/// Writes a platform; gives its name.
fn platform(folder: &Path, name: &str, shape: &str) -> String {
    let text = format!(
        r#"<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n-" radical="0-{}" suffix="" speed="1Gf" bw="1.25GBps" lat="2us" {shape}/>
</platform>
"#,
        RANKS - 1
    );
    fs::write(folder.join(name), text).unwrap();
    name.to_owned()
}

fn record(folder: &Path, platform: &str, program: &str, arguments: &[&str]) -> String {
    let out = format!("{program}-{platform}.kz");
    let hosts: String = (0..RANKS).map(|host| format!("n-{host}\n")).collect();
    fs::write(folder.join("hosts"), hosts).unwrap();
    ran(Command::new(kizami())
        .current_dir(folder)
        .args(["record", "-o", &out, "--", "smpirun", "-np", &RANKS.to_string(), "-platform", platform])
        .args(["-hostfile", "hosts", "--cfg=smpi/simulate-computation:no", "--log=root.thres:error"])
        .arg(built(program))
        .args(arguments));
    out
}

fn span_ns(folder: &Path, trace: &str) -> f64 {
    let run: Value = serde_json::from_slice(&fs::read(folder.join(trace).join("run.json")).unwrap()).unwrap();
    run["span_ns"].as_f64().unwrap()
}

fn simulate(folder: &Path, trace: &str, platform: &str, output: &str) -> Value {
    let printed = ran(Command::new(kizami()).current_dir(folder).args([
        "simgrid",
        trace,
        "--platform",
        platform,
        "-o",
        output,
        "--json",
    ]));
    serde_json::from_slice(&printed.stdout).expect("it prints JSON")
}

#[test]
fn a_run_takes_as_long_as_smpirun_says() {
    // The first has sub-communicators and reductions, the next persistent requests, one exchanges of different
    // sizes; then accesses to windows, whose first fence is told to wait for nobody, which no trace knows.
    let programs: [(&str, &[&str], f64); 5] = [
        ("stencil2d", &["64", "10"], 0.0005),
        ("persistent", &["5", "1000"], 0.0005),
        ("matmul_shift", &["32"], 0.0005),
        ("radix_sort", &["1000"], 0.005),
        ("onesided", &[], 0.05),
    ];
    for (program, arguments, tolerance) in programs {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let flat = platform(folder, "flat.xml", "");
        let loopback = "loopback_bw=\"10GBps\" loopback_lat=\"0s\"";
        let torus =
            platform(folder, "torus.xml", &format!("topology=\"TORUS\" topo_parameters=\"4,4\" {loopback}"));
        let (on_flat, on_torus) =
            (record(folder, &flat, program, arguments), record(folder, &torus, program, arguments));
        for (there, output) in [(&flat, "same.kz"), (&torus, "other.kz")] {
            let printed = simulate(folder, &on_flat, there, output);
            let real = span_ns(folder, if there == &flat { &on_flat } else { &on_torus });
            let error = printed["simulated_ns"].as_f64().unwrap() / real - 1.0;
            assert!(error.abs() <= tolerance, "{program} on {there}: {:.3} %", error * 100.0);
            assert!(
                (span_ns(folder, output) / real - 1.0).abs() <= tolerance,
                "{program}: the trace says otherwise"
            );
        }
        ran(Command::new(kizami()).current_dir(folder).args(["report", "other.kz"]));
    }
}

#[test]
fn a_loop_that_is_played_in_part_takes_as_long_as_the_whole() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let flat = platform(folder, "flat.xml", "");
    let trace = record(folder, &flat, "stencil2d", &["64", "60"]);
    let played = |output: &str, how: &[&str]| {
        let printed = ran(Command::new(kizami())
            .current_dir(folder)
            .args(["simgrid", &trace, "--platform", &flat, "-o", output, "--json"])
            .args(how));
        serde_json::from_slice::<Value>(&printed.stdout).expect("it prints JSON")
    };
    let (whole, part) = (played("whole.kz", &[]), played("part.kz", &["--fold"]));
    assert_eq!((&part["rounds"]["all"], &part["rounds"]["played"]), (&60.into(), &14.into()));
    assert!(part["calls"].as_u64().unwrap() * 3 < whole["calls"].as_u64().unwrap());
    let lengths = [&whole, &part].map(|printed| printed["simulated_ns"].as_f64().unwrap());
    assert!((lengths[1] / lengths[0] - 1.0).abs() < 0.001, "{lengths:?}");
    assert!((span_ns(folder, "part.kz") / span_ns(folder, "whole.kz") - 1.0).abs() < 0.001);
}

#[test]
fn failures_are_reported() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let flat = platform(folder, "flat.xml", "");
    let trace = record(folder, &flat, "halo", &["5", "100"]);
    fs::write(folder.join("wrong.xml"), "<platform>").unwrap();
    let said = |arguments: &[&str], library: Option<&str>| {
        let mut command = Command::new(kizami());
        command.current_dir(folder).arg("simgrid").args(arguments);
        library.map(|library| command.env("KIZAMI_SIMGRID", library));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(
        said(&[&trace, "--platform", "none.xml"], None).contains("platform file none.xml does not exist")
    );
    assert!(said(&[&trace, "--platform", "wrong.xml"], None).contains("is this a platform file of SimGrid?"));
    // What asks for much, or names other files, does not come to SimGrid.
    let text = fs::read_to_string(folder.join(&flat)).unwrap();
    let traced = "<config id=\"General\"><prop id=\"tracing\" value=\"yes\"/><prop id=\"tracing/filename\" \
                  value=\"written\"/></config><cluster";
    for (forged, part) in [
        (text.replace("0-15", "0-2000000000"), "`0-2000000000` is not understood"),
        (
            text.replace("<cluster", "<include file=\"/etc/passwd\"/><cluster"),
            "<include> is not given to SimGrid",
        ),
        (text.replace("<cluster", traced), "tracing is not set by a platform file"),
    ] {
        fs::write(folder.join("forged.xml"), forged).unwrap();
        let words = said(&[&trace, "--platform", "forged.xml"], None);
        assert!(words.contains("cannot simulate on platform forged.xml") && words.contains(part), "{words}");
    }
    assert!(!folder.join("written").exists());
    assert!(said(&[&trace, "--platform", &flat, "--cfg", "no:1"], None).contains("Bad config key: no"));
    assert!(said(&[&trace, "--platform", &flat], Some("none.so")).contains("libsimgrid-dev"));
    fs::write(folder.join("elsewhere"), "n-1\nn-99\n").unwrap();
    let stranger = said(&[&trace, "--platform", &flat, "--hostfile", "elsewhere"], None);
    assert!(stranger.contains("\"n-99\", which the platform does not have"), "{stranger}");
}

#[test]
fn the_busiest_link_is_the_one_all_messages_cross() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let flat = platform(folder, "flat.xml", "");
    let trace = record(folder, &flat, "halo", &["20", "1000000"]);
    // Two halves, each behind one narrow link.
    let half = |name: &str, first: u32, last: u32| {
        format!(
            "<cluster id=\"{name}\" prefix=\"n-\" suffix=\"\" radical=\"{first}-{last}\" speed=\"1Gf\" bw=\"10GBps\" \
             lat=\"1us\"/>"
        )
    };
    let text = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform version=\"4.1\">\
         <zone id=\"all\" routing=\"Full\">{}{}<link id=\"narrow\" bandwidth=\"1GBps\" latency=\"5us\"/>\
         <zoneRoute src=\"one\" dst=\"two\" gw_src=\"n-one_router\" gw_dst=\"n-two_router\"><link_ctn id=\"narrow\"/>\
         </zoneRoute></zone></platform>",
        half("one", 0, 7),
        half("two", 8, 15)
    );
    fs::write(folder.join("halves.xml"), text).unwrap();
    let printed = simulate(folder, &trace, "halves.xml", "halves.kz");
    assert_eq!(printed["links"][0]["link"], "narrow", "{}", printed["links"]);
    assert!(printed["links"][0]["share"].as_f64().unwrap() > 0.5);
    // It sends to both neighbours and then waits; hardly anything else crosses.
    let call = &printed["links"][0]["call"];
    assert_eq!(call["function"], "MPI_Isend", "{call}");
    assert!(call["place"].as_str().unwrap().starts_with("halo.c:"), "{call}");
    assert!(call["share"].as_f64().unwrap() > 0.3, "{call}");
    assert!(folder.join("halves.kz/links.parquet").exists());
}
