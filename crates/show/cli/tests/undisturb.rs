//! `kizami undisturb` and what `kizami info` says about lost time, on a small recording made by hand.

use kizami_model::StopReason;
use kizami_records::CallRecord;
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn kizami(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kizami")).current_dir(folder).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Two ranks: the first is held up for 3 ms, the second waits for it in a barrier. A call costs 100 ns.
fn recording() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.kz");
    let write = |rank, starts: [u64; 2], ends: [u64; 2]| {
        let who =
            SegmentOwner { call_cost: 100 << 10, last_ticks: 20_000_000, ..SegmentOwner::rank(rank, 2) };
        define(&trace, &who, &[]);
        let mut segment = SegmentWriter::create(&trace, &who, Some(0));
        for (number, (start, end)) in starts.into_iter().zip(ends).enumerate() {
            if number == 1 && rank == 0 {
                segment.stop(1_000_000, 3_000_000, StopReason::ChunkWait, 0);
            }
            let barrier = call("MPI_Barrier", start, end - start);
            segment.call(&CallRecord { comm: 0, ..barrier });
        }
        segment.finish();
    };
    write(0, [0, 8_000_100], [1_000, 8_001_100]);
    write(1, [0, 2_000_100], [1_000, 8_001_100]);
    stdout(&kizami(folder.path(), &["seal", "run.kz"]));
    folder
}

#[test]
fn the_undisturbed_run_is_a_trace_and_says_what_it_is() {
    let folder = recording();
    let said = stdout(&kizami(folder.path(), &["undisturb", "run.kz", "-o", "clean.kz"]));
    assert!(said.lines().count() <= 8, "{said}");
    assert!(said.contains("recorded     8.00 ms"), "{said}");
    assert!(said.contains("undisturbed  5.00 ms"), "{said}");
    assert!(said.contains("3.00 ms of spills"), "{said}");
    assert!(said.contains("400 ns of per-call overhead"), "{said}");
    let info = stdout(&kizami(folder.path(), &["info", "clean.kz"]));
    assert!(info.contains("made from run.kz"), "{info}");
    assert!(!info.contains("tracer overhead"), "{info}");
    let events = stdout(&kizami(folder.path(), &["events", "clean.kz", "--rank", "1"]));
    assert!(events.contains("0.0020000"), "{events}");
    let csv = stdout(&kizami(folder.path(), &["export", "clean.kz", "--to", "csv"]));
    assert!(csv.contains("5001000"), "{csv}");
}

#[test]
fn json_has_every_number() {
    let folder = recording();
    let said = stdout(&kizami(folder.path(), &["undisturb", "run.kz", "-o", "clean.kz", "--json"]));
    let mut json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(json.as_object_mut().unwrap().remove("schema").unwrap(), "kizami-undisturb/1");
    assert_eq!(json["recorded_ns"], 8_001_100);
    assert_eq!(json["undisturbed_ns"], 5_001_000);
    assert_eq!(json["removed"]["spills"]["worst_rank"], 0);
    let info = stdout(&kizami(folder.path(), &["info", "clean.kz", "--json"]));
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["undisturbed"], json);
}

#[test]
fn info_reports_what_was_lost() {
    let folder = recording();
    let info = stdout(&kizami(folder.path(), &["info", "run.kz"]));
    for words in ["tracer overhead", "per-call overhead", "spills", "37.5 %", "error: "] {
        assert!(info.contains(words), "{words}: {info}");
    }
    let json = stdout(&kizami(folder.path(), &["info", "run.kz", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["disturbance"]["spills"]["total_ns"], 3_000_000);
    assert_eq!(json["disturbance"]["overhead"]["total_ns"], 400);
    assert_eq!(json["disturbance"]["suspensions"]["worst_rank"], serde_json::Value::Null);
}

#[test]
fn nothing_is_overwritten_and_nothing_is_done_twice() {
    let folder = recording();
    stdout(&kizami(folder.path(), &["undisturb", "run.kz", "-o", "clean.kz"]));
    for arguments in
        [["undisturb", "run.kz", "-o", "clean.kz"], ["undisturb", "clean.kz", "-o", "cleaner.kz"]]
    {
        let output = kizami(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("clean.kz"), "{message}");
    }
    assert!(!folder.path().join("cleaner.kz").exists());
}

#[test]
fn every_command_that_reads_a_trace_says_if_it_is_no_recording() {
    let folder = recording();
    let said = |arguments: &[&str]| {
        let output = kizami(folder.path(), arguments);
        stdout(&output);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    said(&["undisturb", "run.kz", "-o", "corrected.kz"]);
    said(&["replay", "run.kz", "--cpu", "2x", "-o", "replayed.kz"]);
    said(&["reduce", "run.kz", "--keep", "50%", "--keep-all-below", "0", "-o", "reduced.kz"]);
    let readers: [&[&str]; 8] = [
        &["events"],
        &["clocks"],
        &["report"],
        &["whatif"],
        &["replay"],
        &["diff", "run.kz"],
        &["export", "--to", "csv"],
        &["view", "--png", "picture.png"],
    ];
    for (number, reader) in readers.iter().enumerate() {
        let of = |trace: &str| said(&[reader, &[trace][..]].concat());
        if reader[0] != "view" {
            assert_eq!(of("run.kz"), "", "{reader:?}");
        }
        let picture =
            |name: &str| std::fs::rename(folder.path().join("picture.png"), folder.path().join(name));
        let corrected = of("corrected.kz");
        assert!(
            corrected.starts_with("kizami: corrected corrected.kz: tracer overhead removed from run.kz, "),
            "{corrected}"
        );
        let _ = picture("1.png");
        let replayed = of("replayed.kz");
        assert!(replayed.starts_with("kizami: replayed  replayed.kz: a replay of run.kz, "), "{replayed}");
        assert!(replayed.contains("with --cpu 2x\n"), "{replayed}");
        let _ = picture("2.png");
        let reduced = of("reduced.kz");
        let expected = match number {
            0 | 1 => "kizami: reduced   reduced.kz: ",
            6 => "warning: this trace has ",
            _ => "kizami: reduced   4 of 4 calls were kept; ",
        };
        assert!(reduced.starts_with(expected), "{reader:?}: {reduced}");
    }
}
