//! `kizami record` around programs that make no MPI call: what must hold for any program at all.
//!
//! The tracer is not needed for that: the C library's own `libm` stands in for it, which every program can
//! preload. Segments are stood in for by files of their names.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn stub_library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libc =
        maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains("/libc.so"));
    Path::new(libc.expect("tests are linked with a C library")).with_file_name("libm.so.6")
}

/// `kizami` in a folder, without the variables of whatever runs the tests.
fn kizami(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    command.current_dir(folder).env("KIZAMI_LIBRARY", stub_library()).env_remove("LD_PRELOAD");
    for name in ["KIZAMI_OUTPUT", "KIZAMI_RAW", "PMI_RANK", "PMI_SIZE", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"] {
        command.env_remove(name);
    }
    command
}

fn record(folder: &Path, options: &[&str], script: &str) -> Output {
    kizami(folder).arg("record").args(options).args(["--", "/bin/sh", "-c", script]).output().unwrap()
}

fn entries(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn exit_codes_are_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    for code in [0, 1, 2, 77, 255] {
        assert_eq!(record(folder.path(), &[], &format!("exit {code}")).status.code(), Some(code));
    }
    assert_eq!(record(folder.path(), &[], "kill -KILL $$").status.code(), Some(128 + 9));
}

#[test]
fn an_unknown_option_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = kizami(folder.path()).args(["record", "-f", "--", "true"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("-f is no option of kizami record"), "{}", stderr(&unknown));
}

#[test]
fn a_command_that_cannot_run_ends_as_in_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let missing = kizami(folder.path()).args(["record", "--", "./no-such-program"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert!(stderr(&missing).contains("no-such-program"));
    std::fs::write(folder.path().join("data"), "no program").unwrap();
    let data = kizami(folder.path()).args(["record", "--", "./data"]).output().unwrap();
    assert_eq!(data.status.code(), Some(126));
    assert_eq!(entries(folder.path()), ["data"]);
}

#[test]
fn input_and_output_are_the_applications_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = kizami(folder.path())
        .args(["record", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn({
        let bytes = bytes.clone();
        move || stdin.write_all(&bytes).unwrap()
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.stdout, bytes);
}

#[test]
fn a_run_without_mpi_leaves_nothing_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for options in [&[][..], &["-o", "run.kz"]] {
        let output = record(folder.path(), options, "echo hello");
        assert_eq!(output.stdout, b"hello\n");
        assert!(stderr(&output).contains("kizami doctor"), "{}", stderr(&output));
        assert!(stderr(&output).lines().count() <= 6);
        assert_eq!(entries(folder.path()), [""; 0]);
    }
}

#[test]
fn asking_record_for_paper_importance_names_reduce() {
    let folder = tempfile::tempdir().unwrap();
    for (options, reduce) in [
        (&["--keep", "1%", "--importance", "paper:h"][..], "--keep 1% --importance paper:h -o"),
        (&["--keep", "10K/s", "--paper-x", "7"], "--keep 10240B/s --importance paper:h2 -o"),
        (&["--importance", "paper:one", "--paper-n", "50"], "--keep 0.1% --importance paper:one -o"),
    ] {
        let output = record(folder.path(), options, "touch started");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        let shown = stderr(&output);
        assert!(shown.contains(&format!("kizami reduce RUN.kz {reduce} SMALL.kz")), "{shown}");
        assert_eq!(shown.lines().count(), 1, "{shown}");
    }
    let by_variable =
        kizami(folder.path()).env("KIZAMI_IMPORTANCE", "paper:h2").args(["record", "--", "true"]).output();
    assert_eq!(by_variable.unwrap().status.code(), Some(2));
    let classes = record(folder.path(), &["--importance", "classes"], "exit 5");
    assert_eq!(classes.status.code(), Some(5));
    assert_eq!(entries(folder.path()), [""; 0]);
}

#[test]
fn an_output_that_exists_is_refused_before_the_application_starts() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.kz");
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("precious"), "data").unwrap();
    let output = record(folder.path(), &["-o", "run.kz"], "touch started");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("run.kz already exists"), "{}", stderr(&output));
    assert_eq!(entries(folder.path()), ["run.kz"]);
    assert_eq!(entries(&run), ["precious"]);
}

