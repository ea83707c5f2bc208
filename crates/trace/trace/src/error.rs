//! The one error of this crate: what happened, to which file, and what to do next.

use kizami_columns::TableError;
use std::path::{Path, PathBuf};

/// Why a trace could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum TraceError {
    /// The operating system refused something.
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: std::io::Error },

    /// There is no directory of that name.
    #[error("there is no trace {}; give the directory that `kizami record` made (its name ends in .kz)", path.display())]
    NoTrace { path: PathBuf },

    /// Recorded, but not sealed yet.
    #[error(
        "{} was recorded but not sealed yet; `kizami seal {}` does so once its run is over, and `kizami report` and `info` \
         show it as it is now",
        path.display(),
        path.display()
    )]
    NotSealed { path: PathBuf },

    /// A table or `run.json` that does not hold what it should.
    #[error(
        "{} is damaged or was not written by Kizami: {what}; seal the trace again if its raw/ folder was kept, \
         or record it again",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },

    /// Written by a later version.
    #[error(
        "{} has schema {found:?}, and this version reads {expected:?}; open it with the version that wrote it",
        path.display()
    )]
    OtherSchema { path: PathBuf, found: String, expected: &'static str },

    /// A table could not be written.
    #[error("cannot write {}: {what}; check that the disk has room, then try again", path.display())]
    Write { path: PathBuf, what: String },
}

impl TraceError {
    /// For `map_err` after an operation on a file.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> TraceError {
        move |source| TraceError::File { doing, path: path.to_path_buf(), source }
    }

    /// A table or `run.json` that does not hold what it should.
    pub fn damaged(path: &Path, what: impl Into<String>) -> TraceError {
        TraceError::Damaged { path: path.to_path_buf(), what: what.into() }
    }

    /// A table that could not be written.
    pub fn write(path: &Path, what: impl std::fmt::Display) -> TraceError {
        TraceError::Write { path: path.to_path_buf(), what: what.to_string() }
    }
}

impl From<TableError> for TraceError {
    fn from(error: TableError) -> TraceError {
        match error {
            TableError::File { doing, path, source } => TraceError::File { doing, path, source },
            TableError::Damaged { path, what } => TraceError::Damaged { path, what },
            TableError::Write { path, what } => TraceError::Write { path, what },
        }
    }
}
