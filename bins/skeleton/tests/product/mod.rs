//! What tests of the whole product share: the command beside ours, and what it prints.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn workloads() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads").canonicalize().unwrap()
}

/// The product's main command, which finds ours beside itself.
pub fn kizami() -> PathBuf {
    let own = Path::new(env!("CARGO_BIN_EXE_kizami-skeleton"));
    let found = own.with_file_name("kizami");
    assert!(found.exists(), "{} is missing: cargo build --release", found.display());
    found
}

pub fn ran(command: &mut Command) -> Output {
    let command = command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [printed, said] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{command:?}\n{printed}{said}");
    output
}

pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}
