//! Names of a trace never steer a terminal: what it would obey is shown instead, by every command.

use kizami_records::{CallRecord, Definition};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use std::path::Path;
use std::process::{Command, Output};

/// Clears the screen, sets the clipboard, goes back to the line's begin, forges a line, turns the order of writing.
const HOSTILE: &str = "evil\u{1b}[2J\u{1b}]52;c;cHduZWQ=\u{7}\r\nhealth complete\u{9b}2J\u{7f}\u{202e}live";
const SHOWN: &str = r"evil\u{1b}[2J\u{1b}]52;c;cHduZWQ=\u{7}\r\nhealth complete\u{9b}2J\u{7f}\u{202e}live";

fn kizami(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kizami")).current_dir(folder).args(arguments).output().unwrap()
}

/// Two ranks on two hosts, one of which keeps the other waiting, with hostile names wherever a trace has names.
fn record(folder: &Path, name: &str) {
    let trace = folder.join(name);
    for rank in 0..2 {
        let host = format!("node{rank}{HOSTILE}");
        let who = SegmentOwner {
            host,
            boot_id: format!("boot-{rank}"),
            last_ticks: 20_000_000,
            ..SegmentOwner::rank(rank, 2)
        };
        let names = [
            Definition::CommunicatorName { local: 0, name: HOSTILE.to_owned() },
            Definition::Region { local: 1, name: HOSTILE.to_owned() },
            Definition::Module {
                local: 1,
                bias: 0,
                path: format!("/nowhere/{HOSTILE}"),
                build_id: Vec::new(),
            },
            Definition::Site { local: 1, address: 0x1234, module: 1, caller: 0 },
            Definition::Argument { text: HOSTILE.to_owned() },
        ];
        define(&trace, &who, &names);
        let mut segment = SegmentWriter::create(&trace, &who, Some(0));
        segment.region(0, 1, true);
        for (number, late) in [(1, 0), (2, 3_000_000), (3, 0)] {
            let end = 4_000_000 * number + 3_000_100;
            let start = 4_000_000 * number + if rank == 0 { late } else { 0 };
            segment.call(&CallRecord { comm: 0, site: 1, ..call("MPI_Barrier", start, end - start) });
        }
        segment.region(19_000_000, 1, false);
        segment.finish();
    }
    assert!(kizami(folder, &["seal", name]).status.success());
    let file = trace.join("run.json");
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    run["executable"] = format!("/bin/{HOSTILE}").into();
    run["mpi_library"] = HOSTILE.into();
    run["health"]["complete"] = false.into();
    run["health"]["problems"] = serde_json::json!([HOSTILE]);
    run["clocks"]["note"] = HOSTILE.into();
    std::fs::write(&file, run.to_string()).unwrap();
}

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c)
}

#[test]
fn no_command_hands_a_name_to_the_terminal_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    record(folder, "run.kz");
    record(folder, "other.kz");
    for (arguments, names) in [
        (&["info", "run.kz"][..], true),
        (&["report", "run.kz"], true),
        (&["report", "run.kz", "--markdown"], false),
        (&["events", "run.kz"], true),
        (&["whatif", "run.kz"], false),
        (&["diff", "run.kz", "other.kz", "--all"], false),
        (&["clocks", "run.kz"], true),
        (&["replay", "run.kz"], false),
        (&["undisturb", "run.kz", "-o", "without.kz"], false),
        (&["reduce", "run.kz", "--keep", "50%", "--keep-all-below", "0", "-o", "small.kz"], false),
        (&["export", "run.kz", "--to", "perfetto", "-o", "x.pftrace"], false),
    ] {
        let output = kizami(folder, arguments);
        let all = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(output.status.success(), "{arguments:?}: {all:?}");
        assert!(!all.contains(steers), "{arguments:?}: {all:?}");
        assert!(!all.lines().any(|line| line.starts_with("health complete")), "{arguments:?}: {all}");
        assert!(!names || all.contains(SHOWN), "{arguments:?}: {all}");
    }
    // A report for people has them in another way of writing.
    let markdown = String::from_utf8(kizami(folder, &["report", "run.kz", "--markdown"]).stdout).unwrap();
    assert!(markdown.contains(r"evil\\u{1b}"), "{markdown}");
}

#[test]
fn errors_and_sealing_show_names_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for arguments in [&["info", HOSTILE][..], &["seal", HOSTILE], &["view", HOSTILE], &["clocks", HOSTILE]] {
        let output = kizami(folder, arguments);
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(
            printed.contains(SHOWN) && !printed.contains(steers) && printed.lines().count() == 1,
            "{printed:?}"
        );
    }
    record(folder, "run.kz");
    let file = folder.join("run.kz/run.json");
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    run["schema"] = HOSTILE.into();
    std::fs::write(&file, run.to_string()).unwrap();
    let printed = String::from_utf8(kizami(folder, &["info", "run.kz"]).stderr).unwrap();
    assert!(!printed.contains(steers) && printed.contains(r"\u{1b}"), "{printed:?}");
}

#[test]
fn other_programs_get_names_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    record(folder, "run.kz");
    let info = kizami(folder, &["info", "run.kz", "--json"]).stdout;
    let info: serde_json::Value = serde_json::from_slice(&info).unwrap();
    assert_eq!(info["health"]["problems"][0], HOSTILE);
    let report = kizami(folder, &["report", "run.kz", "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["executable"], format!("/bin/{HOSTILE}"));
    let events = String::from_utf8(kizami(folder, &["events", "run.kz", "--json"]).stdout).unwrap();
    let first: serde_json::Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(first["comm_name"], HOSTILE);
}
