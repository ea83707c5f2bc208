//! The file an export goes to: complete under its own name, or not there at all.
//!
//! Rows go to a neighbour of a fresh name ending in `.part` that takes the real name at the end, so an export that was
//! interrupted is never taken for a whole one, and no link is followed. `-` is standard output, which has no such
//! protection.

use crate::ExportError;
use std::fs::Permissions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

const BUFFER_BYTES: usize = 1 << 20;

/// A file being written.
pub(super) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    path: PathBuf,
    /// Where rows go meanwhile; half a file is useless, so it is removed if this is never finished.
    part: Option<TempPath>,
}

impl Output {
    /// Creates the file, or takes standard output for `-`.
    pub fn create(path: &Path) -> Result<Output, ExportError> {
        if path == Path::new("-") {
            return Ok(Output::new(Box::new(std::io::stdout()), path, None));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut part = tempfile::Builder::new();
        part.prefix(&name).suffix(".part").permissions(Permissions::from_mode(0o666));
        let (file, part) = part.tempfile_in(folder).map_err(ExportError::file("create", path))?.into_parts();
        Ok(Output::new(Box::new(file), path, Some(part)))
    }

    fn new(writer: Box<dyn Write>, path: &Path, part: Option<TempPath>) -> Output {
        Output { writer: BufWriter::with_capacity(BUFFER_BYTES, writer), path: path.to_path_buf(), part }
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.writer.write_all(bytes).map_err(ExportError::file("write", &self.path))
    }

    /// Everything is written: gives the file its name.
    pub fn finish(mut self) -> Result<(), ExportError> {
        self.writer.flush().map_err(ExportError::file("write", &self.path))?;
        match self.part.take() {
            Some(part) => {
                part.persist(&self.path).map_err(|error| ExportError::file("create", &self.path)(error.error))
            }
            None => Ok(()),
        }
    }
}
