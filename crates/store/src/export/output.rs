//! The file an export goes to: complete under its own name, or not there at all.
//!
//! Rows go to a neighbour named `NAME.part` that takes the real name at the end, so an export that was
//! interrupted is never taken for a whole one. `-` is standard output, which has no such protection.

use crate::StoreError;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 1 << 20;

/// A file being written.
pub(super) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    path: PathBuf,
    part: Option<PathBuf>,
}

impl Output {
    /// Creates the file, or takes standard output for `-`.
    pub fn create(path: &Path) -> Result<Output, StoreError> {
        if path == Path::new("-") {
            return Ok(Output::new(Box::new(std::io::stdout()), path, None));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(StoreError::file("create", &part))?;
        Ok(Output::new(Box::new(file), path, Some(part)))
    }

    fn new(writer: Box<dyn Write>, path: &Path, part: Option<PathBuf>) -> Output {
        Output { writer: BufWriter::with_capacity(BUFFER_BYTES, writer), path: path.to_path_buf(), part }
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.writer.write_all(bytes).map_err(StoreError::file("write", &self.path))
    }

    /// Everything is written: gives the file its name.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.writer.flush().map_err(StoreError::file("write", &self.path))?;
        match self.part.take() {
            Some(part) => std::fs::rename(&part, &self.path).map_err(StoreError::file("create", &self.path)),
            None => Ok(()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // Nobody could use half a file, and there is nothing to do about one that cannot be removed.
            let _ = std::fs::remove_file(part);
        }
    }
}