#[test]
fn an_output_that_cannot_be_made_never_prevents_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        record(folder.path(), &["-o", "/proc/no/run.kz"], "echo \"${KIZAMI_RAW:-untraced}\"; exit 5");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(output.stdout, b"untraced\n");
    assert!(stderr(&output).contains("running without recording"), "{}", stderr(&output));

    let nowhere = kizami(Path::new("/proc")).args(["record", "--", "true"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(0));
    assert!(stderr(&nowhere).contains("running without recording"), "{}", stderr(&nowhere));
}

#[test]
fn a_missing_tracer_is_said_before_the_application_starts() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), &["--library", "/no/libkizami.so"], "touch started");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/no/libkizami.so"));
    assert_eq!(entries(folder.path()), [""; 0]);
}

#[test]
fn the_application_gets_the_tracer_and_keeps_its_own_preload() {
    let folder = tempfile::tempdir().unwrap();
    let output = kizami(folder.path())
        .env("LD_PRELOAD", "libdl.so.2")
        .args(["record", "--", "/bin/sh", "-c", "echo $LD_PRELOAD; test -d $KIZAMI_RAW"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let expected = format!("{}:libdl.so.2\n", stub_library().canonicalize().unwrap().display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn recordings_are_numbered_and_kept_when_not_sealed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app.sh"), "touch $KIZAMI_RAW/host.1.0.calls $KIZAMI_RAW/host.1.defs")
        .unwrap();
    for number in 1..=2 {
        let output = kizami(folder.path())
            .env("KIZAMI_NO_SEAL", "1")
            .args(["record", "--", "sh", "app.sh"])
            .output()
            .unwrap();
        assert!(stderr(&output).contains(&format!("kizami seal kizami-app-1-{number}.kz")));
    }
    assert_eq!(entries(folder.path()), ["app.sh", "kizami-app-1-1.kz", "kizami-app-1-2.kz"]);
}

#[test]
fn what_cannot_be_sealed_is_kept_and_the_exit_code_is_the_applications() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), &["-o", "run.kz"], "echo junk > $KIZAMI_RAW/host.1.0.calls; exit 3");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("kizami seal run.kz"), "{}", stderr(&output));
    assert!(stderr(&output).lines().count() <= 6);
    assert!(folder.path().join("run.kz/raw/host.1.0.calls").exists());
}

#[test]
fn signals_reach_the_application_and_kizami_lives_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'echo caught; exit 9' TERM; touch ready; while :; do sleep 0.05; done";
    let child = kizami(folder.path())
        .args(["record", "--", "/bin/sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path().join("ready").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(9));
    assert_eq!(output.stdout, b"caught\n");
    assert!(stderr(&output).contains("kizami: recorded"));
}

#[test]
fn inside_a_launcher_all_share_one_directory_and_only_the_last_speaks() {
    let folder = tempfile::tempdir().unwrap();
    let mut outputs = Vec::new();
    for rank in ["0", "1", "2"] {
        let output = kizami(folder.path())
            .env("PMI_RANK", rank)
            .env("PMI_SIZE", "3")
            .env("PALS_APID", "job-1")
            .env_remove("PMIX_NAMESPACE")
            .args(["record", "--no-seal", "--", "/bin/sh", "-c"])
            .arg(format!("touch $KIZAMI_RAW/host.{rank}.0.calls; exit {rank}"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), rank.parse().ok());
        outputs.push(stderr(&output));
    }
    assert_eq!(outputs[..2], ["", ""]);
    assert!(outputs[2].contains("kizami seal kizami-mpi-3-"), "{}", outputs[2]);
    assert_eq!(entries(folder.path()).len(), 1);
}

/// A trace has the arguments of its program: whatever the umask, nobody else may look unless asked for.
#[test]
fn traces_are_private_unless_they_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |options: &[&str], name: &str| {
        let options = [&["--no-seal", "-o", name], options].concat();
        let words: Vec<String> = options.iter().map(|word| format!("'{word}'")).collect();
        let script = format!(
            "umask 0; exec '{}' record {} -- sh -c 'touch $KIZAMI_RAW/host.1.0.calls'",
            env!("CARGO_BIN_EXE_kizami"),
            words.join(" ")
        );
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).args(["-c", &script]);
        let output = shell.env("KIZAMI_LIBRARY", stub_library()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(&[], "mine.kz"), 0o700);
    assert_eq!(mode(&["--open-to", "group"], "ours.kz"), 0o750);
    assert_eq!(mode(&["--open-to", "all"], "of-all.kz"), 0o755);
}
