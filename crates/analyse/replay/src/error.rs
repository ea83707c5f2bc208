//! The one error of this crate: what happened, where, and what to do next.

use kizami_graph::GraphError;
use kizami_trace::TraceError;
use std::path::PathBuf;

/// Why a run could not be replayed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum ReplayError {
    /// The run has no graph.
    #[error(transparent)]
    Graph(#[from] GraphError),

    /// The trace cannot be read, or its directory cannot be made.
    #[error(transparent)]
    Trace(TraceError),

    /// The replayed run cannot be written.
    #[error(
        "cannot write {}: {what}; check that the disk has room, then run the same command again",
        path.display()
    )]
    Write { path: PathBuf, what: String },

    /// Ranks are not alike enough to be stored by rank class.
    #[error(
        "the {ranks} ranks fall into more than {classes} rank classes with different times, too many to write one rank of each; \
         without --output (-o) all ranks are replayed and nothing is written; or write rows for all ranks of a smaller run \
         (`kizami skeleton run --kinds no`)"
    )]
    TooManyClasses { classes: usize, ranks: u32 },
}

impl From<TraceError> for ReplayError {
    fn from(error: TraceError) -> ReplayError {
        match error {
            TraceError::Write { path, what } => ReplayError::Write { path, what },
            error => ReplayError::Trace(error),
        }
    }
}
