//! What commands write: nothing that exists is overwritten.

use anyhow::{Context, Result};
use kizami_terminal::failure::UsageError;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Refuses to overwrite what is there already and was named by this option.
pub fn must_be_new(output: &Path, option: &str) -> Result<(), UsageError> {
    match output.symlink_metadata() {
        Ok(_) => Err(UsageError(format!(
            "{} already exists; choose another name with {option}, or remove it",
            output.display()
        ))),
        Err(_) => Ok(()),
    }
}

/// Writes a file that is not there yet, even if somebody makes one of that name meanwhile.
pub fn write_new(path: &Path, content: &[u8]) -> Result<()> {
    let write = || File::create_new(path)?.write_all(content);
    write().with_context(|| format!("cannot write {}", path.display()))
}
