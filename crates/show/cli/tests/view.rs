//! The files of `kizami view`: a picture and a snapshot, of runs with anything in them and with nothing.

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

/// Each rank is in so many barriers, of 1 ms with 1 ms between them.
fn recording(ranks: u32, barriers: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.kz");
    for rank in 0..ranks {
        let who = SegmentOwner { last_ticks: 20_000_000, ..SegmentOwner::rank(rank, ranks) };
        define(&trace, &who, &[]);
        let mut segment = SegmentWriter::create(&trace, &who, Some(0));
        for number in 0..barriers {
            segment.call(&CallRecord { comm: 0, ..call("MPI_Barrier", 2_000_000 * number, 1_000_000) });
        }
        segment.finish();
    }
    stdout(&kizami(folder.path(), &["seal", "run.kz"]));
    folder
}

/// Width and height of a PNG file.
fn size(file: &Path) -> (u32, u32) {
    let bytes = std::fs::read(file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn pictures_have_the_size_and_the_part_that_are_asked_for() {
    let folder = recording(4, 3);
    let folder = folder.path();
    let said = stdout(&kizami(folder, &["view", "run.kz", "--png", "all.png"]));
    assert!(said.starts_with("wrote all.png: "), "{said}");
    let (width, height) = size(&folder.join("all.png"));
    assert!(width == 1_920 && height < 1_080, "{width} x {height}");
    let part = ["view", "run.kz", "--png", "part.png", "--from", "1ms", "--to", "2ms", "--ranks", "1-2"];
    stdout(&kizami(folder, &[&part[..], &["--width", "800", "--height", "300"]].concat()));
    let part = size(&folder.join("part.png"));
    assert!(part.0 == 800 && part.1 <= 300, "{part:?}");
}

/// In a short run starting MPI takes most of the time, but not of the picture.
#[test]
fn pictures_show_the_program_unless_all_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, trace) = (folder.path(), folder.path().join("run.kz"));
    let who = SegmentOwner { last_ticks: 100_000_000, ..SegmentOwner::rank(0, 1) };
    define(&trace, &who, &[]);
    let mut segment = SegmentWriter::create(&trace, &who, Some(0));
    segment.call(&call("MPI_Init", 0, 50_000_000));
    segment.call(&CallRecord { comm: 0, ..call("MPI_Barrier", 51_000_000, 1_000_000) });
    segment.call(&call("MPI_Finalize", 60_000_000, 40_000_000));
    segment.finish();
    stdout(&kizami(folder, &["seal", "run.kz"]));
    let drawn = |name: &str, options: &[&str]| {
        stdout(&kizami(folder, &[&["view", "run.kz", "--png", name], options].concat()));
        std::fs::read(folder.join(name)).unwrap()
    };
    let (first, all) = (drawn("first.png", &[]), drawn("all.png", &["--all"]));
    assert_ne!(first, all);
    // What begins and ends at the same moments is the same picture, title included.
    assert_eq!(first, drawn("program.png", &["--from", "50ms", "--to", "60ms"]));
    let page = |name: &str, options: &[&str]| {
        stdout(&kizami(folder, &[&["view", "run.kz", "--snapshot", name], options].concat()));
        std::fs::read_to_string(folder.join(name)).unwrap()
    };
    let (first, all) = (page("first.html", &[]), page("all.html", &["--all"]));
    let place = |page: &str, part: &str| page.find(part);
    let program = place(&first, "between MPI_Init and MPI_Finalize").expect("the program");
    assert!(place(&first, "whole run").is_some_and(|whole| whole > program), "and the whole run behind it");
    assert_eq!(place(&all, "between MPI_Init and MPI_Finalize"), None);
}

#[test]
fn mistakes_are_reported_and_nothing_is_overwritten() {
    let folder = recording(1, 1);
    let folder = folder.path();
    for wrong in [
        &["--png", "x.png", "--width", "10"][..],
        &["--png", "x.png", "--height", "99999"],
        &["--png", "x.png", "--from", "2ms", "--to", "1ms"],
        &["--png", "x.png", "--ranks", "7"],
        &["--snapshot", "x.html", "--width", "800"],
        &["--png", "x.png", "--all", "--from", "0s"],
    ] {
        let output = kizami(folder, &[&["view", "run.kz"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!folder.join("x.png").exists() && !folder.join("x.html").exists());
    }
    std::fs::write(folder.join("mine.png"), "mine").unwrap();
    assert!(!kizami(folder, &["view", "run.kz", "--png", "mine.png"]).status.success());
    assert_eq!(std::fs::read_to_string(folder.join("mine.png")).unwrap(), "mine");
}

#[test]
fn there_is_a_snapshot_of_every_run() {
    for (ranks, barriers) in [(1, 0), (1, 1), (3, 1), (2, 5)] {
        let folder = recording(ranks, barriers);
        stdout(&kizami(folder.path(), &["view", "run.kz", "--snapshot", "run.html", "--png", "run.png"]));
        let page = std::fs::read_to_string(folder.path().join("run.html")).unwrap();
        assert!(page.ends_with("</html>\n") && page.len() < 500_000, "{} bytes", page.len());
        let nothing = if barriers == 0 { "No MPI calls were recorded." } else { "delays others for long" };
        assert!(page.contains(nothing), "{ranks} {barriers}");
        assert!(page.contains("No point-to-point messages"));
        // Letters of pictures have no space behind them.
        assert!(!["NaN ", "NaN<", "NaN\""].iter().any(|odd| page.contains(odd)));
    }
}

#[test]
fn what_a_trace_calls_things_stays_text() {
    let folder = recording(2, 2);
    let file = folder.path().join("run.kz/run.json");
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let hostile = "<script>alert(1)</script>\u{1b}]0;x\u{7}<img src=x onerror=alert(1)>";
    run["executable"] = format!("/bin/{}", hostile.replace('/', "")).into();
    run["mpi_library"] = hostile.repeat(200_000).into();
    run["health"]["problems"] = serde_json::json!([hostile, "x".repeat(10 << 20)]);
    std::fs::write(&file, run.to_string()).unwrap();
    stdout(&kizami(folder.path(), &["view", "run.kz", "--snapshot", "run.html", "--png", "run.png"]));
    let page = std::fs::read_to_string(folder.path().join("run.html")).unwrap();
    assert!(page.len() < 500_000, "{} bytes", page.len());
    assert!(!page.contains("<script") && !page.contains("<img src=x") && !page.contains('\u{1b}'));
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert_eq!(size(&folder.path().join("run.png")).0, 1_920);
}

/// What cannot be kept beside a trace lies among temporary files, until the command ends.
#[test]
fn nothing_is_left_where_temporary_files_are() {
    let folder = recording(2, 200);
    let folder = folder.path();
    stdout(&kizami(
        folder,
        &["reduce", "run.kz", "--keep", "20%", "--keep-all-below", "0", "-o", "reduced.kz"],
    ));
    let temporary = folder.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    // Neither a folder nor a name for one.
    std::fs::write(folder.join("reduced.kz/derived"), "in the way").unwrap();
    for arguments in [
        &["report", "reduced.kz"][..],
        &["whatif", "reduced.kz"],
        &["view", "reduced.kz", "--png", "picture.png"],
        &["view", "reduced.kz", "--snapshot", "page.html"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
        stdout(&command.current_dir(folder).env("TMPDIR", &temporary).args(arguments).output().unwrap());
        let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().collect();
        assert!(left.is_empty(), "{arguments:?} left {left:?}");
    }
}
