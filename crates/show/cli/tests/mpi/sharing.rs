//! A trace that others may look into, whatever the umask.

use crate::mpi::{Mpi, Scratch, finish, mpi};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Permissions of a folder and of all that is in it, with paths.
fn modes(path: &Path, found: &mut Vec<(String, bool, u32)>) {
    let metadata = std::fs::symlink_metadata(path).expect("it is there");
    found.push((path.display().to_string(), metadata.is_dir(), metadata.permissions().mode() & 0o777));
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder") {
            modes(&entry.expect("an entry").path(), found);
        }
    }
}

fn assert_modes(trace: &Path, folders: u32, files: u32) {
    let mut found = Vec::new();
    modes(trace, &mut found);
    assert!(found.len() > 10, "{found:?}");
    for (path, is_folder, mode) in found {
        assert_eq!(mode, if is_folder { folders } else { files }, "{path}: {mode:o}");
    }
}

/// Nobody but the owner may look at what this user makes.
fn with_narrow_umask(mpi: &Mpi, line: &[OsString], directory: &Path) -> Command {
    let mut words: Vec<OsString> =
        ["sh", "-c", "umask 077; exec \"$@\"", "sh"].into_iter().map(Into::into).collect();
    words.extend_from_slice(line);
    mpi.command(&words, directory)
}

fn opened(mpi: &Mpi) {
    let scratch = Scratch::new();
    let run = |words: &[&str], rest: Vec<OsString>| {
        let mut line: Vec<OsString> = vec![env!("CARGO_BIN_EXE_kizami").into()];
        line.extend(words.iter().map(OsString::from));
        line.extend(rest);
        let output = finish(with_narrow_umask(mpi, &line, scratch.path()));
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let launch = || mpi.launch(2, &mpi.workload("stencil2d", &["32", "50"]));
    let record = |options: &[&str]| run(&[&["record"], options, &["--"]].concat(), launch());
    for (to, folders, files) in [("group", 0o750, 0o640), ("all", 0o755, 0o644)] {
        let (name, later) = (format!("{to}.kz"), format!("{to}-later.kz"));
        record(&["--open-to", to, "--keep-raw", "-o", &name]);
        run(&["report", &name], Vec::new());
        assert!(scratch.path().join(&name).join("derived").is_dir());
        assert_modes(&scratch.path().join(&name), folders, files);
        record(&["--open-to", to, "--no-seal", "-o", &later]);
        run(&["seal", &later], Vec::new());
        assert_modes(&scratch.path().join(&later), folders, files);
    }
}

#[test]
fn a_trace_is_opened_with_all_that_is_in_it_openmpi() {
    opened(&mpi("openmpi"));
}

#[test]
fn a_trace_is_opened_with_all_that_is_in_it_mpich() {
    opened(&mpi("mpich"));
}
