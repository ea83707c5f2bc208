//! The one error of this crate: what happened, and to which file.

use std::path::{Path, PathBuf};

/// Why a table could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum TableError {
    /// The operating system refused something.
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: std::io::Error },

    /// It does not hold what it should.
    #[error("{} is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },

    /// It could not be written.
    #[error("cannot write {}: {what}", path.display())]
    Write { path: PathBuf, what: String },
}

impl TableError {
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> TableError {
        move |source| TableError::File { doing, path: path.to_path_buf(), source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> TableError {
        TableError::Damaged { path: path.to_path_buf(), what: what.into() }
    }

    pub(crate) fn write(path: &Path, what: impl std::fmt::Display) -> TableError {
        TableError::Write { path: path.to_path_buf(), what: what.to_string() }
    }
}
