//! The other commands where there is no trace to show: errors, exit codes, help and generated documents.

use std::process::{Command, Output};

fn kizami(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kizami")).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_trace_that_does_not_exist_is_one_clear_line() {
    for arguments in [
        &["info", "no.kz"][..],
        &["events", "no.kz"],
        &["clocks", "no.kz"],
        &["report", "no.kz"],
        &["report", "no.kz", "--html", "no.html"],
        &["export", "no.kz", "--to", "csv"],
        &["seal", "no.kz"],
        &["diff", "no.kz", "other.kz"],
        &["undisturb", "no.kz", "-o", "clean.kz"],
        &["reduce", "no.kz", "--keep", "1%", "-o", "small.kz"],
    ] {
        let output = kizami(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
        assert!(stderr(&output).contains("no.kz"));
        assert!(output.stdout.is_empty());
    }
}

/// What reads rows reads them off the raw segments; what makes another trace wants the recording sealed first.
#[test]
fn an_unsealed_recording_names_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.kz");
    std::fs::create_dir_all(run.join("raw")).unwrap();
    std::fs::write(run.join("raw/host.1.0.calls"), "").unwrap();
    let (name, clean) = (run.to_str().unwrap(), folder.path().join("clean.kz"));
    for arguments in [&["info", name][..], &["events", name], &["export", name, "--to", "perfetto"]] {
        let output = kizami(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("none of the 1 segments in "), "{}", stderr(&output));
    }
    let output = kizami(&["undisturb", name, "-o", clean.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&format!("kizami seal {name}")), "{}", stderr(&output));
}

/// `-q` leaves remarks out. That rows are missing is not one.
#[test]
fn quiet_commands_still_say_that_rows_are_missing() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/schema-1/openmpi4.kz");
    let output = kizami(&["-q", "events", trace]);
    assert_eq!(stderr(&output), "first 100 rows; --limit 0 shows all\n");
}

#[test]
fn mistakes_on_the_command_line_end_with_two() {
    assert_eq!(kizami(&["info"]).status.code(), Some(2));
    assert_eq!(kizami(&["record"]).status.code(), Some(2));
    assert_eq!(kizami(&["events", "x.kz", "--from", "soon"]).status.code(), Some(2));
    assert_eq!(kizami(&["reduce", "x.kz", "--keep", "much", "-o", "y.kz"]).status.code(), Some(2));
    assert_eq!(kizami(&["diff", "a.kz", "b.kz", "--fail-if", "speed > 3"]).status.code(), Some(2));
    let unknown = kizami(&["nonsense"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("kizami-nonsense"));
}

/// A script that sets its conditions once must not pass because nobody looks at them.
#[test]
fn conditions_of_diff_are_also_read_from_their_variable() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    let output = command.args(["diff", "a.kz", "b.kz"]).env("KIZAMI_FAIL_IF", "speed > 3").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("speed"), "{}", stderr(&output));
}

#[test]
fn a_mistyped_command_gets_a_suggestion() {
    use std::os::unix::fs::PermissionsExt;
    let mistyped = kizami(&["repot", "run.kz"]);
    assert_eq!(mistyped.status.code(), Some(2));
    assert!(stderr(&mistyped).contains("did you mean `kizami report`?"), "{}", stderr(&mistyped));
    assert!(!stderr(&kizami(&["nonsense"])).contains("did you mean"));
    // Programs of their own are commands too; a file that cannot be run is none.
    let folder = tempfile::tempdir().unwrap();
    for (name, mode) in [("kizami-greet", 0o755), ("kizami-gree", 0o644)] {
        let program = folder.path().join(name);
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(mode)).unwrap();
    }
    let output =
        Command::new(env!("CARGO_BIN_EXE_kizami")).arg("gret").env("PATH", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `kizami greet`?"), "{}", stderr(&output));
}

#[test]
fn help_lists_every_command_and_explains_each() {
    let help = String::from_utf8(kizami(&["--help"]).stdout).unwrap();
    assert_eq!(String::from_utf8(kizami(&["help"]).stdout).unwrap(), help);
    for command in ["record", "report", "man", "completions", "help"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{command} "))), "{help}");
    }
    assert!(!help.contains("arrived"), "{help}");
    let of_record = kizami(&["help", "record"]);
    assert_eq!(of_record.stdout, kizami(&["record", "--help"]).stdout);
    assert_eq!(of_record.status.code(), Some(0));
    assert_eq!(kizami(&["help", "repot"]).status.code(), Some(2));
}

#[test]
fn unknown_commands_run_programs_of_their_name() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("kizami-greet");
    std::fs::write(&program, "#!/bin/sh\necho greetings $@\nexit 6\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let output = Command::new(env!("CARGO_BIN_EXE_kizami"))
        .args(["greet", "--loudly", "you"])
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"greetings --loudly you\n");
    assert_eq!(output.status.code(), Some(6));
}

#[test]
fn man_pages_and_completions_are_made() {
    let folder = tempfile::tempdir().unwrap();
    assert!(kizami(&["man", folder.path().to_str().unwrap()]).status.success());
    let page = std::fs::read_to_string(folder.path().join("kizami-record.1")).unwrap();
    assert!(page.contains("mpirun"));
    for shell in ["bash", "zsh", "fish"] {
        let output = kizami(&["completions", shell]);
        assert!(String::from_utf8_lossy(&output.stdout).contains("record"), "{shell}");
    }
}

#[test]
fn doctor_speaks_json_without_a_tracer() {
    let output = Command::new(env!("CARGO_BIN_EXE_kizami"))
        .args(["doctor", "--json", "--library", "/no/libkizami.so"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ready"], false);
    assert_eq!(report["findings"][0]["verdict"], "problem");
}

/// What no machine has is said, with what there is.
#[test]
fn operations_that_no_machine_has_are_refused() {
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../machines/vm-openmpi.kzm");
    let output = kizami(&["machines", machine, "--operation", "MPI_Alreduce"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("unknown operation MPI_Alreduce; the machine has MPI_Allgather, "), "{said}");
    assert!(output.stdout.is_empty());
}
