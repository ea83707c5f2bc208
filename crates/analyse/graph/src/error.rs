//! The one error of this crate: what happened, where, and what to do next.

use kizami_trace::TraceError;

/// Why there is no graph of a run.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
