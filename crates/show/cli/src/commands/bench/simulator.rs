//! The measuring program for SimGrid's simulator, built from C.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("../../../../../cost/measure/smpi/measure.c");

/// Whether a launcher is the simulator's.
pub fn is_simulator(launcher: &str) -> bool {
    Path::new(launcher).file_name().is_some_and(|name| name == "smpirun")
}

/// Builds the program in a directory.
pub fn build(directory: &Path) -> Result<PathBuf> {
    let (source, program) = (directory.join("measure.c"), directory.join("measure"));
    std::fs::write(&source, SOURCE).with_context(|| format!("cannot write {}", source.display()))?;
    let made = Command::new("smpicc").args(["-O2", "-w", "-o"]).args([&program, &source]).arg("-lm").output();
    let made =
        made.context("cannot run smpicc, which builds the measuring program; it comes with SimGrid")?;
    if !made.status.success() {
        bail!(
            "smpicc could not build the measuring program:\n{}",
            String::from_utf8_lossy(&made.stderr).trim()
        );
    }
    Ok(program)
}
