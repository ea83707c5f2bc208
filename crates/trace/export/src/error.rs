//! The one error of this crate: what could not be exported, and where to.

use kizami_trace::TraceError;
use std::path::{Path, PathBuf};

/// Why a trace could not be exported.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum ExportError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),

    /// The export could not be written.
    #[error("cannot export to {}: {what}", path.display())]
    Export { path: PathBuf, what: String },
}

impl ExportError {
    /// For `map_err` after an operation on a file.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ExportError {
        let failed = TraceError::file(doing, path);
        move |error| ExportError::Trace(failed(error))
    }
}
