//! Commands that live in programs of their own: `kizami NAME` runs `kizami-NAME`.
//!
//! They keep heavy dependencies out of this program. They are looked for beside it first, then on the PATH.

use crate::failure::UsageError;
use crate::mpi;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Becomes the other program; returns only if that is not possible.
pub fn run(words: &[OsString]) -> Result<u8> {
    let name = words.first().context("no command")?;
    let mut program = OsString::from("kizami-");
    program.push(name);
    let Some(path) = find(Path::new(&program)) else {
        let message = format!(
            "there is no command {name:?}: `kizami --help` lists the commands, and no program {} is beside kizami or \
             on the PATH",
            program.display()
        );
        return Err(UsageError(message).into());
    };
    let error = Command::new(&path).args(&words[1..]).exec();
    Err(error).with_context(|| format!("cannot run {}", path.display()))
}

fn find(program: &Path) -> Option<PathBuf> {
    // A slash in the name would lead out of the places that are searched.
    if program.components().count() != 1 {
        return None;
    }
    let beside = std::env::current_exe().ok()?.canonicalize().ok()?.with_file_name(program);
    mpi::on_path(&beside).or_else(|| mpi::on_path(program))
}
