//! The one error of this crate: what happened, where, and what to do next.

use kizami_trace::TraceError;
use std::path::PathBuf;

/// Why there is no graph of a run.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum GraphError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),

    /// A list outgrew memory, and its folder cannot take it.
    #[error(
        "the run does not fit into memory, and what does not fit cannot be kept in {}: {source}; free some space there \
         and run the same command again",
        folder.display()
    )]
    Scratch { folder: PathBuf, source: std::io::Error },
}
