//! `kizami report` on a simulated run whose waiting is known: the same findings as text, Markdown and HTML.

use crate::mpi::{Scratch, finish, mpi};
use crate::simulated;
use std::path::Path;
use std::process::{Command, Output};

fn report(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    command.current_dir(directory).args(["report", "run.kz"]).args(arguments);
    finish(command)
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Rank 0 sleeps before it sends: all forms name the line of that send, and say how long others wait.
#[test]
fn all_forms_agree() {
    let scratch = Scratch::new();
    simulated::record(4, &mpi("smpi").workload("late_sender", &["20", "10"]), &scratch);

    let text = stdout(&report(scratch.path(), &[]));
    let markdown = stdout(&report(scratch.path(), &["--markdown"]));
    let said = stdout(&report(scratch.path(), &["--html", "report.html"]));
    assert!(said.starts_with("wrote report.html: "), "{said}");
    let page = std::fs::read_to_string(scratch.path().join("report.html")).expect("a page");

    let finding = text.lines().find_map(|line| line.strip_prefix("1. ")).expect("a finding");
    assert!(finding.starts_with("Load imbalance: rank 0 computes longer than the others"), "{finding}");
    for form in [&markdown, &page] {
        assert!(form.contains(finding), "{finding}\n{form}");
        for word in ["late sender", "MPI_Recv at late_sender.c:", "wait at barrier"] {
            assert!(form.contains(word), "{word}");
        }
    }
    assert!(page.len() < 200_000, "{} bytes", page.len());

    let again = report(scratch.path(), &["--html", "report.html"]);
    assert_eq!(again.status.code(), Some(2), "what exists is not overwritten");
    assert!(String::from_utf8_lossy(&again.stderr).contains("already exists"));
    let both = stdout(&report(scratch.path(), &["--html", "other.html", "--json"]));
    assert!(both.starts_with('{'), "JSON and nothing else: {both}");
    assert!(scratch.path().join("other.html").exists());
}
