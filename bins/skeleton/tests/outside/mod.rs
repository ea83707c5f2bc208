//! Runs of skeletons, and whether anything around them is different afterwards.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output};

/// The command, in a folder and with a store of its own.
pub fn skeleton(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami-skeleton"));
    command.current_dir(folder).env("KIZAMI_SKELETON_STORE", folder.join("../store"));
    command
}

/// What a command said.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is known of every file in a folder: type, permissions, size, times, contents or target.
pub fn everything(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let about = entry.metadata().expect("it is there");
        let inside = if about.is_dir() {
            format!("{:?}", everything(&path))
        } else if about.is_symlink() {
            format!("{:?}", std::fs::read_link(&path).expect("a link"))
        } else {
            format!("{:?}", std::fs::read(&path).expect("a file"))
        };
        let times = (about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec());
        all.insert(name, format!("{:o} {} {} {times:?} {inside}", about.mode(), about.ino(), about.uid()));
    }
    all
}

/// A folder with files that a program could harm, in a folder for what belongs to the test.
pub fn with_files() -> (tempfile::TempDir, std::path::PathBuf) {
    let outer = tempfile::tempdir().expect("a folder");
    let inner = outer.path().join("here");
    std::fs::create_dir_all(inner.join("empty")).expect("a folder");
    for name in ["result.dat", "other.dat", "checkpoint.dat", "old.dat"] {
        std::fs::write(inner.join(name), format!("{name} is precious\n")).expect("a file");
    }
    std::fs::write(inner.join("parameters"), "3 2\n").expect("a file");
    (outer, inner)
}
