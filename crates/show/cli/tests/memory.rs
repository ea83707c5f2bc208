//! Commands that take traces apart within a limit of memory: the answers are those of all memory there is.

use kizami_testing::{Costs, Stencil, definitions};
use kizami_trace::TraceWriter;
use kizami_trace::write::About;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RANKS: u32 = 32;

/// A trace whose steps alone take more than ten times the limit.
fn stencil(folder: &Path) -> PathBuf {
    let path = folder.join("stencil.kz");
    let stencil = Stencil::new(RANKS, 2_000, Costs::default());
    let mut writer =
        TraceWriter::create(&path, About::default(), definitions(&[(0..RANKS).collect()])).unwrap();
    for rank in 0..RANKS {
        stencil.rank(rank).for_each(|call| writer.call(&call).unwrap());
    }
    writer.finish(|_| {}).unwrap();
    path
}

fn kizami(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kizami")).args(arguments).output().unwrap()
}

/// Removes what was kept of the trace.
fn forget(trace: &str) {
    std::fs::remove_dir_all(Path::new(trace).join("derived")).unwrap_or(());
}

fn stdout(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn answers_do_not_depend_on_memory() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let trace = stencil(folder.path());
    let trace = trace.to_str().unwrap();
    for command in ["report", "whatif"] {
        let plenty = stdout(kizami(&[command, trace, "--json"]));
        forget(trace);
        // The kernel gives no more than this, but for files.
        let little = |memory: &str| {
            let words = format!(
                "ulimit -d 65536; exec {} {command} {trace} --json --threads 1 --memory {memory}",
                env!("CARGO_BIN_EXE_kizami")
            );
            Command::new("sh").args(["-c", &words]).output().unwrap()
        };
        assert!(!little("1G").status.success(), "{command} must need more, or this shows nothing");
        forget(trace);
        assert_eq!(stdout(little("4M")), plenty, "{command}");
        forget(trace);
    }
}

#[test]
fn files_that_would_lie_in_memory_are_refused() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return };
    let trace = stencil(folder.path());
    let report = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
        command.arg("report").arg(&trace).args(more).env("TMPDIR", folder.path()).output().unwrap()
    };
    let refused = report(&["--memory", "1M"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("lies in memory itself") && said.contains("TMPDIR"), "{said}");
    assert!(report(&[]).status.success());
}
